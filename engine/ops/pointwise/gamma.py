"""The gamma function and its kin."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...errors import InputError, LimitError
from ...graph import POSITIVE, Interval, Node, apply, make
from ..row import as_float, unary
from .elementwise import unless_overflowed
from .library import from_library, library

_FAMILY = "elementwise"


_NEXT_TO_ZERO = 1e-30


def _lgamma_kernel(xp: Any, x: Any) -> Any:
    """scipy's, except near its zero at 1, where that one loses digits: there by the series of DLMF 5.7.3.

    Next to 0, where 1/x leaves the range, scipy's is infinite, and the logarithm is all of it. At minus infinity the
    value is infinite, as C's is and as it is at the numbers before.
    """
    size = xp.abs(x)
    value = xp.where(size < _NEXT_TO_ZERO, -xp.log(size), library(xp, "gammaln")(xp.maximum(x, _lowest(x))))[()]
    near = xp.abs(x - 1.0) < 0.25
    if not xp.any(near):
        return value
    h = xp.where(near, x - 1.0, value.dtype.type(0))[()]
    series = 0.0
    for k in range(24, 1, -1):
        series = series * h + (-1) ** k * float(library(np, "zetac")(k)) / k
    return xp.where(near, -xp.log1p(h) + h * (1 - np.euler_gamma) + series * h * h, value)[()]


def _lowest(x: Any) -> Any:
    return np.finfo(x.dtype).min


def _lgamma_formula(m: Any, x: Any) -> Any:
    return m.where(x > 0, lambda: m.function("loggamma", x), lambda: m.log(m.absolute(m.function("gamma", x))))


LGAMMA = unary(
    "lgamma",
    "The logarithm of the absolute value of the gamma function.",
    family=_FAMILY,
    real=True,
    forms=("torch.lgamma(x)", "x.lgamma()", "torch.special.gammaln(x)", "math.lgamma(x)"),
    aliases=("gammaln",),
    kernel=_lgamma_kernel,
    c="lgamma({0})",
    formula=_lgamma_formula,
    slope=lambda x, _y: make.digamma(x),
    within=POSITIVE,
    domain="all real numbers but 0, -1, -2 ...",
    kink="at a pole the value is infinite; the derivative is minus infinity at 0 and nan at the others",
    grad_fn="LgammaBackward0",
)

GAMMA = unary(
    "gamma",
    "The gamma function (math.gamma; PyTorch has its logarithm only).",
    family=_FAMILY,
    real=True,
    forms=("math.gamma(x)",),
    method=False,
    kernel=from_library("gamma"),
    c="tgamma({0})",
    formula=lambda m, x: m.function("gamma", x),
    slope=lambda x, y: y * make.digamma(x),
    within=POSITIVE,
    domain="all real numbers but 0, -1, -2 ...",
    kink="nan at the poles",
    grad_fn="GammaBackward0",
)


def _digamma_kernel(xp: Any, x: Any) -> Any:
    """scipy's, except next to a pole, where the product of pi and x in its reflection is not exact enough."""
    value = library(xp, "digamma")(x)
    beyond = x - xp.rint(x)
    near = xp.logical_and(xp.logical_and(x < -0.5, xp.abs(beyond) < 0.1), beyond != 0)
    if not xp.any(near):
        return value
    beyond = xp.where(near, beyond, value.dtype.type(0.1))
    reflected = library(xp, "digamma")(1.0 - x) - math.pi / xp.tan(math.pi * beyond)
    return xp.where(near, reflected, value)[()]


DIGAMMA = unary(
    "digamma",
    "The derivative of lgamma.",
    family=_FAMILY,
    real=True,
    forms=("torch.digamma(x)", "x.digamma()", "torch.special.psi(x)", "torch.special.digamma(x)"),
    aliases=("psi",),
    kernel=_digamma_kernel,
    c="digamma({0})",
    formula=lambda m, x: m.function("digamma", x),
    slope=lambda x, _y: unless_overflowed(x, _polygamma(1, x)),
    within=POSITIVE,
    domain="all real numbers but 0, -1, -2 ...",
    kink="infinite at the poles; nan where x has overflowed",
    grad_fn="DigammaBackward0",
)


