"""Running sums, products and extremes along an axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import FLOAT64, INT64, Attrs, DType, Example, Node, Op, Outputs, Shape, add_row, apply, as_node, make
from .. import batch, infer, kinks
from ..cotangent import flow, zeros
from ..fold import along_formula, conjugate, flowing
from ..row import compose
from .scaled import running_product

_FAMILY = "scan"
_SEQUENTIAL = 128
"""Up to this length an axis is walked element by element, all lines at once; beyond, by doubling."""


def _scan(op: Op, input: Node, dim: int, **attrs: Any) -> Node:
    input = as_node(input)
    return apply(op, (input,), {"dim": infer.axes_of(dim, input.ndim), **attrs})


def _scanning(name: str) -> Callable[..., Node]:
    """The call of a row that runs along an axis."""

    def call(input: Node, dim: int) -> Node:
        return _scan(getattr(make, name), input, dim)

    return call


def _summed(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    dtype = args[0].dtype
    return args[0].shape, dtype if dtype.kind in "fc" else INT64


def _unchanged(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # as above
    return args[0].shape, args[0].dtype


def _to_float(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # as above
    dtype = args[0].dtype
    return args[0].shape, dtype if dtype.kind in "fc" else FLOAT64


def _to_int(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # as above
    return args[0].shape, INT64


def part(axis: int, begin: int | None, end: int | None) -> tuple[slice, ...]:
    """The index of a stretch of an axis counted from the front."""
    return (*(slice(None),) * axis, slice(begin, end))


def backwards(axis: int) -> tuple[slice, ...]:
    """The index that turns an axis round."""
    return (*(slice(None),) * axis, slice(None, None, -1))


def running(xp: Any, function: Any, x: Any, axis: int) -> Any:
    """What an associative function of two numbers gives over all elements up to each one, along an axis."""
    if hasattr(function, "accumulate") and xp is np:
        return function.accumulate(x, axis=axis)
    # CuPy's functions do not accumulate: as many passes as the length has binary digits.
    step, length, result = 1, x.shape[axis], x
    while step < length:
        later = function(result[part(axis, None, -step)], result[part(axis, step, None)])
        result = xp.concatenate((result[part(axis, None, step)], later), axis=axis)
        step *= 2
    return result


def _along(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel along one axis as one that a tensor without axes passes through, too, and that may run backwards."""

    def run(xp: Any, x: Any, dim: tuple[int, ...], reverse: bool = False, **attrs: Any) -> Any:
        if not dim:
            return kernel(xp, xp.reshape(x, (1,)), 0, **attrs)[0]
        if not reverse:
            return kernel(xp, x, dim[0], **attrs)
        turn = backwards(dim[0])
        return kernel(xp, x[turn], dim[0], **attrs)[turn]

    return run


def _running_formula(step: Callable[[Any, list[Any]], Any]) -> Callable[..., Any]:
    """A formula from what `step(m, numbers)` makes of all numbers up to an entry."""

    def row_of(m: Any, row: list[Any], reverse: bool = False) -> list[Any]:
        if reverse:
            return [step(m, row[entry:]) for entry in range(len(row))]
        return [step(m, row[: entry + 1]) for entry in range(len(row))]

    return along_formula(row_of)


SHIFT = add_row(
    Op(
        name="shift",
        doc="The elements moved along an axis, those that fall out lost and the places left open filled with a number.",
        family="cotangent",
        call=lambda x, dim, by, fill: shift(x, dim, by, fill),
        method=False,
        infer=_unchanged,
        batch=batch.along_axes,
        kernel=lambda xp, x, axis, by, fill: _shift_kernel(xp, x, axis, by, fill),
        formula=lambda m, x, axis, by, fill: _shift_kernel(np, x, axis, by, m.number(fill)),
        rule=lambda node, g: [shift(g, node.attrs["axis"], -node.attrs["by"], 0.0)],
        grad_fn="ConstantPadNdBackward0",
    )
)


def shift(x: Node, axis: int, by: int, fill: float) -> Node:
    """The elements moved along an axis by some places, the places left open filled."""
    return apply(SHIFT, (x,), {"axis": axis, "by": by, "fill": fill})


