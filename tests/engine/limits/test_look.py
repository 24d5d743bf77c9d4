"""The closer look at singular points: the derivative of the whole function, two slopes, or why there is none."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import mpmath
import numpy as np
import pytest

from agrad.engine.errors import Source
from agrad.engine.evaluation.evaluate import Evaluation, chosen_outputs, evaluate
from agrad.engine.evaluation.outputs import Weight
from agrad.engine.language import build
from agrad.engine.limits import look
from agrad.engine.limits.look import repaired
from agrad.engine.referees.case import CannotJudge, Case

EXACT: Final = 1e-13
INF: Final = math.inf
ROOT: Final = math.sqrt


def run(text: str, **options: object) -> Evaluation:
    """A text evaluated, statements parted by semicolons."""
    read = build(Source(text.replace("; ", "\n")), **options)  # type: ignore[arg-type]  # options of build
    outputs = chosen_outputs(read, [])
    weights = [Weight(None, None)] if next(iter(outputs.values())).shape else []
    return evaluate(read, outputs, weights)


class Point(NamedTuple):
    """A text and the true gradient by x, as a number or a list."""

    text: str
    gradient: object


SMOOTH: Final = (
    # A smooth function through a singular step: the slope exists although one of its factors has none.
    Point("x = 0.0; z = clamp(x, min=0.0) + log1p(exp(-abs(x)))", 0.5),
    Point("x = 0.0; z = relu(x) - relu(-x)", 1.0),
    Point("x = 0.0; z = maximum(x, 0.0) + minimum(x, 0.0)", 1.0),
    Point("x = 0.0; z = 0.5*(x + abs(x)) - relu(x) + 3*x", 3.0),
    Point("x = 1.0; z = clamp(x, max=1.0) + relu(x - 1)", 1.0),
    Point("x = 0.0; z = x*sign(x) - abs(x) + sin(x)", 1.0),
    Point("x = 0.0; z = sqrt(x**4)", 0.0),
    Point("x = 0.0; z = sqrt(abs(x))**4", 0.0),
    Point("x = 0.0; z = (x**2)**0.75", 0.0),
    Point("x = 1.0; z = acos(x)**2", -2.0),
    Point("x = -1.0; z = acos(-x)**2", 2.0),
    Point("x = 1.0; z = acosh(x)**2", 2.0),
    Point("x = 0.0; z = asin(sqrt(x))**2", 1.0),
    Point("x = 0.0; z = cos(sqrt(x))", -0.5),
    Point("x = 0.0; z = cosh(sqrt(x))", 0.5),
    Point("x = 0.0; z = sqrt(x)*sin(sqrt(x))", 1.0),
    # A quotient that changes slowly beside a slope that it hides, or that hides it.
    Point("x = 0.0; z = x**1.01 + 5*x", 5.0),
    Point("x = 0.0; z = 5*x - abs(x)**1.01", 5.0),
    Point("x = 0.0; z = x**x + 100*x", -INF),
    Point("x = [1.0, 0.0]; z = sum(x**x * 2 - 100*x)", [-98.0, -INF]),
    Point("x = 0.0; z = where(x == 0, 1.0, (exp(x) - 1)/x)", 0.5),
    Point("x = 0.0; z = where(x == 0, 1.0, log1p(x)/x)", -0.5),
    Point("x = 0.0; z = where(x == 0, 0.5, (1 - cos(x))/x**2) + x", 1.0),
    Point("x = 0.0; z = where(x == 0, 0.0, x**2*sin(1/x)) + 2*x", 2.0),
    Point("x = 0.0; z = where(x >= 0, x**2, -x**2)", 0.0),
    Point("x = [0.0, 0.0]; z = sum(x*norm(x)) + x[0]", [1.0, 0.0]),
    Point("x = [1.0, 1.0]; z = x[0] + x[1] - max(x) - min(x) + x[0]**2", [2.0, 0.0]),
    # Overflow and lost tails in a step: the slope is an ordinary number.
    Point("x = 800.0; z = log(cosh(x))", 1.0),
    Point("x = 800.0; z = log(sinh(x))", 1.0),
    Point("x = 900.0; z = exp(x)*exp(-x)", 0.0),
    Point("x = 400.0; z = exp(x)/(1 + exp(x))**2", float(-mpmath.exp(-400))),
    Point("x = 1000.0; z = (exp(x) - exp(-x))/(exp(x) + exp(-x))", 0.0),
    Point("x = 171.0; z = log(gamma(x + 5))", float(mpmath.digamma(176))),
    Point("x = 40.0; z = log(erfc(x))", float(-2 * mpmath.exp(-1600) / mpmath.sqrt(mpmath.pi) / mpmath.erfc(40))),
    Point("x = [800.0, 0.0, -5.0]; e = exp(x); p = e/sum(e); z = -log(p[2])", [1.0, 0.0, -1.0]),
)


@pytest.mark.parametrize("point", SMOOTH, ids=lambda point: point.text)
def test_smooth_function(point: Point) -> None:
    """Both sides agree: their slope is the gradient, whatever the chain rule has."""
    found = run(point.text)
    np.testing.assert_allclose(found.gradient("x"), point.gradient, rtol=EXACT, atol=0)
    assert not found.kinks


class Bend(NamedTuple):
    """A text, the slopes by x on both sides, and the number that is given."""

    text: str
    left: float
    right: float
    shown: float


BENDS: Final = (
    Bend("x = 0.0; z = abs(x)", -1.0, 1.0, 0.0),
    Bend("x = 0.0; z = relu(x)", 0.0, 1.0, 0.0),
    Bend("x = 0.0; z = leaky_relu(x, 0.25)", 0.25, 1.0, 0.25),
    Bend("x = 2.0; z = clamp(x, -2.0, 2.0)", 1.0, 0.0, 1.0),
    Bend("x = 2.0; z = hardtanh(x, -2.0, 2.0)", 1.0, 0.0, 0.0),
    Bend("x = 3.0; z = maximum(x, 3.0)*2", 0.0, 2.0, 1.0),
    Bend("x = 0.0; z = sqrt(1 - cos(x))", -ROOT(0.5), ROOT(0.5), 0.0),
    Bend("x = 0.0; z = sqrt(sin(x)**2 + x**4)", -1.0, 1.0, 0.0),
    Bend("x = 0.0; z = sqrt(abs(x))", -INF, INF, 0.0),
    Bend("x = 0.0; z = 3*x + sqrt(x**2 + x**4)", 2.0, 4.0, 2.0),
    Bend("x = 0.0; z = -3*x - sqrt(x**2 + x**4)", -2.0, -4.0, -2.0),
    Bend("x = 1.0; z = acos(2/(x + 1/x))", -1.0, 1.0, 0.0),
    Bend("x = 0.0; z = norm(stack([x, 2*x]))", -ROOT(5), ROOT(5), 0.0),
    Bend("x = 0.0; z = sqrt(mean(stack([x, -x])**2))", -1.0, 1.0, 0.0),
)


@pytest.mark.parametrize("bend", BENDS, ids=lambda bend: bend.text)
def test_kink(bend: Bend) -> None:
    """The rules' number stands where it lies between both slopes; where it does not, it is the one nearest to 0."""
    found = run(bend.text)
    (kink,) = found.kinks
    assert (kink.name, kink.place) == ("x", ())
    np.testing.assert_allclose([kink.left, kink.right, kink.shown], bend[1:], rtol=EXACT)
    assert float(found.gradient("x")) == kink.shown


