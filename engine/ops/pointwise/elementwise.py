"""Elementary functions of each element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import (
    COMPLEX64,
    FLOAT32,
    FLOAT64,
    INT64,
    LEAF,
    POSITIVE,
    UNIT,
    Attrs,
    DType,
    Example,
    Interval,
    Node,
    Op,
    Shape,
    add_row,
    apply,
    as_node,
    make,
)
from .. import infer, kinks
from ..row import passing, unary

_FAMILY = "elementwise"

_ABOVE_ONE = Interval(1.1, 4.0)
_OFF_ZERO = Interval(0.2, 0.8)


def unless_overflowed(x: Node, slope: Node) -> Node:
    """A slope that falls to 0 where a growing function's argument is infinite, and NaN where that argument is computed.

    A computed infinity is an overflow. Its 0 would stop the infinite slopes behind it, and log(exp(x)) would have the
    derivative 0 at 1000 instead of 1: a wrong number without a sign of it. An infinite leaf is meant.
    """
    if x.op is LEAF:
        return slope
    return make.where(make.isinf(x), math.nan, slope)  # type: ignore[no-any-return]  # a row's call is of any type


# Exponentials and logarithms

EXP = unary(
    "exp",
    "e to the power of each element.",
    family=_FAMILY,
    forms=("torch.exp(x)", "x.exp()", "np.exp(x)", "math.exp(x)"),
    kernel=lambda xp, x: xp.exp(x),
    c="exp({0})",
    formula=lambda m, x: m.exp(x),
    slope=lambda _x, y: y,
    grad_fn="ExpBackward0",
)

EXP2 = unary(
    "exp2",
    "2 to the power of each element.",
    family=_FAMILY,
    forms=("torch.exp2(x)", "x.exp2()", "np.exp2(x)"),
    kernel=lambda xp, x: xp.exp2(x),
    c="exp2({0})",
    formula=lambda m, x: m.power(m.number(2), x),
    slope=lambda _x, y: y * math.log(2.0),
    grad_fn="Exp2Backward0",
)

EXPM1 = unary(
    "expm1",
    "exp(x) - 1, exact for small x.",
    family=_FAMILY,
    forms=("torch.expm1(x)", "x.expm1()", "np.expm1(x)", "torch.special.expm1(x)", "math.expm1(x)"),
    kernel=lambda xp, x: xp.expm1(x),
    c="expm1({0})",
    formula=lambda m, x: m.exp(x) - 1,
    slope=lambda x, _y: make.exp(x),
    grad_fn="Expm1Backward0",
)

LOG = unary(
    "log",
    "The natural logarithm.",
    family=_FAMILY,
    forms=("torch.log(x)", "x.log()", "np.log(x)", "math.log(x)"),
    kernel=lambda xp, x: xp.log(x),
    c="log({0})",
    formula=lambda m, x: m.log(x),
    slope=lambda x, _y: unless_overflowed(x, 1.0 / x),
    within=POSITIVE,
    domain="x > 0",
    kink="infinite at 0; below 0 the value is nan and the derivative 1/x, as in PyTorch; nan where x has overflowed",
    grad_fn="LogBackward0",
)

LOG2 = unary(
    "log2",
    "The logarithm to base 2.",
    family=_FAMILY,
    forms=("torch.log2(x)", "x.log2()", "np.log2(x)", "math.log2(x)"),
    kernel=lambda xp, x: xp.log2(x),
    c="log2({0})",
    formula=lambda m, x: m.log(x) / m.log(m.number(2)),
    slope=lambda x, _y: unless_overflowed(x, (1.0 / math.log(2.0)) / x),
    within=POSITIVE,
    domain="x > 0",
    kink="infinite at 0; below 0 as log; nan where x has overflowed",
    grad_fn="Log2Backward0",
)

LOG10 = unary(
    "log10",
    "The logarithm to base 10.",
    family=_FAMILY,
    forms=("torch.log10(x)", "x.log10()", "np.log10(x)", "math.log10(x)"),
    kernel=lambda xp, x: xp.log10(x),
    c="log10({0})",
    formula=lambda m, x: m.log(x) / m.log(m.number(10)),
    slope=lambda x, _y: unless_overflowed(x, (1.0 / math.log(10.0)) / x),
    within=POSITIVE,
    domain="x > 0",
    kink="infinite at 0; below 0 as log; nan where x has overflowed",
    grad_fn="Log10Backward0",
)

LOG1P = unary(
    "log1p",
    "The natural logarithm of 1 + x, exact for small x.",
    family=_FAMILY,
    forms=("torch.log1p(x)", "x.log1p()", "np.log1p(x)", "torch.special.log1p(x)", "math.log1p(x)"),
    kernel=lambda xp, x: xp.log1p(x),
    c="log1p({0})",
    formula=lambda m, x: m.log(1 + x),
    slope=lambda x, _y: unless_overflowed(x, 1.0 / (1.0 + x)),
    within=Interval(-0.9, 4.0),
    domain="x > -1",
    kink="infinite at -1; below it as log; nan where x has overflowed",
    grad_fn="Log1PBackward0",
)


# Powers and roots

SQRT = unary(
    "sqrt",
    "The square root.",
    family=_FAMILY,
    forms=("torch.sqrt(x)", "x.sqrt()", "np.sqrt(x)", "math.sqrt(x)"),
    kernel=lambda xp, x: xp.sqrt(x),
    c="sqrt({0})",
    formula=lambda m, x: m.sqrt(x),
    slope=lambda x, y: unless_overflowed(x, 0.5 / y),
    within=POSITIVE,
    domain="x >= 0; differentiable for x > 0",
    at_kink=kinks.at_zero,
    kink="infinite at 0, nan below; nan where x has overflowed",
    grad_fn="SqrtBackward0",
)

RSQRT = unary(
    "rsqrt",
    "1 divided by the square root.",
    family=_FAMILY,
    kernel=lambda xp, x: xp.divide(1.0, xp.sqrt(x)),
    c="1.0 / sqrt({0})",
    formula=lambda m, x: 1 / m.sqrt(x),
    slope=lambda x, y: -0.5 * y / x,
    within=POSITIVE,
    domain="x > 0",
    kink="minus infinity at 0, nan below",
    grad_fn="RsqrtBackward0",
)


def _square(input: Node) -> Node:
    input = as_node(input)
    return apply(SQUARE, (make.to(input, INT64) if input.dtype.kind == "b" else input,))


SQUARE: Op = unary(
    "square",
    "Each element times itself.",
    family=_FAMILY,
    call=_square,
    forms=("torch.square(x)", "x.square()", "np.square(x)"),
    infer=infer.same,
    kernel=lambda xp, x: xp.multiply(x, x),
    c="{0} * {0}",
    formula=lambda _m, x: x * x,
    slope=lambda x, _y: 2.0 * x,
    grad_fn="PowBackward0",
)

RECIPROCAL = unary(
    "reciprocal",
    "1 divided by each element.",
    family=_FAMILY,
    forms=("torch.reciprocal(x)", "x.reciprocal()", "np.reciprocal(x)"),
    kernel=lambda xp, x: xp.divide(1.0, x),
    c="1.0 / {0}",
    formula=lambda _m, x: 1 / x,
    slope=lambda _x, y: -(y * y),
    within=POSITIVE,
    domain="x != 0",
    kink="minus infinity at 0",
    grad_fn="ReciprocalBackward0",
)


# Trigonometric functions and their inverses

SIN = unary(
    "sin",
    "The sine, of radians.",
    family=_FAMILY,
    forms=("torch.sin(x)", "x.sin()", "np.sin(x)", "math.sin(x)"),
    kernel=lambda xp, x: xp.sin(x),
    c="sin({0})",
    formula=lambda m, x: m.function("sin", x),
    slope=lambda x, _y: make.cos(x),
    grad_fn="SinBackward0",
)

COS = unary(
    "cos",
    "The cosine, of radians.",
    family=_FAMILY,
    forms=("torch.cos(x)", "x.cos()", "np.cos(x)", "math.cos(x)"),
    kernel=lambda xp, x: xp.cos(x),
    c="cos({0})",
    formula=lambda m, x: m.function("cos", x),
    slope=lambda x, _y: -make.sin(x),
    grad_fn="CosBackward0",
)


def _tan_slope(x: Node, y: Node) -> Node:
    # 1 + tan(x)**2 cancels where a complex tangent is nearly i: 1/cos(x)**2 is 1/cosh(i*x)**2.
    return make.sech_squared(make.complex(-make.imag(x), make.real(x))) if x.dtype.kind == "c" else 1.0 + y * y


TAN = unary(
    "tan",
    "The tangent, of radians.",
    family=_FAMILY,
    forms=("torch.tan(x)", "x.tan()", "np.tan(x)", "math.tan(x)"),
    kernel=lambda xp, x: xp.tan(x),
    c="tan({0})",
    formula=lambda m, x: m.function("tan", x),
    slope=_tan_slope,
    within=Interval(-1.4, 1.4),
    domain="x is no odd multiple of pi/2",
    kink="none: no float64 is an odd multiple of pi/2, so that value and derivative are large there and right",
    grad_fn="TanBackward0",
)

ONE_MINUS_SQUARE = unary(
    "one_minus_square",
    "1 - x**2 without cancellation near 1, its derivative without cancellation near 0.",
    family="cotangent",
    forms=("one_minus_square(x)",),
    method=False,
    kernel=lambda _xp, x: (1.0 - x) * (1.0 + x),
    c="(1.0 - {0}) * (1.0 + {0})",
    formula=lambda _m, x: 1 - x * x,
    slope=lambda x, _y: -2.0 * x,
    grad_fn="RsubBackward1",
)


def _root_slope(x: Node) -> Node:
    """1/sqrt(1 - x**2) of complex numbers by both factors: no square overflows, and zeros keep their signs.

    The slope on a branch cut is then that of the side which the value has: 1 - x would lose a negative zero.
    """
    return make.rsqrt(-(x - 1.0)) * make.rsqrt(x - (-1.0))  # type: ignore[no-any-return]  # a row's call is of any type


def _asin_slope(x: Node, _y: Node) -> Node:
    return _root_slope(x) if x.dtype.kind == "c" else make.rsqrt(make.one_minus_square(x))


ASIN = unary(
    "asin",
    "The inverse sine, in radians.",
    family=_FAMILY,
    forms=("torch.asin(x)", "x.asin()", "torch.arcsin(x)", "np.arcsin(x)", "math.asin(x)"),
    aliases=("arcsin",),
    kernel=lambda xp, x: xp.arcsin(x),
    c="asin({0})",
    formula=lambda m, x: m.function("asin", x),
    slope=_asin_slope,
    within=UNIT,
    domain="-1 <= x <= 1; differentiable inside",
    at_kink=kinks.near(-1.0, 1.0),
    kink="infinite at -1 and 1, nan outside"
    "; of complex numbers on the cut that of the side of the value, where PyTorch has the other sign",
    grad_fn="AsinBackward0",
)

ACOS = unary(
    "acos",
    "The inverse cosine, in radians.",
    family=_FAMILY,
    forms=("torch.acos(x)", "x.acos()", "torch.arccos(x)", "np.arccos(x)", "math.acos(x)"),
    aliases=("arccos",),
    kernel=lambda xp, x: xp.arccos(x),
    c="acos({0})",
    formula=lambda m, x: m.function("acos", x),
    slope=lambda x, y: -_asin_slope(x, y),
    within=UNIT,
    domain="-1 <= x <= 1; differentiable inside",
    at_kink=kinks.near(-1.0, 1.0),
    kink="minus infinity at -1 and 1, nan outside"
    "; of complex numbers on the cut that of the side of the value, where PyTorch has the other sign",
    grad_fn="AcosBackward0",
)


def _atan_slope(x: Node, _y: Node) -> Node:
    if x.dtype.kind == "c":
        return 1.0 / (1.0 + x * x)
    # 1/(1 + x**2) as the square of a cosine: its own derivative then neither overflows nor vanishes for a large x.
    return make.square(make.reciprocal(make.hypot(x, 1.0)))  # type: ignore[no-any-return]  # a row's call is of any type


ATAN = unary(
    "atan",
    "The inverse tangent, in radians.",
    family=_FAMILY,
    forms=("torch.atan(x)", "x.atan()", "torch.arctan(x)", "np.arctan(x)", "math.atan(x)"),
    aliases=("arctan",),
    kernel=lambda xp, x: xp.arctan(x),
    c="atan({0})",
    formula=lambda m, x: m.function("atan", x),
    slope=_atan_slope,
    grad_fn="AtanBackward0",
)


# Hyperbolic functions and their inverses

SINH = unary(
    "sinh",
    "The hyperbolic sine.",
    family=_FAMILY,
    forms=("torch.sinh(x)", "x.sinh()", "np.sinh(x)", "math.sinh(x)"),
    kernel=lambda xp, x: xp.sinh(x),
    c="sinh({0})",
    formula=lambda m, x: m.function("sinh", x),
    slope=lambda x, _y: make.cosh(x),
    grad_fn="SinhBackward0",
)

COSH = unary(
    "cosh",
    "The hyperbolic cosine.",
    family=_FAMILY,
    forms=("torch.cosh(x)", "x.cosh()", "np.cosh(x)", "math.cosh(x)"),
    kernel=lambda xp, x: xp.cosh(x),
    c="cosh({0})",
    formula=lambda m, x: m.function("cosh", x),
    slope=lambda x, _y: make.sinh(x),
    grad_fn="CoshBackward0",
)


def _sech_squared_kernel(xp: Any, x: Any) -> Any:
    if xp.iscomplexobj(x):  # an exponential that never overflows: a complex infinity has no reciprocal
        small = xp.exp(-2.0 * xp.where(x.real < 0, -x, x))
        whole = 1.0 + small
        near_pole = xp.abs(whole) < 0.5
        return xp.where(near_pole, xp.square(1.0 / xp.cosh(x)), 4.0 * small / xp.square(whole))[()]
    sech = xp.divide(1.0, xp.cosh(x))
    return sech * sech


SECH_SQUARED = unary(
    "sech_squared",
    "The square of the hyperbolic secant: the derivative of tanh, without the cancellation of 1 - tanh(x)**2.",
    family="cotangent",
    forms=("sech_squared(x)",),
    method=False,
    kernel=_sech_squared_kernel,
    c="(1.0 / cosh({0})) * (1.0 / cosh({0}))",
    formula=lambda m, x: 1 / m.function("cosh", x) ** 2,
    slope=lambda x, y: -2.0 * (make.tanh(x) * y),
    grad_fn="MulBackward0",
)

TANH = unary(
    "tanh",
    "The hyperbolic tangent.",
    family=_FAMILY,
    forms=("torch.tanh(x)", "x.tanh()", "F.tanh(x)", "np.tanh(x)", "math.tanh(x)"),
    kernel=lambda xp, x: xp.tanh(x),
    c="tanh({0})",
    formula=lambda m, x: m.function("tanh", x),
    slope=lambda x, _y: make.sech_squared(x),
    grad_fn="TanhBackward0",
)


def _asinh_slope(x: Node, _y: Node) -> Node:
    if x.dtype.kind == "c":
        return _root_slope(make.complex(-make.imag(x), make.real(x)))
    return unless_overflowed(x, make.reciprocal(make.hypot(x, 1.0)))


ASINH = unary(
    "asinh",
    "The inverse hyperbolic sine.",
    family=_FAMILY,
    forms=("torch.asinh(x)", "x.asinh()", "torch.arcsinh(x)", "np.arcsinh(x)", "math.asinh(x)"),
    aliases=("arcsinh",),
    kernel=lambda xp, x: xp.arcsinh(x),
    c="asinh({0})",
    formula=lambda m, x: m.function("asinh", x),
    slope=_asinh_slope,
    grad_fn="AsinhBackward0",
)


def _acosh_slope(x: Node, _y: Node) -> Node:
    if x.dtype.kind == "c":  # as of `_root_slope`
        return make.rsqrt(x - 1.0) * make.rsqrt(x - (-1.0))  # type: ignore[no-any-return]  # a row's call is of any type
    return unless_overflowed(x, make.rsqrt(x - 1.0) * make.rsqrt(x + 1.0))


ACOSH = unary(
    "acosh",
    "The inverse hyperbolic cosine.",
    family=_FAMILY,
    forms=("torch.acosh(x)", "x.acosh()", "torch.arccosh(x)", "np.arccosh(x)", "math.acosh(x)"),
    aliases=("arccosh",),
    kernel=lambda xp, x: xp.arccosh(x),
    c="acosh({0})",
    formula=lambda m, x: m.function("acosh", x),
    slope=_acosh_slope,
    within=_ABOVE_ONE,
    domain="x >= 1; differentiable for x > 1",
    at_kink=kinks.near(1.0),
    kink="infinite at 1, nan below; nan where x has overflowed",
    grad_fn="AcoshBackward0",
)

ATANH = unary(
    "atanh",
    "The inverse hyperbolic tangent.",
    family=_FAMILY,
    forms=("torch.atanh(x)", "x.atanh()", "torch.arctanh(x)", "np.arctanh(x)", "math.atanh(x)"),
    aliases=("arctanh",),
    kernel=lambda xp, x: xp.arctanh(x),
    c="atanh({0})",
    formula=lambda m, x: m.function("atanh", x),
    slope=lambda x, _y: 1.0 / make.one_minus_square(x),
    within=UNIT,
    domain="-1 < x < 1",
    kink="infinite at -1 and 1; outside the value is nan and the derivative 1/(1 - x**2), as in PyTorch",
    grad_fn="AtanhBackward0",
)


# The logistic function


def sigmoid_kernel(xp: Any, x: Any) -> Any:
    """1/(1 + exp(-x)), with an exponential that never overflows, so that the left tail is right to its last number."""
    if xp.iscomplexobj(x):
        return 1.0 / (1.0 + xp.exp(-x))
    small = xp.exp(-xp.abs(x))
    # The exponential where x is negative, else 1: it is never larger than 1.
    return xp.maximum(small, xp.greater_equal(x, 0.0).astype(small.dtype)) / (1.0 + small)


SIGMOID = unary(
    "sigmoid",
    "The logistic function 1/(1 + exp(-x)).",
    family=_FAMILY,
    forms=("torch.sigmoid(x)", "x.sigmoid()", "F.sigmoid(x)", "torch.special.expit(x)", "jnp.expit(x)"),
    aliases=("expit",),
    kernel=sigmoid_kernel,
    c="({0} < 0 ? exp({0}) : 1.0) / (1.0 + exp(-fabs({0})))",
    formula=lambda m, x: 1 / (1 + m.exp(-x)),
    slope=lambda x, y: y * make.sigmoid(-x),
    grad_fn="SigmoidBackward0",
)


# Units

DEG2RAD = unary(
    "deg2rad",
    "Degrees to radians.",
    family=_FAMILY,
    forms=("torch.deg2rad(x)", "x.deg2rad()", "np.deg2rad(x)", "np.radians(x)", "math.radians(x)"),
    aliases=("radians",),
    kernel=lambda xp, x: xp.multiply(x, math.pi / 180),
    c="{0} * 0.017453292519943295",
    formula=lambda m, x: x * m.pi / 180,
    slope=lambda _x, _y: math.pi / 180,
    grad_fn="Deg2RadBackward0",
)

RAD2DEG = unary(
    "rad2deg",
    "Radians to degrees.",
    family=_FAMILY,
    forms=("torch.rad2deg(x)", "x.rad2deg()", "np.rad2deg(x)", "np.degrees(x)", "math.degrees(x)"),
    aliases=("degrees",),
    kernel=lambda xp, x: xp.multiply(x, 180 / math.pi),
    c="{0} * 57.29577951308232",
    formula=lambda m, x: x * 180 / m.pi,
    slope=lambda _x, _y: 180 / math.pi,
    grad_fn="Rad2DegBackward0",
)


# Magnitude and sign


def _magnitude_infer(args: Sequence[Node], _attrs: Attrs) -> tuple[Shape, DType]:
    dtype = args[0].dtype
    if dtype.kind == "c":
        dtype = FLOAT32 if dtype == COMPLEX64 else FLOAT64
    return args[0].shape, dtype


ABS = unary(
    "abs",
    "The absolute value; of a complex number its magnitude.",
    family=_FAMILY,
    forms=("abs(x)", "torch.abs(x)", "x.abs()", "torch.absolute(x)", "np.abs(x)", "np.fabs(x)", "math.fabs(x)"),
    aliases=("absolute", "fabs"),
    infer=_magnitude_infer,
    kernel=lambda xp, x: xp.abs(x),
    c="fabs({0})",
    formula=lambda m, x: m.absolute(x),
    slope=lambda x, _y: make.conj(make.sgn(x)) if x.dtype.kind == "c" else make.sign(x),
    within=_OFF_ZERO,
    at_kink=kinks.at_zero,
    kink="0 at 0",
    grad_fn="AbsBackward0",
)

SIGN = unary(
    "sign",
    "-1, 0 or 1: the sign of each element.",
    family=_FAMILY,
    real=True,
    call=passing("sign", "b"),
    forms=("torch.sign(x)", "x.sign()", "np.sign(x)"),
    infer=infer.same,
    kernel=lambda xp, x: xp.sign(x),
    c="({0} > 0 ? 1.0 : {0} < 0 ? -1.0 : {0} == 0 ? 0.0 : {0})",
    formula=lambda m, x: m.function("sign", x),
    slope=lambda _x, _y: 0,
    within=_OFF_ZERO,
    at_kink=kinks.at_zero,
    kink="0 everywhere, at the step too",
    grad_fn="SignBackward0",
)


def _sgn_kernel(xp: Any, z: Any) -> Any:
    if not xp.iscomplexobj(z):
        return xp.sign(z)
    size = xp.abs(z)
    least = np.finfo(size.dtype).tiny
    if xp.any(size < least):  # a quotient of subnormal numbers leaves the range on its way
        z = xp.where(size < least, z / least, z)[()]
        size = xp.abs(z)
    return xp.where(size == 0, z.dtype.type(0), z / size)[()]


def _sgn_rule(node: Node, g: Node) -> list[Node]:
    """The part of the cotangent that turns the direction, over the magnitude."""
    (z,) = node.args
    if z.dtype.kind != "c":
        return [g * 0.0]
    along = make.flow(make.real(make.flow(g, make.conj(node))), node)
    return [make.where(make.abs(z) > 0, make.flow(g - along, make.reciprocal(make.abs(z))), 0.0)]


SGN = add_row(
    Op(
        name="sgn",
        doc="The sign of each element; of a complex number its direction z/|z|.",
        family=_FAMILY,
        call=passing("sgn", "b"),
        forms=("torch.sgn(x)", "x.sgn()"),
        infer=infer.same,
        kernel=_sgn_kernel,
        c="({0} > 0 ? 1.0 : {0} < 0 ? -1.0 : {0} == 0 ? 0.0 : {0})",
        formula=lambda m, x: m.function("sign", x),
        elementwise=True,
        rule=_sgn_rule,
        examples=(Example("torch.sgn(x)", {"x": (3,)}, {"x": _OFF_ZERO}),),
        at_kink=kinks.at_zero,
        kink="0 everywhere on the real line, and 0 at the complex 0",
        grad_fn="SgnBackward0",
    )
)
