"""Lengths and angles: scaled, right at the origin and far from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.graph import leaf, make
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Curvature = Callable[..., list[list[Any]]]

COORDINATES = st.floats(0.01, 100.0) | st.floats(-100.0, -0.01)


def test_at_the_origin(slopes: Slopes) -> None:
    """At the origin hypot has its smallest subgradient and atan2 PyTorch's zeros."""
    assert slopes(make.hypot, 0.0, 0.0) == [0.0, 0.0]
    assert slopes(make.atan2, 0.0, 0.0) == [0.0, 0.0]
    assert slopes(make.atan2, 0.0, -1.0) == [-1.0, 0.0]


def test_tiny_and_huge_points(slopes: Slopes) -> None:
    """Slopes are right where a square would vanish or overflow, even where the length itself does."""
    assert slopes(make.atan2, 3e-170, 4e-170) == pytest.approx([1.6e169, -1.2e169], rel=1e-15)
    assert slopes(make.atan2, 3e170, 4e170) == pytest.approx([1.6e-171, -1.2e-171], rel=1e-15)
    assert slopes(make.hypot, 3e-200, 4e-200) == pytest.approx([0.6, 0.8], rel=1e-15)
    assert slopes(make.hypot, 3e200, 4e200) == pytest.approx([0.6, 0.8], rel=1e-15)
    assert slopes(make.hypot, 1.5e308, 1.5e308) == pytest.approx([math.sqrt(0.5)] * 2, rel=1e-15)
    assert slopes(make.hypot, -math.inf, 1.0) == [-1.0, 0.0]


def test_curvature_of_a_length_does_not_cancel(curvature: Curvature) -> None:
    """The second derivative of hypot(1, 3e-9) along the long side is 9e-18, which 1 - (x/r)**2 would round to 0."""
    (along, mixed), (_, across) = curvature(make.hypot, 1.0, 3e-9)
    assert along == pytest.approx(9e-18, rel=1e-14)
    assert mixed == pytest.approx(-3e-9, rel=1e-14)
    assert across == pytest.approx(1.0, rel=1e-14)


@given(x=COORDINATES, y=COORDINATES, exponent=st.integers(-900, 900))
def test_scale_invariance(slopes: Slopes, x: float, y: float, exponent: int) -> None:
    """Scaling the point by a power of 2 leaves the slopes of hypot alone and divides those of atan2 by it."""
    scale = 2.0**exponent
    assert slopes(make.hypot, x * scale, y * scale) == pytest.approx(slopes(make.hypot, x, y), rel=1e-14)
    by_scale = [slope / scale for slope in slopes(make.atan2, x, y)]
    assert slopes(make.atan2, x * scale, y * scale) == pytest.approx(by_scale, rel=1e-14)


@given(x=COORDINATES, y=COORDINATES)
def test_slopes_of_a_length_are_a_unit_vector(slopes: Slopes, x: float, y: float) -> None:
    """The slopes of hypot are the unit vector along the point; those of atan2 stand at right angles to it."""
    u, v = slopes(make.hypot, x, y)
    assert math.hypot(u, v) == pytest.approx(1.0, rel=1e-14)
    du, dv = slopes(make.atan2, x, y)
    assert du * x + dv * y == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize(
    ("p", "expected"),
    [(2, [0.6, -0.8]), (1, [1.0, -1.0]), (math.inf, [0.0, -1.0]), (3, [9 / 91 ** (2 / 3), -16 / 91 ** (2 / 3)])],
)
def test_dist_slopes(slopes: Slopes, p: float, expected: list[float]) -> None:
    """dist has the slopes of the p-norm of the difference, and the opposite ones for the second tensor."""
    first, second = slopes(lambda x, y: make.dist(x, y, p), [4.0, 1.0], [1.0, 5.0])
    assert first == pytest.approx(expected)
    assert second == pytest.approx([-slope for slope in expected])


def test_dist_of_equal_tensors(slopes: Slopes) -> None:
    """The slopes of dist(a, a) are 0, as in PyTorch."""
    assert slopes(make.dist, [1.0, 1.0], [1.0, 1.0]) == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("number", [np.float64(2.0), np.int64(2)])
def test_a_single_number_widens_nothing(number: Any) -> None:
    """The direction of a float32 array and one number of another dtype is float32, as its node says."""
    x = leaf(np.ones(3, np.float32), requires_grad=True)
    node = make.direction(x, leaf(number))
    assert node.dtype == np.float32
    assert evaluate([node])[node].dtype == np.float32
