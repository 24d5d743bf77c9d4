"""Powers at base 0, at exponent 0 and below 0; logarithms of sums in the tails."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.graph import Node, leaf, make

Slopes = Callable[..., list[Any]]
Curvature = Callable[..., list[list[Any]]]
Value = Callable[[Node], Any]

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("exponent", "at", "expected"),
    [
        (2, 0.0, 0.0),
        (0, 0.0, 0.0),
        (1, 0.0, 1.0),
        (0.5, 0.0, INF),
        (-1, 0.0, -INF),
        (1.5, 0.0, 0.0),
        (3, -2.0, 12.0),
        (1 / 3, -8.0, NAN),
        (0, INF, 0.0),
    ],
)
def test_slope_with_a_written_exponent(slopes: Slopes, exponent: float, at: float, expected: float) -> None:
    """The slope at base 0, at a negative base and at infinity is PyTorch's, for an exponent written as a number."""
    for written in (exponent, float(exponent)):
        assert slopes(lambda x, n=written: x**n, at) == pytest.approx([expected], nan_ok=True)


@pytest.mark.parametrize(
    ("base", "exponent", "expected"),
    [
        (0.0, 0.0, [0.0, 0.0]),
        (0.0, 1.0, [1.0, 0.0]),
        (0.0, 2.0, [0.0, 0.0]),
        (0.0, 0.5, [INF, 0.0]),
        (0.0, -1.0, [-INF, -INF]),
        (-2.0, 2.0, [-4.0, NAN]),
        (-2.0, 3.0, [12.0, NAN]),
        (-2.0, 0.0, [0.0, NAN]),
        (-2.0, 0.5, [NAN, NAN]),
        (INF, 0.0, [0.0, INF]),
    ],
)
def test_slopes_with_two_tensors(slopes: Slopes, base: float, exponent: float, expected: list[float]) -> None:
    """The slopes of base and exponent at the edges of the domain are PyTorch's."""
    assert slopes(make.pow, base, exponent) == pytest.approx(expected, nan_ok=True)


def test_slope_with_a_written_base(slopes: Slopes) -> None:
    """With base 0 the slope is 0 and -inf below exponent 0; with base 1 it is 0; with a negative base NaN."""
    assert slopes(lambda x: make.pow(0.0, x), [0.0, 2.0, -1.0]) == [[0.0, 0.0, -INF]]
    assert slopes(lambda x: make.pow(1.0, x), 3.0) == [0.0]
    assert math.isnan(slopes(lambda x: make.pow(-2.0, x), 2.0)[0])


def test_second_derivatives_at_zero(curvature: Curvature) -> None:
    """The second derivative of x**2 at 0 is 2, those of x**1 and x**0 are 0, with written and with tensor exponents."""
    assert curvature(lambda x: x**2, 0.0) == [[2.0]]
    assert curvature(lambda x: x**1, 0.0) == [[0.0]]
    assert curvature(lambda x: x**0, 0.0) == [[0.0]]
    assert curvature(make.pow, 0.0, 2.0)[0] == [2.0, 0.0]
    assert curvature(make.pow, 0.0, 0.0)[0][0] == 0.0


def test_mixed_derivative_at_exponent_zero(curvature: Curvature) -> None:
    """The mixed derivative of x**y at y = 0 is 1/x, though the slope of x is 0 there (PyTorch answers 0 in silence)."""
    (_, by_exponent), (by_base, _) = curvature(make.pow, 4.0, 0.0)
    assert by_exponent == by_base == 0.25


@given(
    base=st.just(0.0) | st.floats(0.0, 50.0),
    exponent=st.sampled_from([0, 1, 2, 3, 4, 5]),
)
def test_whole_exponents_agree_in_all_forms(slopes: Slopes, base: float, exponent: int) -> None:
    """A whole exponent gives the slope n * x**(n-1) at every base, 0 included, written or as a tensor."""
    expected = 0.0 if exponent == 0 else exponent * base ** (exponent - 1)
    assert slopes(lambda x: x**exponent, base)[0] == pytest.approx(expected)
    assert slopes(lambda x: x ** float(exponent), base)[0] == pytest.approx(expected)
    assert slopes(make.pow, base, float(exponent))[0] == pytest.approx(expected)


@given(x=st.floats(1e-100, 1e100) | st.floats(-1e100, -1e-100), exponent=st.sampled_from([2, 3, -1, -2, 0.5]))
def test_fast_exponents_are_powers(value: Value, x: float, exponent: float) -> None:
    """The exponents that are computed without a power function have the power's value."""
    base = abs(x) if exponent == 0.5 else x
    assert value(leaf(np.float64(base)) ** exponent) == pytest.approx(base**exponent, rel=1e-15)


def test_reciprocal_square_keeps_its_range(value: Value) -> None:
    """x**-2 at 1e160 is 1e-320, although 1/(x*x) would be 0."""
    assert value(leaf(np.float64(1e160)) ** -2) == pytest.approx(1e-320, rel=1e-3)


