"""What to write instead."""

from __future__ import annotations

import pytest

from agrad.engine.doctor.chain import chain_of
from agrad.engine.doctor.finding import text_of
from agrad.engine.doctor.operation import first_made
from agrad.engine.doctor.repairs import inside_where, of_gradient, of_value
from agrad.engine.graph import Node

from .conftest import Run


def text(node: Node) -> str:
    """A node by its name or its number."""
    return node.name or repr(node.value)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("x = 1000.0\ny = cosh(x)", "keep x below 710.47, or use log(cosh(x)) = logaddexp(x, -x) - log(2)"),
        ("x = 0.0\ny = 1/x", "restrict to x != 0"),
        ("x = 0.0\nz = inf\ny = x*z", "zero times infinity is nothing: take the limit of the product, or select with "
         "where instead of a factor"),
        ("x = 1e300\nz = 1e300\ny = x*z", "scale the numbers down, or work with their logarithms"),
        ("x = 2.0\ny = acos(x)", "restrict x: acos has a value and a slope for -1 <= x <= 1, inside"),
        ("x = nan\ny = x + 1", "give a finite number, or select the others with where or isfinite"),
    ],
)  # fmt: skip
def test_values(formula: str, expected: str, run: Run) -> None:
    """For an op and the way it failed there is one sentence."""
    chain = chain_of(run(formula)[1])
    assert chain is not None
    made = first_made(chain.nodes, chain.values)
    assert made is not None
    assert of_value(made, None, text) == expected


@pytest.mark.parametrize(
    ("formula", "at", "expected"),
    [
        ("x = 0.0\ny = sqrt(x)", 0.0, "restrict to x > 0, or smooth it with a small constant: sqrt(x + 1e-12)"),
        ("x = 0.0\ny = x**0.5", 0.0, "restrict to x > 0, or smooth it with a small constant: (x + 1e-12)**..."),
        (
            "x = [0.0]\ny = norm(x)",
            None,
            "use the square, which is smooth at 0, or add a small constant under the root",
        ),
        ("x = 0.0\ny = 1/x", 0.0, "restrict to x != 0"),
        ("x = 1.0\ny = exp(x)", 1.0, ""),
    ],
)
def test_gradients(formula: str, at: float | None, expected: str, run: Run) -> None:
    """For an op whose slope is not finite there is one sentence, or none."""
    formulas, _ = run(formula)
    assert of_gradient(formulas.names["y"], at, text) == expected


@pytest.mark.parametrize(
    ("formula", "chosen", "expected"),
    [
        ("x = 1.0\ny = log(x)", True, "log(where(c, x, 0.5))"),
        ("x = 1.0\ny = log(x)", False, "log(where(c, 0.5, x))"),
        ("x = 1.0\ny = 3/x", True, "3/where(c, x, 0.5)"),
        ("x = 1.0\ny = x/3", True, "where(c, x, 0.5)/3"),
        ("x = 1.0\ny = (x + 1)/(x*x)", True, "(x + 1)/where(c, x*x, 0.5)"),
        ("x = 1.0\ny = x**0.5", True, "where(c, x, 0.5)**0.5"),
        ("x = 1.0\ny = acosh(x)", True, "acosh(where(c, x, 2.0))"),
    ],
)
def test_where_on_the_inside(formula: str, chosen: bool, expected: str, run: Run) -> None:
    """The argument that varies is kept inside of the domain where the branch is not taken."""
    formulas, _ = run(formula)

    def words(node: Node) -> str:
        return node.name or (text_of(formulas, node) if node.args else repr(node.value))

    assert inside_where(formulas.names["y"], "c", chosen, words) == expected
