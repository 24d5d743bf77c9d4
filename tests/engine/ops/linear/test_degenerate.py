"""Masks over pairs of values: which are equal, and which cannot be told apart."""

from __future__ import annotations

import numpy as np
import pytest

from agrad.engine.graph import leaf
from agrad.engine.ops.linear.degenerate import DISTINCT, coupled, near
from agrad.engine.run.cpu import evaluate


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_what_is_near(dtype: type, scale: float) -> None:
    """Values are near where half of their digits agree, whatever their scale; none is near itself."""
    epsilon = float(np.finfo(dtype).eps)
    values = np.array([1.0, 1.0 + epsilon**0.5 / 2, 1.0 + 4 * epsilon**0.5], dtype) * dtype(scale)
    assert near(np, values)[0].tolist() == [False, True, False]


def test_zeros_are_near() -> None:
    """All eigenvalues of the zero matrix coincide."""
    assert near(np, np.zeros(2)).tolist() == [[False, True], [True, False]]
    assert not DISTINCT.kernel(np, np.zeros(2)).any()


def test_coupling_of_distinct_values() -> None:
    """The skew part of an overlap over the gaps of the values, with zeros on the diagonal."""
    values, overlap = leaf(np.array([1.0, 3.0])), leaf(np.array([[7.0, 2.0], [6.0, 7.0]]))
    node = coupled(values, overlap, None)
    assert evaluate([node])[node].tolist() == [[0.0, -1.0], [-1.0, 0.0]]


def test_coupling_of_equal_values() -> None:
    """Without a limit the coupling of equal values is NaN, also where the overlap is zero."""
    node = coupled(leaf(np.array([1.0, 1.0])), leaf(np.zeros((2, 2))), None)
    result = evaluate([node])[node]
    assert np.isnan(result[0, 1])
    assert result[0, 0] == 0.0
