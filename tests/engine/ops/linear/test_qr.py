"""QR factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError, NoGradientError
from agrad.engine.graph import TABLE, leaf, make
from agrad.engine.ops.linear.qr import householder
from agrad.engine.referees.arithmetic import PreciseArithmetic

Slopes = Callable[..., list[Any]]

qr = TABLE["linalg.qr"]


def _exact(m: PreciseArithmetic, matrix: Any) -> Any:
    result = np.empty(matrix.shape, dtype=object)
    for place in np.ndindex(matrix.shape):
        result[place] = m.number(matrix[place].item())
    return result


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from([(1, 1), (2, 2), (3, 2), (2, 4), (4, 4)]))
def test_product_of_the_factors(slopes: Slopes, seed: int, shape: tuple[int, int]) -> None:
    """Q R is the matrix itself, so its gradient is the weights, high, wide or square."""
    random = np.random.default_rng(seed)
    weights, matrix = random.normal(size=shape), random.normal(size=shape)
    (found,) = slopes(lambda x: make.matmul(*qr(x).nodes) * leaf(weights), matrix)
    scale = np.linalg.cond(matrix[:, : shape[0]]) ** 2
    np.testing.assert_allclose(found, weights, atol=1e-12 * scale)


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
    assert np.isnan(slopes(lambda x: qr(x).nodes[1], [[1.0, 1.0], [1.0, 1.0]])[0]).any()
    assert np.isnan(slopes(lambda x: qr(x).nodes[1], [[0.1, 0.3], [0.7, 2.1]])[0]).any()


def test_small_columns_are_not_dependent(slopes: Slopes) -> None:
    """A column that is small as a whole is no dependent one."""
    small = slopes(lambda x: qr(x).nodes[1], [[1.0, 0.0], [0.0, 1e-30]])[0]
    np.testing.assert_allclose(np.abs(small), [[1.0, 1.0], [1e-30, 1.0]], rtol=1e-15)


def test_unknown_mode() -> None:
    """Unknown modes are refused in PyTorch's words."""
    with pytest.raises(InputError, match="unrecognized mode 'full'"):
        qr(leaf(np.eye(2)), mode="full")
