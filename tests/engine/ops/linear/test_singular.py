"""Singular values and vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import ShapeError
from agrad.engine.graph import TABLE, Node, leaf, make

Slopes = Callable[..., list[Any]]
Curvature = Callable[..., list[list[Any]]]

svd, svdvals, matrix_norm = (TABLE[f"linalg.{name}"] for name in ("svd", "svdvals", "matrix_norm"))


def test_values_and_shapes(value: Callable[[Node], Any]) -> None:
    """Singular values descend; full_matrices decides how many vectors there are."""
    matrix = leaf(np.array([[3.0, 0.0], [0.0, -4.0], [0.0, 0.0]]))
    assert value(svdvals(matrix)) == pytest.approx([4.0, 3.0])
    assert [node.shape for node in svd(matrix).nodes] == [(3, 3), (2,), (2, 2)]
    assert [node.shape for node in svd(matrix, full_matrices=False).nodes] == [(3, 2), (2,), (2, 2)]
    assert TABLE["svd"](matrix).names == ("U", "S", "V")


def test_a_vector_has_none() -> None:
    """A vector is refused in PyTorch's words."""
    with pytest.raises(ShapeError, match="at least 2 dimensions"):
        svdvals(leaf(np.ones(3)))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from([(2, 2), (3, 2), (2, 4), (4, 4)]))
def test_rebuilding_the_matrix(slopes: Slopes, seed: int, shape: tuple[int, int]) -> None:
    """U diag(S) Vh is the matrix itself, so its gradient is the weights, high, wide or square."""
    random = np.random.default_rng(seed)
    weights = random.normal(size=shape)

    def rebuilt(x: Node) -> Node:
        left, values, right = svd(x, full_matrices=False).nodes
        return make.matmul(left * values, right) * leaf(weights)

    np.testing.assert_allclose(slopes(rebuilt, random.normal(size=shape))[0], weights, atol=1e-8)


def test_slopes_of_each_singular_value(slopes: Slopes) -> None:
    """The slope of a singular value is the outer product of its two vectors."""
    (first,) = slopes(lambda x: make.select(svdvals(x), 0, 0), [[3.0, 0.0], [0.0, -4.0]])
    np.testing.assert_allclose(first, [[0.0, 0.0], [0.0, -1.0]], atol=1e-15)


def test_second_derivative_of_the_largest(curvature: Curvature) -> None:
    """Off the diagonal of diag(2, 1) the largest singular value bends by 2/(4 - 1) along one entry."""

    def largest(b: Node, c: Node) -> Node:
        rows = [make.stack([leaf(2.0), b]), make.stack([c, leaf(1.0)])]
        return make.select(svdvals(make.stack(rows)), 0, 0)

    (along, mixed), _ = curvature(largest, 0.0, 0.0)
    assert along == pytest.approx(2 / 3, rel=1e-13)
    assert mixed == pytest.approx(1 / 3, rel=1e-13)


def test_norms_at_their_kinks(slopes: Slopes) -> None:
    """Nuclear norm at a matrix of rank 1, and spectral norm at the identity, have slopes of their subdifferentials."""
    nuclear = np.array(slopes(lambda x: matrix_norm(x, "nuc"), [[1.0, 1.0], [1.0, 1.0]])[0])
    # Orthogonal, and along the matrix as steep as the norm: which sign the vectors of a zero have is LAPACK's choice.
    np.testing.assert_allclose(nuclear @ nuclear.T, np.eye(2), atol=1e-14)
    np.testing.assert_allclose(np.sum(nuclear), 2.0, atol=1e-14)
    (spectral,) = slopes(lambda x: matrix_norm(x, 2), np.eye(2))
    np.testing.assert_allclose(spectral, np.eye(2) / 2, atol=1e-15)


def test_a_single_zero_singular_value(slopes: Slopes) -> None:
    """One zero singular value of a square matrix does not disturb what is smooth there."""
    weights = np.array([[1.0, 2.0], [3.0, 5.0]])

    def rebuilt(x: Node) -> Node:
        left, values, right = svd(x).nodes
        return make.matmul(left * values, right) * leaf(weights)

    np.testing.assert_allclose(slopes(rebuilt, [[1.0, 1.0], [1.0, 1.0]])[0], weights, atol=1e-14)


def test_added_vectors_have_no_derivative(slopes: Slopes) -> None:
    """Vectors that full_matrices adds are any basis of the rest: NaN where they are used, nothing where not."""
    used = slopes(lambda x: svd(x).nodes[0], [[1.0], [1.0]])[0]
    assert np.isnan(used).all()
    unused = slopes(lambda x: make.narrow(svd(x).nodes[0], 1, 0, 1), [[3.0], [4.0]])[0]
    first = slopes(lambda x: svd(x, full_matrices=False).nodes[0], [[3.0], [4.0]])[0]
    np.testing.assert_allclose(unused, first, rtol=1e-13)
    np.testing.assert_allclose(np.abs(unused), np.abs([[4 / 125], [-3 / 125]]), rtol=1e-13)


def test_lost_directions(slopes: Slopes) -> None:
    """Vectors of a singular value that is lost in rounding have no slope: NaN, not a number made of rounding."""
    weights = np.arange(6.0).reshape(3, 2)
    (found,) = slopes(
        lambda x: svd(x, full_matrices=False).nodes[0] * leaf(weights), [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    )
    assert np.isnan(found).any()
