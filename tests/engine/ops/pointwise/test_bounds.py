"""Rounding and bounds: values at halves, ties, crossed bounds, nan, and the names of the forms."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import InputError
from agrad.engine.graph import TABLE, as_node, leaf, make
from agrad.engine.run.cpu import evaluate

inf, nan = math.inf, math.nan


@pytest.mark.parametrize(
    ("name", "expected", "slope"),
    [
        ("floor", [-2.0, 0.0, 1.0, 2.0], 0.0),
        ("ceil", [-1.0, 1.0, 2.0, 3.0], 0.0),
        ("trunc", [-1.0, 0.0, 1.0, 2.0], 0.0),
        ("round", [-2.0, 0.0, 2.0, 2.0], 0.0),
        ("frac", [-0.5, 0.5, 0.5, 0.5], 1.0),
    ],
)
def test_rounding(value: Any, slopes: Any, name: str, expected: list[float], slope: float) -> None:
    """Halves go to the even integer; a derivative of 0 flows everywhere, and of 1 through frac."""
    points = [-1.5, 0.5, 1.5, 2.5]
    assert value(TABLE[name](as_node(np.array(points)))) == expected
    assert slopes(TABLE[name], points) == [[slope] * 4]


def test_decimals(value: Any) -> None:
    """round takes decimals, negative ones too; the form has a name of its own."""
    assert value(make.round(as_node(1234.5678), decimals=2)) == pytest.approx(1234.57, rel=1e-15)
    assert value(make.round(as_node(1234.5678), decimals=-2)) == 1200.0
    assert make.round(leaf(1.5, requires_grad=True), decimals=0).grad_fn == "RoundBackward1"


def test_integers_stay() -> None:
    """Rounding gives integers back as they are."""
    node = make.floor(as_node(np.array([3, -4])))
    assert node.dtype == np.int64
    assert evaluate([node])[node].tolist() == [3, -4]


@pytest.mark.parametrize(
    ("bounds", "points", "values", "expected"),
    [
        ({"min": 0.0, "max": 1.0}, [0, 1, -1, 0.5, 2, nan], [0, 1, 0, 0.5, 1, nan], [1, 1, 0, 1, 0, 0]),
        ({"min": 3.0, "max": 2.0}, [5, 0, 2.5, 2, 3], [2, 2, 2, 2, 2], [0, 0, 0, 0, 0]),
        ({"min": 0.0}, [0, -1, 1, nan], [0, 0, 1, nan], [1, 0, 1, 0]),
        ({"max": 0.0}, [0, -1, 1, nan], [0, -1, 0, nan], [1, 1, 0, 0]),
    ],
)
def test_clamp(
    value: Any, slopes: Any, bounds: dict[str, float], points: list[float], values: list[float], expected: list[float]
) -> None:
    """At a bound that is a number the derivative is 1; of crossed bounds the upper one wins; at nan the slope is 0."""
    function = lambda x: make.clamp(x, **bounds)
    assert value(function(as_node(np.array(points, float)))) == pytest.approx(values, nan_ok=True)
    assert slopes(function, points) == [expected]


def test_clamp_between_tensors(value: Any, slopes: Any) -> None:
    """At a tensor bound x has the derivative; beyond it the bound, and of crossed bounds the upper one."""
    x, low, high = [5.0, 0.0, 1.0, 3.0, 1.5], [3.0, 3.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 3.0, 2.0]
    assert value(make.clamp(*(as_node(np.array(entry)) for entry in (x, low, high)))) == [2.0, 2.0, 1.0, 3.0, 1.5]
    assert slopes(make.clamp, x, low, high) == [[0, 0, 1, 1, 1], [0, 0, 0, 0, 0], [1, 1, 0, 0, 0]]
    assert slopes(lambda x, low: make.clamp(x, min=low), [1.0, 0.0, 2.0], [1.0, 1.0, 1.0]) == [[1, 0, 1], [0, 1, 0]]
    assert slopes(lambda x, high: make.clamp(x, max=high), [1.0, 0.0, 2.0], [1.0, 1.0, 1.0]) == [[1, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("make_node", "expected"),
    [
        (lambda x: make.clamp(x, 0.0, 1.0), "ClampBackward1"),
        (lambda x: make.clamp(x, min=0.0), "ClampBackward1"),
        (lambda x: make.clamp(x, max=as_node(np.float64(1.0))), "ClampBackward0"),
        (lambda x: make.clamp(x, 0.0, as_node(np.float64(1.0))), "ClampBackward0"),
        (lambda x: make.clip(x, a_min=0.0, a_max=1.0), "ClampBackward1"),
        (lambda x: make.clamp_min(x, 0.0), "ClampMinBackward0"),
        (lambda x: make.clamp_max(x, as_node(np.float64(1.0))), "ClampMaxBackward1"),
    ],
)
def test_names(make_node: Any, expected: str) -> None:
    """The grad_fn tells numbers from tensors, and clamp from clamp_min."""
    assert make_node(leaf(np.ones(2), requires_grad=True)).grad_fn == expected


def test_clamp_without_bounds() -> None:
    """A clamp without any bound is refused, in PyTorch's words."""
    with pytest.raises(InputError, match="At least one of 'min' or 'max' must not be None"):
        make.clamp(as_node(1.0))