def test_warning_of_a_repair() -> None:
    """It names the entry, the point, what the chain rule gives and what the derivative is."""
    found = run("x = [5.0, 0.0]; z = sum(clamp(x, min=0.0) + log1p(exp(-abs(x))))")
    assert found.warnings == [
        "the derivative of z by x[1] at x[1] = 0.0: the chain rule over float64 gives 1.0 here; the derivative is 0.5, "
        "from 50-digit quotients"
    ]


def test_warning_of_a_kink_outside_of_the_slopes() -> None:
    """It names both slopes and the number given."""
    (line,) = run("x = 0.0; z = sqrt(1 - cos(x)**2)").warnings
    assert line == (
        "the derivative of z by x at x = 0.0: the chain rule over float64 gives NaN; the slope is -1.0 from the left "
        "and 1.0 from the right, and 0.0 is given"
    )


JUMPS: Final = (
    ("x = 0.0; z = sign(x)", "the slope is inf from the left and inf from the right, and 0.0 is given"),
    ("x = 2.0; z = floor(x)", "the slope is inf from the left and 0.0 from the right, and 0.0 is given"),
    ("x = 2.0; z = x - floor(x)", "the slope is -inf from the left and 1.0 from the right, and 1.0 is given"),
    ("x = 0.0; z = where(x > 0, 1.0, x)", "the slope is 1.0 from the left and inf from the right, and 1.0 is given"),
    ("x = 0.3; z = floor(x*1e300)", "the slope is inf from the left and 0.0 from the right, and 0.0 is given"),
    ("x = 0.3; z = frac(x*1e40)", "the slope is -inf from the left and 1e+40 from the right, and 1e+40 is given"),
    ("x = 0.0; z = angle(x)", "the slope is -inf from the left and 0.0 from the right, and 0.0 is given"),
)