def _shift_kernel(xp: Any, x: Any, axis: int, by: int, fill: Any) -> Any:
    result = xp.empty_like(x)
    gap = part(axis, None, by) if by > 0 else part(axis, by, None)
    if abs(by) >= x.shape[axis]:
        gap = part(axis, None, None)
    else:
        result[part(axis, by, None) if by > 0 else part(axis, None, by)] = x[
            part(axis, None, -by) if by > 0 else part(axis, -by, None)
        ]
    result[gap] = fill
    return result


def _recurrence_kernel(xp: Any, factor: Any, term: Any, axis: int, reverse: bool) -> Any:
    """r[i] = term[i] + factor[i] * r[i-1]; a zero of r stops, whatever the factor."""
    turn = backwards(axis) if reverse else (...,)
    factor, term = factor[turn], term[turn]
    length = term.shape[axis]
    result = term.astype(xp.result_type(factor, term))

    def onward(scale: Any, value: Any) -> Any:
        return xp.where(value == 0, value, scale * value)

    if length <= _SEQUENTIAL:
        for entry in range(1, length):
            here = part(axis, entry, entry + 1)
            result[here] += onward(factor[here], result[part(axis, entry - 1, entry)])
        return result[turn]
    scale, step = factor, 1
    while step < length:
        late = part(axis, step, None)
        early = part(axis, None, -step)
        moved = result[late] + onward(scale[late], result[early])
        result = xp.concatenate((result[part(axis, None, step)], moved), axis=axis)
        scale = xp.concatenate((scale[part(axis, None, step)], scale[late] * scale[early]), axis=axis)
        step *= 2
    return result[turn]


def _recurrence_formula(m: Any, factor: Any, term: Any, axis: int, reverse: bool) -> Any:
    turn = backwards(axis) if reverse else (...,)
    factor, result = factor[turn], np.array(term[turn], dtype=object)
    zero = m.number(0)
    for entry in range(1, result.shape[axis]):
        before = result[part(axis, entry - 1, entry)]
        scale = factor[part(axis, entry, entry + 1)]
        here = result[part(axis, entry, entry + 1)]
        for place in np.ndindex(*before.shape):
            if not m.boolean(m.equal(before[place], zero)):
                here[place] = here[place] + scale[place] * before[place]
    return result[turn]


def _recurrence_rule(node: Node, g: Node) -> list[Node | None]:
    axis, reverse = node.attrs["axis"], node.attrs["reverse"]
    forward = -1 if reverse else 1
    factor = conjugate(node.args[0])
    to_term = recurrence(shift(factor, axis, -forward, 0.0), g, axis, not reverse)
    return [flow(to_term, conjugate(shift(node, axis, forward, 0.0))), to_term]


RECURRENCE = add_row(
    Op(
        name="recurrence",
        doc="The linear recurrence r[i] = term[i] + factor[i] * r[i-1] along an axis, from either end.",
        family="cotangent",
        call=lambda factor, term, dim, reverse=False: recurrence(factor, term, dim, reverse),
        method=False,
        infer=infer.same,
        batch=batch.along_axes,
        kernel=_recurrence_kernel,
        formula=_recurrence_formula,
        rule=_recurrence_rule,
        grad_fn="CumprodBackward0",
    )
)


def recurrence(factor: Node, term: Node, axis: int, reverse: bool) -> Node:
    """The linear recurrence along an axis: closed under differentiation, and it never divides."""
    return apply(RECURRENCE, (factor, term), {"axis": axis, "reverse": reverse})


def _cumsum_rule(node: Node, g: Node) -> list[Node | None]:
    return [apply(CUMSUM, (g,), {**node.attrs, "reverse": not node.attrs.get("reverse", False)})]


CUMSUM = add_row(
    Op(
        name="cumsum",
        doc="The sum of all elements up to each one along an axis.",
        family=_FAMILY,
        call=_scanning("cumsum"),
        forms=("torch.cumsum(x, 0)", "x.cumsum(dim=-1)", "np.cumsum(x, axis=0)"),
        infer=_summed,
        batch=batch.along_lanes,
        kernel=_along(lambda xp, x, axis: xp.cumsum(x, axis=axis)),
        formula=_running_formula(lambda m, numbers: m.total(numbers)),
        rule=_cumsum_rule,
        examples=(Example("torch.cumsum(x, 0)", {"x": (3,)}), Example("x.cumsum(dim=-1)", {"x": (2, 3)})),
        domain="all numbers",
        kink="none: linear",
        grad_fn="CumsumBackward0",
    )
)


