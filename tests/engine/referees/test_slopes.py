"""Difference quotients of many digits: derivatives along several directions, jumps, poles and values beside a hole."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import Source
from agrad.engine.language import build
from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.referees.case import CannotJudge, Case
from agrad.engine.referees.slopes import Slope, Slopes
from agrad.engine.worker.budget import Budget, BudgetSpent


def slopes_of(expression: str, x: Any, budget: Budget | None = None) -> Slopes:
    """The slopes of an expression over x."""
    read = build(Source(f"z = {expression}"), inputs={"x": np.asarray(x, dtype=float)[()]})
    return Slopes(Case([read.names["z"]], [np.float64(1.0)], {"x": read.names["x"]}, {}), budget or Budget())


def order(expression: str, x: Any, *positions: int) -> Slope:
    """The derivative by some entries of x, one after another."""
    slopes = slopes_of(expression, x)
    (node,) = slopes.case.wrt.values()
    return slopes.order([slopes.unit(node, position) for position in positions])


def first(expression: str, x: float) -> Slope:
    """The first derivative."""
    slopes = slopes_of(expression, x)
    (node,) = slopes.case.wrt.values()
    return slopes.slope(*slopes.unit(node, 0))


@pytest.mark.parametrize(
    ("expression", "x", "positions", "expected"),
    [
        ("sin(x)", 0.5, (0, 0), -math.sin(0.5)),
        ("exp(2*x)", -1.0, (0, 0, 0), 8 * math.exp(-2)),
        ("x**5", 1e-170, (0, 0), 0.0),
        ("x[0]**2*x[1]**3", [2.0, 3.0], (0, 1), 108.0),
        ("x[0]**2*x[1]**3", [2.0, 3.0], (0, 0, 1), 54.0),
        ("x[0]*x[1]", [0.0, 0.0], (0, 1), 1.0),
        ("x[0] + x[1]", [1.0, 2.0], (0, 1), 0.0),
        ("abs(x)**3", 0.0, (0, 0), 0.0),
        ("logsumexp(x, 0)", [-176.0, 20.0, 38.0], (0, 0), math.exp(-214) / (1 + math.exp(-18))),
        ("1e-200*x**2 + 20.0", 0.5, (0, 0), 2e-200),
        ("norm(x)**2", [0.0, 0.0], (1, 1), 2.0),
    ],
)
def test_higher_orders(expression: str, x: Any, positions: tuple[int, ...], expected: float) -> None:
    """Where all sides agree, theirs is the derivative."""
    found = order(expression, x, *positions)
    assert float(found.value) == pytest.approx(expected, rel=1e-12 if 0 < expected < 1e-50 else 1e-15, abs=1e-300)


def test_sides_that_differ() -> None:
    """A jump of the second derivative has its smallest and its largest side and no value."""
    found = order("x*abs(x)", 0.0, 0, 0)
    assert found.value is None
    assert (float(found.left), float(found.right)) == (-2.0, 2.0)
    found = order("relu(x)**3", 0.0, 0, 0, 0)
    assert (float(found.left), float(found.right)) == (0.0, 6.0)


def test_one_side_suffices() -> None:
    """At the edge of a domain the derivative is that of the inside."""
    assert float(order("x**2*sqrt(x)", 0.0, 0, 0).value) == 0.0
    assert float(order("sqrt(x)**4", 0.0, 0, 0).value) == 2.0


def test_jumps_and_poles_are_no_slopes() -> None:
    """A function that leaps away from its value, to a number or to infinity, has no value of a derivative."""
    for expression in ("sign(x)", "xlogy(x, 0.0*x)", "where(x == 0, 1.0, 1/x)"):
        assert first(expression, 0.0).value is None


@pytest.mark.parametrize(
    "expression", ["where(x > 0, 5.0, -sqrt(abs(x)))", "where(x > 0, 1/where(x > 0, x, 1.0), -(abs(x)**0.3))"]
)
def test_a_leap_beside_a_slope_without_end_is_no_derivative(expression: str) -> None:
    """Both quotients grow, and tend to the same infinity: on one side because the function leaps away."""
    found = first(expression, 0.0)
    assert found.value is None
    assert found.jumps


def test_steep_slopes_and_curvature() -> None:
    """A slope beyond all floats is one; what shrinks with the step is none."""
    assert float(first("x/1e-300/1e-10", 1.0).value / 10**300) == pytest.approx(1e10, rel=1e-12)
    assert first("x*abs(x)", 0.0).value == 0
    assert first("where(x == 0, 0.0, x**2*sin(1/x))", 0.0).value == 0


def test_values_beside_a_hole() -> None:
    """Both sides have a value where the point has none."""
    slopes = slopes_of("sin(x)/x", 0.0)
    (node,) = slopes.case.wrt.values()
    assert [float(value) for value in slopes.beside(*slopes.unit(node, 0))] == [1.0, 1.0]
    with pytest.raises(CannotJudge):
        slopes.order([slopes.unit(node, 0)] * 2)


def test_time_is_looked_at_between_points() -> None:
    """Also a graph of a few slow ops ends in time."""
    with pytest.raises(BudgetSpent, match="not done within 0 s"):
        slopes_of("gamma(x)", 3.5, Budget(1000, 0.0))


def test_rounding_does_not_leave_a_domain() -> None:
    """What lies outside of a domain by rounding of these numbers only stands on its end; a double outside does not."""
    m = PreciseArithmetic(50)
    tiny = m.number(10) ** -48
    assert m.function("acos", 1 + tiny) == 0
    assert m.function("asin", -1 - tiny) == -m.pi / 2
    assert m.sqrt(-tiny) == 0
    assert m.undefined_number(m.function("acos", m.number(1 + 2.0**-52)))
    assert m.undefined_number(m.sqrt(m.number(-1e-30)))


def test_a_jump_beside_huge_numbers_is_no_slope() -> None:
    """Also where large numbers elsewhere allow for steep slopes, what grows with the step is a jump."""
    assert first("sum(sign(x)) + 1e300", 0.0).value is None
    assert first("sum(sign(x) * 1e-5) + 1e300", 0.0).value is None


def test_steep_and_smooth_beside_huge_numbers() -> None:
    """A slope of any size is found, and waves that are shorter than the usual step."""
    assert float(first("x * 1e18 + 1e200", 1.0).value) == 1e18
    assert float(first("sin(x * x)", 1e150).value) == pytest.approx(1.120212635e150, rel=1e-9)
    assert float(first("sin(x)", 1e300).value) == pytest.approx(math.cos(1e300), rel=1e-12)


@pytest.mark.parametrize("rest", ["x**2", "3*x**2", "x*abs(x)", "x**2*sqrt(abs(x))", "2**(x**2)"])
def test_a_tiny_slope_beside_curvature_is_found(rest: str) -> None:
    """A slope down to the least doubles is no zero for what the curvature makes of a step of usual length."""
    assert float(first(f"1e-300*x + {rest}", 0.0).value) == 1e-300
    assert float(first(f"-1e-310*x + {rest}", 0.0).value) == -1e-310
    assert first(rest, 0.0).value == 0


def test_tiny_slopes_are_told_from_rounding() -> None:
    """A slope far below all other numbers is found, with its sides; what only shrinks with the step is zero."""
    assert float(first("1e-300*x + 1.0", 0.0).value) == 1e-300
    kink = first("1e-60*abs(x)", 0.0)
    assert kink.value is None
    assert float(kink.right) == pytest.approx(1e-60, rel=1e-9)
    assert first("x**4", 0.0).value == 0
    assert first("1e-60*x*abs(x)", 0.0).value == 0


@pytest.mark.parametrize(("expression", "expected"), [("x**1.0352", 0.0), ("x**1.01", 0.0), ("x**0.99", math.inf)])
def test_a_power_near_one_has_its_limit_at_zero(expression: str, expected: float) -> None:
    """A quotient that shrinks or grows slowly with the step, like h**0.01, tends to zero or infinity."""
    assert float(first(expression, 0.0).value) == expected


def test_more_digits_than_there_may_be_are_done_without() -> None:
    """The slope of what overflows every double is found with the usual steps."""
    assert float(first("log(exp(exp(x)))", 7.5).value) == pytest.approx(math.exp(7.5), rel=1e-12)


@pytest.mark.parametrize(
    "expression", ["xlogy(x, abs(x))", "where(x == 0, 0.0, x*log(abs(x)))", "abs(x)**x", "-xlogy(x, x**2)"]
)
def test_a_slope_like_a_logarithm_has_no_end(expression: str) -> None:
    """The quotients are alike on both sides at any step, and grow for ever as it shrinks."""
    found = first(expression, 0.0)
    assert found.value == (math.inf if expression.startswith("-") else -math.inf)


def test_a_logarithm_that_vanishes_is_no_slope() -> None:
    """Times a square it leaves nothing."""
    assert first("where(x == 0, 0.0, x**2*log(abs(x)))", 0.0).value == 0
    assert first("2*x + xlogy(x**2, abs(x))", 0.0).value == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("expression", "x", "expected"),
    [
        ("F.binary_cross_entropy(1 - x**2, 1 - x)", 0.0, 100.0),
        ("x*clamp(log(abs(x)), min=-100)", 0.0, -100.0),
    ],
)
def test_what_is_bounded_at_last_has_a_slope(expression: str, x: float, expected: float) -> None:
    """A bound that is met between the first step and the second ends the growth of the quotient."""
    assert float(first(expression, x).value) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("expression", "x", "left", "right"),
    [
        ("floor(x*1e300)", 0.3, math.inf, 0.0),
        ("ceil(x*1e100) + x", 0.3, 1.0, math.inf),
        ("frac(x*1e40)", 0.3, -math.inf, 1e40),
        ("remainder(x*1e300, 3)", 0.3, -math.inf, 1e300),
        ("floor(x*1e300 + 0.5)", 0.3, 0.0, 0.0),
        ("floor((x - 0.3)/1e-300)", 0.3, math.inf, 0.0),
        ("sin((x - 0.3)/1e-300)", 0.3, 1e300, 1e300),
        ("sin(1e100*sin(1e100*(x - 0.3)))", 0.3, 1e200, 1e200),
        ("sinc(x - 1e284)", 1e284 + 1e280, -1e-280, -1e-280),
        ("polar(abs(x), 1e100*(x - 2)).imag", 2.0, 2e100, 2e100),
        ("exp(complex(x, 1e100*x)).imag", 0.0, 1e100, 1e100),
        ("round(x*1e30, decimals=2)", 0.3, 0.0, 0.0),
    ],
)
def test_no_step_passes_over_waves_or_leaps(expression: str, x: float, left: float, right: float) -> None:
    """Where something repeats within the usual step, both quotients would be alike and mean nothing."""
    found = first(expression, x)
    assert float(found.left) == pytest.approx(left, rel=1e-9)
    assert float(found.right) == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize(
    ("expression", "x", "expected"),
    [
        ("log(x + 1e-300)", 0.0, 1e300),
        ("log(x - 1 + 1e-300)", 1.0, 1e300),
        ("relu(x + 1e-40)", 0.0, 1.0),
        ("abs(x - 1 - 1e-40)", 1.0, -1.0),
        ("sqrt(x) + 1e-300", 0.0, math.inf),
        ("abs(x)**1.5 + 1e-300*x", 0.0, 1e-300),
    ],
)
def test_no_step_is_larger_than_the_numbers_beside_it(expression: str, x: float, expected: float) -> None:
    """Where a tiny number is moved by an entry that is zero, or as large as one, kinks and poles are as near as it."""
    assert float(first(expression, x).value) == pytest.approx(expected, rel=1e-9)


def test_poles_that_a_step_would_pass_over() -> None:
    """The slope between two poles of the gamma function is that of the way between them."""
    assert float(first("digamma(-1e30*x - 0.3)", 0.3).value) < -1e30


def test_parts_are_seen_beside_huge_numbers() -> None:
    """What a number contributes by each of its uses, of which the sum may be left alone by rounding."""
    slopes = slopes_of("1e-301*x - 1e-301*x + 1e300", 1.0)
    (node,) = slopes.case.wrt.values()
    assert float(slopes.parts(*slopes.unit(node, 0), 10)) == pytest.approx(2e-301)


@pytest.mark.parametrize("swings", ["x < 0", "x > 0"])
def test_a_side_that_swings_leaves_the_slope_open(swings: str) -> None:
    """Where one side has a slope and the other one none, there is no derivative, and no end of the function either."""
    slope = first(f"where({swings}, x*sin(log(abs(x))), 2*x)", 0.0)
    assert slope.value is not None
    assert math.isnan(slope.value)
