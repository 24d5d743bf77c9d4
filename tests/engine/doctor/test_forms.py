"""Forms that keep digits: each is the same function, and has the digits that the plain form loses."""

from __future__ import annotations

import numpy as np
import pytest

from agrad.engine.doctor.forms import FORMS, Form
from agrad.engine.graph import Node, ancestors
from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.referees.forward import evaluate_graph
from agrad.engine.run.cpu import evaluate
from agrad.engine.worker.budget import Budget

from .conftest import Run

POINTS: dict[tuple[str, str], str] = {
    ("sqrt(a) - sqrt(b)", "(a - b)/(sqrt(a) + sqrt(b))"): "x = 1e12\ny = sqrt(x + 1) - sqrt(x)",
    ("sqrt(b**2 + r) - b", "r/(sqrt(b**2 + r) + b)"): "x = 1e8\ny = sqrt(x**2 + 1) - x",
    ("a**2 - b**2", "(a - b)*(a + b)"): "a = 1.3\nb = a + 1e-12\ny = a**2 - b**2",
    ("cos(a) - cos(b)", "-2*sin((a + b)/2)*sin((a - b)/2)"): "x = 1.0\nh = 1e-9\ny = cos(x + h) - cos(x)",
    ("cos(x) - 1", "-2*sin(x/2)**2"): "x = 1e-6\ny = cos(x) - 1",
    ("sin(a) - sin(b)", "2*cos((a + b)/2)*sin((a - b)/2)"): "x = 1.0\nh = 1e-9\ny = sin(x + h) - sin(x)",
    ("exp(a) - exp(b)", "exp(b)*expm1(a - b)"): "x = 1.0\nh = 1e-9\ny = exp(x + h) - exp(x)",
    ("log(a) - log(b)", "log1p((a - b)/b)"): "x = 3.0\nh = 1e-9\ny = log(x + h) - log(x)",
    ("log(a/b)", "log1p((a - b)/b)"): "x = 1e-10\ny = log((1 + x)/(1 - x))",
    ("1/a - 1/b", "(b - a)/(a*b)"): "x = 1e7\ny = 1/x - 1/(x + 1)",
    ("atan(a) - atan(b)", "atan2(a - b, 1 + a*b)"): "x = 1e6\ny = atan(x + 1) - atan(x)",
    ("(1 + x)**n - 1", "expm1(n*log1p(x))"): "x = 1e-12\nn = 365.0\ny = (1 + x)**n - 1",
    ("mean(x**2) - mean(x)**2", "mean((x - mean(x))**2)"): "x = [1e8, 1e8 + 1, 1e8 + 2]\ny = mean(x**2) - mean(x)**2",
    ("cosh(x) - 1", "2*sinh(x/2)**2"): "x = 1e-7\ny = cosh(x) - 1",
    ("1 - erf(x)", "erfc(x)"): "x = 6.0\ny = 1 - erf(x)",
    ("1 - erfc(x)", "erf(x)"): "x = 1e-12\ny = 1 - erfc(x)",
    ("log(x + sqrt(x**2 + 1))", "asinh(x)"): "x = -1e6\ny = log(x + sqrt(x**2 + 1))",
    ("log(cosh(x))", "logaddexp(x, -x) - log(2)"): "x = 1000.0\ny = log(cosh(x))",
    ("log(cosh(x))", "log1p(2*sinh(x/2)**2)"): "x = 1e-6\ny = log(cosh(x))",
    ("(a + b) - a", "b"): "x = 1e-20\ny = (1 + x) - 1",
    ("log(a*b)", "log(a) + log(b)"): "a = 1e-200\nb = 1e-200\ny = log(a*b)",
    ("log(x**n)", "n*log(x)"): "x = 1e-200\ny = log(x**4)",
    ("log(gamma(x))", "lgamma(x)"): "x = 200.0\ny = log(gamma(x))",
    ("exp(a)/exp(b)", "exp(a - b)"): "a = 1000.0\nb = 999.0\ny = exp(a)/exp(b)",
    ("exp(a)*exp(b)", "exp(a + b)"): "a = 1000.0\nb = -999.0\ny = exp(a)*exp(b)",
    ("log(1 + x + y)", "log1p(x + y)"): "x = 1e-12\nz = 1e-13\ny = log(1 + x + z)",
}
"""For each form a point where the plain form has at most ten right digits."""

