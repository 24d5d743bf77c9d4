"""Jacobians, Hessians and repeated derivatives where the chain rule over float64 fails at their point."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pytest

from agrad.engine.derivatives.orders import derivatives, hessian, jacobian
from agrad.engine.errors import Source
from agrad.engine.language import Formulas, build

NAN: Final = math.nan


def read(text: str) -> Formulas:
    """A text, statements parted by semicolons."""
    return build(Source(text.replace("; ", "\n")))


DERIVATIVES: Final = (
    ("where(x == 0, 1, sin(x)/x)", 0.0, [0, -1 / 3, 0, 1 / 5]),
    ("where(x == 0, 1, sin(3*x)/(3*x))", 0.0, [0, -3.0, 0]),
    ("where(x == 0, 1.0, (exp(x) - 1)/x)", 0.0, [1 / 2, 1 / 3, 1 / 4]),
    ("where(x == 0, 1.0, tanh(x)/x)", 0.0, [0, -2 / 3, 0]),
    ("where(x == 0, 1.0, x/(exp(x) - 1))", 0.0, [-1 / 2, 1 / 6, 0]),
    ("where(x == 1, 1.0, log(x)/(x - 1))", 1.0, [-1 / 2, 2 / 3]),
    ("sqrt(x**4)", 0.0, [0, 2.0, 0]),
    ("exp(-abs(x)**2)", 0.0, [0, -2.0, 0]),
    ("clamp(x, min=0.0) + log1p(exp(-abs(x)))", 0.0, [1 / 2, 1 / 4, 0]),
    ("relu(x)**3 - relu(-x)**3", 0.0, [0, 0, 6.0]),
    ("abs(x)**3", 0.0, [0, 0]),
    ("acos(x)**2", 1.0, [-2.0, 2 / 3]),
    ("cosh(sqrt(x))", 0.0, [1 / 2, 1 / 12]),
    ("log(cosh(x))", 800.0, [1.0, 0.0]),
    ("sqrt(x)**2*x", 0.0, [0, 2.0]),
    ("log(exp(x) + exp(-x))", 0.0, [0, 1.0, 0]),
    ("sin(x) + 0*abs(x)", 0.0, [1.0, 0.0, -1.0]),
)


@pytest.mark.parametrize(("expression", "x", "expected"), DERIVATIVES)
def test_derivatives(expression: str, x: float, expected: list[float]) -> None:
    """Each order is right at a point where some step of the chain is singular."""
    formulas = read(f"x = {x}; z = {expression}")
    found = derivatives("z", formulas.names["z"], "x", formulas.names["x"], len(expected))
    np.testing.assert_allclose(found.found, expected, rtol=1e-13, atol=1e-300)


HESSIANS: Final[tuple[tuple[str, Any], ...]] = (
    ("exp(-norm(x - [1.0, 2.0])**2)", [[-2, 0], [0, -2]]),
    ("exp(-norm(x - [1.0, 2.0])**2/8)", [[-0.25, 0], [0, -0.25]]),
    ("1/(1 + norm(x - [1.0, 2.0])**2)", [[-2, 0], [0, -2]]),
    ("(1 + sqrt(3)*norm(x - [1.0, 2.0]))*exp(-sqrt(3)*norm(x - [1.0, 2.0]))", [[-3, 0], [0, -3]]),
    ("cosh(norm(x - [1.0, 2.0]))", [[1, 0], [0, 1]]),
    ("cos(sqrt(sum((x - [1.0, 2.0])**2)))", [[-1, 0], [0, -1]]),
    ("norm(x - [1.0, 2.0])**4", [[0, 0], [0, 0]]),
    ("hypot(x[0] - 1, x[1] - 2)**2 + x[0]*x[1]", [[2, 1], [1, 2]]),
    ("sqrt((x[0] - 1)**4) + x[0]*x[1]**2", [[2, 4], [4, 2]]),
)


@pytest.mark.parametrize(("expression", "expected"), HESSIANS)
def test_hessian(expression: str, expected: Any) -> None:
    """The Hessian of a smooth function of a distance is right where the distance is 0."""
    formulas = read(f"x = [1.0, 2.0]; z = {expression}")
    found = hessian("z", formulas.names["z"], formulas.wrt).found
    x = formulas.names["x"]
    np.testing.assert_allclose(found[x][x], expected, rtol=1e-13, atol=1e-300)


def test_blocks_of_several_leaves() -> None:
    """The block of two leaves is the transpose of the block of the two the other way around, of any shapes."""
    formulas = read("p = [1.0, 2.0]; q = [1.0, 2.0]; s = 3.0; z = s*cosh(norm(p - q)) + s**2*q[0]")
    p, q, s = (formulas.names[name] for name in "pqs")
    found = hessian("z", formulas.names["z"], formulas.wrt).found
    np.testing.assert_allclose(found[p][q], [[-3, 0], [0, -3]], rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(found[q][p], found[p][q].T)
    np.testing.assert_allclose(found[s][q], [6, 0], rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(found[q][s], [6, 0], rtol=1e-13, atol=1e-300)


def test_jacobian() -> None:
    """Each row is put right, and a warning names the entry."""
    formulas = read("x = [0.0, 1.0]; y = relu(x) - relu(-x) + x[1]*[1.0, 2.0]")
    found = jacobian("y", formulas.names["y"], formulas.wrt)
    np.testing.assert_allclose(found.found[formulas.names["x"]], [[1, 1], [0, 3]], rtol=1e-13, atol=1e-300)
    assert found.warnings == [
        "the derivative of y[0] by x[0] at x[0] = 0.0: the chain rule over float64 gives 0.0 here; the derivative is "
        "1.0, from 50-digit quotients"
    ]


def test_warnings() -> None:
    """Without a singular point there is none, with one the entries are named."""
    formulas = read("x = 0.5; z = where(x == 0, 1, tanh(x)/x)")
    assert derivatives("z", formulas.names["z"], "x", formulas.names["x"], 2).warnings == []
    formulas = read("x = 0.0; z = where(x == 0, 1, tanh(x)/x)")
    (line,) = derivatives("z", formulas.names["z"], "x", formulas.names["x"], 2).warnings
    assert line.startswith("the derivative of z by x and x: the chain rule over float64 gives 0.0 here")


def test_a_name_inside_of_a_pattern() -> None:
    """Differentiated by what a rewrite would bypass, the text's own graph is taken."""
    formulas = build(Source("x = 1.0\nu = exp(x)\nz = log(1 + u)\n"), wrt=["u"])
    u = formulas.names["u"]
    expected = [1 / (1 + math.e), -1 / (1 + math.e) ** 2]
    np.testing.assert_allclose(derivatives("z", formulas.names["z"], "u", u, 2).found, expected, rtol=1e-13)


def test_a_jacobian_of_many_rows_is_looked_at_within_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left when the time is over keeps the chain rule's numbers, which is said; broken rows come first."""
    formulas = read("x = zeros(30); y = abs(x) + where(arange(30) == 29, sqrt(x**4), 0)")
    asked = (formulas.names["y"], {"x": formulas.wrt["x"]})
    looked: list[Any] = []

    def look(_case: Any, subject: str, seconds: float) -> None:
        looked.append((subject, seconds))

    monkeypatch.setattr("agrad.engine.limits.repaired", look)
    with pytest.raises(AttributeError):  # the first look gives nothing here
        jacobian("y", *asked)
    assert looked[0][0] == "y[29]"
    assert 0 < looked[0][1] <= 5.0
    monkeypatch.setattr("agrad.engine.derivatives.orders._SECONDS", 0.0)
    found = jacobian("y", *asked)
    assert len(looked) == 1
    assert "of 30 of its 30 rows the chain rule's numbers stand" in found.warnings[0]
