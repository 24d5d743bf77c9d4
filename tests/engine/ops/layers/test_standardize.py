"""Standardised rows, and the deviation that they are divided by, whatever the size of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]
SIZES = [1e-290, 1e-200, 1e-100, 1.0, 1e16, 1e155, 1e200, 1e300]
LARGE = 300_000
"""Elements from which a row is taken apart into passes."""


def _weighted(about_mean: bool, eps: float) -> Callable[[Node], Node]:
    weights = leaf(np.array([[0.5, 1.0, -2.0, 0.25], [1.0, -0.5, 0.5, 2.0]]))
    return lambda x: make.standardize(x, (1,), eps, about_mean) * weights


@pytest.mark.parametrize("about_mean", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_rows_of_any_size(value: Value, slopes: Slopes, size: float, about_mean: bool) -> None:
    """Without eps the result does not depend on the size of a row, and its slopes are one over it."""
    x = np.array([[1.0, 2.0, -3.0, 0.5], [4.0, 4.0, 5.0, -1.0]])
    function = _weighted(about_mean, 0.0)
    np.testing.assert_allclose(value(function(leaf(x * size))), value(function(leaf(x))), rtol=1e-14)
    (plain,), (found,) = slopes(function, x), slopes(function, x * size)
    np.testing.assert_allclose(np.multiply(found, size), plain, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("about_mean", [True, False])
def test_ordinary_rows_keep_every_bit(value: Value, about_mean: bool) -> None:
    """Where no square is lost the result is the plain quotient, bit by bit, also beside a row that is huge."""
    x = np.random.default_rng(5).standard_normal((3, 7))
    apart = x - x[:, :1]
    apart = apart - apart.mean(axis=1, keepdims=True) if about_mean else x
    expected = apart / np.sqrt((apart * apart).mean(axis=1, keepdims=True) + 1e-5)
    np.testing.assert_array_equal(value(make.standardize(leaf(x), (1,), 1e-5, about_mean)), expected)
    with_huge = np.concatenate((x, x[:1] * 1e200))
    np.testing.assert_array_equal(value(make.standardize(leaf(with_huge), (1,), 1e-5, about_mean))[:3], expected)


def test_the_slopes_beside_one_huge_number(slopes: Slopes) -> None:
    """Where one number is so large that its square overflows, the others' slopes are those of exact numbers."""
    weight = leaf(np.array([[0.0, 0.0, 0.0], [-0.086 * 20.5, 0.5e8, 2e300]]))
    x = [[1.0, 2.0, 3.0], [1.18, 1e300, -2.7318]]
    (found,) = slopes(lambda x: make.layer_norm(x, (3,)) * weight, x)
    np.testing.assert_allclose(found[1], [-2.1213203435596424, 0.0, 2.1213203435596424], rtol=1e-14, atol=1e-15)
    (mean_square,) = slopes(lambda x: make.rms_norm(x, (3,)), [[1e200, 1.0, 2.0]])
    np.testing.assert_allclose(mean_square[0][1:], [3**0.5 * 1e-200] * 2, rtol=1e-14, atol=0)


@pytest.mark.parametrize("about_mean", [True, False])
def test_second_derivatives_of_huge_rows(curvature: Callable[..., Any], about_mean: bool) -> None:
    """Second derivatives shrink with the square of the size, and are not lost before that."""

    def along(size: float) -> Callable[[Node], Node]:
        rest = [leaf(2.0 * size), leaf(-3.0 * size)]
        return lambda t: make.sum(
            make.standardize(make.stack([t, *rest]), (0,), 0.0, about_mean) * leaf(np.array([1.0, 0.5, 2.0]))
        )

    plain = curvature(along(1.0), 0.75)[0][0]
    assert curvature(along(1e150), 0.75e150)[0][0] * 1e150 * 1e150 == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("about_mean", [True, False])
@pytest.mark.parametrize("dim", [(1,), (0,)])
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_large_arrays_of_any_size(size: float, dim: tuple[int, ...], about_mean: bool) -> None:
    """An array that is taken apart into passes gives what small ones do, squares that overflow or vanish included."""
    x = np.random.default_rng(7).standard_normal((LARGE // 500, 500))
    node = leaf(x * size, requires_grad=True)
    result = make.standardize(node, dim, 0.0, about_mean)
    slope = gradients([result], [leaf(np.random.default_rng(8).standard_normal(x.shape))])[node]
    values = evaluate([result, slope])
    plain = leaf(x, requires_grad=True)
    wanted = make.standardize.kernel(np, x, dim, 0.0, about_mean)
    np.testing.assert_allclose(values[result], wanted, rtol=1e-11, atol=1e-13)
    other = make.standardize(plain, dim, 0.0, about_mean)
    expected = gradients([other], [leaf(np.random.default_rng(8).standard_normal(x.shape))])[plain]
    np.testing.assert_allclose(values[slope] * size, evaluate([expected])[expected], rtol=1e-11, atol=1e-12)
