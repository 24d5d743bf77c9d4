"""The four operations, whole quotients and remainders, lerp, addcmul and addcdiv."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.errors import InputError, NoGradientError
from agrad.engine.graph import Node, leaf, make

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]

MODERATE = st.floats(-100.0, 100.0)
DIVISORS = st.floats(0.01, 100.0) | st.floats(-100.0, -0.01)


def variable(value: Any) -> Node:
    """A float64 leaf that requires a gradient."""
    return leaf(np.asarray(value, dtype=np.float64)[()], requires_grad=True)


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (lambda x, y: x + y, "AddBackward0"),
        (lambda x, _y: 1.0 + x, "AddBackward0"),
        (lambda x, y: make.add(x, y, alpha=2), "AddBackward0"),
        (lambda x, y: x - y, "SubBackward0"),
        (lambda x, _y: 1.0 - x, "RsubBackward1"),
        (make.rsub, "RsubBackward0"),
        (lambda x, _y: make.rsub(x, 1.0), "RsubBackward1"),
        (lambda x, y: x / y, "DivBackward0"),
        (lambda x, _y: 1.0 / x, "MulBackward0"),
        (lambda x, y: make.div(x, y, rounding_mode="trunc"), "DivBackward2"),
        (make.floor_divide, "NotImplemented"),
        (make.remainder, "RemainderBackward1"),
        (lambda x, _y: make.remainder(x, 0.25), "RemainderBackward0"),
        (lambda x, _y: make.remainder(1.0, x), "NotImplemented"),
        (lambda x, _y: make.fmod(x, 0.25), "FmodBackward0"),
        (lambda x, y: make.lerp(x, y, 0.3), "LerpBackward0"),
        (lambda x, y: make.lerp(x, y, x), "LerpBackward1"),
    ],
)
def test_grad_fn_follows_the_form(node: Callable[[Node, Node], Node], name: str) -> None:
    """The name of grad_fn is PyTorch's for tensors and for written numbers."""
    assert node(variable(2.0), variable(3.0)).grad_fn == name


def test_alpha_and_value_scale(value: Value, slopes: Slopes) -> None:
    """The parameters alpha and value multiply what PyTorch says they multiply, in value and in slope."""
    assert value(make.sub(leaf(5.0), leaf(3.0), alpha=2)) == -1.0
    assert value(make.rsub(leaf(np.float64(5.0)), leaf(np.float64(3.0)), alpha=2)) == -7.0
    assert slopes(lambda x, y: make.rsub(x, y, alpha=2), 5.0, 3.0) == [-2.0, 1.0]
    assert slopes(lambda x, y, w: make.addcmul(x, y, w, value=2), 1.0, 3.0, 5.0) == [1.0, 10.0, 6.0]
    assert slopes(lambda x, y, w: make.addcdiv(x, y, w, value=2), 1.0, 3.0, 4.0) == [1.0, 0.5, -0.375]


def test_a_quotient_at_zero(value: Value, slopes: Slopes) -> None:
    """A division by zero is infinite and its slope too; 0/0 is NaN, as in PyTorch."""
    assert value(leaf(1.0) / leaf(0.0)) == math.inf
    assert slopes(lambda x: 1.0 / x, 0.0) == [-math.inf]
    assert math.isnan(slopes(lambda x: x / x, 0.0)[0])
    assert slopes(lambda x: x / 0, 2.0) == [math.inf]


@pytest.mark.parametrize(
    ("op", "point", "expected"),
    [
        ("remainder", (5.0, 3.0), [1.0, -1.0]),
        ("remainder", (-5.0, 3.0), [1.0, 2.0]),
        ("remainder", (6.0, 3.0), [1.0, -2.0]),
        ("remainder", (1.0, 0.1), [1.0, -9.0]),
        ("fmod", (-5.0, 3.0), [1.0, 1.0]),
        ("fmod", (1.0, 0.1), [1.0, -9.0]),
        ("div_floor", (5.0, 3.0), [0.0, 0.0]),
        ("div_trunc", (-5.0, 3.0), [0.0, 0.0]),
    ],
)
def test_slopes_of_whole_quotients(slopes: Slopes, op: str, point: tuple[float, float], expected: list[float]) -> None:
    """A remainder falls by the whole quotient as the divisor grows, which is exact even where the quotient rounds."""
    assert slopes(getattr(make, op), *point) == expected


def test_rounding_of_quotients(value: Value) -> None:
    """Floor rounds down and trunc towards zero, for floats and for integers."""
    for convert in (np.float64, np.int64):
        x, y = leaf(convert(-7)), leaf(convert(2))
        assert value(make.div(x, y, rounding_mode="floor")) == -4
        assert value(make.div(x, y, rounding_mode="trunc")) == -3
        assert value(make.remainder(x, y)) == 1
        assert value(make.fmod(x, y)) == -1
    with pytest.raises(InputError, match="rounding_mode"):
        make.div(1.0, 2.0, rounding_mode="up")