def _polygamma(n: Node | int, input: Node | int) -> Node:
    if isinstance(n, Node):
        n, input = input, n  # x.polygamma(1), as a method
    if isinstance(n, bool) or not isinstance(n, int):
        raise InputError("polygamma(): the order n must be an integer", hint="write polygamma(1, x)")
    if n < 0:
        raise InputError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return make.digamma(input)  # type: ignore[no-any-return]  # a row's call is of any type
    return apply(POLYGAMMA, (as_float(input),), {"n": n})


_FAR_BELOW = -1_000.0
"""The library adds a term for each whole number up to 0: from here on downwards reflection takes their place."""


def _polygamma_kernel(xp: Any, x: Any, n: int) -> Any:
    """The library's, and far below 0 that of the same place between two poles further up (DLMF 5.15.6)."""
    scale = (-1.0) ** (n + 1) * float(library(np, "gamma")(n + 1.0))
    zeta = library(xp, "zeta")
    far = (x < _FAR_BELOW) & (x > -xp.inf)
    if not xp.any(far):
        return scale * zeta(n + 1.0, x)
    x = xp.asarray(x)
    near = xp.where(far, (x - xp.floor(x)) + x.dtype.type(_FAR_BELOW), x)
    apart = xp.where(far, zeta(n + 1.0, 1.0 - xp.minimum(x, 0.0)) - zeta(n + 1.0, 1.0 - xp.minimum(near, 0.0)), 0.0)
    return (scale * (zeta(n + 1.0, near) + (-1.0) ** n * apart))[()]


POLYGAMMA = unary(
    "polygamma",
    "The derivative of order n of digamma.",
    family=_FAMILY,
    real=True,
    call=_polygamma,
    forms=("torch.polygamma(1, x)", "x.polygamma(1)", "torch.special.polygamma(1, x)"),
    kernel=_polygamma_kernel,
    c="polygamma({n}, {0})",
    formula=lambda m, x, n: m.function("polygamma", n, x),
    slope=lambda x, _y, n: _polygamma(n + 1, x),
    within=POSITIVE,
    domain="all real numbers but 0, -1, -2 ...",
    kink="infinite at the poles",
    grad_fn="PolygammaBackward0",
)


_MOST_DIMENSIONS: Final = 10_000


def _mvlgamma(input: Node, p: int) -> Node:
    if isinstance(p, bool) or not isinstance(p, int) or p < 1:
        raise InputError("p has to be greater than or equal to 1")
    if p > _MOST_DIMENSIONS:
        raise LimitError(f"mvlgamma of dimension {p} has too many terms", hint=f"the limit is {_MOST_DIMENSIONS:,}")
    return apply(MVLGAMMA, (as_float(input),), {"p": p})


def _mvlgamma_kernel(xp: Any, x: Any, p: int) -> Any:
    return sum((_lgamma_kernel(xp, x - j / 2) for j in range(p)), p * (p - 1) / 4 * math.log(math.pi))


def _mvlgamma_formula(m: Any, x: Any, p: int) -> Any:
    parts = [_lgamma_formula(m, x - m.ratio(j, 2)) for j in range(p)]
    return m.total([m.ratio(p * (p - 1), 4) * m.log(m.pi), *parts])


def _mvlgamma_slope(x: Node, _y: Node, p: int) -> Node:
    slope = make.digamma(x)
    for j in range(1, p):
        slope = slope + make.digamma(x - j / 2)
    return slope  # type: ignore[no-any-return]  # a row's call is of any type


MVLGAMMA = unary(
    "mvlgamma",
    "The logarithm of the multivariate gamma function of dimension p.",
    family=_FAMILY,
    real=True,
    call=_mvlgamma,
    forms=("torch.mvlgamma(x, 2)", "x.mvlgamma(2)", "torch.special.multigammaln(x, 2)"),
    aliases=("multigammaln",),
    kernel=_mvlgamma_kernel,
    c="mvlgamma({0}, {p})",
    formula=_mvlgamma_formula,
    slope=_mvlgamma_slope,
    within=Interval(0.6, 4.0),
    domain="x > (p - 1)/2",
    kink="infinite at (p - 1)/2",
    grad_fn="MvlgammaBackward0",
)
