"""Norms: zero vectors, ties, ranges that squares do not have."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Node, leaf, make
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]

linalg_norm = TABLE["linalg.norm"]


@pytest.mark.parametrize(
    ("order", "x", "norm", "slope"),
    [
        (2, [0, 0], 0, [0, 0]),
        (1, [0, 2], 2, [0, 1]),
        (math.inf, [2, -2, 1], 2, [0.5, -0.5, 0]),
        (math.inf, [0, 0], 0, [0, 0]),
        (-math.inf, [2, -2, 3], 2, [0.5, -0.5, 0]),
        (0.5, [0, 1], 1, [0, 1]),
        (3, [0, 0], 0, [0, 0]),
        (2, [3, -4], 5, [0.6, -0.8]),
    ],
)
def test_norms_at_their_kinks(
    value: Value, slopes: Slopes, order: float, x: list[float], norm: float, slope: list[float]
) -> None:
    """At zeros and ties a norm's slope is PyTorch's."""
    assert value(make.vector_norm(leaf(np.array(x, dtype=float)), order)) == pytest.approx(norm)
    np.testing.assert_allclose(slopes(lambda v: make.vector_norm(v, order), x)[0], slope)


def test_a_count_has_no_slope(slopes: Slopes) -> None:
    """The norm of order 0 counts, and nothing flows through it."""
    assert slopes(lambda v: make.vector_norm(v, 0), [0.0, 2.0]) == [None]


@pytest.mark.parametrize("scale", [1e200, 1e-200, 5e-324 * 2**20])
@pytest.mark.parametrize("order", [2.0, 3.0])
def test_norms_of_any_size(value: Value, slopes: Slopes, scale: float, order: float) -> None:
    """A norm whose squares overflow or vanish is right, and so is its slope."""
    x = np.array([3.0, 4.0]) * scale
    expected = (3.0**order + 4.0**order) ** (1 / order)
    assert value(make.norm(leaf(x), order)) / scale == pytest.approx(expected, rel=1e-5)
    wanted = (np.array([3.0, 4.0]) / expected) ** (order - 1)
    np.testing.assert_allclose(slopes(lambda v: make.norm(v, order), x)[0], wanted, rtol=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-5.0, 5.0), min_size=1, max_size=5), st.sampled_from([1.0, 1.5, 2.0, 3.0, math.inf]))
def test_norms_are_homogeneous(row: list[float], order: float) -> None:
    """Euler's relation: the slope times the vector is the norm."""
    x = leaf(np.array(row), requires_grad=True)
    norm = make.vector_norm(x, order)
    g = gradients([norm], [leaf(np.float64(1.0))])[x]
    values = evaluate([norm, g])
    assert np.dot(values[g], row) == pytest.approx(float(values[norm]), rel=1e-9, abs=1e-300)


def test_rows_of_zeros_do_not_spoil_others(slopes: Slopes) -> None:
    """The norm over an axis has slope 0 in a zero row and the right one in the others."""
    found = slopes(lambda v: make.norm(v, 2, 1), [[0.0, 0.0], [3.0, 4.0], [3e200, 4e200]])[0]
    np.testing.assert_allclose(found, [[0.0, 0.0], [0.6, 0.8], [0.6, 0.8]])


@pytest.mark.parametrize(
    ("order", "norm", "grad_fn"),
    [
        (None, math.sqrt(30), "LinalgVectorNormBackward0"),
        ("fro", math.sqrt(30), "LinalgVectorNormBackward0"),
        (1, 6.0, "AmaxBackward0"),
        (-1, 4.0, "AminBackward0"),
        (math.inf, 7.0, "AmaxBackward0"),
        (-math.inf, 3.0, "AminBackward0"),
    ],
)
def test_matrix_norms(value: Value, order: Any, norm: float, grad_fn: str) -> None:
    """torch.linalg.norm of a matrix is a matrix norm where an order is given; torch.norm is one of its elements."""
    matrix = leaf(np.array([[1.0, -2.0], [3.0, 4.0]]), requires_grad=True)
    node = linalg_norm(matrix, order)
    assert value(node) == pytest.approx(norm)
    assert node.grad_fn == grad_fn
    assert value(make.norm(matrix, 1)) == 10.0


def test_wrong_orders_and_dims_are_told() -> None:
    """An order that no norm has, or one dim too few, is an error with what to write."""
    matrix = leaf(np.ones((2, 2)))
    with pytest.raises(InputError, match="Order 3"):
        linalg_norm(matrix, 3)
    with pytest.raises(InputError, match="must have at least 2 dimensions"):
        linalg_norm(matrix, "fro", 0)
    with pytest.raises(InputError, match="must be a number"):
        make.norm(matrix, "max")


def test_renorm_shortens_what_is_too_long(value: Value) -> None:
    """Slices longer than the largest norm are scaled down to it, others stay."""
    found = value(make.renorm(leaf(np.array([[3.0, 4.0], [0.3, 0.4]])), 2, 0, 1.0))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
