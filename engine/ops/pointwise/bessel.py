"""Modified Bessel functions of the first kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ...graph import POSITIVE, Example, Node, apply, make
from .. import kinks
from ..infer import checked_order
from ..row import unary
from .library import from_library, library

_FAMILY = "elementwise"
_ROOT_PI = math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)


_OVERFLOWING = 800.0
"""Modified Bessel functions, of degrees that derivatives have, are infinite from here on."""
_VANISHING = 1e-200
"""The square of a smaller number is 0."""
_FAR = 1e17
"""From here on the first term of an expansion in 1/x is all of it."""


def _bessel(x: Node, degree: int) -> Node:
    if degree < 2:
        return make.i1(x) if degree else make.i0(x)  # type: ignore[no-any-return]  # a row's call is of any type
    return apply(BESSEL_I, (x,), {"degree": degree})


def _growing(xp: Any, plain: Callable[[Any], Any], scaled: Callable[[Any], Any], x: Any) -> Any:
    """A function that grows as exp(|x|) and less.

    The library's is infinite before its value leaves the range, there it is the scaled one times exp(|x|); and not a
    number at infinity, where it is as from any number that is large enough.
    """
    value = plain(xp.clip(x, -_OVERFLOWING, _OVERFLOWING))
    late = xp.isinf(value) & (xp.abs(x) < _OVERFLOWING)
    if not xp.any(late):
        return value
    root = xp.exp(0.5 * xp.abs(x))
    return xp.where(late, scaled(x) * root * root, value)[()]


def _bessel_kernel(xp: Any, x: Any, degree: int) -> Any:
    plain, scaled = (partial(library(xp, name), float(degree)) for name in ("iv", "ive"))
    # The library's function is NaN next to 0; there this one is less than the smallest float.
    return xp.where(xp.abs(x) < _VANISHING, xp.multiply(x, 0), _growing(xp, plain, scaled, x))[()]


BESSEL_I = unary(
    "bessel_i",
    "The modified Bessel function of the first kind, of some degree from 2.",
    family="cotangent",
    call=_bessel,
    forms=("bessel_i(x, 2)",),
    method=False,
    kernel=_bessel_kernel,
    c="bessel_i({0}, {degree})",
    formula=lambda m, x, degree: m.function("besseli", degree, x),
    slope=lambda x, _y, degree: 0.5 * (_bessel(x, degree - 1) + _bessel(x, degree + 1)),
    grad_fn="AddBackward0",
)

I0 = unary(
    "i0",
    "The modified Bessel function of the first kind, of degree 0.",
    family=_FAMILY,
    real=True,
    forms=("torch.i0(x)", "x.i0()", "torch.special.i0(x)", "np.i0(x)"),
    kernel=lambda xp, x: _growing(xp, library(xp, "i0"), library(xp, "i0e"), x),
    c="(fabs({0}) == INFINITY ? INFINITY : cyl_bessel_i0({0}))",
    formula=lambda m, x: m.function("besseli", 0, x),
    slope=lambda x, _y: make.i1(x),
    grad_fn="I0Backward0",
)

I1 = unary(
    "i1",
    "The modified Bessel function of the first kind, of degree 1.",
    family=_FAMILY,
    real=True,
    forms=("torch.special.i1(x)",),
    method=False,
    kernel=lambda xp, x: _growing(xp, library(xp, "i1"), library(xp, "i1e"), x),
    c="(fabs({0}) == INFINITY ? {0} : cyl_bessel_i1({0}))",
    formula=lambda m, x: m.function("besseli", 1, x),
    slope=lambda x, _y: 0.5 * (make.i0(x) + _bessel(x, 2)),
    grad_fn="SpecialI1Backward0",
)


def _decaying_derivative(xp: Any, size: Any, order: int) -> Any:
    """The derivative of some order of exp(-x)*I0(x), x >= 0: Kummer's function, of one sign (DLMF 10.39.5, 10.40.1)."""
    scale = math.gamma(order + 0.5) / _ROOT_PI
    near = (-2.0) ** order / math.factorial(order) * library(xp, "hyp1f1")(order + 0.5, order + 1.0, -2.0 * size)
    far = xp.divide((-1.0) ** order / _ROOT_TWO_PI, xp.sqrt(xp.maximum(size, 1.0))) / xp.maximum(size, 1.0) ** order
    return scale * xp.where(size < _FAR, near, far)


def _bessel_ie_derivative_kernel(xp: Any, x: Any, degree: int, order: int) -> Any:
    size = xp.abs(x)
    value = _decaying_derivative(xp, size, order)
    if degree:
        value = value + _decaying_derivative(xp, size, order + 1)
    return value * xp.sign(x) if (degree + order) % 2 else value


def _bessel_ie_derivative_formula(m: Any, x: Any, degree: int, order: int) -> Any:
    """A derivative steps both ways along the degrees: (I(n-1) + I(n+1))/2 - I(n), again and again."""
    size = m.absolute(x)
    parts = [
        (-1) ** j * math.comb(2 * order, j) * m.function("besseli", abs(degree + order - j), size)
        for j in range(2 * order + 1)
    ]
    value = m.exp(-size) * m.total(parts) / 2**order
    return value * m.function("sign", x) if (degree + order) % 2 else value


def _bessel_ie_derivative(x: Node, degree: int, order: int) -> Node:
    return apply(BESSEL_IE_DERIVATIVE, (x,), {"degree": degree, "order": checked_order(order, "bessel_ie_derivative")})


BESSEL_IE_DERIVATIVE = unary(
    "bessel_ie_derivative",
    "The derivative of some order of i0e or i1e, without the cancellation of i1e(x) - i0e(x) for large x.",
    family="cotangent",
    call=_bessel_ie_derivative,
    forms=("bessel_ie_derivative(x, 0, 1)",),
    method=False,
    kernel=_bessel_ie_derivative_kernel,
    c="bessel_ie_derivative({0}, {degree}, {order})",
    formula=_bessel_ie_derivative_formula,
    slope=lambda x, _y, degree, order: _bessel_ie_derivative(x, degree, order + 1),
    grad_fn="SubBackward0",
)

I0E = unary(
    "i0e",
    "exp(-|x|) * i0(x): i0 without its fast growth.",
    family=_FAMILY,
    real=True,
    forms=("torch.special.i0e(x)",),
    method=False,
    kernel=from_library("i0e"),
    c="i0e({0})",
    formula=lambda m, x: m.exp(-m.absolute(x)) * m.function("besseli", 0, x),
    slope=lambda x, _y: _bessel_ie_derivative(x, 0, 1),
    examples=(Example("torch.special.i0e(x)", {"x": (3,)}, {"x": POSITIVE}),),
    domain="all real numbers; differentiable off 0",
    at_kink=kinks.at_zero,
    kink="0 at 0",
    grad_fn="SpecialI0EBackward0",
)

I1E = unary(
    "i1e",
    "exp(-|x|) * i1(x): i1 without its fast growth.",
    family=_FAMILY,
    real=True,
    forms=("torch.special.i1e(x)",),
    method=False,
    kernel=from_library("i1e"),
    c="i1e({0})",
    formula=lambda m, x: m.exp(-m.absolute(x)) * m.function("besseli", 1, x),
    slope=lambda x, _y: _bessel_ie_derivative(x, 1, 1),
    examples=(Example("torch.special.i1e(x)", {"x": (3,)}, {"x": POSITIVE}),),
    domain="all real numbers; differentiable twice off 0",
    at_kink=kinks.at_zero,
    kink="none to first order; the second derivative is 0 at 0",
    grad_fn="SpecialI1EBackward0",
)
