"""Copies, casts and the cut: what is a new node, what is the old one, what carries a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agrad.engine.gradient import gradients
from agrad.engine.graph import as_node, leaf, make
from agrad.engine.run.cpu import evaluate

FLOAT32 = np.dtype(np.float32)


@pytest.mark.parametrize(
    "same",
    [
        lambda x: make.positive(x),
        lambda x: make.double(x),
        lambda x: make.to(x, np.dtype(np.float64)),
        lambda x: make.to(x, x),
        lambda x: make.to(x, "cpu"),
    ],
)
def test_itself(same: Any) -> None:
    """What changes nothing gives the very node back."""
    x = leaf(np.ones(2), requires_grad=True)
    assert same(x) is x


def test_cast_and_back() -> None:
    """A cast is a node, and its gradient comes back in the dtype of the argument."""
    x = leaf(np.array([1.0, 2.0]), requires_grad=True)
    y = make.float(x)
    assert (y.grad_fn, y.dtype) == ("ToCopyBackward0", FLOAT32)
    grad = gradients([y], [leaf(np.ones(2, FLOAT32))])[x]
    assert evaluate([grad])[grad].dtype == np.float64


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(np.dtype(np.int64), [-1, 0, 2]), (np.dtype(np.bool_), [True, False, True]), (FLOAT32, [-1.5, 0.0, 2.5])],
)
def test_casts(dtype: np.dtype[Any], expected: list[Any]) -> None:
    """Integers are cut towards 0, booleans tell 0 from the rest; neither requires a gradient."""
    node = make.to(leaf(np.array([-1.5, 0.0, 2.5]), requires_grad=True), dtype)
    assert evaluate([node])[node].tolist() == expected
    assert node.requires_grad == (dtype.kind == "f")


def test_clone(slopes: Any) -> None:
    """A clone is a node of its own that passes everything on."""
    x = leaf(np.ones(2), requires_grad=True)
    assert make.clone(x) is not x
    assert make.clone(x).grad_fn == "CloneBackward0"
    assert slopes(make.clone, [1.0, 2.0]) == [[1.0, 1.0]]
    assert make.to(x, x.dtype, copy=True).grad_fn == "CloneBackward0"


def test_detach(slopes: Any) -> None:
    """Nothing flows through detach, and its result is a leaf in PyTorch's sense."""
    x = leaf(np.float64(3.0), requires_grad=True)
    cut = make.detach(x)
    assert (cut.requires_grad, cut.is_leaf, cut.grad_fn) == (False, True, None)
    assert evaluate([cut])[cut] == 3.0
    assert slopes(lambda x: x * make.detach(x), 3.0) == [3.0]


def test_a_condition_counts() -> None:
    """A comparison becomes zeros and ones under a cast."""
    node = make.float(as_node(np.array([1.0, -1.0])) > 0.0)
    assert evaluate([node])[node].tolist() == [1.0, 0.0]
