"""Matrices of powers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import InputError
from agrad.engine.graph import TABLE, Node, leaf, make

linalg_vander = TABLE["linalg.vander"]


def test_directions(value: Callable[[Node], Any]) -> None:
    """torch.linalg's powers rise, torch.vander's and NumPy's fall."""
    x = leaf(np.array([2.0, 3.0]))
    assert value(linalg_vander(x, N=3)) == [[1.0, 2.0, 4.0], [1.0, 3.0, 9.0]]
    assert value(make.vander(x, 3)) == [[4.0, 2.0, 1.0], [9.0, 3.0, 1.0]]
    assert value(make.vander(x, 3, increasing=True)) == value(linalg_vander(x, N=3))


def test_derivatives_at_zero(slopes: Callable[..., list[Any]], curvature: Callable[..., list[list[Any]]]) -> None:
    """Powers of zero have slope 1 in the first and curvature 2 in the second power."""
    assert slopes(lambda x: linalg_vander(x, N=4), [0.0, 2.0]) == [[1.0, 1.0 + 4.0 + 12.0]]
    assert curvature(lambda x: linalg_vander(make.reshape(x, (1,)), N=4), 0.0) == [[2.0]]


def test_refusals() -> None:
    """No columns, and a matrix where a vector is wanted, are refused."""
    with pytest.raises(InputError, match="N must be greater than 0"):
        linalg_vander(leaf(np.ones(2)), N=0)
    with pytest.raises(InputError, match="one-dimensional"):
        make.vander(leaf(np.ones((2, 2))))
