"""LU factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.graph import TABLE, Node, leaf, make

Slopes = Callable[..., list[Any]]
Curvature = Callable[..., list[list[Any]]]

lu, lu_factor = TABLE["linalg.lu"], TABLE["linalg.lu_factor"]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from([(1, 1), (2, 2), (3, 2), (2, 4), (4, 4)]))
def test_product_of_the_factors(slopes: Slopes, seed: int, shape: tuple[int, int]) -> None:
    """P L U is the matrix itself, so its gradient is the weights, high, wide or square."""
    random = np.random.default_rng(seed)
    weights, matrix = random.normal(size=shape), random.normal(size=shape)

    def product(x: Node) -> Node:
        exchange, lower, upper = lu(x).nodes
        return make.matmul(exchange, make.matmul(lower, upper)) * leaf(weights)

    rows, columns = shape
    scale = max(np.linalg.cond(part) for part in (matrix[:, :rows], matrix[:columns])) ** 2
    np.testing.assert_allclose(slopes(product, matrix)[0], weights, atol=1e-12 * scale)


def test_lu_by_hand(value: Callable[[Node], Any], slopes: Slopes) -> None:
    """Of [[1, 2], [4, 3]] the rows are exchanged, the multiplier is 1/4 and the last pivot 5/4."""
    matrix = leaf(np.array([[1.0, 2.0], [4.0, 3.0]]))
    assert [value(node) for node in lu(matrix).nodes] == [
        [[0.0, 1.0], [1.0, 0.0]],
        [[1.0, 0.0], [0.25, 1.0]],
        [[4.0, 3.0], [0.0, 1.25]],
    ]
    both, pivots = lu_factor(matrix).nodes
    assert value(both) == [[4.0, 3.0], [0.25, 1.25]]
    assert value(pivots) == [2, 2]
    # The last pivot is b - a d / c.
    (last,) = slopes(lambda x: make.select(make.select(lu(x).nodes[2], 0, 1), 0, 1), [[1.0, 2.0], [4.0, 3.0]])
    assert last == [[-0.75, 1.0], [3 / 16, -0.25]]


def test_second_derivative_of_a_pivot(curvature: Curvature) -> None:
    """The last pivot b - a d / c has second derivatives 0 by a, and -2 a d / c^3 by c."""

    def pivot(a: Node, c: Node) -> Node:
        matrix = make.stack([make.stack([a, leaf(2.0)]), make.stack([c, leaf(3.0)])])
        return make.select(make.select(lu(matrix).nodes[2], 0, 1), 0, 1)

    (aa, ac), (_, cc) = curvature(pivot, 1.0, 4.0)
    assert aa == 0.0
    assert ac == pytest.approx(3 / 16)
    assert cc == pytest.approx(-6 / 64)


def test_singular_matrix(value: Callable[[Node], Any], slopes: Slopes) -> None:
    """A singular matrix has factors, and their slopes are NaN."""
    singular = [[1.0, 1.0], [1.0, 1.0]]
    assert value(lu(leaf(np.array(singular))).nodes[2]) == [[1.0, 1.0], [0.0, 0.0]]
    assert np.isnan(slopes(lambda x: lu(x).nodes[2], singular)[0]).any()


def test_without_pivoting() -> None:
    """LU without pivoting is refused, as by PyTorch on the CPU."""
    with pytest.raises(InputError, match="without pivoting"):
        lu(leaf(np.eye(2)), pivot=False)
