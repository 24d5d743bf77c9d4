"""The error function and the normal distribution, through scipy where it has them."""

from __future__ import annotations

import math
from typing import Any, Final

from ...graph import PROBABILITY, UNIT, Node, apply, make
from ..infer import checked_order
from ..row import unary
from .library import from_library, library

_FAMILY = "elementwise"
_ROOT_PI = math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)
_HALF_ROOT = math.sqrt(0.5)


def _bell(x: Node, scale: float) -> Node:
    """scale * exp(-x**2)."""
    return scale * make.exp(-make.square(x))  # type: ignore[no-any-return]  # a row's call is of any type


ERF = unary(
    "erf",
    "The error function.",
    family=_FAMILY,
    real=True,
    forms=("torch.erf(x)", "x.erf()", "torch.special.erf(x)", "math.erf(x)"),
    kernel=from_library("erf"),
    c="erf({0})",
    formula=lambda m, x: m.function("erf", x),
    slope=lambda x, _y: _bell(x, 2 / _ROOT_PI),
    grad_fn="ErfBackward0",
)

_LAST = 28.0
"""Beyond, erfc is less than the least float."""


def _erfc_kernel(xp: Any, x: Any) -> Any:
    """The library's, which is 0 where the least of numbers are still left."""
    value = library(xp, "erfc")(x)
    faint = (value == 0) & (x < _LAST)
    if not xp.any(faint):
        return value
    return xp.where(faint, library(xp, "erfcx")(x) * xp.exp(-x * x), value)[()]


ERFC = unary(
    "erfc",
    "1 minus the error function, without cancellation.",
    family=_FAMILY,
    real=True,
    forms=("torch.erfc(x)", "x.erfc()", "torch.special.erfc(x)", "math.erfc(x)"),
    kernel=_erfc_kernel,
    c="erfc({0})",
    formula=lambda m, x: m.function("erfc", x),
    slope=lambda x, _y: _bell(x, -2 / _ROOT_PI),
    grad_fn="ErfcBackward0",
)

ERFINV = unary(
    "erfinv",
    "The inverse of the error function.",
    family=_FAMILY,
    real=True,
    forms=("torch.erfinv(x)", "x.erfinv()", "torch.special.erfinv(x)"),
    kernel=from_library("erfinv"),
    c="erfinv({0})",
    formula=lambda m, x: m.function("erfinv", x),
    slope=lambda _x, y: _ROOT_PI / 2 * make.exp(make.square(y)),
    within=UNIT,
    domain="-1 < x < 1",
    kink="infinite at -1 and 1, nan outside",
    grad_fn="ErfinvBackward0",
)


def _erfc_integral(before: Any, value: Any, x: Any, order: int) -> Any:
    """A repeated integral of erfc times exp(x**2), upwards from 2/sqrt(pi) and erfcx (DLMF 7.18.7)."""
    for n in range(1, order + 1):
        before, value = value, (before - 2 * x * value) / (2 * n)
    return value


def _erfcx_derivative_kernel(xp: Any, x: Any, order: int) -> Any:
    """The derivative of an order of erfcx: (-2)**n n! times the n-th integral of erfc, times exp(x**2) (DLMF 7.18.4).

    Upwards, the recurrence of those integrals cancels for large x; there it is run downwards, as the continued
    fraction of their ratios, all of whose terms are positive.
    """
    near = _erfc_integral(2 / _ROOT_PI, library(xp, "erfcx")(x), x, order)
    far = xp.maximum(x, 2.0)
    depth = 60
    ratio = 1 / (xp.sqrt(far * far + 2 * depth) + far)
    value = 2 / _ROOT_PI
    for n in range(depth, 0, -1):
        ratio = 1.0 / (2.0 * far + 2 * n * ratio)
        if n <= order + 1:
            value = value * ratio
    return xp.where(x < 2, near, value)[()] * float((-2) ** order * math.factorial(order))


def _erfcx_derivative(x: Node, order: int) -> Node:
    return apply(ERFCX_DERIVATIVE, (x,), {"order": checked_order(order, "erfcx_derivative")})


_SERIES_FROM: Final = 1e6
"""Where exp(x**2) times erfc(x) is left to its asymptotic series."""


def _erfcx_derivative_formula(m: Any, x: Any, order: int) -> Any:
    def near() -> Any:
        integral = _erfc_integral(2 / m.sqrt(m.pi), m.exp(x * x) * m.function("erfc", x), x, order)
        return integral * (-2) ** order * math.factorial(order)

    far = lambda: m.where(x >= _SERIES_FROM, lambda: m.function("erfcx", x, order), lambda: x)  # x where it is NaN
    return m.where(x < _SERIES_FROM, near, far)


