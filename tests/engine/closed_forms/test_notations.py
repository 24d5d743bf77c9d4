"""Notations: numbers, names, choices, conditions."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from agrad.engine.closed_forms.latex_names import latex_name
from agrad.engine.closed_forms.notations import drawing, latex, python_names, text, with_decimals

x = sympy.Symbol("x", real=True)
first = sympy.Symbol("x[0, 1]", real=True)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (sympy.Piecewise((x, x > 0), (0, True)), "where(x > 0, x, 0)"),
        (sympy.Piecewise((1, x > 1), (2, x < -1), (3, True)), "where(x > 1, 1, where(x < -1, 2, 3))"),
        (sympy.Eq(x, 0), "x == 0"),
        (sympy.And(x > 0, x < 1), "(x > 0) & (x < 1)"),
        (-sympy.oo * x, "-inf*x"),
        (sympy.exp(1) + sympy.pi, "e + pi"),
        (sympy.polygamma(0, x) + sympy.polygamma(1, x), "digamma(x) + polygamma(1, x)"),
        (sympy.besseli(1, x), "i1(x)"),
        (sympy.loggamma(x) * sympy.Abs(x), "abs(x)*lgamma(x)"),
        (2 * first, "2*x[0, 1]"),
    ],
)
def test_text(expression: Any, expected: str) -> None:
    """The text is in agrad's own language."""
    assert text(expression) == expected


def test_long_fractions_are_the_floats_that_they_stood_for() -> None:
    """0.3989422804014327 is not written as a fraction of two long numbers; 1/3 is."""
    long = sympy.Rational(3989422804014327, 10**16)
    assert text(with_decimals(long * x / 3)) == "0.1329807601338109*x"
    assert text(with_decimals(x / 3)) == "x/3"
    assert latex(with_decimals(sympy.Rational(1, 10**30) * x)) == r"1 \cdot 10^{-30} x"


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("x", "x"),
        ("x[0, 1]", "x_{0,1}"),
        ("x1", "x_{1}"),
        ("sigma", r"\sigma"),
        ("sigma_max", r"\sigma_{\mathrm{max}}"),
        ("rate[2]", r"\mathrm{rate}_{2}"),
        ("__import__", r"\mathrm{\_\_import\_\_}"),
        ("_", r"\mathrm{\_}"),
    ],
)
def test_names_in_latex(label: str, expected: str) -> None:
    """A name is a letter or upright text, never anything that LaTeX acts upon."""
    assert latex_name(label) == expected


def test_names_in_python() -> None:
    """Keywords, modules that the text uses, and names that Python folds into one are told apart."""
    assert python_names(["x", "math", "abs", "s", "\u017f", "__debug__"]) == {
        "x": "x",
        "math": "math_",
        "abs": "abs_",
        "s": "s",
        "\u017f": "s_",
        "__debug__": "__debug___",
    }


def test_drawings() -> None:
    """A drawing is of several lines; in ASCII where it must be."""
    assert drawing(x**2 / 2, ascii_only=False).splitlines() == [" 2", "x ", "\u2500\u2500", "2 "]
    assert drawing(sympy.pi * x, ascii_only=True).isascii()
