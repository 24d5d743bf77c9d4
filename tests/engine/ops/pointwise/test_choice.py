"""where, the extremes of two tensors at ties and NaN, copysign."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.errors import InputError, NoGradientError, ShapeError
from agrad.engine.graph import Node, leaf, make

Slopes = Callable[..., list[Any]]
Curvature = Callable[..., list[list[Any]]]
Value = Callable[[Node], Any]

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("op", "point", "expected"),
    [
        ("maximum", (1.0, 1.0), [0.5, 0.5]),
        ("minimum", (1.0, 1.0), [0.5, 0.5]),
        ("fmax", (1.0, 1.0), [1.0, 0.0]),
        ("fmin", (1.0, 1.0), [1.0, 0.0]),
        ("maximum", (NAN, 1.0), [1.0, 1.0]),
        ("minimum", (1.0, NAN), [1.0, 1.0]),
        ("fmax", (NAN, 1.0), [0.0, 1.0]),
        ("fmin", (1.0, NAN), [1.0, 0.0]),
        ("copysign", (0.0, -1.0), [0.0, 0.0]),
        ("copysign", (2.0, -1.0), [-1.0, 0.0]),
        ("copysign", (-INF, -1.0), [1.0, 0.0]),
    ],
)
def test_slopes_at_ties_and_nan(slopes: Slopes, op: str, point: tuple[float, float], expected: list[float]) -> None:
    """Ties, NaN and zeros follow PyTorch's convention."""
    assert slopes(getattr(make, op), *point) == expected


def test_nan_wins_or_loses(value: Value) -> None:
    """maximum and minimum keep NaN, fmax and fmin avoid it."""
    number, nan = leaf(np.float64(1.0)), leaf(np.float64(NAN))
    assert math.isnan(value(make.maximum(number, nan)))
    assert math.isnan(value(make.minimum(nan, number)))
    assert value(make.fmax(number, nan)) == 1.0
    assert value(make.fmin(nan, number)) == 1.0


@given(x=st.floats(allow_nan=False), y=st.floats(allow_nan=False))
def test_slopes_of_extremes_sum_to_one(slopes: Slopes, x: float, y: float) -> None:
    """Whatever the numbers, ties and infinities included, the slopes of an extreme add up to 1."""
    for op in (make.maximum, make.minimum, make.fmax, make.fmin):
        assert sum(slopes(op, x, y)) == 1.0


def test_a_dropped_infinite_cotangent_stops(slopes: Slopes) -> None:
    """An infinite cotangent of the larger argument leaves the smaller one at 0, not NaN."""
    assert slopes(lambda x, y: make.sqrt(make.maximum(x, y)), -1.0, 0.0) == [0.0, INF]


@pytest.mark.parametrize("dead", [-1.0, 0.0])
def test_the_dead_branch_stops(slopes: Slopes, curvature: Curvature, dead: float) -> None:
    """The slope of where(x > 0, sqrt(x), 0) is 0 at 0 and below, at the first and at the second order."""
    function = lambda x: make.where(x > 0.0, make.sqrt(x), 0.0)
    assert slopes(function, dead) == [0.0]
    assert curvature(function, dead) == [[0.0]]


@given(x=st.lists(st.sampled_from([-1e300, -2.0, -0.0, 0.0, 2.0, 800.0, INF, -INF]), min_size=1, max_size=5))
def test_dead_branches_never_leak(slopes: Slopes, x: list[float]) -> None:
    """The gradient of where is finite whatever the dead branch holds: poles, overflow, logarithms below 0."""
    for bad in (lambda x: 1.0 / (x - x), make.log, lambda x: make.exp(x) ** 2, lambda x: make.pow(0.0, x)):
        found = slopes(lambda x, bad=bad: make.where(leaf(np.array(False)), bad(x), 3.0 * x), x)
        assert found == [[3.0] * len(x)]


def test_where_splits_the_cotangent(slopes: Slopes) -> None:
    """Each branch gets the cotangent where it was taken, and broadcasting is undone."""
    condition = leaf(np.array([True, False]))
    assert slopes(lambda x, y: make.where(condition, x, y), [1.0, 2.0], [3.0, 4.0]) == [[1.0, 0.0], [0.0, 1.0]]
    assert slopes(lambda x, y: make.where(condition, x, y), 1.0, [3.0, 4.0]) == [1.0, [0.0, 1.0]]


def test_where_in_both_forms(value: Value) -> None:
    """The method's argument order x.where(c, y) means the same as where(c, x, y)."""
    condition, x = leaf(np.array([True, False])), leaf(np.array([1.0, 2.0]))
    assert value(make.where(condition, x, 0.0)) == value(make.where(x, condition, 0.0)) == [1.0, 0.0]


def test_where_wants_a_condition() -> None:
    """Numbers as the condition are refused with a comparison to write; shapes that do not fit are refused too."""
    with pytest.raises(InputError, match="boolean tensor") as caught:
        make.where(leaf(1.0), leaf(2.0), leaf(3.0))
    assert "!= 0" in caught.value.hint
    with pytest.raises(ShapeError):
        make.where(leaf(np.array([True, False])), leaf(np.ones(3)), 0.0)


def test_where_keeps_the_dtype() -> None:
    """The condition has no say in the dtype of the result, and a written number none against float32."""
    assert make.where(leaf(np.array([True])), leaf(np.ones(1, np.float32)), 0.0).dtype == np.float32
    assert make.where(leaf(np.array([True])), leaf(np.ones(1, np.int64)), 0).dtype == np.int64


def test_heaviside_has_no_derivative(value: Value, slopes: Slopes) -> None:
    """heaviside has a value at 0 and no gradient anywhere, as in PyTorch."""
    assert value(make.heaviside(leaf(np.array([-1.0, 0.0, 2.0])), leaf(0.5))) == [0.0, 0.5, 1.0]
    with pytest.raises(NoGradientError, match="heaviside"):
        slopes(make.heaviside, 0.0, 0.5)


@pytest.mark.parametrize("other", [-1.0, leaf(np.float64(-1.0))])
def test_copysign_names_its_form(other: Any) -> None:
    """copysign with a written sign is CopysignBackward1, with a tensor CopysignBackward0."""
    node = make.copysign(leaf(np.float64(2.0), requires_grad=True), other)
    assert node.grad_fn == ("CopysignBackward1" if isinstance(other, float) else "CopysignBackward0")
