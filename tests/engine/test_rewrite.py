"""Named rewrites: each fires on its pattern, is right where the plain graph is not, and never makes a result worse."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import pytest

from agrad.engine.errors import Source
from agrad.engine.evaluation.evaluate import chosen_outputs, evaluate
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, ancestors, leaf
from agrad.engine.language import Formulas, build
from agrad.engine.patterns import REWRITES
from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.referees.forward import evaluate_graph
from agrad.engine.rewrite import rewritten
from agrad.engine.run.cpu import evaluate as values_of
from agrad.engine.worker.budget import Budget

ROUNDINGS: Final = 2
"""How many units in the last place a rewrite may lose against the plain graph."""
COUNT: Final = 60


class Form(NamedTuple):
    """A calling form of a pattern over x (and y): the rewrite that it is to fire, and where x is sampled."""

    rewrite: str
    text: str
    low: float = -40.0
    high: float = 40.0
    vector: bool = False


FORMS: Final = (
    Form("softplus", "log(1 + exp(x))"),
    Form("softplus", "log(exp(x) + 1.0)"),
    Form("softplus", "log1p(exp(x))"),
    Form("logaddexp", "log(exp(x) + exp(y))"),
    Form("logaddexp", "log(exp(x) + exp(y) + 1)"),
    Form("logaddexp", "log(2 + exp(x))"),
    Form("logsumexp", "log(sum(exp(x)))", vector=True),
    Form("logsumexp", "log(sum(exp(x), dim=0, keepdim=True))", vector=True),
    Form("log-softmax", "log(softmax(x, dim=0))", vector=True),
    Form("softmax", "exp(x)/sum(exp(x))", vector=True),
    Form("logsigmoid", "log(sigmoid(x))"),
    Form("logsigmoid", "log(1/(1 + exp(-x)))"),
    Form("sigmoid", "1/(1 + exp(-x))"),
    Form("sigmoid", "reciprocal(exp(-x) + 1)"),
    Form("sigmoid", "1.0/(1.0 + exp(x))"),
    Form("sigmoid-of-ratio", "exp(x)/(1 + exp(x))"),
    Form("one-minus-sigmoid", "1 - sigmoid(x)"),
    Form("expm1", "exp(x) - 1"),
    Form("expm1", "-1.0 + exp(x)"),
    Form("one-minus-exp", "1 - exp(x)"),
    Form("log-one-minus-exp", "log(1 - exp(x))", -40.0, 0.0),
    Form("log-one-minus-exp", "log(1.0 - exp(-x))", 0.0, 40.0),
    Form("one-minus-cos", "1 - cos(x)"),
    Form("one-minus-tanh", "1 - tanh(x)"),
    Form("one-minus-tanh", "1 + tanh(x)"),
    Form("one-minus-tanh", "tanh(x) + 1"),
    Form("one-minus-tanh-squared", "1 - tanh(x)**2"),
    Form("log-of-exp", "log(exp(x))"),
    Form("log1p", "log(1 + x)", -0.9, 5.0),
    Form("log1p", "log(1 - x)", -5.0, 0.9),
    Form("exp-of-log", "exp(log(x))", -1.0, 50.0),
    Form("x-log-x", "x*log(x)", -1.0, 5.0),
    Form("x-log-x", "log(x)*x", 0.0, 1.0),
    Form("root-of-square", "sqrt(x**2)"),
    Form("root-of-square", "(x*x)**0.5"),
    Form("root-of-square", "sqrt((x - 1)**2)"),
    Form("square-of-root", "sqrt(x)**2", -1.0, 50.0),
    Form("square-of-root", "sqrt(x)*sqrt(x)", 0.0, 50.0),
    Form("square-of-root", "square(x**0.5)", 0.0, 50.0),
    Form("square-of-abs", "abs(x)**2"),
    Form("square-of-norm", "norm(x)**2", vector=True),
    Form("square-of-norm", "norm(x)*norm(x)", vector=True),
    Form("square-of-hypot", "hypot(x, y)**2"),
    Form("norm", "sqrt(sum(x**2))", vector=True),
    Form("norm", "sum(x*x)**0.5", vector=True),
    Form("hypot", "sqrt(x**2 + y**2)"),
    Form("hypot", "(x*x + square(y))**0.5"),
    Form("sinc", "where(x == 0, 1.0, sin(x)/x)", -20.0, 20.0),
    Form("sinc", "where(x != 0, sin(x)/x, 1.0)", -2.0, 2.0),
)
EXTREMES: Final = (
    *(0.0, -0.0, 1.0, -1.0, 1e-300, -1e-300, 1e-20, -1e-20, 1e-8, -1e-8, 37.5, -37.5, 299.0, 301.0, -301.0),
    *(709.0, -709.0, 745.0, -745.0, 800.0, -800.0, 1e5, -1e5, 1e160, -1e160, 1e300),
)


def formulas(text: str, **inputs: Any) -> Formulas:
    """A text over those of the inputs that it uses."""
    given = {
        name: np.asarray(value, dtype=float)[()] for name, value in inputs.items() if re.search(rf"\b{name}\b", text)
    }
    return build(Source(text), inputs=given)


def exact(node: Node) -> Any:
    """The value of a node from 700 digits, as an object array, and its arithmetic."""
    m = PreciseArithmetic(700)
    return m, evaluate_graph(m, ancestors([node]), {}, Budget(10**7, 60))[node]


def samples(form: Form) -> list[Mapping[str, Any]]:
    """Points of a form: random ones and extremes."""
    random = np.random.default_rng(len(form.text))
    if form.vector:
        points: list[Mapping[str, Any]] = [
            {"x": random.uniform(form.low, form.high, 3) * scale} for scale in (1.0, 1e-3, 20.0) for _ in range(8)
        ]
        return points + [{"x": np.array([a, b, 0.5])} for a, b in zip(EXTREMES, EXTREMES[::-1], strict=True)]
    x = np.concatenate([random.uniform(form.low, form.high, COUNT), random.uniform(-1, 1, COUNT) * 1e-3, EXTREMES])
    y = np.concatenate([random.uniform(form.low, form.high, 2 * COUNT), EXTREMES[::-1]])
    return [{"x": x, "y": y} if "y" in form.text else {"x": x}]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.text)
def test_no_result_gets_worse(form: Form) -> None:
    """The rewrite fires, and its value is as near to the exact one as the plain value is, but for two roundings."""
    for inputs in samples(form):
        read = formulas(f"z = {form.text}", **inputs)
        plain = read.names["z"]
        rewriting = rewritten([plain])
        assert form.rewrite in [fired.rewrite.name for fired in rewriting.fired]
        new = rewriting[plain]
        assert (new.shape, new.dtype) == (plain.shape, plain.dtype)
        values = values_of([plain, new])
        m, truth = exact(plain)
        for old, now, true in zip(np.ravel(values[plain]), np.ravel(values[new]), truth.ravel(), strict=True):
            if not np.isfinite(old):
                assert not np.isnan(now) or np.isnan(old) or m.undefined_number(true)
                continue
            spacing = float(np.spacing(abs(float(true)))) if abs(true) < 1.7e308 else 0.0
            slack = ROUNDINGS * spacing + (5e-324 if spacing else 0.0)
            assert abs(m.number(float(now)) - true) <= abs(m.number(float(old)) - true) + slack, (inputs, old, now)


def test_every_rewrite_has_a_form() -> None:
    """No rewrite is left untested, and each has its own name and a reason."""
    names = [rewrite.name for rewrite in REWRITES]
    assert len(set(names)) == len(names) == 27
    assert {form.rewrite for form in FORMS} == set(names)
    assert all(rewrite.why and rewrite.plain and rewrite.new for rewrite in REWRITES)


NOT_PATTERNS: Final = (
    "log(2 + x)",
    "exp(x) - 2",
    "exp(x) + 1",
    "1/(2 + exp(-x))",
    "1 + sigmoid(x)",
    "sqrt(x**3)",
    "sqrt(x)**3",
    "norm(x)**3",
    "norm(x, p=1)**2",
    "x*log(y)",
    "exp(x)/(1 + exp(y))",
    "where(x == 0, 2.0, sin(x)/x)",
    "where(x == 1, 1.0, sin(x)/x)",
    "where(x == 0, 1.0, sin(y)/x)",
    "sqrt(x*y)",
    "exp(log10(x))",
    "log2(exp(x))",
)


@pytest.mark.parametrize("text", NOT_PATTERNS)
def test_no_rewrite_of_what_only_looks_like_a_pattern(text: str) -> None:
    """Another constant, another argument or another function is another function."""
    read = formulas(f"z = {text}", x=[0.5, 2.0], y=[1.5, 0.25])
    assert not rewritten([read.names["z"]]).fired


class Singular(NamedTuple):
    """A text whose plain graph fails at a point, and the right value and slope of its sum."""

    text: str
    x: float
    value: float
    slope: float


SINGULAR: Final = (
    Singular("log(1 + exp(x))", 800.0, 800.0, 1.0),
    Singular("log1p(exp(x))", 800.0, 800.0, 1.0),
    Singular("log(exp(x) + exp(2*x))", 600.0, 1200.0, 2.0),
    Singular("log(exp(x) + exp(-x))", 900.0, 900.0, 1.0),
    Singular("log(3 + exp(x))", 800.0, 800.0, 1.0),
    Singular("log(sum(exp(stack([x, x, x]))))", 1000.0, 1000.0 + math.log(3.0), 1.0),
    Singular("log(sum(exp(stack([x, x]))))", -1000.0, -1000.0 + math.log(2.0), 1.0),
    Singular("log(softmax(stack([x, 0.0*x]), dim=0))[0]", -800.0, -800.0, 1.0),
    Singular("log(sigmoid(x))", -800.0, -800.0, 1.0),
    Singular("log(1 - sigmoid(x))", 800.0, -800.0, -1.0),
    Singular("log(1/(1 + exp(-x)))", -800.0, -800.0, 1.0),
    Singular("exp(x)/(1 + exp(x))", 800.0, 1.0, 0.0),
    Singular("log(exp(x)/(1 + exp(x)))", -900.0, -900.0, 1.0),
    Singular("log(exp(x))", 900.0, 900.0, 1.0),
    Singular("log(exp(x))", -900.0, -900.0, 1.0),
    Singular("exp(log(x))", 0.0, 0.0, 1.0),
    Singular("(exp(x) - 1)/x", 1e-12, 1.0000000000005, 0.5),
    Singular("log(1 + x)/x", 1e-12, 0.9999999999995, -0.5),
    Singular("log(1 - exp(-x))", 1e-20, math.log(1e-20), 1e20),
    Singular("log(1 - exp(-x))", 50.0, -math.exp(-50), math.exp(-50)),
    Singular("(1 - cos(x))/(x*x)", 1e-150, 0.5, 0.0),
    Singular("1 - tanh(x)", 30.0, 2 * math.exp(-60), -4 * math.exp(-60)),
    Singular("1 + tanh(x)", -30.0, 2 * math.exp(-60), 4 * math.exp(-60)),
    Singular("1 - tanh(x)**2", 30.0, 4 * math.exp(-60), -8 * math.exp(-60)),
    Singular("sqrt((x - 2)**2)", 2.0, 0.0, 0.0),
    Singular("sqrt(x*x)", 1e200, 1e200, 1.0),
    Singular("sqrt(x*x)", 1e-200, 1e-200, 1.0),
    Singular("sqrt(x)**2", 0.0, 0.0, 1.0),
    Singular("norm(stack([x, 2*x]))**2", 0.0, 0.0, 0.0),
    Singular("sqrt(x**2 + (2*x)**2)", 1e200, math.sqrt(5) * 1e200, math.sqrt(5)),
    Singular("sqrt(sum(stack([x, 2*x])**2))", 1e-200, math.sqrt(5) * 1e-200, math.sqrt(5)),
)


@pytest.mark.parametrize("case", SINGULAR, ids=lambda case: f"{case.text} at {case.x!r}")
def test_value_and_slope_are_right(case: Singular) -> None:
    """Where exponentials overflow, squares leave the range or a root has no slope, value and slope are right."""
    read = formulas(f"z = {case.text}", x=case.x)
    found = evaluate(read, chosen_outputs(read, []))
    np.testing.assert_allclose(found.values[read.names["z"]], case.value, rtol=1e-12)
    np.testing.assert_allclose(found.gradient("x"), case.slope, rtol=1e-3 if abs(case.x) == 1e-12 else 1e-12)


def slopes(read: Formulas, orders: int) -> list[float]:
    """The derivatives of z by x over the rewritten graph."""
    node, found = rewritten([read.names["z"]])[read.names["z"]], []
    for _ in range(orders):
        flowing = gradients([node], [leaf(np.float64(1.0))])
        node = flowing.get(read.names["x"], leaf(np.float64(0.0)))
        found.append(float(values_of([node])[node]))
        if not node.requires_grad:
            break
    return found


def test_higher_orders_at_singular_points() -> None:
    """The replacement is differentiated in the pattern's place, to any order."""
    assert slopes(formulas("z = where(x == 0, 1, sin(x)/x)", x=0.0), 4) == pytest.approx([0, -1 / 3, 0, 1 / 5])
    assert slopes(formulas("z = norm(stack([x, 0*x]))**2", x=0.0), 2) == [0.0, 2.0]
    assert slopes(formulas("z = abs(x)**2", x=0.0), 2) == [0.0, 2.0]
    assert slopes(formulas("z = log(1 + exp(x))", x=40.0), 2)[1] == pytest.approx(4.248354255291589e-18)