def _cumprod_rule(node: Node, g: Node) -> list[Node | None]:
    """Each element's part is the product before it times what the later cotangents collect on their way back to it."""
    if not node.attrs["dim"]:
        return [g]
    (axis,) = node.attrs["dim"]
    reverse = node.attrs.get("reverse", False)
    forward = -1 if reverse else 1
    before = shift(conjugate(node), axis, forward, 1.0)
    collected = recurrence(shift(conjugate(node.args[0]), axis, -forward, 0.0), g, axis, not reverse)
    return [flow(collected, before)]


CUMPROD = add_row(
    Op(
        name="cumprod",
        doc="The product of all elements up to each one along an axis.",
        family=_FAMILY,
        call=_scanning("cumprod"),
        forms=("torch.cumprod(x, 0)", "x.cumprod(dim=-1)", "np.cumprod(x, axis=0)"),
        infer=_summed,
        kernel=_along(running_product),
        formula=_running_formula(lambda m, numbers: m.product(numbers)),
        rule=_cumprod_rule,
        examples=(Example("torch.cumprod(x, 0)", {"x": (4,)}), Example("x.cumprod(dim=-1)", {"x": (2, 3)})),
        domain="all numbers",
        kink="none: products are never divided, so zeros are like other numbers",
        grad_fn="CumprodBackward0",
    )
)


def _lse_formula(m: Any, numbers: list[Any]) -> Any:
    peak = m.maximum(numbers)
    if any(m.boolean(m.equal(peak, end)) for end in (m.inf, -m.inf)):
        return peak
    return peak + m.log(m.total([m.exp(value - peak) for value in numbers]))


def _logcumsumexp_rule(node: Node, g: Node) -> list[Node | None]:
    """The sum over later results of g exp(x - y), by way of the running peak p and the sum of exp(x - p).

    x - y itself would lose the logarithm of that sum beside large numbers. No factor of the recurrences is above 1.
    """
    x = node.args[0]
    if not node.attrs["dim"]:
        return [g]
    (axis,) = node.attrs["dim"]
    peak = make.detach(make.cummax(x, axis).nodes[0])  # the result is the same for every p
    peak = make.where(make.isfinite(peak), peak, 0.0)
    power = make.exp(x - peak)
    total = recurrence(make.exp(shift(peak, axis, 1, -math.inf) - peak), power, axis, False)
    decay = make.exp(peak - shift(peak, axis, -1, math.inf))
    collected = recurrence(decay, flowing(g, make.reciprocal(total)), axis, True)
    return [flow(collected, power)]


LOGCUMSUMEXP = add_row(
    Op(
        name="logcumsumexp",
        doc="The logarithm of the sum of the exponentials of all elements up to each one along an axis.",
        family=_FAMILY,
        real=True,
        call=_scanning("logcumsumexp"),
        forms=("torch.logcumsumexp(x, 0)", "x.logcumsumexp(dim=-1)"),
        infer=_to_float,
        kernel=_along(lambda xp, x, axis: running(xp, xp.logaddexp, x * 1.0, axis)),
        formula=_running_formula(_lse_formula),
        rule=_logcumsumexp_rule,
        examples=(
            Example("torch.logcumsumexp(x, 0)", {"x": (3,)}),
            Example("x.logcumsumexp(dim=-1)", {"x": (2, 3)}),
        ),
        domain="all numbers",
        kink="NaN at a leading run of -inf",
        grad_fn="LogcumsumexpBackward0",
    )
)


def _places(xp: Any, x: Any, axis: int, extreme: Any) -> Any:
    """Where the running extreme up to each element stands: the last of equal ones, the first NaN."""
    result = running(xp, extreme, x, axis)
    fresh = (x == result) & (x == x)  # NaN alone differs from itself
    missing = x != x  # as above
    first = missing & (xp.cumsum(missing, axis=axis) == 1)
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    positions = xp.arange(x.shape[axis]).reshape(shape)
    return running(xp, xp.maximum, xp.where(fresh | first, positions, 0), axis)


