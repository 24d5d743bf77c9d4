"""Running sums, products and extremes."""

from __future__ import annotations

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
    ("x", "slope"),
    [([2, 0, 3], [1, 8, 0]), ([0, 0, 3], [1, 0, 0]), ([1, 2, 3], [9, 4, 2]), ([0, 5], [6, 0])],
)
def test_running_products_with_zeros(slopes: Slopes, x: list[float], slope: list[float]) -> None:
    """The slope of the sum of running products is right wherever zeros stand."""
    assert slopes(lambda v: make.cumprod(v, 0), x) == [slope]


def test_the_second_derivative_through_running_products(curvature: Callable[..., Any]) -> None:
    """The second derivative of a weighted running product through a zero is the recorded 46."""
    weights = leaf(np.array([1.0, 2.0, 3.0]))

    def function(s: Node) -> Node:
        return make.sum(weights * make.cumprod(make.stack([s, s - 1.0, 2.0 * s + 3.0]), 0))

    assert curvature(function, 1.0) == [[46.0]]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([0.0, -1.0, 0.5, 2.0]), min_size=1, max_size=7), st.integers(0, 6))
def test_each_running_product_against_brute_force(x: list[float], place: int) -> None:
    """One running product has as slope the product of the others up to it."""
    place %= len(x)
    node = leaf(np.array(x), requires_grad=True)
    weight = np.eye(len(x))[place]
    g = gradients([make.cumprod(node, 0)], [leaf(weight)])[node]
    wanted = [math.prod(x[:entry] + x[entry + 1 : place + 1]) if entry <= place else 0.0 for entry in range(len(x))]
    np.testing.assert_allclose(evaluate([g])[g], wanted)


@pytest.mark.parametrize("length", [128, 129, 1000])
def test_long_running_products_agree_with_short_steps(length: int) -> None:
    """Beyond a length the recurrence doubles its steps; its values stay those of one step after another."""
    factors = np.linspace(0.9, 1.1, length)
    factors[length // 3] = 0.0
    terms = np.cos(np.arange(length))
    node = make.recurrence(leaf(factors), leaf(terms), 0)
    wanted = terms.copy()
    for entry in range(1, length):
        wanted[entry] += factors[entry] * wanted[entry - 1]
    np.testing.assert_allclose(evaluate([node])[node], wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "x", "slope"),
    [("cummax", [1, 1, 2], [1, 1, 1]), ("cummin", [1, 1, 0], [1, 1, 1]), ("cummax", [3, 1, 2], [3, 0, 0])],
)
def test_running_extremes_and_ties(slopes: Slopes, name: str, x: list[float], slope: list[float]) -> None:
    """The last of equal ones gets the slope."""
    assert slopes(lambda v: getattr(make, name)(v, 0).nodes[0], x) == [slope]


def test_running_extremes_keep_a_nan(value: Value) -> None:
    """From the first NaN on every running extreme is NaN, and its index is that NaN's."""
    values, indices = make.cummax(leaf(np.array([1.0, math.nan, 3.0, math.nan])), 0).nodes
    np.testing.assert_array_equal(value(values), [1.0, math.nan, math.nan, math.nan])
    assert value(indices) == [0, 1, 1, 1]


def test_running_log_sums_are_stable(value: Value, slopes: Slopes) -> None:
    """Neither huge numbers nor -inf spoil a running logarithm of sums of exponentials."""
    assert value(make.logcumsumexp(leaf(np.array([1000.0, 1000.0])), 0)) == [1000.0, 1000.0 + math.log(2)]
    np.testing.assert_allclose(
        slopes(lambda v: make.logcumsumexp(v, 0), [1000.0, -1000.0, 1001.0])[0],
        [2.268941421369995, 0.0, 0.731058578630005],
        rtol=1e-12,
    )
    np.testing.assert_array_equal(slopes(lambda v: make.logcumsumexp(v, 0), [-math.inf, 0.0])[0], [math.nan, 1.0])
    assert slopes(lambda v: make.select(make.logcumsumexp(v, 0), 0, 1), [0.0, 0.0]) == [[0.5, 0.5]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: make.cumsum(x, 0),
        lambda x: make.cumprod(x, -1),
        lambda x: make.logcumsumexp(x, 0),
        lambda x: make.cummax(x, 0).nodes[0],
    ],
)
def test_a_number_runs_along_axis_0(slopes: Slopes, function: Callable[[Node], Node]) -> None:
    """A tensor without axes passes through with slope 1."""
    assert slopes(function, 2.0) == [1.0]