def test_clamp_of_integers(value: Any) -> None:
    """Integers stay integers between integer bounds, and become floats where a bound is one."""
    x = as_node(np.array([1, 5]))
    assert make.clamp(x, 2, 4).dtype == np.int64
    assert make.clamp(x, max=2.5).dtype == np.float64
    assert value(make.clamp(x, max=2.5)) == [1.0, 2.5]


def test_nan_to_num(value: Any, slopes: Any) -> None:
    """What is not finite is replaced and passes no gradient; the default for infinities is the dtype's largest."""
    points = [nan, inf, -inf, 1.0]
    assert value(make.nan_to_num(as_node(np.array(points)), 5.0, 6.0, 7.0)) == [5.0, 6.0, 7.0, 1.0]
    assert value(make.nan_to_num(as_node(np.array(points)))) == [
        0.0,
        1.7976931348623157e308,
        -1.7976931348623157e308,
        1.0,
    ]
    assert slopes(make.nan_to_num, points) == [[0.0, 0.0, 0.0, 1.0]]


def test_bounds_that_meet(slopes: Any) -> None:
    """Where both bounds are one tensor the result is that tensor, and so is the slope: 1, which PyTorch loses."""
    (found,) = slopes(lambda b: make.sum(make.clamp(leaf(np.array([-1.0, 5.0, 2.0])), b, b)), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(found, [1.0, 1.0, 1.0])
    two = leaf(np.array([2.0, 2.0, 2.0]))
    for bounds in ((two, two), (2.0, 2.0)):
        (found,) = slopes(lambda x, bounds=bounds: make.sum(make.clamp(x, *bounds)), [-1.0, 5.0, 2.0])
        np.testing.assert_array_equal(found, [0.0, 0.0, 0.0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("decimals", [1, 2, 3, 10])
def test_decimals_are_those_of_the_number_itself(dtype: Any, decimals: int) -> None:
    """1.15 is a little less than that: it is 1.1 to one decimal, though 1.15 * 10 is rounded to 11.5."""
    numbers = np.random.default_rng(decimals).standard_normal(500) * 10
    x = np.concatenate([np.round(numbers, decimals + 1), [1.15, 2.675, 0.5, 2.5, 1.005, -1.15, 0.125]]).astype(dtype)
    rounded = make.round(leaf(x), decimals=decimals)
    place = Decimal(1).scaleb(-decimals)
    expected = [float(Decimal(float(number)).quantize(place, rounding=ROUND_HALF_EVEN)) for number in x]
    assert (evaluate([rounded])[rounded] == np.array(expected).astype(dtype)).all()