def _running_extreme(name: str, word: str) -> Op:
    """The row of cummax or cummin, and the one of its indices."""
    larger = name == "cummax"

    def extreme(xp: Any) -> Any:
        return xp.maximum if larger else xp.minimum

    def place(m: Any, numbers: list[Any]) -> int:
        best = 0
        for entry, value in enumerate(numbers):
            if m.boolean(value >= numbers[best] if larger else value <= numbers[best]):
                best = entry
        return best

    indices = add_row(
        Op(
            name=f"{name}.indices",
            doc=f"The position of the {word} of all elements up to each one along an axis, the last of equal ones.",
            family=_FAMILY,
            real=True,
            call=_scanning(f"{name}.indices"),
            forms=(f"torch.{name}(x, 0).indices",),
            method=False,
            infer=_to_int,
            kernel=_along(lambda xp, x, axis: _places(xp, x, axis, extreme(xp))),
            formula=_running_formula(place),
            differentiable=False,
            examples=(Example(f"torch.{name}(x, 0).indices", {"x": (3,)}, orders=0),),
            domain="all numbers",
            kink="no gradient: a position",
        )
    )

    def rule(node: Node, g: Node) -> list[Node | None]:
        if not node.attrs["dim"]:
            return [g]
        source = node.args[0]
        return [
            make.scatter_add(
                zeros(source.shape, g.dtype), node.attrs["dim"][0], apply(indices, (source,), node.attrs), g
            )
        ]

    def call(input: Node, dim: int) -> Outputs:
        return Outputs(("values", "indices"), (_scan(values, input, dim), _scan(indices, input, dim)))

    values = Op(
        name=name,
        doc=f"The {word} of all elements up to each one along an axis, and its position.",
        family=_FAMILY,
        real=True,
        call=call,
        forms=(f"torch.{name}(x, 0).values", f"x.{name}(dim=-1).values", f"torch.{name}(x, 0).indices"),
        infer=_unchanged,
        kernel=_along(lambda xp, x, axis: running(xp, extreme(xp), x, axis)),
        formula=_running_formula(lambda m, numbers: m.maximum(numbers) if larger else m.minimum(numbers)),
        rule=rule,
        examples=(
            Example(f"torch.{name}(x, 0).values", {"x": (4,)}),
            Example(f"x.{name}(dim=-1).values", {"x": (2, 3)}),
        ),
        domain="all numbers, differentiable where no two are equal",
        at_kink=kinks.tied,
        kink="the last of equal ones gets all",
        grad_fn=f"{name.capitalize()}Backward0",
    )
    return add_row(values)


CUMMAX = _running_extreme("cummax", "largest")
CUMMIN = _running_extreme("cummin", "smallest")


def _diff(input: Node, n: int = 1, dim: int = -1, prepend: Node | None = None, append: Node | None = None) -> Node:
    ends = [as_node(node) for node in (prepend, input, append) if node is not None]
    if not all(node.ndim for node in ends):
        raise ShapeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise InputError(f"order must be non-negative but got {n}", code="value")
    result = ends[0] if len(ends) == 1 else make.cat(ends, dim)
    for _ in range(min(n, result.shape[dim])):  # then nothing is left
        length = max(result.shape[dim] - 1, 0)
        begin = min(1, result.shape[dim])
        result = make.narrow(result, dim, begin, length) - make.narrow(result, dim, 0, length)
    return result


DIFF = compose(
    "diff",
    "The differences of neighbours along an axis, taken n times.",
    family=_FAMILY,
    call=_diff,
    forms=("torch.diff(x)", "x.diff(n=2)", "torch.diff(x, dim=0)", "np.diff(x)"),
    examples=(Example("torch.diff(x)", {"x": (4,)}), Example("torch.diff(x, n=2, dim=0)", {"x": (4, 2)})),
    domain="all numbers",
    kink="none: linear",
    grad_fn="SubBackward0",
)