BENIGN: dict[tuple[str, str], str] = {
    ("sqrt(b**2 + r) - b", "r/(sqrt(b**2 + r) + b)"): "b = 2.0\nc = 0.7\ny = -b + sqrt(b**2 - 4*c*0.3)",
    ("log(a*b)", "log(a) + log(b)"): "x = [0.5, 0.7]\ny = log(prod(x))",
    ("1/a - 1/b", "(b - a)/(a*b)"): "a = 2.0\nb = 3.0\ny = reciprocal(a) - 1/b",
    ("exp(a) - exp(b)", "exp(b)*expm1(a - b)"): "x = 0.3\ny = exp(x) - exp(-x)",
    ("a**2 - b**2", "(a - b)*(a + b)"): "x = 0.3\ny = x*x - 1",
    ("(1 + x)**n - 1", "expm1(n*log1p(x))"): "x = 0.3\ny = (x + 1)**2 - 1",
    ("(a + b) - a", "b"): "x = 0.3\nz = 2.0\ny = (x - z) - x",
    ("log(x**n)", "n*log(x)"): "x = -2.0\ny = log(x**2)",
    ("log(a) - log(b)", "log1p((a - b)/b)"): "x = 0.7\nz = 2.0\ny = log(1 + x) - log(z)",
}
"""Other ways to write some of them, where nothing is lost: both forms must have the same value."""


def fitting(form: Form, text: str, run: Run) -> tuple[Node, Node]:
    """The node that a form fits, and what it makes of it."""
    formulas, evaluation = run(text)
    assert evaluation.closer is not None
    del formulas
    for node in reversed(ancestors(evaluation.closer.outputs)):
        made = form.find(node)
        if made is not None:
            return node, made
    raise AssertionError(f"{form.plain} is not found in {text}")


def exact(node: Node) -> float:
    """The value of a node from 80 digits."""
    m = PreciseArithmetic(80)
    return float(evaluate_graph(m, ancestors([node]), {}, Budget(100_000, 10.0))[node].item())


@pytest.mark.parametrize("form", [pytest.param(form, id=f"{form.plain} as {form.new}") for form in FORMS])
def test_a_form_keeps_what_the_plain_one_loses(form: Form, run: Run) -> None:
    """At its point the plain form has at most ten right digits, the new one at least fourteen, of the same number."""
    node, made = fitting(form, POINTS[form.plain, form.new], run)
    true = exact(node)
    plain, new = (float(np.asarray(evaluate([each])[each])) for each in (node, made))
    assert not abs(plain - true) <= 1e-10 * abs(true)
    np.testing.assert_allclose(new, true, rtol=1e-14)


@pytest.mark.parametrize(("key", "text"), BENIGN.items(), ids=[text.split("y = ")[1] for text in BENIGN.values()])
def test_a_form_is_the_same_function(key: tuple[str, str], text: str, run: Run) -> None:
    """Where nothing is lost, both forms have the same value."""
    form = next(form for form in FORMS if (form.plain, form.new) == key)
    node, made = fitting(form, text, run)
    np.testing.assert_allclose(evaluate([made])[made], evaluate([node])[node], rtol=1e-13)


@pytest.mark.parametrize(
    "text",
    [
        "x = 2.0\nz = 1.0\ny = sqrt(x) - z",
        "x = 2.0\nz = 1.0\ny = mean([1.0, 2.0]*x) - z**2",
        "x = 2.0\ny = log(2 + x)",
        "x = 2.0\ny = cos(x) - 2",
        "x = 2.0\ny = x**2 + 1",
        "x = [[1.0, 2.0]]\ny = sum(mean(x**2, 0) - mean(x, 0)**2)",
    ],
)
def test_what_is_not_of_a_form_is_left_alone(text: str, run: Run) -> None:
    """No form is found where the pattern is not there."""
    formulas, _ = run(text)
    nodes = [node for node in ancestors([formulas.names["y"]]) if node.args and node.dtype.kind == "f"]
    assert [form.plain for node in nodes for form in FORMS if form.find(node) is not None] == []


def test_every_form_has_a_point() -> None:
    """No form goes untested."""
    assert set(POINTS) == {(form.plain, form.new) for form in FORMS}
