"""Losses: kinks, tails, labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError, ShapeError
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]

one = leaf(np.array([1.0]))


@pytest.mark.parametrize(
    ("function", "x", "loss", "slope"),
    [
        (lambda x: make.l1_loss(x, one), [1.0], 0.0, [0.0]),
        (lambda x: make.smooth_l1_loss(x, one), [2.0], 0.5, [1.0]),
        (lambda x: make.huber_loss(x, one), [2.0], 0.5, [1.0]),
        (lambda x: make.huber_loss(x, one), [1.0], 0.0, [0.0]),
        (lambda x: make.mse_loss(x, one), [3.0], 4.0, [4.0]),
        (lambda x: make.binary_cross_entropy(x, one), [0.0], 100.0, [-1e12]),
        (lambda x: make.binary_cross_entropy(x, one), [1.0], 0.0, [0.0]),
        (lambda x: make.binary_cross_entropy_with_logits(x, one), [-1000.0], 1000.0, [-1.0]),
        (lambda x: make.kl_div(x, leaf(np.array([0.0, 1.0])), reduction="sum"), [-1.0, -2.0], 2.0, [0.0, -1.0]),
        (lambda x: make.cross_entropy(x, leaf(np.array([-100]))), [[1.0, 2.0]], math.nan, [[0.0, 0.0]]),
    ],
)
def test_losses_at_their_kinks(
    value: Value, slopes: Slopes, function: Callable[[Node], Node], x: Any, loss: float, slope: Any
) -> None:
    """Where a loss has a kink or an edge its value and slope are PyTorch's."""
    np.testing.assert_array_equal(value(function(leaf(np.array(x)))), loss)
    np.testing.assert_allclose(slopes(function, x)[0], slope)


@settings(max_examples=30, deadline=None)
@given(st.floats(-80.0, 80.0), st.sampled_from([0.0, 0.25, 1.0]))
def test_logits_keep_their_digits_in_both_tails(x: float, target: float) -> None:
    """The slope of the cross entropy of a logit is s(x) - t, without the subtraction where t is 0 or 1."""
    node = leaf(np.array([x]), requires_grad=True)
    loss = make.binary_cross_entropy_with_logits(node, leaf(np.array([target])))
    g = gradients([loss], [leaf(np.float64(1.0))])[node]
    up, down = 1 / (1 + math.exp(-x)), 1 / (1 + math.exp(x))
    assert evaluate([g])[g][0] == pytest.approx((1 - target) * up - target * down, rel=1e-13)


def test_sure_predictions_keep_their_digits(slopes: Slopes) -> None:
    """Where the label has nearly all the weight its slope is tiny, not zero."""
    found = slopes(lambda x: make.cross_entropy(x, leaf(np.array([0]))), [[50.0, 0.0]])[0]
    np.testing.assert_allclose(found, [[-math.exp(-50), math.exp(-50)]], rtol=1e-14)


def test_labels_weights_and_what_is_ignored(value: Value, slopes: Slopes) -> None:
    """Ignored labels count in neither sum; class weights weigh losses and their mean alike."""
    scores = np.array([[-1.0, -2.0], [-3.0, -4.0], [-5.0, -6.0]])
    labels, weight = leaf(np.array([0, 1, -1])), leaf(np.array([1.0, 3.0]))
    assert value(make.nll_loss(leaf(scores), labels, weight, ignore_index=-1)) == pytest.approx(13 / 4)
    assert value(make.nll_loss(leaf(scores), labels, ignore_index=-1, reduction="none")) == [1.0, 4.0, 0.0]
    found = slopes(lambda x: make.nll_loss(x, labels, weight, ignore_index=-1), scores)[0]
    assert found == [[-0.25, 0.0], [0.0, -0.75], [0.0, 0.0]]


def test_labels_written_as_plain_numbers(value: Value) -> None:
    """Labels of a file are floats like all its numbers; they mean the same classes."""
    scores = leaf(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]]))
    written, whole = leaf(np.array([2.0, 0.0])), leaf(np.array([2, 0]))
    assert value(make.cross_entropy(scores, written)) == value(make.cross_entropy(scores, whole))


def test_hard_and_soft_labels_agree(value: Value) -> None:
    """A label is the distribution with all its weight on one class, smoothed or not."""
    scores = leaf(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]]))
    labels, rows = leaf(np.array([2, 0])), leaf(np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    for smoothing in (0.0, 0.3):
        hard = value(make.cross_entropy(scores, labels, label_smoothing=smoothing))
        assert value(make.cross_entropy(scores, rows, label_smoothing=smoothing)) == pytest.approx(hard)


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (lambda x: make.mse_loss(x, one, "none"), "MseLossBackward0"),
        (lambda x: make.l1_loss(x, one), "MeanBackward0"),
        (lambda x: make.l1_loss(x, one, "none"), "AbsBackward0"),
        (lambda x: make.l1_loss(x, one, "sum"), "SumBackward0"),
        (lambda x: make.kl_div(x, one, "none"), "SubBackward0"),
        (lambda x: make.kl_div(x, one, "batchmean"), "DivBackward0"),
        (lambda x: make.soft_margin_loss(x, one), "SoftMarginLossBackward0"),
        (lambda x: make.nll_loss(make.reshape(x, (1, 1)), leaf(np.array([0]))), "NllLossBackward0"),
        (lambda x: make.nll_loss(make.reshape(x, (1, 1, 1)), leaf(np.array([[0]]))), "NllLoss2DBackward0"),
    ],
)
def test_grad_fn_follows_the_reduction(node: Callable[[Node], Node], name: str) -> None:
    """The names of grad_fn are PyTorch's for each reduction."""
    assert node(leaf(np.array([0.5]), requires_grad=True)).grad_fn == name


def test_wrong_calls_are_told() -> None:
    """A reduction that does not exist, or shapes that do not fit, are errors with the shapes in them."""
    with pytest.raises(InputError, match="median is not a valid value for reduction"):
        make.mse_loss(one, one, "median")
    with pytest.raises(ShapeError, match="Target size"):
        make.binary_cross_entropy_with_logits(leaf(np.ones(2)), one)
    with pytest.raises(ShapeError, match="labels of shape"):
        make.nll_loss(leaf(np.ones((2, 3))), leaf(np.array([1])))


@pytest.mark.parametrize(
    ("p", "slope"), [(1e-16, -1e16), (1e-40, -1e40), (1e-50, 0.0), (0.5, -2.0), (0.0, -1e12), (1.0, 0.0)]
)
def test_cross_entropy_of_small_probabilities(slopes: Slopes, p: float, slope: float) -> None:
    """Its slope is -1/p down to where the logarithm is held at -100; PyTorch's stays at -1e12 from 1e-12 on."""
    (found,) = slopes(lambda x: make.binary_cross_entropy(x, one), [p])
    np.testing.assert_allclose(found, [slope], rtol=1e-15)