def test_a_rewrite_is_told_only_where_it_matters() -> None:
    """One line names the place, the pattern and its replacement, and nothing is said where the plain graph is right."""
    read = formulas("a = x + 1\nz = log(1 + exp(a))", x=900.0)
    (line,) = evaluate(read, chosen_outputs(read, [])).warnings
    assert line == "z, line 2: log(1 + exp(x)) is computed as softplus(x): exp(x) overflows from 710 on"
    read = formulas("a = x + 1\nz = log(1 + exp(a))", x=3.0)
    assert evaluate(read, chosen_outputs(read, [])).warnings == []


def test_named_nodes_keep_what_they_are() -> None:
    """The text's nodes keep op, grad_fn and values, and what stands inside of a pattern its own gradient."""
    read = formulas("u = exp(x)\nv = 1 + u\nz = log(v)", x=2.0)
    found = evaluate(read, chosen_outputs(read, []), retain_grad=True)
    by_name = {node.name: float(grad) for node, grad in found.grads.items()}
    assert read.names["z"].grad_fn == "LogBackward0"
    assert by_name["v"] == pytest.approx(1 / (1 + math.exp(2)), rel=1e-14)
    assert by_name["u"] == pytest.approx(1 / (1 + math.exp(2)), rel=1e-14)
    assert by_name["x"] == pytest.approx(1 / (1 + math.exp(-2)), rel=1e-14)
    assert float(found.values[read.names["u"]]) == math.exp(2)


