"""Forms that keep the digits which another form loses: for advice only, so that the text decides.

What `engine/patterns` holds is rewritten by itself and needs no advice. A form here is the same function in exact
numbers; whether it has more digits at a point is found out by running it there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ...graph import Node, make
from . import differences, logarithms

__all__ = ["FORMS", "Form"]


class Form(NamedTuple):
    """One form.

    Attributes:
        plain, new: what loses digits and what does not, as a person writes them.
        find: what to compute in the place of a node, or None where the node is not of this form.
    """

    plain: str
    new: str
    find: Callable[[Node], Any]


FORMS: Final[tuple[Form, ...]] = (
    Form("sqrt(a) - sqrt(b)", "(a - b)/(sqrt(a) + sqrt(b))", differences.roots),
    Form("sqrt(b**2 + r) - b", "r/(sqrt(b**2 + r) + b)", differences.root_minus),
    Form("a**2 - b**2", "(a - b)*(a + b)", differences.squares),
    Form("cos(a) - cos(b)", "-2*sin((a + b)/2)*sin((a - b)/2)", differences.cosines),
    Form("cos(x) - 1", "-2*sin(x/2)**2", differences.cosine_minus_one),
    Form("sin(a) - sin(b)", "2*cos((a + b)/2)*sin((a - b)/2)", differences.sines),
    Form("exp(a) - exp(b)", "exp(b)*expm1(a - b)", differences.exponentials),
    Form("log(a) - log(b)", "log1p((a - b)/b)", differences.logarithms),
    Form("log(a/b)", "log1p((a - b)/b)", logarithms.of_quotient),
    Form("1/a - 1/b", "(b - a)/(a*b)", differences.reciprocals),
    Form("atan(a) - atan(b)", "atan2(a - b, 1 + a*b)", differences.arctangents),
    Form("(1 + x)**n - 1", "expm1(n*log1p(x))", differences.power_minus_one),
    Form("mean(x**2) - mean(x)**2", "mean((x - mean(x))**2)", differences.variance),
    Form("cosh(x) - 1", "2*sinh(x/2)**2", differences.hyperbolic_cosine_minus_one),
    Form("1 - erf(x)", "erfc(x)", differences.complement("erf", lambda x: make.erfc(x))),
    Form("1 - erfc(x)", "erf(x)", differences.complement("erfc", lambda x: make.erf(x))),
    Form("log(x + sqrt(x**2 + 1))", "asinh(x)", logarithms.inverse_hyperbolic_sine),
    Form("log(cosh(x))", "logaddexp(x, -x) - log(2)", logarithms.of_cosh),
    Form("log(cosh(x))", "log1p(2*sinh(x/2)**2)", logarithms.of_cosh_near_zero),
    Form("(a + b) - a", "b", differences.common_part),
    Form("log(a*b)", "log(a) + log(b)", logarithms.of_product),
    Form("log(x**n)", "n*log(x)", logarithms.of_power),
    Form("log(gamma(x))", "lgamma(x)", logarithms.of_gamma),
    Form("exp(a)/exp(b)", "exp(a - b)", logarithms.quotient_of_exponentials),
    Form("exp(a)*exp(b)", "exp(a + b)", logarithms.product_of_exponentials),
    Form("log(1 + x + y)", "log1p(x + y)", logarithms.log1p_of_expm1),
)
"""All forms. Each is tried at a node that it fits; the one with the most digits there is told."""
