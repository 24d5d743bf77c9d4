"""The cardinal sine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...graph import Node, apply
from ..infer import checked_order
from ..row import unary

_FAMILY = "elementwise"


def _sines_of_pi(xp: Any, x: Any) -> tuple[Any, Any]:
    """sin(pi*x) and cos(pi*x), right next to the integers too."""
    whole = xp.rint(x)
    rest = (x - whole) * np.pi
    sign = 1.0 - 2.0 * (whole % 2)
    return sign * xp.sin(rest), sign * xp.cos(rest)


def _sinc_kernel(xp: Any, x: Any) -> Any:
    sine, _ = _sines_of_pi(xp, x)
    return xp.where(x == 0, sine.dtype.type(1), sine / (np.pi * x))[()]


def _sinc_derivative_kernel(xp: Any, x: Any, order: int) -> Any:
    """pi**n times the n-th derivative s of sin(t)/t at t = pi*x.

    Near 0 by the Taylor series; elsewhere upwards by t*s(n) = sin(t + n*pi/2) - n*s(n-1), which is stable for t > n.
    """
    t = np.pi * x
    first = (order + 1) // 2
    series = 0.0 * t
    for k in range(first + 20, first - 1, -1):
        series = series * t * t + (-1) ** k / ((2 * k + 1) * float(math.factorial(2 * k - order)))
    if order % 2:
        # The sum is over t**(2k - order): one power of t is left of an odd one.
        series = series * t
    sine, cosine = _sines_of_pi(xp, x)
    turned = (sine, cosine, -sine, -cosine)
    value = sine / t
    for n in range(1, order + 1):
        value = (turned[n % 4] - n * value) / t
    return xp.where(xp.abs(t) < order + 1, series, value)[()] * math.pi**order


def _sinc_derivative(x: Node, order: int) -> Node:
    return apply(SINC_DERIVATIVE, (x,), {"order": checked_order(order, "sinc_derivative")})


def _sinc_derivative_formula(m: Any, x: Any, order: int) -> Any:
    def elsewhere() -> Any:
        t = m.pi * x
        sine, cosine = m.function("sinpi", x), m.function("cospi", x)
        value = sine / t
        for n in range(1, order + 1):
            value = ((sine, cosine, -sine, -cosine)[n % 4] - n * value) / t
        return value * m.pi**order

    at_zero = 0 if order % 2 else (-1) ** (order // 2) * m.pi**order / (order + 1)
    return m.where(m.equal(x, m.number(0)), lambda: at_zero, elsewhere)


SINC_DERIVATIVE = unary(
    "sinc_derivative",
    "The derivative of some order of sinc, without the cancellation of its closed form near 0.",
    family="cotangent",
    real=True,
    call=_sinc_derivative,
    forms=("sinc_derivative(x, 1)",),
    method=False,
    kernel=_sinc_derivative_kernel,
    c="sinc_derivative({0}, {order})",
    formula=_sinc_derivative_formula,
    slope=lambda x, _y, order: _sinc_derivative(x, order + 1),
    grad_fn="SincBackward0",
)

SINC = unary(
    "sinc",
    "The cardinal sine sin(pi*x)/(pi*x), 1 at 0.",
    family=_FAMILY,
    real=True,
    forms=("torch.sinc(x)", "x.sinc()", "torch.special.sinc(x)", "np.sinc(x)"),
    kernel=_sinc_kernel,
    c="({0} == 0 ? 1.0 : (fmod(rint({0}), 2.0) == 0 ? 1.0 : -1.0)"
    " * sin(3.141592653589793 * ({0} - rint({0}))) / (3.141592653589793 * {0}))",
    formula=lambda m, x: m.where(
        m.equal(x, m.number(0)), lambda: m.number(1), lambda: m.function("sinpi", x) / (m.pi * x)
    ),
    slope=lambda x, _y: _sinc_derivative(x, 1),
    grad_fn="SincBackward0",
)
