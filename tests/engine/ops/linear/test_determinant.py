"""Determinants of singular and other matrices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import ShapeError
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]


@pytest.mark.parametrize(
    ("matrix", "slope"),
    [
        ([[2.0, 6.0], [1.0, 3.0]], [[3.0, -1.0], [-6.0, 2.0]]),
        ([[0.0]], [[1.0]]),
        ([[1.0, 1.0], [1.0, 1.0]], [[1.0, -1.0], [-1.0, 1.0]]),
        ([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]),
        (
            [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]],
            [[-3.0, 6.0, -3.0], [6.0, -12.0, 6.0], [-3.0, 6.0, -3.0]],
        ),
    ],
)
def test_the_slope_of_a_singular_determinant(slopes: Slopes, matrix: Any, slope: Any) -> None:
    """The slope of a determinant is the matrix of cofactors, singular or not."""
    np.testing.assert_allclose(slopes(make.det, matrix)[0], slope, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, -1.0]), min_size=9, max_size=9))
def test_second_derivatives_of_singular_determinants(entries: list[float]) -> None:
    """The second derivative by two elements is the signed third one that is left, zero in one row or column."""
    x = leaf(np.reshape(entries, (3, 3)), requires_grad=True)
    first = gradients([make.det(x)], [leaf(np.float64(1.0))])[x]
    for row, column in ((0, 0), (1, 2)):
        weight = np.zeros((3, 3))
        weight[row, column] = 1.0
        second = gradients([first], [leaf(weight)])[x]
        found = evaluate([second])[second]
        for other in itertools.product(range(3), repeat=2):
            minor = np.delete(np.delete(x.value, row, 0), column, 1)
            wanted = 0.0
            if other[0] != row and other[1] != column:
                inner = (
                    [r for r in range(3) if r != row].index(other[0]),
                    [c for c in range(3) if c != column].index(other[1]),
                )
                wanted = (-1) ** (row + column + sum(inner)) * minor[1 - inner[0], 1 - inner[1]]
            assert found[other] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("size", [5, 9])
def test_large_singular_determinants(size: int) -> None:
    """Beyond small sizes the cofactors of a matrix of rank one less are still those of its minors."""
    matrix = np.random.default_rng(1).normal(size=(size, size))
    matrix[-1] = matrix[0] + matrix[1]
    x = leaf(matrix, requires_grad=True)
    g = gradients([make.det(x)], [leaf(np.float64(1.0))])[x]
    minors = [
        [(-1) ** (r + c) * np.linalg.det(np.delete(np.delete(matrix, r, 0), c, 1)) for c in range(size)]
        for r in range(size)
    ]
    np.testing.assert_allclose(evaluate([g])[g], minors, rtol=1e-9, atol=1e-9)


def test_second_derivatives_of_large_determinants() -> None:
    """For nine rows the derivative of the cofactors agrees with a difference quotient."""
    matrix = np.random.default_rng(1).normal(size=(9, 9))
    weight, step = np.random.default_rng(2).normal(size=(2, 9, 9))
    x = leaf(matrix, requires_grad=True)
    first = gradients([make.det(x)], [leaf(np.float64(1.0))])[x]
    second = gradients([first], [leaf(weight)])[x]
    along = np.sum(evaluate([second])[second] * step)
    ends = [evaluate([first], {x: matrix + sign * 1e-5 * step})[first] for sign in (1, -1)]
    assert along == pytest.approx(np.sum(weight * (ends[0] - ends[1])) / 2e-5, rel=1e-7)


def test_logarithms_of_determinants(value: Value, slopes: Slopes) -> None:
    """slogdet and logdet have infinite slopes with the cofactors' signs at singular matrices, NaN below zero."""
    singular = [[1.0, 1.0], [1.0, 1.0]]
    infinite = [[[math.inf, -math.inf], [-math.inf, math.inf]]]
    assert slopes(make.logdet, singular) == infinite
    assert slopes(lambda a: make.slogdet(a).nodes[1], singular) == infinite
    assert slopes(make.logdet, [[0.0, 1.0], [1.0, 0.0]]) == [[[0.0, 0.0], [0.0, 0.0]]]
    assert math.isnan(value(make.logdet(leaf(np.array([[0.0, 1.0], [1.0, 0.0]])))))
    assert value(make.slogdet(leaf(np.diag([-2.0, 3.0]))).nodes[0]) == -1.0
    np.testing.assert_allclose(slopes(make.logdet, [[2.0, 0.0], [0.0, 4.0]])[0], [[0.5, 0.0], [0.0, 0.25]])


def test_only_square_matrices_have_determinants() -> None:
    """The message says what the shape is."""
    with pytest.raises(ShapeError, match="2 by 3"):
        make.det(leaf(np.ones((2, 3))))