ERFCX_DERIVATIVE = unary(
    "erfcx_derivative",
    "The derivative of some order of erfcx, without the cancellation of 2*x*erfcx(x) - 2/sqrt(pi).",
    family="cotangent",
    call=_erfcx_derivative,
    forms=("erfcx_derivative(x, 1)",),
    method=False,
    kernel=_erfcx_derivative_kernel,
    c="erfcx_derivative({0}, {order})",
    formula=_erfcx_derivative_formula,
    slope=lambda x, _y, order: _erfcx_derivative(x, order + 1),
    grad_fn="SpecialErfcxBackward0",
)

ERFCX = unary(
    "erfcx",
    "exp(x**2) * erfc(x): erfc without its fast decay.",
    family=_FAMILY,
    real=True,
    forms=("torch.special.erfcx(x)",),
    method=False,
    kernel=from_library("erfcx"),
    c="erfcx({0})",
    formula=lambda m, x: _erfcx_derivative_formula(m, x, 0),
    slope=lambda x, _y: _erfcx_derivative(x, 1),
    grad_fn="SpecialErfcxBackward0",
)


def ndtr_kernel(xp: Any, x: Any) -> Any:
    """As that of erfc."""
    value = library(xp, "ndtr")(x)
    faint = (value == 0) & (x > -1.5 * _LAST)
    if not xp.any(faint):
        return value
    return xp.where(faint, 0.5 * _erfc_kernel(xp, x * -math.sqrt(0.5)), value)[()]


NDTR = unary(
    "ndtr",
    "The distribution function of the standard normal distribution.",
    family=_FAMILY,
    real=True,
    forms=("torch.special.ndtr(x)",),
    method=False,
    kernel=ndtr_kernel,
    c="0.5 * erfc(-0.7071067811865476 * {0})",
    formula=lambda m, x: m.function("erfc", -x / m.sqrt(m.number(2))) / 2,
    slope=lambda x, _y: make.exp(-0.5 * make.square(x)) * (1 / _ROOT_TWO_PI),
    grad_fn="MulBackward1",
)

NDTRI = unary(
    "ndtri",
    "The quantile function of the standard normal distribution.",
    family=_FAMILY,
    real=True,
    forms=("torch.special.ndtri(x)",),
    method=False,
    kernel=from_library("ndtri"),
    c="normcdfinv({0})",
    formula=lambda m, x: m.sqrt(m.number(2)) * m.function("erfinv", 2 * x - 1),
    slope=lambda _x, y: _ROOT_TWO_PI * make.exp(0.5 * make.square(y)),
    within=PROBABILITY,
    domain="0 < x < 1",
    kink="infinite at 0 and 1, nan outside",
    grad_fn="SpecialNdtriBackward0",
)


def _log_ndtr_kernel(xp: Any, x: Any) -> Any:
    return xp.where(x > 0, xp.log1p(-ndtr_kernel(xp, -x)), library(xp, "log_ndtr")(x))[()]


def _log_ndtr_slope(x: Node, _y: Node) -> Node:
    """The density over the distribution function: on the left through erfcx, where both vanish."""
    low, high = make.clamp_max(x, 0.0), make.clamp_min(x, 0.0)
    left = (2 / _ROOT_TWO_PI) / make.erfcx(-_HALF_ROOT * low)
    right = make.exp(-0.5 * make.square(high)) * (1 / _ROOT_TWO_PI) / make.ndtr(high)
    return make.where(x < 0, left, right)  # type: ignore[no-any-return]  # a row's call is of any type


LOG_NDTR = unary(
    "log_ndtr",
    "The logarithm of the distribution function of the standard normal distribution.",
    family=_FAMILY,
    real=True,
    forms=("torch.special.log_ndtr(x)",),
    method=False,
    kernel=_log_ndtr_kernel,
    c="({0} < 0 ? log(0.5 * erfcx(-0.7071067811865476 * {0})) - 0.5 * {0} * {0}"
    " : log1p(-0.5 * erfc(0.7071067811865476 * {0})))",
    formula=lambda m, x: m.log(m.function("erfc", -x / m.sqrt(m.number(2))) / 2),
    slope=_log_ndtr_slope,
    grad_fn="SpecialLogNdtrBackward0",
)
