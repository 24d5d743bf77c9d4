"""Distances of points."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import InputError, ShapeError
from agrad.engine.graph import Node, leaf, make

Slopes = Callable[..., list[Any]]
Curvature = Callable[..., list[list[Any]]]

FIRST, SECOND = [[0.0, 0.0], [3.0, 0.0]], [[3.0, 4.0]]


@pytest.mark.parametrize(("p", "expected"), [(1, 7.0), (2, 5.0), (3, 91 ** (1 / 3)), (math.inf, 4.0), (0, 2.0)])
def test_orders(value: Callable[[Node], Any], p: float, expected: float) -> None:
    """The distance of (0, 0) and (3, 4) in several norms, and from a point straight below."""
    found = value(make.cdist(leaf(np.array(FIRST)), leaf(np.array(SECOND)), p))
    assert found == [[pytest.approx(expected)], [pytest.approx(1.0 if p == 0 else 4.0)]]


def test_slopes_are_unit_vectors(slopes: Slopes) -> None:
    """Each point is drawn along the line to the other."""
    first, second = slopes(make.cdist, FIRST, SECOND)
    np.testing.assert_allclose(first, [[-0.6, -0.8], [0.0, -1.0]])
    np.testing.assert_allclose(second, [[0.6, 1.8]])


@pytest.mark.parametrize("p", [1, 2, 3, math.inf])
def test_coincident_points(slopes: Slopes, p: float) -> None:
    """Points that coincide have slope 0, as in PyTorch."""
    assert slopes(lambda x, y: make.cdist(x, y, p), [[1.0, 1.0]], [[1.0, 1.0]]) == [[[0.0, 0.0]]] * 2
    assert slopes(lambda x: make.pdist(x, p), [[1.0, 1.0], [1.0, 1.0]]) == [[[0.0, 0.0]] * 2]


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_far_and_near_points(slopes: Slopes, value: Callable[[Node], Any], scale: float) -> None:
    """Squares that would overflow or vanish do not."""
    first, second = np.array([[3.0 * scale, 0.0]]), np.array([[0.0, 4.0 * scale]])
    assert value(make.cdist(leaf(first), leaf(second))) == [[pytest.approx(5.0 * scale)]]
    np.testing.assert_allclose(slopes(make.cdist, first, second)[0], [[0.6, -0.8]])


def test_curvature(curvature: Curvature) -> None:
    """Along the line a distance does not bend; across it bends by 1 over the distance."""
    origin = leaf(np.zeros((1, 2)))
    found = curvature(lambda x, y: make.cdist(make.reshape(make.stack([x, y]), (1, 2)), origin), 5.0, 0.0)
    np.testing.assert_allclose(found, [[0.0, 0.0], [0.0, 0.2]], atol=1e-16)


def test_order_of_pairs(value: Callable[[Node], Any]) -> None:
    """pdist gives the pairs (0, 1), (0, 2), (1, 2); of one point there are none."""
    assert value(make.pdist(leaf(np.array([[0.0], [1.0], [5.0]])))) == [1.0, 5.0, 4.0]
    assert value(make.pdist(leaf(np.array([[0.0]])))) == []


def test_refusals() -> None:
    """Other shapes, orders and modes are refused in PyTorch's words."""
    points = leaf(np.ones((2, 2)))
    with pytest.raises(ShapeError, match="X1: 2 X2: 3"):
        make.cdist(points, leaf(np.ones((2, 3))))
    with pytest.raises(ShapeError, match="2D tensors, got: 1D"):
        make.pdist(leaf(np.ones(3)))
    with pytest.raises(InputError, match="non-negative p"):
        make.cdist(points, points, -1)
    with pytest.raises(InputError, match="compute_mode"):
        make.cdist(points, points, compute_mode="fast")