def test_integers_by_the_integer_zero_are_refused(value: Value) -> None:
    """An integer divided by the integer 0 is an error that says what to write, never a silent 0."""
    for op in (make.floor_divide, make.remainder, make.fmod):
        with pytest.raises(InputError, match="division by zero"):
            value(op(leaf(np.array([1, 2])), leaf(np.array([1, 0]))))
    assert value(make.floor_divide(1.0, 0.0)) == math.inf


def test_booleans_are_not_subtracted() -> None:
    """Minus on masks is refused with the way to invert one; remainders of masks are refused too."""
    mask = leaf(np.array([True, False]))
    with pytest.raises(InputError, match="Negation, the `-` operator, on a bool tensor is not supported") as caught:
        make.neg(mask)
    assert "~" in caught.value.hint
    with pytest.raises(InputError, match="Subtraction, the `-` operator, with two bool tensors is not supported"):
        make.sub(mask, mask)
    with pytest.raises(InputError, match="not for bool"):
        make.remainder(mask, mask)


def test_what_has_no_derivative_says_so(slopes: Slopes) -> None:
    """Asking for a gradient through // or through a written number % a tensor is an error, as in PyTorch."""
    with pytest.raises(NoGradientError, match="floor_divide"):
        slopes(make.floor_divide, 5.0, 3.0)
    with pytest.raises(NoGradientError, match="remainder") as caught:
        slopes(lambda x: make.remainder(5.0, x), 3.0)
    assert "tensor(5.0)" in caught.value.hint
    assert slopes(lambda x: make.remainder(leaf(np.float64(5.0)), x), 3.0) == [-1.0]


def test_lerp_reaches_its_end(value: Value, slopes: Slopes) -> None:
    """With weight 1 the value is exactly the end, where start + 1*(end - start) would round."""
    start, end = leaf(np.float64(1e16)), leaf(np.float64(1.0))
    for weight in (1.0, leaf(np.float64(1.0)), leaf(np.array([1.0]))):
        assert value(make.lerp(start, end, weight)) in (1.0, [1.0])
    assert slopes(make.lerp, 2.0, 6.0, 0.25) == [0.75, 0.25, 4.0]
    assert slopes(lambda x, y: make.lerp(x, y, 0.25), 2.0, 6.0) == [0.75, 0.25]


@given(x=MODERATE, y=DIVISORS)
def test_quotient_and_remainder_fit(value: Value, x: float, y: float) -> None:
    """The whole quotient times the divisor plus the remainder is the dividend, for both kinds of rounding."""
    a, b = leaf(np.float64(x)), leaf(np.float64(y))
    floor = value(make.div(a, b, rounding_mode="floor") * b + make.remainder(a, b))
    assert floor == pytest.approx(x, rel=1e-12, abs=1e-12)
    assert math.copysign(1.0, value(make.remainder(a, b)) or y) == math.copysign(1.0, y)


@given(x=st.lists(MODERATE, min_size=3, max_size=3), y=DIVISORS)
def test_broadcast_slopes_are_summed(slopes: Slopes, x: list[float], y: float) -> None:
    """A scalar divisor of a vector gets the sum of the slopes of all entries."""
    by_vector, by_scalar = slopes(make.div, x, y)
    assert by_vector == pytest.approx([1 / y] * 3)
    # Below the smallest normal number each term is rounded to a multiple of the smallest one.
    rounding = 4 * math.ulp(0.0)
    assert by_scalar == pytest.approx(-sum(x) / y**2, rel=1e-9, abs=1e-9 * max(map(abs, x)) / y**2 + rounding)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_whole_quotient_is_that_of_the_numbers_themselves(value: Value, dtype: Any) -> None:
    """3/0.05 is rounded to 60, which it does not reach: 0.05 is a little more than it says."""
    random = np.random.default_rng(0)
    y = np.append(np.round(random.uniform(0.01, 2, 2_000), 2) * random.choice([-1, 1], 2_000), 0.05).astype(dtype)
    x = np.append(np.round(random.integers(-300, 300, 2_000) * y[:-1].astype(np.float64), 2), 3.0).astype(dtype)
    found = value(make.div(leaf(x), leaf(y), rounding_mode="trunc"))
    expected = [math.trunc(Fraction(float(a)) / Fraction(float(b))) for a, b in zip(x, y, strict=True)]
    assert (found == np.array(expected)).all()
    assert (np.trunc(x / y) != found).any()
    ends = [(np.inf, 3.0, np.inf), (3.0, np.inf, 0.0), (-1.0, 0.0, -np.inf), (1e300, 1e-3, 1e303), (0.0, 0.0, np.nan)]
    for a, b, quotient in ends:
        np.testing.assert_equal(value(make.div(leaf(np.array(a)), leaf(np.array(b)), rounding_mode="trunc")), quotient)
