"""QR and LU factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError, NoGradientError
from agrad.engine.graph import TABLE, Node, leaf, make
from agrad.engine.ops.triangular import householder
from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Curvature = Callable[..., list[list[Any]]]

qr, lu, lu_factor = (TABLE[f"linalg.{name}"] for name in ("qr", "lu", "lu_factor"))
SHAPES = st.sampled_from([(1, 1), (2, 2), (3, 2), (2, 4), (4, 4)])


def _exact(m: PreciseArithmetic, matrix: Any) -> Any:
    result = np.empty(matrix.shape, dtype=object)
    for place in np.ndindex(matrix.shape):
        result[place] = m.number(matrix[place].item())
    return result


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), shape=SHAPES)
def test_products_of_the_factors(slopes: Slopes, seed: int, shape: tuple[int, int]) -> None:
    """Q R and P L U are the matrix itself, so their gradients are the weights, high, wide or square."""
    random = np.random.default_rng(seed)
    weights, matrix = random.normal(size=shape), random.normal(size=shape)

    def by_qr(x: Node) -> Node:
        return make.matmul(*qr(x).nodes) * leaf(weights)

    def by_lu(x: Node) -> Node:
        exchange, lower, upper = lu(x).nodes
        return make.matmul(exchange, make.matmul(lower, upper)) * leaf(weights)

    scale = np.linalg.cond(matrix[:, : shape[0]]) ** 2
    np.testing.assert_allclose(slopes(by_qr, matrix)[0], weights, atol=1e-12 * scale)
    scale = max(scale, np.linalg.cond(matrix[: shape[1]]) ** 2)
    np.testing.assert_allclose(slopes(by_lu, matrix)[0], weights, atol=1e-12 * scale)


@pytest.mark.parametrize("phase", [0, 1j])
@pytest.mark.parametrize(
    "matrix", [np.eye(2), -np.eye(3), [[1.0, 2.0], [0.0, -3.0]], [[0.0, 1.0], [2.0, 3.0], [4.0, 1.0]]]
)
def test_exact_reflections_have_lapacks_signs(matrix: Any, phase: complex) -> None:
    """The formula gives LAPACK's Q and R, where nothing stands below a pivot too."""
    matrix = np.asarray(matrix) * (1 + phase)
    m = PreciseArithmetic(30)
    q, r = householder(m, _exact(m, matrix))
    expected_q, expected_r = np.linalg.qr(matrix)
    columns = matrix.shape[1]
    np.testing.assert_allclose(q[:, :columns].astype(complex), expected_q, atol=1e-14)
    np.testing.assert_allclose(r[:columns].astype(complex), expected_r, atol=1e-14)


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


def test_length_of_a_column(slopes: Slopes) -> None:
    """R of one column is its length with LAPACK's sign, so the slopes are a unit vector."""
    (found,) = slopes(lambda x: qr(x, mode="r").nodes[1], [[3.0], [4.0]])
    np.testing.assert_allclose(found, [[-0.6], [-0.8]], rtol=1e-14)


def test_complete_q(slopes: Slopes) -> None:
    """What mode='complete' adds to Q has no derivative and says so; R has, with zeros below."""
    column = leaf(np.array([[3.0], [4.0]]), requires_grad=True)
    q, r = qr(column, mode="complete").nodes
    assert (q.shape, r.shape) == ((2, 2), (2, 1))
    np.testing.assert_allclose(slopes(lambda x: qr(x, mode="complete").nodes[1], [[3.0], [4.0]])[0], [[-0.6], [-0.8]])
    with pytest.raises(NoGradientError):
        slopes(lambda x: qr(x, mode="complete").nodes[0], [[3.0], [4.0]])


def test_dependent_columns(slopes: Slopes) -> None:
    """Where the columns are dependent the factors exist and their slopes are NaN."""
    singular = [[1.0, 1.0], [1.0, 1.0]]
    assert np.isnan(slopes(lambda x: qr(x).nodes[1], singular)[0]).any()
    assert np.isnan(slopes(lambda x: lu(x).nodes[2], singular)[0]).any()
    node = lu(leaf(np.array(singular))).nodes[2]
    assert evaluate([node])[node].tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_refusals() -> None:
    """Unknown modes, and LU without pivoting, are refused in PyTorch's words."""
    matrix = leaf(np.eye(2))
    with pytest.raises(InputError, match="unrecognized mode 'full'"):
        qr(matrix, mode="full")
    with pytest.raises(InputError, match="without pivoting"):
        lu(matrix, pivot=False)