def test_integer_powers(value: Value) -> None:
    """Integers stay exact; a power that 64 bits cannot hold, or a negative one, is refused."""
    assert value(make.pow(leaf(np.int64(3)), 39)) == 3**39
    with pytest.raises(InputError, match="too large"):
        value(make.pow(9, make.pow(9, 9)))
    with pytest.raises(InputError, match="negative integer powers"):
        value(make.pow(leaf(np.array([2])), -1))
    with pytest.raises(InputError, match="too large"):
        value(make.pow(leaf(np.array([10])), 19))


def test_powers_promote(value: Value) -> None:
    """A written exponent leaves float32 as it is; float_power computes in float64."""
    x = leaf(np.float32(3.0), requires_grad=True)
    assert (x**2).dtype == np.float32
    assert make.float_power(x, 2).dtype == np.float64
    assert value(make.float_power(leaf(2), leaf(np.int64(-1)))) == 0.5


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (lambda x: x**2, "PowBackward0"),
        (lambda x: x**x, "PowBackward1"),
        (lambda x: make.pow(2.0, x), "PowBackward2"),
        (lambda x: make.float_power(x, 2), "PowBackward0"),
        (lambda x: make.ldexp(x, 3.0), "MulBackward0"),
        (lambda x: make.xlogy(x, x), "XlogyBackward0"),
        (lambda x: make.xlogy(2.0, x), "XlogyBackward1"),
        (lambda x: make.xlogy(x, 2.0), "XlogyBackward2"),
    ],
)
def test_grad_fn_follows_the_form(node: Callable[[Node], Node], name: str) -> None:
    """The name of grad_fn says which argument is a written number, as PyTorch's does."""
    assert node(leaf(np.float64(1.5), requires_grad=True)).grad_fn == name


def test_ldexp_has_a_slope(slopes: Slopes) -> None:
    """The slope of x * 2**3 is 8, for an exponent that is a tensor too."""
    assert slopes(lambda x: make.ldexp(x, leaf(np.float64(3.0))), 1.25) == [8.0]


def test_logaddexp_far_apart(slopes: Slopes, curvature: Curvature) -> None:
    """Slopes and second derivatives of logaddexp(0, 711.5) are right to the last subnormal digit."""
    tiny = 9.98794462405104e-310
    assert slopes(make.logaddexp, 0.0, 711.5) == [tiny, 1.0]
    assert curvature(make.logaddexp, 0.0, 711.5) == [[tiny, -tiny], [-tiny, tiny]]


def test_logaddexp_at_infinities(value: Value, slopes: Slopes) -> None:
    """One -inf leaves the other alone; twice the same infinity has no slope, as in PyTorch."""
    assert value(make.logaddexp(leaf(-INF), leaf(-INF))) == -INF
    assert slopes(make.logaddexp, -INF, 1.0) == [0.0, 1.0]
    assert slopes(make.logaddexp2, 1.0, -INF) == [1.0, 0.0]
    assert all(map(math.isnan, slopes(make.logaddexp, INF, INF)))


@given(x=st.floats(-1e4, 1e4), y=st.floats(-1e4, 1e4))
def test_logaddexp_slopes_sum_to_one(slopes: Slopes, x: float, y: float) -> None:
    """The two slopes are weights: between 0 and 1, and 1 in sum."""
    for op in (make.logaddexp, make.logaddexp2):
        weights = slopes(op, x, y)
        assert min(weights) >= 0.0
        assert sum(weights) == pytest.approx(1.0, rel=1e-15)


def test_nothing_times_a_logarithm(value: Value, slopes: Slopes) -> None:
    """0 * log(0) is 0 and NaN stays NaN; with x = 0 the slope by y is 0, at the edge too."""
    assert value(make.xlogy(leaf(0.0), leaf(0.0))) == 0.0
    assert value(make.xlogy(leaf(0.0), leaf(-1.0))) == 0.0
    assert math.isnan(value(make.xlogy(leaf(0.0), leaf(NAN))))
    assert slopes(make.xlogy, 0.0, 0.0) == [0.0, 0.0]
    assert slopes(make.xlogy, 0.0, 2.0) == [math.log(2.0), 0.0]
    assert slopes(make.xlogy, 1.0, 0.0) == [-INF, INF]
    assert slopes(make.xlog1py, 0.0, -1.0) == [0.0, 0.0]
    assert slopes(make.xlogy, 2.0, INF) == [INF, 0.0]
    assert value(make.xlog1py(leaf(2.0), leaf(1e-20))) == 2e-20


def test_a_written_number_does_not_widen_float32(value: Value) -> None:
    """xlogy of a float32 tensor and a written number stays float32, as inferred."""
    node = make.xlogy(leaf(np.array([1.0, 0.0], np.float32)), 2.0)
    assert node.dtype == np.float32
    assert value(node) == [float(np.float32(math.log(2.0))), 0.0]
