"""Exponential, pseudo-inverse, least squares, condition and rank."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError, ShapeError
from agrad.engine.graph import TABLE, Node, leaf, make

Slopes = Callable[..., list[Any]]
Curvature = Callable[..., list[list[Any]]]
Value = Callable[[Node], Any]

pinv, lstsq, cond, matrix_rank = (TABLE[f"linalg.{name}"] for name in ("pinv", "lstsq", "cond", "matrix_rank"))


def test_exponential_of_a_rotation(value: Value) -> None:
    """exp of t times the quarter turn is the rotation by t."""
    found = value(make.matrix_exp(leaf(np.array([[0.0, -0.5], [0.5, 0.0]]))))
    np.testing.assert_allclose(found, [[math.cos(0.5), -math.sin(0.5)], [math.sin(0.5), math.cos(0.5)]], rtol=1e-14)


def test_trace_of_the_exponential(slopes: Slopes) -> None:
    """The gradient of trace(exp(A)) is exp(A) transposed."""
    (found,) = slopes(lambda x: make.trace(make.matrix_exp(x)), [[0.0, 1.0], [0.0, 1.0]])
    np.testing.assert_allclose(found, [[1.0, 0.0], [math.e - 1, math.e]], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_weights_of_any_size(slopes: Slopes, scale: float) -> None:
    """The gradient of the exponential is as right for tiny and huge cotangents as for others."""
    (found,) = slopes(lambda x: make.matrix_exp(x) * scale, [[0.0, 1.0], [0.0, 1.0]])
    (plain,) = slopes(make.matrix_exp, [[0.0, 1.0], [0.0, 1.0]])
    np.testing.assert_allclose(found, np.array(plain) * scale, rtol=1e-13)


def test_derivatives_of_the_exponential_along_a_line(curvature: Curvature) -> None:
    """exp(t A) has second derivative A^2 exp(t A) by t."""
    nilpotent = leaf(np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]]))
    found = curvature(lambda t: make.matrix_exp(nilpotent * t), 0.7)
    assert found[0][0] == pytest.approx(3.0, rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from([(2, 2), (3, 2), (2, 3), (4, 3)]))
def test_axioms_of_the_pseudo_inverse(slopes: Slopes, seed: int, shape: tuple[int, int]) -> None:
    """A A+ A is A itself, so its gradient by A is the weights."""
    random = np.random.default_rng(seed)
    weights, matrix = random.normal(size=shape), random.normal(size=shape)
    (found,) = slopes(lambda x: make.matmul(make.matmul(x, pinv(x)), x) * leaf(weights), matrix)
    np.testing.assert_allclose(found, weights, atol=1e-11 * np.linalg.cond(matrix) ** 2)


def test_pseudo_inverse_of_rank_one(value: Value, slopes: Slopes) -> None:
    """Where the rank is not full the derivative is that of matrices of the same rank."""
    ones = [[1.0, 1.0], [1.0, 1.0]]
    np.testing.assert_allclose(value(pinv(leaf(np.array(ones)))), np.full((2, 2), 0.25))
    np.testing.assert_allclose(slopes(pinv, ones)[0], np.full((2, 2), -0.25))


def test_what_counts_as_zero(value: Value) -> None:
    """rtol and atol say which singular values are inverted."""
    matrix = leaf(np.diag([4.0, 1.0]))
    assert value(pinv(matrix, rtol=0.5)) == [[0.25, 0.0], [0.0, 0.0]]
    assert value(pinv(matrix, atol=2.0)) == [[0.25, 0.0], [0.0, 0.0]]
    assert value(pinv(matrix, hermitian=True)) == [[0.25, 0.0], [0.0, 1.0]]


def test_a_straight_line(value: Value, slopes: Slopes) -> None:
    """The slope of the line through (0, 1), (1, 2), (2, 2) is 1/2; by the heights it is (-1/2, 0, 1/2)."""
    places = leaf(np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]))
    heights = [[1.0], [2.0], [2.0]]
    solution, residuals, rank, _ = lstsq(places, leaf(np.array(heights))).nodes
    assert value(solution)[0] == pytest.approx([0.5])
    assert value(residuals) == pytest.approx([1 / 6])
    assert value(rank) == 2
    (found,) = slopes(lambda b: make.select(lstsq(places, b).nodes[0], 0, 0), heights)
    np.testing.assert_allclose(found, [[-0.5], [0.0], [0.5]], atol=1e-14)


def test_least_squares_refuses_other_heights() -> None:
    """A and B must have as many rows."""
    with pytest.raises(ShapeError, match=r"input.size\(-2\) should match"):
        lstsq(leaf(np.ones((3, 2))), leaf(np.ones((2, 1))))


@pytest.mark.parametrize(
    ("p", "expected"), [(None, 4.0), (2, 4.0), (-2, 0.25), (1, 4.0), ("fro", 17**0.5 * 17**0.5 / 4)]
)
def test_condition_numbers(value: Value, p: float | str | None, expected: float) -> None:
    """The condition number of diag(4, 1) in several norms."""
    assert value(cond(leaf(np.diag([4.0, 1.0])), p)) == pytest.approx(expected)


def test_slopes_of_the_condition_number(slopes: Slopes) -> None:
    """s1/s2 of diag(4, 2) has slopes 1/2 and -1 on the diagonal."""
    np.testing.assert_allclose(slopes(cond, [[4.0, 0.0], [0.0, 2.0]])[0], [[0.5, 0.0], [0.0, -1.0]], atol=1e-15)


def test_rank(value: Value) -> None:
    """The rank is an integer without a gradient."""
    matrix = leaf(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-9]]))
    assert value(matrix_rank(matrix)) == 2
    assert value(matrix_rank(matrix, tol=1e-6)) == 1
    assert value(matrix_rank(matrix, rtol=1e-6)) == 1
    assert not matrix_rank(matrix).requires_grad


@pytest.mark.parametrize("made", [pinv, cond, matrix_rank])
def test_nan_is_an_error_for_people(made: Any, value: Value) -> None:
    """Where LAPACK does not converge, as for NaN, the error says what to look for."""
    with pytest.raises(InputError, match="did not converge: is an element NaN or infinite"):
        value(made(leaf(np.full((3, 3), math.nan))))


@pytest.mark.parametrize("scale", [1e-120, 1e-100, 1.0, 1e100, 1e120])
def test_the_pseudo_inverse_of_matrices_of_any_size(slopes: Slopes, scale: float) -> None:
    """The slopes of the pseudo-inverse of a tall matrix shrink with the square of its size, and no part is lost."""
    tall = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 3.0]])
    weights = leaf(np.array([[-2.0, 0.5, 1.0], [1.0, 1.0, 0.3]]))
    plain, found = (slopes(lambda x: make.pinv(x) * weights, tall * size)[0] for size in (1.0, scale))
    np.testing.assert_allclose(np.multiply(found, scale) * scale, plain, rtol=1e-9)
