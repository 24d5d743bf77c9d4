"""Sums, means, products and counts: names, edges, zeros."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]

FACTORS = st.lists(st.sampled_from([0.0, -2.0, 0.5, 3.0]), min_size=1, max_size=5)


def variable(value: Any) -> Node:
    """A float64 leaf that requires a gradient."""
    return leaf(np.asarray(value, dtype=np.float64)[()], requires_grad=True)


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (make.sum, "SumBackward0"),
        (lambda x: make.sum(x, 0), "SumBackward1"),
        (lambda x: make.sum(x, None, True), "SumBackward1"),
        (make.mean, "MeanBackward0"),
        (lambda x: make.mean(x, (0, 1)), "MeanBackward1"),
        (make.prod, "ProdBackward0"),
        (lambda x: make.prod(x, 1), "ProdBackward1"),
        (make.nansum, "NansumBackward0"),
        (make.nanmean, "DivBackward0"),
        (make.trapezoid, "MulBackward1"),
        (lambda x: make.trapezoid(x, leaf(np.array([0.0, 1.0, 3.0]))), "DivBackward1"),
    ],
)
def test_grad_fn_follows_the_form(node: Callable[[Node], Node], name: str) -> None:
    """The name of grad_fn tells whether axes were named."""
    assert node(variable([[1.0, 2.0, 4.0], [3.0, 5.0, 7.0]])).grad_fn == name


def test_sums_of_integers_and_booleans_count(value: Value) -> None:
    """A sum of integers or booleans is a 64-bit integer; a mean of them is a float."""
    flags = leaf(np.array([True, False, True]))
    assert make.sum(flags).dtype == np.int64
    assert value(make.sum(flags)) == 2
    assert value(make.mean(leaf(np.array([1, 2])))) == 1.5
    assert value(make.count_nonzero(leaf(np.array([[0, 2], [3, 0]])), 0)) == [1, 1]
    assert value(make.all(flags)) is False
    assert value(make.any(flags)) is True


def test_folds_of_nothing(value: Value, slopes: Slopes) -> None:
    """The sum of no elements is 0, the product 1, the mean NaN, and nothing of it is an error."""
    assert value(make.sum(leaf(np.zeros(0)))) == 0.0
    assert value(make.prod(leaf(np.zeros(0)))) == 1.0
    assert math.isnan(value(make.mean(leaf(np.zeros(0)))))
    assert slopes(make.prod, []) == [[]]
    assert slopes(make.mean, []) == [[]]


def test_a_number_may_be_folded_along_axis_0(slopes: Slopes) -> None:
    """A tensor without axes takes dim 0 and -1, as in PyTorch."""
    for fold in (make.sum, make.mean, make.prod, make.nansum):
        assert slopes(lambda x, fold=fold: fold(x, 0), 2.0) == [1.0]
        assert slopes(lambda x, fold=fold: fold(x, -1), 2.0) == [1.0]


def test_nan_does_not_count(value: Value, slopes: Slopes) -> None:
    """A NaN adds nothing to a nansum or nanmean and gets no gradient."""
    assert value(make.nansum(leaf(np.array([math.nan, 1.0])))) == 1.0
    assert slopes(make.nansum, [math.nan, 1.0]) == [[0.0, 1.0]]
    assert slopes(make.nanmean, [math.nan, 1.0, 3.0]) == [[0.0, 0.5, 0.5]]


@pytest.mark.parametrize(
    ("x", "slope"),
    [
        ([0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
        ([0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
        ([4.0, 0.0, 5.0], [0.0, 20.0, 0.0]),
        ([2.0], [1.0]),
        ([math.nan, 2.0, 3.0], [6.0, math.nan, math.nan]),
        ([math.inf, 0.0, 3.0], [0.0, math.inf, math.nan]),
    ],
)
def test_the_slope_of_a_product_is_the_product_of_the_others(
    slopes: Slopes, x: list[float], slope: list[float]
) -> None:
    """A product with zeros, infinities or NaN has as slope what the others give, without a division."""
    np.testing.assert_array_equal(slopes(make.prod, x)[0], slope)


@settings(max_examples=30, deadline=None)
@given(FACTORS)
def test_products_with_zeros_have_all_derivatives(x: list[float]) -> None:
    """The first three derivatives of a product are products of the other elements, however many are zero."""
    node = variable(x)
    first = gradients([make.prod(node)], [leaf(np.float64(1.0))])[node]
    places = range(len(x))
    for place in places:
        row = _entry_gradient(first, node, place)
        np.testing.assert_allclose(_value(row), [_others(x, place, other) for other in places], atol=1e-12)
        if len(x) > 2 and place == 0 and row is not None:
            for other in places:
                wanted = [_others(x, place, other, third) for third in places]
                np.testing.assert_allclose(_value(_entry_gradient(row, node, other)), wanted, atol=1e-12)


def _others(x: list[float], *used: int) -> float:
    """The product of all elements but some; 0 where a place is named twice, in which the product is linear."""
    if len(set(used)) < len(used):
        return 0.0
    return math.prod(value for place, value in enumerate(x) if place not in used)


def _entry_gradient(first: Node, node: Node, place: int) -> Node | None:
    weight = np.zeros(node.shape)
    weight[place] = 1.0
    return gradients([first], [leaf(weight)]).get(node)


def _value(node: Node | None) -> Any:
    return 0.0 if node is None else evaluate([node])[node]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([0.0, 2.0, -1.0]), min_size=8, max_size=8))
def test_products_along_any_axes_agree_with_brute_force(entries: list[float]) -> None:
    """The slope of a product over one axis or all is the product of the others there."""
    x = np.array(entries).reshape(2, 2, 2)
    for dim in (0, 1, 2, None):
        node = variable(x)
        result = make.prod(node, dim)
        slope = evaluate([g := gradients([result], [leaf(np.ones(result.shape)[()])])[node]])[g]
        for place in itertools.product(range(2), repeat=3):
            changed = x.copy()
            changed[place] = 1.0
            wanted = changed.prod() if dim is None else changed.prod(axis=dim)[tuple(np.delete(place, dim))]
            assert slope[place] == wanted


def test_the_trapezoidal_rule(value: Value, slopes: Slopes) -> None:
    """The integral of x**2 through its values at 0, 1, 3 is 0.5 + 10, and each value weighs half its two steps."""
    assert value(make.trapezoid(leaf(np.array([0.0, 1.0, 9.0])), leaf(np.array([0.0, 1.0, 3.0])))) == 10.5
    places = leaf(np.array([0.0, 1.0, 3.0]))
    assert slopes(lambda y: make.trapezoid(y, places), [0.0, 1.0, 9.0]) == [[0.5, 1.5, 1.0]]
    assert slopes(lambda y: make.trapezoid(y, dx=0.5), [0.0, 1.0, 9.0]) == [[0.25, 0.5, 0.25]]
    assert value(make.cumulative_trapezoid(leaf(np.array([1.0, 3.0, 5.0])))) == [2.0, 6.0]


@pytest.mark.parametrize(
    ("x", "product", "slope"),
    [
        ([1e-200, 1e-200, 1e300, 1e200], 1e100, [1e300, 1e300, 1e-200, 1e-100]),
        ([1e200, 1e200, 1e-300, 1e-200], 1e-100, [1e-300, 1e-300, 1e200, 1e100]),
        ([1e-200, 1e-200, 1e300, 0.0], 0.0, [0.0, 0.0, 0.0, 1e-100]),
        ([1e200, 1e200, 1e-300, 0.0], 0.0, [0.0, 0.0, 0.0, 1e100]),
    ],
)
def test_products_come_back_into_range(
    value: Value, slopes: Slopes, x: list[float], product: float, slope: list[float]
) -> None:
    """A product, and that of all others, is right where some of its factors alone are out of range."""
    assert value(make.prod(leaf(np.array(x)))) == pytest.approx(product, rel=1e-14, abs=0)
    np.testing.assert_allclose(slopes(make.prod, x)[0], slope, rtol=1e-14, atol=0)
    table = np.array([x, [1.5, 2.0, 3.0, 0.5]])
    np.testing.assert_allclose(value(make.prod(leaf(table), 1)), [product, 4.5], rtol=1e-14, atol=0)
    assert value(make.prod(leaf(table))) == pytest.approx(product * 4.5, rel=1e-14, abs=0)


def test_the_second_derivative_through_a_product_out_of_range(curvature: Callable[..., Any]) -> None:
    """The slope of the product of all others is itself differentiated."""
    rest = [leaf(number) for number in (1e-200, 1e-120, 1e300, 1e20)]
    found = curvature(lambda t: make.prod(make.stack([t, t, *rest])), 3.0)
    np.testing.assert_allclose(found[0][0], 2.0, rtol=1e-13)
