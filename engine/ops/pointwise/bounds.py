"""Rounding to integers, and bounds."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...errors import InputError
from ...graph import INT64, Example, Interval, Node, Op, add_row, apply, as_node, make
from .. import infer, kinks
from ..row import compose, passing, unary

_FAMILY = "elementwise"
_OFF_ZERO = Interval(0.2, 0.8)

# Rounding


def _step(name: str, doc: str, **fields: Any) -> Op:
    """A row for a function that is constant between its steps; integers pass unchanged."""
    return unary(
        name,
        doc,
        family=_FAMILY,
        real=True,
        call=passing(name, "biu"),
        infer=infer.same,
        slope=lambda _x, _y: 0,
        within=_OFF_ZERO,
        domain="all real numbers; differentiable between the steps",
        at_kink=fields.pop("at_kink", kinks.at_whole),
        kink="0 everywhere, at the steps too",
        **fields,
    )


def _ceiling(m: Any, x: Any) -> Any:
    return -m.floor(-x)


def truncated(m: Any, x: Any) -> Any:
    """The integer part of an exact number."""
    return m.where(x < 0, lambda: _ceiling(m, x), lambda: m.floor(x))


def _half_to_even(m: Any, x: Any) -> Any:
    low = m.floor(x)
    rest = x - low
    tie = low + (low - 2 * m.floor(low / 2))
    half = m.ratio(1, 2)
    return m.where(rest < half, lambda: low, lambda: m.where(rest > half, lambda: low + 1, lambda: tie))


FLOOR = _step(
    "floor",
    "The largest integer that is not above x.",
    forms=("torch.floor(x)", "x.floor()", "np.floor(x)", "math.floor(x)"),
    kernel=lambda xp, x: xp.floor(x),
    c="floor({0})",
    formula=lambda m, x: m.floor(x),
    grad_fn="FloorBackward0",
)

CEIL = _step(
    "ceil",
    "The smallest integer that is not below x.",
    forms=("torch.ceil(x)", "x.ceil()", "np.ceil(x)", "math.ceil(x)"),
    kernel=lambda xp, x: xp.ceil(x),
    c="ceil({0})",
    formula=_ceiling,
    grad_fn="CeilBackward0",
)

TRUNC = _step(
    "trunc",
    "The integer part: rounded towards zero.",
    forms=("torch.trunc(x)", "x.trunc()", "torch.fix(x)", "np.trunc(x)", "np.fix(x)", "math.trunc(x)"),
    aliases=("fix",),
    kernel=lambda xp, x: xp.trunc(x),
    c="trunc({0})",
    formula=truncated,
    grad_fn="TruncBackward0",
)

FRAC = unary(
    "frac",
    "The fractional part x - trunc(x), with the sign of x.",
    family=_FAMILY,
    real=True,
    kernel=lambda xp, x: x - xp.trunc(x),
    c="{0} - trunc({0})",
    formula=lambda m, x: x - truncated(m, x),
    slope=lambda _x, _y: 1,
    within=_OFF_ZERO,
    domain="all real numbers; differentiable between the integers",
    at_kink=kinks.at_whole,
    kink="1 everywhere, at the jumps too",
    grad_fn="FracBackward0",
)


def _round(input: Node, decimals: int | None = None) -> Node:
    input = as_node(input)
    if input.dtype.kind in "biu":
        return make.clone(input)  # type: ignore[no-any-return]  # a row's call is of any type
    if decimals is None:
        return apply(ROUND, (input,))
    return apply(ROUND_DECIMALS, (input,), {"decimals": max(-_MOST_DECIMALS, min(decimals, _MOST_DECIMALS))})


_MOST_DECIMALS: Final = 400
"""More decimals than any float has change nothing."""


_SPLITTER: Final = 134217729.0
"""2**27 + 1: times a double, it parts off the upper half of its digits (Dekker 1971)."""
_EXACT_POWERS: Final = 22
"""Up to it powers of ten are doubles."""


_WHOLE: Final = 2.0**53
"""A double from here on is a whole number of units, and so is one before it times a power of ten."""


def _product_error(x: Any, scale: float, product: Any) -> Any:
    """What the product of doubles and a power of ten lacks to the exact one."""
    high = _SPLITTER * x - (_SPLITTER * x - x)
    upper = _SPLITTER * scale - (_SPLITTER * scale - scale)
    low, lower = x - high, scale - upper
    return ((high * upper - product) + high * lower + low * upper) + low * lower


def _to_decimals(xp: Any, x: Any, decimals: int) -> Any:
    """The nearest number of so many decimals, by the exact product: 1.15 is less than the middle that 1.15*10 gives."""
    x = xp.asarray(x)
    if decimals <= 0:
        return xp.round(x, decimals)
    doubles, scale = x.astype(np.float64), float(f"1e{decimals}")
    product = doubles * scale
    below = xp.floor(product)
    rounded = xp.rint(product)
    tied = product - below == 0.5
    if decimals <= _EXACT_POWERS and xp.any(tied):
        error = _product_error(doubles, scale, product)
        rounded = xp.where(tied & (error != 0), below + (error > 0), rounded)
    # One that is so large, infinite or NaN has no more decimals than that.
    return xp.where(xp.abs(product) < _WHOLE, rounded / scale, doubles).astype(x.dtype)[()]


ROUND = unary(
    "round",
    "The nearest integer, halves to the even one, or the nearest number of so many decimals.",
    family=_FAMILY,
    real=True,
    call=_round,
    forms=("torch.round(x)", "x.round()", "np.round(x)", "np.rint(x)", "torch.round(x, decimals=1)"),
    aliases=("rint", "around"),
    infer=infer.same,
    kernel=lambda xp, x: xp.rint(x),
    c="rint({0})",
    formula=_half_to_even,
    slope=lambda _x, _y: 0,
    within=Interval(-0.4, 0.4),
    domain="all real numbers; differentiable between the steps",
    at_kink=kinks.at_half,
    kink="0 everywhere, at the steps too",
    grad_fn="RoundBackward0",
)


def _round_decimals_formula(m: Any, x: Any, decimals: int) -> Any:
    scale = m.power(m.number(10), m.number(decimals))
    return _half_to_even(m, x * scale) / scale


ROUND_DECIMALS = unary(
    "round.decimals",
    "The nearest number of so many decimals.",
    family=_FAMILY,
    real=True,
    call=_round,
    forms=("torch.round(x, decimals=1)", "x.round(decimals=1)", "np.round(x, 1)"),
    method=False,
    infer=infer.same,
    kernel=_to_decimals,
    c="round_decimals({0}, {decimals})",
    formula=_round_decimals_formula,
    slope=lambda _x, _y, decimals: 0,  # noqa: ARG005  # a slope takes its row's attributes
    within=Interval(0.26, 0.34),
    domain="all real numbers; differentiable between the steps",
    kink="0 everywhere, at the steps too",
    grad_fn="RoundBackward1",
)


# Bounds


def _one_bound(row: Op, tensor_row: Op, input: Node, bound: Node | float, grad_fn: str | None = None) -> Node:
    """One bound, a number (an attribute of the op) or a tensor (an argument with a derivative of its own)."""
    input = as_node(input)
    if isinstance(bound, Node):
        return apply(tensor_row, (input, bound), grad_fn=grad_fn and "ClampBackward0")
    input = _bounded(input, bound)
    return apply(row, (input,), {"bound": bound}, like=input, grad_fn=grad_fn)


def _bounded(input: Node, *bounds: float) -> Node:
    """A tensor in the dtype that it has with bounds that are numbers: a float widens integers, an integer booleans."""
    kinds = "biu" if any(isinstance(bound, float) for bound in bounds) else "b"
    if input.dtype.kind not in kinds:
        return input
    return make.to(input, INT64 if kinds == "b" else infer.default_dtype())  # type: ignore[no-any-return]  # any row's call


def _clamp_min(input: Node, min: Node | float) -> Node:
    return _one_bound(CLAMP_MIN, CLAMP_MIN_TENSOR, input, min)


def _clamp_max(input: Node, max: Node | float) -> Node:
    return _one_bound(CLAMP_MAX, CLAMP_MAX_TENSOR, input, max)


def _clamp(input: Node, min: Node | float | None = None, max: Node | float | None = None) -> Node:
    if min is None and max is None:
        raise InputError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if max is None:
        return _one_bound(CLAMP_MIN, CLAMP_MIN_TENSOR, input, min, "ClampBackward1")  # type: ignore[arg-type]  # one is given
    if min is None:
        return _one_bound(CLAMP_MAX, CLAMP_MAX_TENSOR, input, max, "ClampBackward1")
    input = as_node(input)
    if isinstance(min, Node) or isinstance(max, Node):
        return apply(CLAMP_TENSOR, (input, as_node(min), as_node(max)))
    input = _bounded(input, min, max)
    return apply(CLAMP, (input,), {"min": min, "max": max}, like=input)


def _clamp_formula(m: Any, x: Any, min: Any, max: Any) -> Any:
    low, high = (bound if not isinstance(bound, float | int) else m.number(bound) for bound in (min, max))
    return m.minimum([m.maximum([x, low]), high])


def inside(condition: Node, x: Node) -> Node:
    """1 where a condition holds and 0 elsewhere, in the dtype of x."""
    return make.to(condition, x.dtype)  # type: ignore[no-any-return]  # a row's call is of any type


def _clamp_kernel(xp: Any, x: Any, min: Any, max: Any) -> Any:
    return xp.minimum(xp.maximum(x, min), max)


def _clamp_slope(x: Node, _y: Node, min: float, max: float) -> Node | int:
    if min >= max:
        return 0  # constant, whatever x is
    return inside(x >= min, x) * inside(x <= max, x)


CLAMP = unary(
    "clamp",
    "Each element brought between two bounds; where they cross, the upper one wins.",
    family=_FAMILY,
    real=True,
    call=_clamp,
    forms=("torch.clamp(x, 0.4, 0.6)", "x.clamp(min=0.4)", "torch.clamp(x, max=0.6)", "x.clamp(min=y)"),
    infer=infer.same,
    kernel=_clamp_kernel,
    c="({0} < {min} ? ({min} < {max} ? {min} : {max}) : {0} > {max} ? {max} : {0})",
    formula=_clamp_formula,
    slope=_clamp_slope,
    within=Interval(0.41, 0.59),
    domain="all real numbers; differentiable off the bounds",
    at_kink=kinks.at_attributes("min", "max"),
    kink="1 at a bound that is a number; at a tensor bound, 1 for x and 0 for the bound",
    grad_fn="ClampBackward1",
)

CLAMP_MIN = unary(
    "clamp_min",
    "Each element, but never below a bound.",
    family=_FAMILY,
    real=True,
    call=_clamp_min,
    forms=("torch.clamp_min(x, 0.4)", "x.clamp_min(0.4)"),
    infer=infer.same,
    kernel=lambda xp, x, bound: xp.maximum(x, bound),
    c="({0} < {bound} ? {bound} : {0})",
    formula=lambda m, x, bound: m.maximum([x, m.number(bound)]),
    slope=lambda x, _y, bound: inside(x >= bound, x),
    within=Interval(0.41, 3.0),
    domain="all real numbers; differentiable off the bound",
    at_kink=kinks.at_attributes("bound"),
    kink="1 at the bound",
    grad_fn="ClampMinBackward0",
)

CLAMP_MAX = unary(
    "clamp_max",
    "Each element, but never above a bound.",
    family=_FAMILY,
    real=True,
    call=_clamp_max,
    forms=("torch.clamp_max(x, 0.4)", "x.clamp_max(0.4)"),
    infer=infer.same,
    kernel=lambda xp, x, bound: xp.minimum(x, bound),
    c="({0} > {bound} ? {bound} : {0})",
    formula=lambda m, x, bound: m.minimum([x, m.number(bound)]),
    slope=lambda x, _y, bound: inside(x <= bound, x),
    within=Interval(-3.0, 0.39),
    domain="all real numbers; differentiable off the bound",
    at_kink=kinks.at_attributes("bound"),
    kink="1 at the bound",
    grad_fn="ClampMaxBackward0",
)


def _tensor_bound(name: str, doc: str, form: str, **fields: Any) -> Op:
    """A row for bounds that are tensors: `name` is PyTorch's name of the overload."""
    leaves = {name: (3,) for name in ("x", "y", "u") if name in form}
    apart = {"x": Interval(0.1, 0.3), "y": Interval(0.4, 0.6), "u": Interval(0.7, 0.9)}
    return add_row(
        Op(
            name=name,
            doc=doc,
            family=_FAMILY,
            real=True,
            call=_clamp,
            forms=(form,),
            method=False,
            infer=infer.same,
            elementwise=True,
            examples=(Example(form, leaves, {leaf: apart[leaf] for leaf in leaves}),),
            domain="all real numbers; differentiable where x meets no bound",
            at_kink=kinks.at_bounds,
            kink="where x is at a bound: 1 for x, 0 for the bound",
            **fields,
        )
    )


