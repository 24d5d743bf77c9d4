"""Special functions, through scipy where it has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from ...errors import InputError
from ...graph import POSITIVE, PROBABILITY, UNIT, Example, Interval, Node, apply, make
from .. import kinks
from ..row import as_float, unary
from .elementwise import unless_overflowed

_FAMILY = "elementwise"
_ROOT_PI = math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)
_HALF_ROOT = math.sqrt(0.5)


def library(xp: Any, name: str) -> Callable[..., Any]:
    """A function of scipy.special for an array module; what CuPy lacks runs on the host."""
    import scipy.special

    on_host: Callable[..., Any] = getattr(scipy.special, name)
    if xp is np:
        return on_host
    import cupyx.scipy.special

    on_device = getattr(cupyx.scipy.special, name, None)
    return on_device or (lambda *values: xp.asarray(on_host(*[xp.asnumpy(value) for value in values])))


def from_library(name: str) -> Callable[..., Any]:
    """The kernel that is one function of scipy.special."""
    return lambda xp, *values: library(xp, name)(*values)


# The error function and the normal distribution


def _bell(x: Node, scale: float) -> Node:
    """scale * exp(-x**2)."""
    return scale * make.exp(-make.square(x))  # type: ignore[no-any-return]  # a row's call is of any type


ERF = unary(
    "erf",
    "The error function.",
    family=_FAMILY,
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
    return apply(ERFCX_DERIVATIVE, (x,), {"order": order})


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
    forms=("torch.special.log_ndtr(x)",),
    method=False,
    kernel=_log_ndtr_kernel,
    c="({0} < 0 ? log(0.5 * erfcx(-0.7071067811865476 * {0})) - 0.5 * {0} * {0}"
    " : log1p(-0.5 * erfc(0.7071067811865476 * {0})))",
    formula=lambda m, x: m.log(m.function("erfc", -x / m.sqrt(m.number(2))) / 2),
    slope=_log_ndtr_slope,
    grad_fn="SpecialLogNdtrBackward0",
)


# The gamma function

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


def _polygamma_kernel(xp: Any, x: Any, n: int) -> Any:
    scale = (-1.0) ** (n + 1) * float(library(np, "gamma")(n + 1.0))
    return scale * library(xp, "zeta")(n + 1.0, x)


POLYGAMMA = unary(
    "polygamma",
    "The derivative of order n of digamma.",
    family=_FAMILY,
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


def _mvlgamma(input: Node, p: int) -> Node:
    if isinstance(p, bool) or not isinstance(p, int) or p < 1:
        raise InputError("p has to be greater than or equal to 1")
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


# The cardinal sine


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
    return apply(SINC_DERIVATIVE, (x,), {"order": order})


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


# Probabilities


SPREAD = unary(
    "spread",
    "x*(1 - x), with a derivative that is one difference.",
    family="cotangent",
    forms=("spread(x)",),
    method=False,
    kernel=lambda _xp, x: x * (1.0 - x),
    c="{0} * (1.0 - {0})",
    formula=lambda _m, x: x * (1 - x),
    slope=lambda x, _y: 1.0 - 2.0 * x,
    grad_fn="MulBackward0",
)


def _logit_slope(x: Node, _y: Node) -> Node:
    spread = make.spread(x)
    return make.where(spread >= 0, 1.0 / spread, float("nan"))  # type: ignore[no-any-return]  # a row's call is of any type


def _logit(input: Node, eps: float | None = None) -> Node:
    input = as_float(input)
    if eps is not None:
        input = make.clamp(input, eps, 1.0 - eps)
    return apply(LOGIT, (input,))


LOGIT = unary(
    "logit",
    "The inverse log(x/(1 - x)) of the logistic function; with eps, of x brought into [eps, 1 - eps].",
    family=_FAMILY,
    call=_logit,
    forms=("torch.logit(x)", "x.logit()", "torch.logit(x, eps=1e-6)", "torch.special.logit(x)"),
    kernel=from_library("logit"),
    c="(fabs({0} - 0.5) < 0.2 ? log1p(2.0 * ({0} - 0.5)) - log1p(-2.0 * ({0} - 0.5)) : log({0} / (1.0 - {0})))",
    formula=lambda m, x: m.log(x / (1 - x)),
    slope=_logit_slope,
    within=PROBABILITY,
    domain="0 < x < 1",
    kink="infinite at 0 and 1, nan outside; with eps: 0 outside of [eps, 1 - eps]",
    grad_fn="LogitBackward0",
)


def _entr_formula(m: Any, x: Any) -> Any:
    below = lambda: m.where(x < 0, lambda: -m.inf, lambda: x)  # x where it is NaN
    at_most_zero = lambda: m.where(m.equal(x, m.number(0)), lambda: m.number(0), below)
    return m.where(x > 0, lambda: -x * m.log(x), at_most_zero)


ENTR = unary(
    "entr",
    "The entropy term -x*log(x), and 0 at 0.",
    family=_FAMILY,
    forms=("torch.special.entr(x)",),
    method=False,
    kernel=from_library("entr"),
    c="({0} > 0 ? -{0} * log({0}) : {0} == 0 ? 0.0 : {0} < 0 ? -INFINITY : {0})",
    formula=_entr_formula,
    slope=lambda x, _y: -1.0 - make.log(x),
    within=POSITIVE,
    domain="x >= 0; differentiable for x > 0",
    at_kink=kinks.at_zero,
    kink="infinite at 0, nan below",
    grad_fn="SpecialEntrBackward0",
)


# Modified Bessel functions

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
    return apply(BESSEL_IE_DERIVATIVE, (x,), {"degree": degree, "order": order})


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
