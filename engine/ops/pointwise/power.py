"""Powers and logarithms of two tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...errors import InputError
from ...graph import (
    COMPLEX128,
    FLOAT64,
    LEAF,
    POSITIVE,
    REAL,
    Attrs,
    DType,
    Example,
    Interval,
    Node,
    Shape,
    apply,
    as_node,
    leaf,
    make,
)
from .. import infer, kinks
from ..cotangent import flow
from ..row import binary, compose
from .elementwise import unless_overflowed

_FAMILY = "binary"


def _square_of_reciprocal(_xp: Any, x: Any) -> Any:
    reciprocal = 1 / x  # squared last: x * x would leave the range first
    return reciprocal * reciprocal


_FAST: Final[dict[float, Callable[[Any, Any], Any]]] = {
    2: lambda _xp, x: x * x,
    3: lambda _xp, x: x * x * x,
    -1: lambda _xp, x: 1 / x,
    -2: _square_of_reciprocal,
    0.5: lambda xp, x: xp.sqrt(x),
}
"""Written exponents that need no power function; each is right to two roundings."""


def _pow_kernel(xp: Any, x: Any, y: Any) -> Any:
    x_kind = _kind(x)
    if x_kind in "fc" and type(y) in (int, float):
        fast = _FAST.get(y)
        if fast is not None and hasattr(x, "dtype"):
            return fast(xp, x)
    elif x_kind in "iub" and _kind(y) in "iub":
        return _integer_power(xp, x, y)
    return xp.power(x, y)


def _kind(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        return dtype.kind  # type: ignore[no-any-return]  # NumPy's and CuPy's dtypes alike
    return {float: "f", complex: "c"}.get(type(value), "i")


def _integer_power(xp: Any, x: Any, y: Any) -> Any:
    if xp.any(xp.less(y, 0)):
        raise InputError("Integers to negative integer powers are not allowed.", hint="write the base as a float: 2.0")
    size = xp.abs(xp.power(xp.asarray(x, dtype=FLOAT64), y))
    if xp.any(size >= 2.0**63):
        raise InputError("an integer power is too large for 64 bits", hint="write the base as a float: 9.0")
    return xp.power(x, y)


def _pow_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape, dtype = infer.same(args, attrs)
    return shape, np.dtype(np.int8) if dtype.kind == "b" else dtype


def _pow_grad_fn(args: Sequence[Node], _attrs: Attrs) -> str:
    if args[1].is_number:
        return "PowBackward0"
    return "PowBackward2" if args[0].is_number else "PowBackward1"


def _is_constant(node: Node) -> bool:
    return node.is_number and not node.requires_grad


def _base_slope(x: Node, y: Node, _z: Node) -> Node | complex | None:
    """y * x**(y - 1), and 0 where y is 0 whatever x is."""
    if not _is_constant(y):
        power = flow(y, x ** (y - 1))
        if power is None or x.op is LEAF or power.dtype.kind == "c":
            return power
        root = make.logical_and(y > 0, y < 1)
        return make.where(root, unless_overflowed(x, power), power)  # type: ignore[no-any-return]  # a row's call
    exponent = y.value
    if exponent in (0, 1):
        return float(exponent)
    slope = x * 2 if exponent == 2 else x ** (exponent - 1) * exponent
    return unless_overflowed(x, slope) if isinstance(exponent, float) and 0 < exponent < 1 else slope


def _exponent_slope(x: Node, y: Node, z: Node) -> Node:
    """z * log(x), and 0 at base 0 as long as the exponent is not negative."""
    if _is_constant(x) and isinstance(x.value, (int, float)):
        base = x.value
        if base != 0:
            return z * (math.log(base) if base > 0 else math.nan)
        return make.where(y >= 0, 0.0, z * -math.inf)  # type: ignore[no-any-return]  # a row's call is of any type
    slope: Node = z * make.log(x)
    if slope.dtype.kind == "c":
        return slope
    return make.where(make.logical_and(make.eq(x, 0), y >= 0), 0.0, slope)  # type: ignore[no-any-return]  # a row's call


def _pow(input: Node, exponent: Node) -> Node:
    return apply(POW, (as_node(input), as_node(exponent)))


POW = binary(
    "pow",
    "The first tensor to the power of the second.",
    family=_FAMILY,
    call=_pow,
    forms=(
        "x ** 2",
        "x ** y",
        "2.0 ** x",
        "torch.pow(x, 2)",
        "torch.pow(x, y)",
        "torch.pow(2.0, x)",
        "x.pow(2)",
        "x.pow(y)",
        "np.power(x, y)",
        "math.pow(x, y)",
    ),
    aliases=("power",),
    infer=_pow_infer,
    kernel=_pow_kernel,
    c="pow({0}, {1})",
    formula=lambda m, x, y: m.power(x, y),
    slopes=(_base_slope, _exponent_slope),
    examples=(
        Example("x ** 2", {"x": (3,)}),
        Example("x ** 3", {"x": (3,)}),
        Example("x ** 0.5", {"x": (3,)}, {"x": POSITIVE}),
        Example("x ** -1.5", {"x": (3,)}, {"x": POSITIVE}),
        Example("x ** y", {"x": (3,), "y": (3,)}, {"x": POSITIVE}),
        Example("2.0 ** x", {"x": (3,)}),
    ),
    domain="a base above 0; with a whole exponent any base (other than 0 where the exponent is negative)",
    at_kink=kinks.root_at_zero,
    kink=(
        "at base 0 the slope of the exponent is 0 where the exponent is 0 or more and -inf below; "
        "at a negative base it is NaN; x**0 has slope 0 everywhere; that of a root is NaN where x has overflowed"
    ),
    grad_fn=_pow_grad_fn,
)


def _double(node: Node) -> Node:
    if node.is_number:
        return node
    widest = COMPLEX128 if node.dtype.kind == "c" else FLOAT64
    return node if node.dtype == widest else make.to(node, widest)


def _float_power(input: Node, exponent: Node) -> Node:
    base = _double(as_node(input))
    if type(base.value) is int:
        base = leaf(float(base.value))
    return _pow(base, _double(as_node(exponent)))


FLOAT_POWER = compose(
    "float_power",
    "The first tensor to the power of the second, computed in float64, or complex128.",
    family=_FAMILY,
    call=_float_power,
    forms=("torch.float_power(x, 2)", "x.float_power(y)", "np.float_power(x, y)"),
    examples=(
        Example("torch.float_power(x, 2)", {"x": (3,)}),
        Example("torch.float_power(x, y)", {"x": (3,), "y": (3,)}, {"x": POSITIVE}),
    ),
    domain="as x ** y",
    kink="as x ** y",
    grad_fn=_pow_grad_fn,
)


def _ldexp(input: Node, other: Node) -> Node:
    other = as_node(other)
    if not other.is_number:
        return as_node(input) * _pow(leaf(2.0), other)
    with np.errstate(over="ignore"):
        return as_node(input) * float(np.power(2.0, other.value))  # a number still: it must not widen a float32


LDEXP = compose(
    "ldexp",
    "The first tensor times 2 to the power of the second.",
    family=_FAMILY,
    call=_ldexp,
    forms=("torch.ldexp(x, y)", "x.ldexp(y)", "np.ldexp(x, y)"),
    examples=(Example("torch.ldexp(x, y)", {"x": (3,), "y": (3,)}),),
    grad_fn="MulBackward0",
)

_LOG2 = math.log(2)

LOGADDEXP = binary(
    "logaddexp",
    "The logarithm of the sum of the exponentials of two tensors.",
    family=_FAMILY,
    real=True,
    forms=("torch.logaddexp(x, y)", "x.logaddexp(y)", "np.logaddexp(x, y)"),
    infer=infer.floating,
    kernel=lambda xp, x, y: xp.logaddexp(x, y),
    c="({0} == {1} ? {0} + log(2.0) : fmax({0}, {1}) + log1p(exp(-fabs({0} - {1}))))",
    formula=lambda m, x, y: m.logaddexp(x, y),
    slopes=(lambda x, y, _z: make.sigmoid(x - y), lambda x, y, _z: make.sigmoid(y - x)),
    domain="all real numbers, and -inf for one of the two",
    kink="where both are the same infinity the slopes are NaN",
    grad_fn="LogaddexpBackward0",
)


def _logaddexp2_formula(m: Any, x: Any, y: Any) -> Any:
    unit = m.log(m.number(2))
    return m.logaddexp(x * unit, y * unit) / unit


LOGADDEXP2 = binary(
    "logaddexp2",
    "The logarithm to base 2 of the sum of the powers of 2 of two tensors.",
    family=_FAMILY,
    real=True,
    forms=("torch.logaddexp2(x, y)", "x.logaddexp2(y)", "np.logaddexp2(x, y)"),
    infer=infer.floating,
    kernel=lambda xp, x, y: xp.logaddexp2(x, y),
    c="({0} == {1} ? {0} + 1 : fmax({0}, {1}) + log1p(exp2(-fabs({0} - {1}))) / log(2.0))",
    formula=_logaddexp2_formula,
    slopes=(lambda x, y, _z: make.sigmoid((x - y) * _LOG2), lambda x, y, _z: make.sigmoid((y - x) * _LOG2)),
    domain="all real numbers, and -inf for one of the two",
    kink="where both are the same infinity the slopes are NaN",
    grad_fn="Logaddexp2Backward0",
)


def _zero_stops(xp: Any, x: Any, y: Any, logarithm: Any) -> Any:
    """x times a logarithm of y, and 0 where x is 0, unless y is NaN."""
    if not hasattr(y, "dtype"):
        logarithm = float(logarithm)  # of a written number: it must not widen a float32
    return xp.where(xp.logical_and(xp.equal(x, 0), xp.equal(y, y)), 0.0, x * logarithm)[()]


def _xlogy_grad_fn(args: Sequence[Node], _attrs: Attrs) -> str:
    return f"XlogyBackward{1 if args[0].is_number else 2 if args[1].is_number else 0}"


def _logarithm_slope(x: Node, y: Node, of: Node) -> Node:
    """The slope x/of of x*log(of) by y, and 0 where both are 0: with x = 0 the product is 0 whatever y is."""
    quotient = make.where(make.logical_and(make.eq(x, 0), make.eq(of, 0)), 0.0, x / of)
    return unless_overflowed(y, quotient)


XLOGY = binary(
    "xlogy",
    "The first tensor times the logarithm of the second, and 0 where the first is 0.",
    family=_FAMILY,
    real=True,
    forms=(
        "torch.xlogy(x, y)",
        "x.xlogy(y)",
        "torch.special.xlogy(x, y)",
        "torch.xlogy(2.0, y)",
        "torch.xlogy(x, 2.0)",
    ),
    aliases=("special.xlogy",),
    infer=infer.floating,
    kernel=lambda xp, x, y: _zero_stops(xp, x, y, xp.log(y)),
    c="({0} == 0 && {1} == {1} ? 0 : {0} * log({1}))",
    formula=lambda m, x, y: m.where(m.equal(x, m.number(0)), lambda: m.number(0), lambda: x * m.log(y)),
    slopes=(
        lambda x, y, _z: make.where(make.logical_and(make.eq(x, 0), y <= 0), 0.0, make.log(y)),
        lambda x, y, _z: _logarithm_slope(x, y, y),
    ),
    within={"y": POSITIVE},
    domain="y above 0",
    at_kink=kinks.at_zero,
    kink="at x = 0 and y of 0 or less the slope of x is 0; that of y is 0 at (0, 0), NaN where y has overflowed",
    grad_fn=_xlogy_grad_fn,
)


def _xlog1py_grad_fn(args: Sequence[Node], _attrs: Attrs) -> str:
    return f"SpecialXlog1PyBackward{1 if args[0].is_number else 2 if args[1].is_number else 0}"


XLOG1PY = binary(
    "xlog1py",
    "The first tensor times the logarithm of 1 plus the second, and 0 where the first is 0.",
    family=_FAMILY,
    real=True,
    forms=("torch.special.xlog1py(x, y)",),
    aliases=("special.xlog1py",),
    method=False,
    infer=infer.floating,
    kernel=lambda xp, x, y: _zero_stops(xp, x, y, xp.log1p(y)),
    c="({0} == 0 && {1} == {1} ? 0 : {0} * log1p({1}))",
    formula=lambda m, x, y: m.where(m.equal(x, m.number(0)), lambda: m.number(0), lambda: x * m.log(1 + y)),
    slopes=(
        lambda x, y, _z: make.where(make.logical_and(make.eq(x, 0), y <= -1), 0.0, make.log1p(y)),
        lambda x, y, _z: _logarithm_slope(x, y, 1 + y),
    ),
    within={"x": REAL, "y": Interval(-0.9, 3.0)},
    domain="y above -1",
    at_kink=kinks.at_zero,
    kink="at x = 0 and y of -1 or less the slope of x is 0; that of y is 0 at (0, -1), NaN where y has overflowed",
    grad_fn=_xlog1py_grad_fn,
)