CLAMP_MIN_TENSOR = _tensor_bound(
    "clamp_min.Tensor",
    "Each element, but never below that of a second tensor.",
    "x.clamp(min=y)",
    kernel=lambda xp, x, low: xp.maximum(x, low),
    c="({0} < {1} || {1} != {1} ? {1} : {0})",
    formula=lambda m, x, low: m.maximum([x, low]),
    slopes=(
        lambda x, low, y: inside(x >= low, y),
        lambda x, low, y: inside(x < low, y),
    ),
    grad_fn="ClampMinBackward1",
)

CLAMP_MAX_TENSOR = _tensor_bound(
    "clamp_max.Tensor",
    "Each element, but never above that of a second tensor.",
    "x.clamp(max=y)",
    kernel=lambda xp, x, high: xp.minimum(x, high),
    c="({0} > {1} || {1} != {1} ? {1} : {0})",
    formula=lambda m, x, high: m.minimum([x, high]),
    slopes=(
        lambda x, high, y: inside(x <= high, y),
        lambda x, high, y: inside(x > high, y),
    ),
    grad_fn="ClampMaxBackward1",
)

CLAMP_TENSOR = _tensor_bound(
    "clamp.Tensor",
    "Each element brought between those of two tensors; where they cross, the upper one wins.",
    "torch.clamp(x, y, u)",
    kernel=_clamp_kernel,
    c="({1} != {1} || {2} != {2} ? {1} + {2} : {0} < {1} ? ({1} < {2} ? {1} : {2}) : {0} > {2} ? {2} : {0})",
    formula=_clamp_formula,
    slopes=(
        # Where the bounds meet the result is the upper one, whatever x is: PyTorch gives the slope to none of them.
        lambda x, low, high, y: inside(x >= low, y) * inside(x <= high, y) * inside(low < high, y),
        lambda x, low, high, y: inside(x < low, y) * inside(low < high, y),
        lambda x, low, high, y: make.maximum(inside(x > high, y), inside(high <= low, y)),
    ),
    grad_fn="ClampBackward0",
)