@pytest.mark.parametrize(("text", "sides"), JUMPS)
def test_jump(text: str, sides: str) -> None:
    """The rules' number stays, and the warning says that no derivative exists."""
    (line,) = run(text).warnings
    point = text[4:7]
    assert line == f"z is not differentiable by x at x = {point}: it jumps there, {sides}"


NOT_LINEAR: Final = (
    "x = 0.0; y = 0.0; z = x**0.3*y**0.7",
    "x = 0.0; y = 0.0; z = sqrt(abs(x*y))",
    "x = 0.0; y = 0.0; z = minimum(abs(x), abs(y))",
    "x = 0.0; y = 0.0; z = abs(x + y) - abs(x - y)",
    "x = 0.0; y = 0.0; z = where(x**2 + y**2 == 0, 0.0, x**2*y/(x**2 + y**2))",
    "x = 0.0; y = 0.0; z = where(x**2 + y**2 == 0, 0.0, x*y/(x**2 + y**2))",
)


@pytest.mark.parametrize("text", NOT_LINEAR)
def test_partial_derivatives_that_do_not_add_up(text: str) -> None:
    """Slopes along the axes alone make no derivative: the warning has a direction that shows it."""
    found = run(text)
    assert any(line.startswith("z is not differentiable at x = 0.0, y = 0.0: along") for line in found.warnings)
    assert all(np.isfinite(found.gradient(name)) for name in "xy")


@pytest.mark.parametrize(
    "text",
    ["x = 0.0; y = 0.0; z = hypot(x, y)**3", "x = 0.0; y = 2.0; z = x*sqrt(x)*y", "x = 0.0; y = 1.0; z = relu(x)**2*y"],
)
def test_no_false_alarm(text: str) -> None:
    """A differentiable function that passes a kink has no warning."""
    assert run(text).warnings == []


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("x = 0.0; z = (1 - cos(x))/x**2", "its limit there is 0.5"),
        ("x = 5.0; z = (x**2 - 25)/(x - 5)", "its limit there is 10.0"),
        ("x = 0.0; z = x*sin(1/x)", "its limit there is 0.0"),
    ],
)
def test_hole_with_a_limit(text: str, limit: str) -> None:
    """0/0 stays NaN, and the warning names the limit."""
    found = run(text)
    assert np.isnan(found.gradient("x"))
    assert found.warnings[-1] == f"z has no value at x = {text[4:7]}, with many digits neither; {limit}"


def test_hole_without_a_limit() -> None:
    """Where the value depends on the side or on the direction, no limit is named."""
    for text in ("x = 5.0; z = (x - 5)/abs(x - 5)", "x = 0.0; y = 0.0; z = x*y/(x**2 + y**2)"):
        assert run(text).warnings[-1].endswith("with many digits neither")


def test_infinite_slopes_have_a_sign() -> None:
    """A vertical tangent is inf, where the chain rule has 0 or NaN too."""
    assert run("x = 0.0; z = sign(x)*sqrt(abs(x))").gradient("x") == INF
    assert run("x = 0.0; z = x**x").gradient("x") == -INF
    assert run("x = 0.0; z = sqrt(x)").gradient("x") == INF


def test_detached_values_do_not_move() -> None:
    """What is detached has no slope, although the function has one: the rules' number is the right one."""
    assert run("x = 0.0; z = x + detach(round(x) - x) + abs(x)*0").gradient("x") == 1.0
    assert run("x = 0.0; z = detach(abs(x))*3 + relu(x)").gradient("x") == 0.0


def test_nodes_in_the_middle_are_looked_at_too() -> None:
    """A name that is computed has its own slopes, and moves alone."""
    read = build(Source("x = 2.0\nu = x - 2\nz = relu(u) - relu(-u)\n"), wrt=["x", "u"])
    found = evaluate(read, chosen_outputs(read, []), retain_grad=True)
    assert (found.gradient("x"), found.gradient("u")) == (1.0, 1.0)


