"""The CTC loss: PyTorch's values and gradients, impossible alignments, second order, messages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import InputError
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make
from agrad.engine.run.cpu import evaluate

X = [
    [[0.5, -1.0, 0.25], [1.0, 0.0, -0.5]],
    [[-0.25, 0.75, 0.5], [0.0, 0.5, 1.5]],
    [[1.25, -0.5, 0.0], [-1.0, 2.0, 0.25]],
]
# fmt: off
RECORDED = [  # from PyTorch 2.13
    ([[1, 2], [2, 2]], [2, 1], {"reduction": "none"}, False, "CtcLossBackward0",
     [-1.9850181104840536, -2.741311296657157],
     [[[1.1692244957225666, -0.15262378385099584, 1.2840254166877414], [1.9326847938697693, 1.0, 0.3921276943019093]],
      [[0.7394412909572078, 1.5305130494437142, 1.274567729983286],
        [0.9608874267293126, 1.6487212707001282, 3.5208016436087526]],
      [[3.199513462204621, 0.6065306597126334, 0.2908294952572207], [0.0, 0.0, 0.0]]]),
    ([[1, 0], [0, 1]], [2, 1], {"reduction": "sum", "blank": 2}, True, "SumBackward0",
     2.2762072172457404,
     [[[0.4995177298132149, -0.28072535519871233, -0.21879237461450257],
        [-0.33235570751755006, 0.23122389762214907, 0.101131809895401]],
      [[0.08895338112861156, -0.31612414237824843, 0.22717076124963687],
        [-0.07415858224463562, 0.23122389762214904, -0.15706531537751342]],
      [[-0.2968447457112739, 0.1190005295930552, 0.17784421611821868], [0.0, 0.0, 0.0]]]),
    ([[1, 2], [2, 2]], [2, 2], {"zero_infinity": True}, True, "MeanBackward0",
     0.5879109946264625,
     [[[0.005005238708913305, -0.10226143849305885, 0.09725619978414556], [0.0, 0.0, 0.0]],
      [[0.033002959012398574, -0.030162849975608655, -0.0028401090367899218], [0.0, 0.0, 0.0]],
      [[0.09849281769626843, 0.02975013239826379, -0.1282429500945322], [0.0, 0.0, 0.0]]]),
]
# fmt: on


def _loss(x: Node, targets: Any, lengths: Any, steps: Any = (3, 2), *, normalised: bool = True, **options: Any) -> Node:
    log_probs = make.log_softmax(x, -1) if normalised else x
    loss: Node = make.ctc_loss(log_probs, *[leaf(np.array(each)) for each in (targets, steps, lengths)], **options)
    return loss


def _slopes(loss: Node, x: Node) -> Any:
    gradient = gradients([loss], [leaf(np.ones(loss.shape)[()])])[x]
    return evaluate([gradient])[gradient]


@pytest.mark.parametrize(("targets", "lengths", "options", "normalised", "grad_fn", "value", "grad"), RECORDED)
def test_as_pytorch(
    targets: Any, lengths: Any, options: Any, normalised: bool, grad_fn: str, value: Any, grad: Any
) -> None:
    """Values, grad_fn and gradients are PyTorch's; a gradient by log_probs is the one for normalised log_probs."""
    x = leaf(np.array(X), requires_grad=True)
    loss = _loss(x, targets, lengths, normalised=normalised, **options)
    np.testing.assert_allclose(evaluate([loss])[loss], value, rtol=1e-13)
    np.testing.assert_allclose(_slopes(loss, x), grad, rtol=1e-12, atol=1e-15)
    assert loss.grad_fn == grad_fn


def test_what_cannot_be_aligned() -> None:
    """Two equal labels need three steps: in two the loss is infinite and its slope is not a number, never 0."""
    x = leaf(np.array(X), requires_grad=True)
    loss = _loss(x, [[1, 2], [2, 2]], [2, 2], reduction="none")
    assert evaluate([loss])[loss].tolist() == [pytest.approx(2.3516439785058502), math.inf]
    slopes = _slopes(loss, x)
    assert np.isnan(slopes[:2, 1]).all()
    assert np.isfinite(slopes[:, 0]).all()


def test_second_order_is_finite() -> None:
    """Unreachable states have no part in derivatives of any order, with zero_infinity also whole sequences."""
    x = leaf(np.array(X), requires_grad=True)
    loss = _loss(x, [[1, 2], [2, 2]], [2, 2], zero_infinity=True)
    first = gradients([loss], [leaf(np.float64(1.0))])[x]
    second = gradients([make.sum(first * first)], [leaf(np.float64(1.0))])[x]
    values = evaluate([second])[second]
    assert np.isfinite(values).all()
    assert values.any()


@pytest.mark.parametrize("targets", [[[1, 2], [2, 0]], [1, 2, 2]])
def test_targets_in_rows_or_one_after_another(targets: Any) -> None:
    """Both ways to give targets of different lengths mean the same; padding is not read."""
    x = leaf(np.array(X), requires_grad=True)
    loss = _loss(x, targets, [2, 1], reduction="sum")
    assert evaluate([loss])[loss] == pytest.approx(
        evaluate([other := _loss(x, [[1, 2], [2, 2]], [2, 1], reduction="sum")])[other]
    )


def test_without_labels_all_steps_are_blank() -> None:
    """The loss of an empty sequence is that of blanks throughout; of no steps at all it is 0."""
    x = leaf(np.array(X), requires_grad=True)
    loss = _loss(x, np.zeros((2, 0), int), [0, 0], [3, 0], reduction="none", normalised=False)
    assert evaluate([loss])[loss].tolist() == [-1.5, 0.0]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[1, 2], [2, 2]], [2, 1], [4, 2]), {}, "at most 3, but got value 4"),
        (([[1, 2], [2, 2]], [2, 3], [3, 2]), {}, "at most 2, but got value 3"),
        (([[1, 3], [2, 2]], [2, 1], [3, 2]), {}, "classes from 0 to 2"),
        (([[1, 2], [2, 2]], [2], [3, 2]), {}, "batch_size"),
        (([1, 2, 2, 2], [2, 1], [3, 2]), {}, "lengths of 3 in all"),
        (([[1.5, 2], [2, 2]], [2, 1], [3, 2]), {}, "must be integers"),
        (([[1, 2], [2, 2]], [2, 1], [3, 2]), {"blank": 3}, "blank must be in label range"),
        (([[1, 2], [2, 2]], [2, 1], [3, 2]), {"reduction": "max"}, "reduction"),
    ],
)
def test_bad_arguments(arguments: Any, options: Any, message: str) -> None:
    """Lengths, labels and options that do not fit are refused, with PyTorch's words where it has some."""
    with pytest.raises(InputError, match=message):
        _loss(leaf(np.array(X)), *arguments, **options)


def test_single_precision_stays() -> None:
    """A loss of float32 is float32, where sequences differ in length and some cannot be aligned too."""
    x = leaf(np.array(X, np.float32), requires_grad=True)
    loss = _loss(x, [[1, 2], [2, 2]], [2, 2], reduction="none")
    assert loss.dtype == np.float32
    assert evaluate([loss])[loss].dtype == np.float32