def test_gradient_of_a_leaf_that_the_pattern_gives_back() -> None:
    """A replacement that is the leaf itself does not take what flows to the leaf elsewhere."""
    read = formulas("y = log(exp(x))\nz = y*x", x=3.0)
    found = evaluate(read, chosen_outputs(read, []), retain_grad=True)
    by_name = {node.name: float(grad) for node, grad in found.grads.items()}
    assert by_name == {"x": 6.0, "y": 3.0, "z": 1.0}


def test_equal_arguments_written_twice() -> None:
    """Both copies of p - q are one variable of the pattern, and what each of them receives is right."""
    read = build(Source("p = 3.0\nq = 1.0\na = p - q\nb = p - q\nz = sqrt((p - q)*(p - q)) + a*b\n"))
    found = evaluate(read, chosen_outputs(read, []), retain_grad=True)
    by_name = {node.name: float(grad) for node, grad in found.grads.items()}
    assert by_name == {"p": 5.0, "q": -5.0, "a": 2.0, "b": 2.0, "z": 1.0}


@pytest.mark.parametrize(
    "text", ["log(1 + exp(x))", "log(exp(x) + exp(-x))", "log(sum(exp(stack([x, -x]))))", "sqrt(x**2)"]
)
def test_float32(text: str) -> None:
    """The range of float32 ends far earlier, and its results stay float32."""
    read = build(Source(f"x = 200.0\nz = {text}\n"), dtype=np.dtype(np.float32))
    new = rewritten([read.names["z"]])[read.names["z"]]
    value = values_of([new])[new]
    assert value.dtype == np.float32
    assert value == 200.0