def test_weights_of_an_output() -> None:
    """The number that is differentiated is the weighted sum."""
    read = build(Source("x = [0.0, 0.0]\nz = clamp(x, min=0.0) - 0.5*abs(x)\n"))
    found = evaluate(read, chosen_outputs(read, []), [Weight(None, np.array([2.0, -4.0]))])
    np.testing.assert_allclose(found.gradient("x"), [1.0, -2.0], rtol=EXACT)


def test_float32() -> None:
    """A repaired number has the dtype of its gradient."""
    found = run("x = 0.0; z = clamp(x, min=0.0) + log1p(exp(-abs(x)))", dtype=np.dtype(np.float32))
    assert found.gradient("x").dtype == np.float32
    assert found.gradient("x") == np.float32(0.5)


def test_budget() -> None:
    """Without operations or time to spend the rules' numbers stay as they are, and where a look began it is said."""
    read = build(Source("x = 0.0\nz = relu(x) - relu(-x)\n"))
    case = Case([read.names["z"]], [np.float64(1.0)], {"x": read.names["x"]}, {"x": np.float64(0.0)})
    assert repaired(case, "z", operations=0).gradients == {"x": 0.0}
    assert repaired(case, "z", operations=10).gradients == {"x": 0.0}
    late = repaired(case, "z", seconds=-1.0)
    assert late.gradients == {"x": 0.0}
    assert "took too long" in late.warnings[0]
    assert repaired(case, "z").gradients == {"x": 1.0}


def test_a_formula_that_fails_leaves_the_rules_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The closer look never breaks an evaluation."""

    def fails(*_args: object) -> None:
        raise ValueError("no such function")

    monkeypatch.setattr(look, "Slopes", fails)
    read = build(Source("x = 0.0\nz = relu(x)\n"))
    case = Case([read.names["z"]], [np.float64(1.0)], {"x": read.names["x"]}, {"x": np.float64(0.0)})
    assert repaired(case, "z").gradients == {"x": 0.0}


def test_many_warnings_are_counted() -> None:
    """The first five are written out."""
    found = run("x = zeros(9); z = sum(relu(x) - relu(-x))")
    assert found.warnings[-1] == "and 4 more like these"
    assert len(found.warnings) == 6
    assert found.gradient("x").tolist() == [1.0] * 9


def test_a_look_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error inside of a formula leaves the rules' numbers as they are, and is told; it is not passed over."""

    def fail(*_: object) -> None:
        raise TypeError("no such number\nat all")

    monkeypatch.setattr(look, "_Look", fail)
    found = run("x = 0.0; z = abs(x)")
    assert found.gradient("x") == 0.0
    assert found.warnings == [
        "a closer look at z failed (TypeError: no such number): its numbers are float64's, as they are"
    ]


def test_a_look_that_is_not_possible_says_so_where_it_was_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be judged, a gradient that is not finite is said to stand as it is; a finite one is not."""

    def refuse(*_: object) -> None:
        raise CannotJudge("there is no formula")

    monkeypatch.setattr(look, "_Look", refuse)
    assert run("x = 0.0; z = abs(x)").warnings == []
    assert run("x = 0.0; z = sqrt(x)").warnings == ["a closer look at z is not possible: there is no formula"]


def test_bessel_functions_at_infinity_do_not_fail() -> None:
    """At an infinite argument the formulas of Bessel functions give a number or say that there is none."""
    for text in ("x = inf; z = bessel_i(x, 2)", "x = -inf; z = bessel_i(x, 1)"):
        assert not [warning for warning in run(text).warnings if "failed" in warning]


def test_a_wrong_zero_beside_steep_slopes_of_another_leaf() -> None:
    """What is rounding is told by the slopes of the same leaf: 37 is none beside 4e17 of another one."""
    found = run("x = 0.0; y = 1e-9; z = 37.0*copysign(x, x) + 1e9/y")
    assert found.gradient("x") == 37.0


def test_an_infinite_slope_where_there_is_no_gradient() -> None:
    """Of two numbers whose slopes do not add up the rules' numbers stand, but no finite one for an infinite slope."""
    found = run("x = [1.0, 1.0]; y = 0.0; z = maximum(x[0], x[1]) + y**y + y")
    assert found.gradient("y") == -INF
    assert found.gradient("x").tolist() == [0.5, 0.5]
