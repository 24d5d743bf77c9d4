"""Softmax and its kin: shift-stable values, and derivatives without cancellation however peaked the weights are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ...graph import BOOL, FLOAT64, Attrs, DType, Example, Node, Op, Shape, add_row, apply, as_node, make
from .. import batch
from ..cotangent import flow
from ..fold import along_formula, flowing, fold_formula, folded_to_float, folding, in_floats, widen
from ..infer import axes_of
from ..peak import largest
from ..questions import answered
from ..row import compose

_FAMILY = "nn.functional"


def _first_largest_kernel(xp: Any, x: Any, dim: tuple[int, ...]) -> Any:
    if not dim or not x.size:
        return xp.ones_like(x, dtype=bool)[()]
    kept = tuple(axis for axis in range(x.ndim) if axis not in dim)
    moved = xp.transpose(x, (*kept, *dim))
    rows = moved.reshape((*moved.shape[: len(kept)], -1))
    mask = xp.arange(rows.shape[-1]) == xp.argmax(rows, axis=-1)[..., None]
    order = [(*kept, *dim).index(axis) for axis in range(x.ndim)]
    return mask.reshape(moved.shape).transpose(order)


def _first_largest_row(m: Any, row: list[Any]) -> list[bool]:
    best = 0
    for entry, value in enumerate(row):
        if m.boolean(value > row[best]):
            best = entry
    return [entry == best for entry in range(len(row))]


FIRST_LARGEST = add_row(
    Op(
        name="first_largest",
        doc="True at the first of the largest elements over some axes, false elsewhere.",
        family="cotangent",
        call=lambda x, dim: _first_largest(x, axes_of(dim, x.ndim)),
        method=False,
        infer=lambda args, attrs: (args[0].shape, BOOL),  # noqa: ARG005  # every `infer` takes attrs
        kernel=_first_largest_kernel,
        formula=along_formula(_first_largest_row),
        differentiable=False,
    )
)


def _first_largest(x: Node, dim: tuple[int, ...]) -> Node:
    return apply(FIRST_LARGEST, (x,), {"dim": dim})


def _shifted(xp: Any, x: Any, dim: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """The elements less the largest, that largest, and the sum of all their exponentials but the largest's, 1."""
    x = in_floats(x)
    peak = largest(xp, x, dim, least=-xp.inf, keepdims=True)
    apart = x - peak
    powers = xp.where(_first_largest_kernel(xp, x, dim), x.dtype.type(0), xp.exp(apart)) if x.size else x
    return apart, peak, xp.sum(powers, axis=dim, keepdims=True)


