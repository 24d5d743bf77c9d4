"""Random formulas of two numbers beside an equal form and the derivative that a textbook gives, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np

Thing = TypeVar("Thing")


class Formula(NamedTuple):
    """A formula of x and y.

    Attributes:
        text: the formula.
        equal: the same in another form, wherever both are defined.
        slope: its derivative by x.
    """

    text: str
    equal: str
    slope: str


RULES: Final = (
    Formula("sin(U)", "2*sin(U/2)*cos(U/2)", "cos(U)"),
    Formula("cos(U)", "1 - 2*sin(U/2)**2", "(-sin(U))"),
    Formula("tan(U)", "sin(U)/cos(U)", "(1 + tan(U)**2)"),
    Formula("exp(U)", "exp(U/2)**2", "exp(U)"),
    Formula("expm1(U)", "exp(U) - 1", "exp(U)"),
    Formula("log(U)", "log1p(U - 1)", "(1/U)"),
    Formula("log1p(U)", "log(1 + U)", "(1/(1 + U))"),
    Formula("sqrt(U)", "exp(log(U)/2)", "(0.5/sqrt(U))"),
    Formula("sinh(U)", "(exp(U) - exp(-U))/2", "cosh(U)"),
    Formula("cosh(U)", "1 + 2*sinh(U/2)**2", "sinh(U)"),
    Formula("tanh(U)", "2*sigmoid(2*U) - 1", "(1 - tanh(U)**2)"),
    Formula("sigmoid(U)", "0.5 + tanh(U/2)/2", "(sigmoid(U)*sigmoid(-U))"),
    Formula("softplus(U)", "log(1 + exp(U))", "sigmoid(U)"),
    Formula("logsigmoid(U)", "U - softplus(U)", "sigmoid(-U)"),
    Formula("atan(U)", "2*atan(U/(1 + sqrt(1 + U**2)))", "(1/(1 + U**2))"),
    Formula("asinh(U)", "log(U + sqrt(U**2 + 1))", "(1/sqrt(1 + U**2))"),
    Formula("erf(U)", "1 - erfc(U)", "(2/sqrt(pi)*exp(-U**2))"),
    Formula("silu(U)", "U*sigmoid(U)", "(sigmoid(U)*(1 + U*sigmoid(-U)))"),
    Formula("U**2", "(U - 1)*(U + 1) + 1", "(2*U)"),
    Formula("U**3", "U*U*U", "(3*U**2)"),
    Formula("1/U", "U**(-1)", "(-1/U**2)"),
    Formula("1/(1 + U**2)", "1 - U**2/(1 + U**2)", "(-2*U/(1 + U**2)**2)"),
    Formula("U*abs(U)", "sign(U)*U**2", "(2*abs(U))"),
    Formula("softsign(U)", "U/(1 + abs(U))", "(1/(1 + abs(U))**2)"),
    Formula("elu(U)", "where(U > 0, U, expm1(U))", "exp(minimum(U, 0))"),
    Formula("relu(U)**2", "U*relu(U)", "(2*relu(U))"),
    Formula("log(1 + U**2)", "2*log(hypot(1, U))", "(2*U/(1 + U**2))"),
    Formula("sqrt(1 + U**2)", "hypot(1, U)", "(U/sqrt(1 + U**2))"),
    Formula("exp(-U**2)", "1/exp(U*U)", "(-2*U*exp(-U**2))"),
    Formula("lgamma(1 + U**2)", "lgamma(2 + U**2) - log1p(U**2)", "(2*U*digamma(1 + U**2))"),
)
"""Functions of U that are differentiable wherever they are defined, each with its derivative by U."""

NUMBERS: Final = ("2", "3", "0.5", "4", "1", "0.25", "7")


def one(random: np.random.Generator, of: Sequence[Thing]) -> Thing:
    """One of some things."""
    return of[int(random.integers(len(of)))]


def formula(random: np.random.Generator, depth: int) -> Formula:
    """A random formula."""
    if depth == 0:
        return one(random, (Formula("x", "x", "1"), Formula("x", "x", "1"), Formula("y", "y", "0")))
    u, kind = formula(random, depth - 1), random.random()
    if kind < 0.6:
        return _composed(one(random, RULES), u)
    if kind < 0.75:
        return _with_number(random, u)
    return one(random, (_sum, _difference, _product, _quotient))(u, formula(random, depth - 1))


def _composed(rule: Formula, inner: Formula) -> Formula:
    def filled(text: str, by: str) -> str:
        return text.replace("U", f"({by})")

    return Formula(
        f"({filled(rule.text, inner.text)})",
        f"({filled(rule.equal, inner.equal)})",
        f"({filled(rule.slope, inner.text)}*{inner.slope})",
    )


def _with_number(random: np.random.Generator, u: Formula) -> Formula:
    number = one(random, NUMBERS)
    return one(
        random,
        (
            Formula(f"({number}*{u.text})", f"({u.equal}*{number})", f"({number}*{u.slope})"),
            Formula(f"({number} + {u.text})", f"({u.equal} + {number})", u.slope),
            Formula(f"({number} - {u.text})", f"(-({u.equal} - {number}))", f"(-{u.slope})"),
        ),
    )


def _sum(u: Formula, v: Formula) -> Formula:
    return Formula(f"({u.text} + {v.text})", f"({v.equal} + {u.equal})", f"({u.slope} + {v.slope})")


def _difference(u: Formula, v: Formula) -> Formula:
    return Formula(f"({u.text} - {v.text})", f"(-{v.equal} + {u.equal})", f"({u.slope} - {v.slope})")


def _product(u: Formula, v: Formula) -> Formula:
    equal = f"((({u.equal} + {v.equal})**2 - ({u.equal} - {v.equal})**2)/4)"
    return Formula(f"({u.text}*{v.text})", equal, f"({u.slope}*{v.text} + {u.text}*{v.slope})")


def _quotient(u: Formula, v: Formula) -> Formula:
    slope = f"(({u.slope}*{v.text} - {u.text}*{v.slope})/({v.text})**2)"
    return Formula(f"({u.text}/({v.text}))", f"({u.equal}*(1/({v.equal})))", slope)
