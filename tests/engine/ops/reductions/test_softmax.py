"""Softmax and its kin: infinities, shifts, tails."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]

LOGITS = st.lists(st.floats(-30.0, 30.0) | st.just(-math.inf), min_size=1, max_size=5).filter(
    lambda row: any(entry > -math.inf for entry in row)
)
TAIL = math.exp(-50.0)


def entry(row: Node, place: int) -> Node:
    """One element of a vector."""
    return make.select(row, 0, place)


@settings(max_examples=30, deadline=None)
@given(LOGITS, st.integers(0, 4))
def test_rows_sum_to_one_and_slopes_to_zero(row: list[float], place: int) -> None:
    """Weights sum to 1; a shift of all logits changes neither them nor their logarithms."""
    place %= len(row)
    x = leaf(np.array(row), requires_grad=True)
    weights = make.softmax(x, 0)
    for result in (weights, make.log_softmax(x, 0)):
        g = gradients([result], [leaf(np.eye(len(row))[place])])[x]
        values = evaluate([weights, g])
        assert values[weights].sum() == pytest.approx(1.0)
        assert abs(values[g].sum()) < 1e-15
        assert all(slope == 0 or at > -math.inf or at == row[place] for slope, at in zip(values[g], row, strict=True))


def test_masked_logits(value: Value, slopes: Slopes) -> None:
    """An element -inf has weight 0 and slope 0; where all are -inf nothing is defined."""
    assert value(make.softmax(leaf(np.array([-math.inf, 0.0])), 0)) == [0.0, 1.0]
    assert slopes(lambda x: entry(make.softmax(x, 0), 1), [-math.inf, 0.0]) == [[0.0, 0.0]]
    assert slopes(lambda x: entry(make.log_softmax(x, 0), 0), [-math.inf, 0.0]) == [[1.0, -1.0]]
    assert np.isnan(value(make.softmax(leaf(np.array([-math.inf, -math.inf])), 0))).all()


def test_a_masked_row_does_not_spoil_the_others(slopes: Slopes) -> None:
    """A row of only -inf that the output does not use leaves the slopes of the others finite."""
    rows = [[-math.inf, -math.inf], [0.0, 0.0]]
    found = slopes(lambda x: make.select(make.select(make.softmax(x, 1), 0, 1), 0, 0), rows)
    assert found == [[[0.0, 0.0], [0.25, -0.25]]]


def test_peaked_rows_keep_their_digits(value: Value, slopes: Slopes) -> None:
    """Where one weight is nearly 1 its slope is tiny and has all its digits; 1 - p would be 0."""
    weight = TAIL / (1 + TAIL) ** 2
    np.testing.assert_allclose(
        slopes(lambda x: entry(make.softmax(x, 0), 0), [50.0, 0.0])[0], [weight, -weight], rtol=1e-14
    )
    found = slopes(lambda x: entry(make.log_softmax(x, 0), 0), [50.0, 0.0])[0]
    np.testing.assert_allclose(found, [TAIL, -TAIL], rtol=1e-14)
    assert value(make.log_softmax(leaf(np.array([50.0, 0.0])), 0))[0] == pytest.approx(-TAIL, rel=1e-14)
    assert value(make.logsumexp(leaf(np.array([0.0, -50.0])), 0)) == pytest.approx(TAIL, rel=1e-14)


def test_shifts_change_nothing(value: Value) -> None:
    """Huge logits neither overflow nor lose the differences between them."""
    near = value(make.softmax(leaf(np.array([0.0, 1.0])), 0))
    assert value(make.softmax(leaf(np.array([1000.0, 1001.0])), 0)) == near
    assert value(make.logsumexp(leaf(np.array([1000.0, 1000.0])), 0)) == 1000.0 + math.log(2)


@pytest.mark.parametrize(
    ("x", "result", "slope"),
    [
        ([-math.inf, 0.0], 0.0, [0.0, 1.0]),
        ([-math.inf, -math.inf], -math.inf, [math.nan, math.nan]),
        ([math.inf, 0.0], math.inf, [math.nan, 0.0]),
    ],
)
def test_log_sums_at_infinity(value: Value, slopes: Slopes, x: list[float], result: float, slope: list[float]) -> None:
    """logsumexp of infinities is PyTorch's in value and slope."""
    assert value(make.logsumexp(leaf(np.array(x)), 0)) == result
    np.testing.assert_array_equal(slopes(lambda v: make.logsumexp(v, 0), x)[0], slope)


def test_log_sums_over_several_axes(value: Value, slopes: Slopes) -> None:
    """logsumexp folds any axes; its slope is the softmax over them."""
    x = np.zeros((2, 3, 2))
    np.testing.assert_allclose(value(make.logsumexp(leaf(x), (0, 2))), [math.log(4)] * 3)
    np.testing.assert_allclose(slopes(lambda v: make.logsumexp(v, (0, 2)), x)[0], np.full((2, 3, 2), 0.25))


def test_forms(value: Value) -> None:
    """softmin turns the signs; without dim the axis is PyTorch's guess; a number has weight 1."""
    x = leaf(np.array([[0.0, 1.0], [2.0, 5.0]]), requires_grad=True)
    assert make.softmin(x, 1).grad_fn == "SoftmaxBackward0"
    np.testing.assert_allclose(value(make.softmax(x)), value(make.softmax(x, 1)))
    assert value(make.softmax(leaf(np.float64(3.0)), 0)) == 1.0
    assert value(make.log_softmax(leaf(np.float64(3.0)), 0)) == 0.0