def _logsumexp_kernel(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    _, peak, rest = _shifted(xp, x, dim)
    result = xp.where(xp.isfinite(peak), peak + xp.log1p(rest), peak)
    return result if keepdim else xp.squeeze(result, axis=dim)[()]


def _logsumexp_row(m: Any, row: list[Any]) -> Any:
    if not row:
        return -m.inf
    peak = m.maximum(row)
    if any(m.boolean(m.equal(peak, end)) for end in (m.inf, -m.inf)):
        return peak
    return peak + m.log(m.total([m.exp(value - peak) for value in row]))


def _logsumexp_rule(node: Node, g: Node) -> list[Node | None]:
    (x,), dim = node.args, node.attrs["dim"]
    if x.dtype.kind == "c":
        return [flow(widen(g, node), make.conj(make.exp(x - widen(node, node))))]
    return [flow(widen(g, node), _softmax_over(x, dim))]


LOGSUMEXP = add_row(
    Op(
        name="logsumexp",
        doc="The logarithm of the sum of the exponentials over one or more axes.",
        family="reduction",
        call=folding("logsumexp"),
        forms=("torch.logsumexp(x, 0)", "x.logsumexp(dim=(0, 1))", "torch.logsumexp(x, 1, keepdim=True)"),
        aliases=("special.logsumexp",),
        infer=folded_to_float,
        kernel=_logsumexp_kernel,
        formula=fold_formula(_logsumexp_row),
        rule=_logsumexp_rule,
        examples=(
            Example("torch.logsumexp(x, 0)", {"x": (3,)}),
            Example("torch.logsumexp(x, 1, keepdim=True)", {"x": (2, 3)}),
            Example("x.logsumexp(dim=(0, 1))", {"x": (2, 2)}),
        ),
        domain="all numbers, -inf among them; -inf where all are -inf",
        kink="NaN where all are -inf, and at an inf",
        grad_fn="LogsumexpBackward0",
    )
)


def _softmax_kernel(xp: Any, x: Any, dim: tuple[int, ...]) -> Any:
    x = in_floats(x)
    if not x.size:
        return x
    powers = xp.exp(x - xp.max(x, axis=dim, keepdims=True))
    total = xp.sum(powers, axis=dim, keepdims=True)
    result = powers / total
    if answered(xp, lambda: xp.isfinite(xp.sum(total))):
        return result
    return xp.where(powers == 0, powers, result)[()]


def _softmax_row(m: Any, row: list[Any]) -> list[Any]:
    peak = m.maximum(row)
    powers = [m.exp(value - peak) for value in row]
    total = m.total(powers)
    return [power / total for power in powers]


def _softmax_rule(node: Node, g: Node) -> list[Node | None]:
    """The weight times the cotangent less its weighted mean, all taken from the cotangent at the largest weight.

    Where one weight is nearly 1 the mean is nearly that cotangent; the difference would lose all digits.
    """
    dim = node.attrs["dim"]
    apart = g - make.sum(make.where(_first_largest(node, dim), g, 0.0), dim, True)
    mean = make.sum(flow(apart, node), dim, True)
    return [flow(apart - mean, node)]


def _to_float(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    dtype = args[0].dtype
    return args[0].shape, dtype if dtype.kind == "f" else FLOAT64


def _softmax(input: Node, dim: int | None = None, *, dtype: DType | None = None) -> Node:
    return _along(SOFTMAX, input, dim, dtype)


SOFTMAX = add_row(
    Op(
        name="softmax",
        doc="The exponentials along an axis, divided by their sum.",
        family=_FAMILY,
        real=True,
        call=_softmax,
        forms=("F.softmax(x, dim=-1)", "torch.softmax(x, 0)", "x.softmax(dim=1)"),
        aliases=("special.softmax",),
        infer=_to_float,
        batch=batch.along_lanes,
        kernel=_softmax_kernel,
        formula=along_formula(_softmax_row),
        rule=_softmax_rule,
        examples=(Example("F.softmax(x, dim=-1)", {"x": (2, 3)}), Example("torch.softmax(x, 0)", {"x": (4,)})),
        domain="all numbers, -inf among them; NaN where all along the axis are -inf",
        kink="none: smooth; an element -inf has weight 0 and gets 0",
        grad_fn="SoftmaxBackward0",
    )
)


def _along(op: Op, input: Node, dim: int | None, dtype: DType | None) -> Node:
    input = as_node(input) if dtype is None else make.to(input, dtype)
    if dim is None:  # what PyTorch guesses for old programs
        dim = 0 if input.ndim in (0, 1, 3) else 1
    if not isinstance(dim, int):
        raise InputError(f"{op.name} takes one dim, not {dim!r}")
    return apply(op, (input,), {"dim": axes_of(dim, input.ndim)})


def _softmax_over(x: Node, dim: tuple[int, ...]) -> Node:
    return apply(SOFTMAX, (x,), {"dim": dim})


def _log_softmax_kernel(xp: Any, x: Any, dim: tuple[int, ...]) -> Any:
    apart, _, rest = _shifted(xp, x, dim)
    return apart - xp.log1p(rest)


def _log_softmax_row(m: Any, row: list[Any]) -> list[Any]:
    whole = _logsumexp_row(m, row)
    return [value - whole for value in row]


def _log_softmax_rule(node: Node, g: Node) -> list[Node | None]:
    """The cotangent less the weight times its sum; at the largest weight minus the others' sum, which is the same.

    There the plain form would be 1 - p with p nearly 1.
    """
    x, dim = node.args[0], node.attrs["dim"]
    largest = _first_largest(x, dim)
    others = make.where(largest, 0.0, g - flowing(make.sum(g, dim, True), _softmax_over(x, dim)))
    return [make.where(largest, -make.sum(others, dim, True), others)]


def _log_softmax(input: Node, dim: int | None = None, *, dtype: DType | None = None) -> Node:
    return _along(LOG_SOFTMAX, input, dim, dtype)


LOG_SOFTMAX = add_row(
    Op(
        name="log_softmax",
        doc="The logarithm of the softmax along an axis.",
        family=_FAMILY,
        real=True,
        call=_log_softmax,
        forms=("F.log_softmax(x, dim=-1)", "torch.log_softmax(x, 0)", "x.log_softmax(dim=1)"),
        aliases=("special.log_softmax",),
        infer=_to_float,
        batch=batch.along_lanes,
        kernel=_log_softmax_kernel,
        formula=along_formula(_log_softmax_row),
        rule=_log_softmax_rule,
        examples=(
            Example("F.log_softmax(x, dim=-1)", {"x": (2, 3)}),
            Example("torch.log_softmax(x, 0)", {"x": (4,)}),
        ),
        domain="all numbers, -inf among them; NaN where all along the axis are -inf",
        kink="none: smooth",
        grad_fn="LogSoftmaxBackward0",
    )
)


def _softmin(input: Node, dim: int | None = None, *, dtype: DType | None = None) -> Node:
    return _along(SOFTMAX, -as_node(input), dim, dtype)


SOFTMIN = compose(
    "softmin",
    "The softmax of the elements with the other sign: the smallest weighs most.",
    family=_FAMILY,
    call=_softmin,
    forms=("F.softmin(x, dim=-1)",),
    method=False,
    examples=(Example("F.softmin(x, dim=-1)", {"x": (2, 3)}),),
    domain="all numbers, inf among them",
    kink="none: smooth",
    grad_fn="SoftmaxBackward0",
)