def _clip(
    input: Node,
    min: Node | float | None = None,
    max: Node | float | None = None,
    *,
    a_min: Node | float | None = None,
    a_max: Node | float | None = None,
) -> Node:
    return _clamp(input, a_min if min is None else min, a_max if max is None else max)


CLIP = compose(
    "clip",
    "Another name of clamp, PyTorch's and NumPy's, with NumPy's names of the bounds too.",
    family=_FAMILY,
    call=_clip,
    forms=("torch.clip(x, 0.4, 0.6)", "x.clip(0.4, 0.6)", "np.clip(x, a_min=0.4, a_max=0.6)"),
    examples=(Example("torch.clip(x, 0.4, 0.6)", {"x": (3,)}, {"x": Interval(0.41, 0.59)}),),
    domain=CLAMP.domain,
    kink=CLAMP.kink,
    grad_fn="ClampBackward1",
)


def _nan_to_num(input: Node, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Node:
    input = as_node(input)
    if input.dtype.kind not in "fc":
        return make.clone(input)  # type: ignore[no-any-return]  # a row's call is of any type
    largest = np.finfo(input.dtype)
    attrs = {
        "nan": nan,
        "posinf": float(largest.max) if posinf is None else posinf,
        "neginf": float(largest.min) if neginf is None else neginf,
    }
    return apply(NAN_TO_NUM, (input,), attrs)


NAN_TO_NUM = unary(
    "nan_to_num",
    "Each element, with numbers in place of nan (0) and of the infinities (the largest and smallest of the dtype).",
    family=_FAMILY,
    call=_nan_to_num,
    forms=("torch.nan_to_num(x)", "x.nan_to_num(0.0)", "np.nan_to_num(x, nan=0.0)"),
    infer=infer.same,
    kernel=lambda xp, x, nan, posinf, neginf: xp.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf),
    c="(isnan({0}) ? {nan} : isinf({0}) ? ({0} > 0 ? {posinf} : {neginf}) : {0})",
    formula=lambda m, x, nan, posinf, neginf: m.where(  # noqa: ARG005  # a number that overflows only in floats stays
        m.equal(x, x), lambda: x, lambda: m.number(nan)
    ),
    slope=lambda x, _y, nan, posinf, neginf: inside(make.abs(x) < float("inf"), x),  # noqa: ARG005  # as above
    domain="all numbers, nan and the infinities included",
    kink="0 where a number was put in place",
    grad_fn="NanToNumBackward0",
)