def test_running_sums_and_differences_undo_each_other(value: Value, slopes: Slopes) -> None:
    """diff of cumsum gives the elements back; n differences of too few leave nothing."""
    x = leaf(np.array([[1.0, 2.0, 4.0]]))
    assert value(make.diff(make.cumsum(x, 1), prepend=leaf(np.zeros((1, 1))))) == [[1.0, 2.0, 4.0]]
    assert value(make.diff(x, 2)) == [[1.0]]
    assert make.diff(x, 5).shape == (1, 0)
    assert slopes(lambda v: make.cumsum(v, 0), [1.0, 2.0, 3.0]) == [[3.0, 2.0, 1.0]]


def test_diff_needs_an_axis() -> None:
    """A tensor without axes is refused in PyTorch's words."""
    with pytest.raises(ShapeError, match="diff expects input to be at least one-dimensional"):
        make.diff(leaf(np.float64(1.0)))


def test_the_slopes_of_running_log_sums_of_huge_equal_numbers(slopes: Slopes) -> None:
    """Beside numbers that swallow the logarithm of a count, equal ones still share each result evenly."""
    for size in (0.0, 1e16, -1.42e303, 1e300):
        found = slopes(lambda x: make.logcumsumexp(x, 0) * leaf(np.array([0.5, 0.5, -2.0])), [size] * 3)
        np.testing.assert_allclose(found[0], [1 / 12, -5 / 12, -2 / 3], rtol=1e-14)


def test_running_products_come_back_into_range(value: Value, slopes: Slopes) -> None:
    """A product beyond the range of its dtype is no end: what follows brings it back, in value and slope."""
    small, large = [1e-200, 1e-200, 1e300, 4.0], [1e200, 1e200, 1e-300, 4.0]
    np.testing.assert_allclose(value(make.cumprod(leaf(np.array(small)), 0)), [1e-200, 0.0, 1e-100, 4e-100], rtol=1e-14)
    np.testing.assert_allclose(value(make.cumprod(leaf(np.array(large)), 0)), [1e200, np.inf, 1e100, 4e100], rtol=1e-14)
    found = slopes(lambda x: make.cumprod(x, 0), [1e-200, 1e-200, 1e300, 0.0])
    np.testing.assert_allclose(found[0], [1e100, 1e100, 0.0, 1e-100], rtol=1e-14)


@pytest.mark.parametrize("length", [3, 700, 1500])
def test_running_products_in_range_keep_every_bit(value: Value, length: int) -> None:
    """Where nothing leaves the range, the products are NumPy's own, however long the axis."""
    x = np.random.default_rng(length).uniform(0.5, 2.0, (length, 2))
    x[:, 1] = np.where(np.arange(length) % 2, 1 / x[0, 1], x[0, 1])
    x[:, 0] = np.where(np.arange(length) % 2, 1 / x[0, 0], x[0, 0])
    np.testing.assert_array_equal(value(make.cumprod(leaf(x), 0)), np.cumprod(x, axis=0))
    far = np.concatenate((x, np.full((1, 2), 1e-200), np.full((1, 2), 1e-200), np.full((2, 2), 1e200)))
    np.testing.assert_allclose(value(make.cumprod(leaf(far), 0))[-1], np.prod(x, axis=0), rtol=1e-12)
