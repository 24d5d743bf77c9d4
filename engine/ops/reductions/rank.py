"""Elements by their rank: medians, quantiles, the k-th smallest, the most frequent."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import InputError
from ...graph import Example, Node, Op, Outputs, add_row, as_node, leaf, make
from .. import infer, kinks
from ..concrete import value_of
from ..fold import fold, fold_formula, is_nan, named
from ..row import compose
from .extremes import chosen_along, folded_of_some, shared_rule
from .scan import running

_FAMILY = "reduction"


def _ordered(xp: Any, x: Any) -> Any:
    return xp.argsort(x, axis=-1, kind="stable")


def _at(xp: Any, x: Any, positions: Any) -> Any:
    return xp.take_along_axis(x, positions[..., None], axis=-1)[..., 0]


def _middle_place(xp: Any, x: Any) -> Any:
    """Where the lower middle stands, or the first NaN."""
    missing = xp.isnan(x)
    return xp.where(xp.any(missing, axis=-1), xp.argmax(missing, axis=-1), _ordered(xp, x)[..., (x.shape[-1] - 1) // 2])


def _present_middle_place(xp: Any, x: Any) -> Any:
    """Where the lower middle of the numbers that are not NaN stands."""
    count = xp.sum(~xp.isnan(x), axis=-1)
    return _at(xp, _ordered(xp, x), xp.asarray(xp.maximum(count - 1, 0) // 2))


def _present_middle(m: Any, row: list[Any]) -> int:
    present = [entry for entry, value in enumerate(row) if not is_nan(m, value)]
    if not present:
        return 0
    order = m.order([row[entry] for entry in present])
    return present[int(order[(len(present) - 1) // 2])]


def _middle(m: Any, row: list[Any]) -> int:
    missing = [entry for entry, value in enumerate(row) if is_nan(m, value)]
    return missing[0] if missing else _present_middle(m, row)


def _median(name: str, doc: str, place: Callable[..., Any], choose: Callable[..., int]) -> Op:
    """The row of the median of all elements, and the rows of that along an axis."""
    along = chosen_along(
        name,
        f"{doc}, along an axis.",
        grad_fn=f"{name.capitalize()}Backward1",
        place=place,
        choose=choose,
        kink="of equal ones, the one that stands in the middle gets all",
        forms=(f"torch.{name}(x, 0)", f"x.{name}(dim=1, keepdim=True)"),
    )

    def call(input: Node, dim: int | None = None, keepdim: bool = False) -> Node | Outputs:
        if dim is not None:
            return along(input, dim, keepdim)
        input = as_node(input)
        if input.dtype.kind == "f" and not input.size:
            return named(make.sum(input) * math.nan, f"{name.capitalize()}Backward0")
        return fold(row, input)

    def kernel(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:  # noqa: ARG001  # all axes, never kept
        line = xp.reshape(x, (-1,))
        return line[place(xp, line)]

    row = Op(
        name=name,
        doc=f"{doc}, of all elements or along an axis (with its position).",
        family=_FAMILY,
        real=True,
        call=call,
        forms=(f"torch.{name}(x)", f"x.{name}()", f"x.{name}(0).values"),
        infer=folded_of_some(name),
        kernel=kernel,
        formula=fold_formula(lambda m, row: row[choose(m, row)]),
        rule=shared_rule,
        examples=(Example(f"torch.{name}(x)", {"x": (3,)}), Example(f"torch.{name}(x)", {"x": (2, 2)})),
        domain="all numbers, differentiable where no two are equal",
        at_kink=kinks.tied,
        kink="equal ones share evenly over all elements; along an axis the one in the middle gets all",
        grad_fn=f"{name.capitalize()}Backward0",
    )
    return add_row(row)


MEDIAN = _median("median", "The middle element, the lower one of two", _middle_place, _middle)
NANMEDIAN = _median(
    "nanmedian",
    "The middle of the elements that are not NaN, the lower one of two",
    _present_middle_place,
    _present_middle,
)


def _mode_place(xp: Any, x: Any) -> Any:
    """The last place of the value that stands most often, the smallest of those."""
    order = _ordered(xp, x)
    ranked = xp.take_along_axis(x, order, axis=-1)
    fresh = xp.concatenate((xp.ones_like(ranked[..., :1], dtype=bool), ranked[..., 1:] != ranked[..., :-1]), axis=-1)
    entries = xp.arange(x.shape[-1])
    begin = running(xp, xp.maximum, xp.where(fresh, entries, 0), x.ndim - 1)
    return _at(xp, order, xp.asarray(xp.argmax(entries - begin, axis=-1)))


def _most_frequent(m: Any, row: list[Any]) -> int:
    order = m.order(row)
    best, begin, longest = 0, 0, -1
    for entry, place in enumerate(order):
        if not m.boolean(m.equal(row[place], row[order[begin]])):
            begin = entry
        if entry - begin > longest:
            best, longest = place, entry - begin
    return best


_mode_along = chosen_along(
    "mode",
    "The element that stands most often along an axis, the smallest of those.",
    grad_fn="ModeBackward0",
    place=_mode_place,
    choose=_most_frequent,
    kink="the last of equal ones gets all",
    forms=("torch.mode(x)", "x.mode(dim=1, keepdim=True)"),
    domain="all numbers; smooth only where the smallest is",
)


def _mode(input: Node, dim: int = -1, keepdim: bool = False) -> Outputs:
    return _mode_along(input, dim, keepdim)


MODE = compose(
    "mode",
    "The element that stands most often along an axis, the smallest of those, and its position.",
    family=_FAMILY,
    call=_mode,
    forms=("torch.mode(x)", "x.mode(0).values"),
    examples=(Example("x.mode(0).values", {"x": (3, 2)}),),
    domain="all numbers",
    kink="the last of equal ones gets all",
    grad_fn="ModeBackward0",
)


def _kth_place(xp: Any, x: Any, k: int) -> Any:
    place = _ordered(xp, x)[..., k - 1]
    value = _at(xp, x, xp.asarray(place))
    equal = x == value[..., None]
    return xp.where(xp.any(equal, axis=-1), xp.argmax(equal, axis=-1), place)


def _kth(m: Any, row: list[Any], k: int) -> int:
    place = m.order(row)[k - 1]
    value = row[place]
    # A NaN is equal to nothing, itself included.
    return next((entry for entry, other in enumerate(row) if m.boolean(m.equal(other, value))), place)


_kth_along = chosen_along(
    "kthvalue",
    "The k-th smallest element along an axis.",
    grad_fn="KthvalueBackward0",
    place=_kth_place,
    choose=_kth,
    kink="the first of equal ones gets all",
    forms=("torch.kthvalue(x, 2)", "x.kthvalue(k=1, dim=1, keepdim=True)"),
)


def _kthvalue(input: Node, k: int, dim: int = -1, keepdim: bool = False) -> Outputs:
    input = as_node(input)
    length = input.shape[infer.axis_of(dim, input.ndim)] if input.ndim else 1
    if not 1 <= k <= length:
        raise InputError(
            f"kthvalue(): selected number k out of range for dimension {dim % max(input.ndim, 1)}",
            hint=f"k is {k}, there are {length}",
        )
    return _kth_along(input, dim, keepdim, k=k)


KTHVALUE = compose(
    "kthvalue",
    "The k-th smallest element along an axis, counted from 1, and its position.",
    family=_FAMILY,
    call=_kthvalue,
    forms=("torch.kthvalue(x, 2)", "x.kthvalue(2).values", "x.kthvalue(k=2, dim=0).indices"),
    examples=(Example("x.kthvalue(2).values", {"x": (2, 3)}),),
    domain="all numbers, differentiable where no two are equal",
    kink="the first of equal ones gets all",
    grad_fn="KthvalueBackward0",
)

_BETWEEN = ("linear", "lower", "higher", "nearest", "midpoint")


def _quantile(
    input: Node,
    q: Node | float | Sequence[float],
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Node:
    if interpolation not in _BETWEEN:
        raise InputError(f"quantile() interpolation must be one of {', '.join(_BETWEEN)}, but got {interpolation!r}")
    input = as_node(input)
    wanted = np.asarray(value_of(q) if isinstance(q, Node) else q, dtype=np.float64)
    if wanted.ndim > 1 or np.any((wanted < 0) | (wanted > 1)):
        raise InputError("quantile() q values must be in the range [0, 1], as one number or one list of them")
    ndim = input.ndim
    x = make.reshape(input, (-1,)) if dim is None or not ndim else input
    axis = x.ndim - 1 if dim is None or not ndim else infer.axis_of(dim, ndim)
    result = _ranked(x, axis, np.atleast_1d(wanted), interpolation)
    shape = list(input.shape) if keepdim else [size for other, size in enumerate(input.shape) if other != axis]
    if dim is None or not ndim:
        shape = [1] * ndim if keepdim else []
    elif keepdim:
        shape[axis] = 1
    lead = [] if wanted.ndim == 0 else [wanted.size]
    return named(make.reshape(make.movedim(result, axis, 0), (*lead, *shape)), "SqueezeBackward4")


def _ranked(x: Node, axis: int, q: Any, interpolation: str) -> Node:
    """The values at fractional ranks along an axis."""
    length = x.shape[axis]
    if not length:
        raise InputError("quantile() input tensor must be non-empty")
    rank = q * (length - 1)
    if interpolation == "nearest":
        rank = np.round(rank)
    below, above = np.floor(rank).astype(np.int64), np.ceil(rank).astype(np.int64)
    if interpolation == "lower":
        above = below
    elif interpolation == "higher":
        below = above
    ranked = make.sort(x, axis).nodes[0]
    low = make.index_select(ranked, axis, leaf(below))
    if np.array_equal(below, above):
        result = low
    else:
        weight = np.full_like(rank, 0.5) if interpolation == "midpoint" else rank - below
        weight = np.where(above > below, weight, 0.0).reshape([-1 if other == axis else 1 for other in range(x.ndim)])
        high = make.index_select(ranked, axis, leaf(above))
        result = low + make.where(leaf(weight > 0), (high - low) * leaf(weight.astype(x.dtype)), 0.0)
    largest = make.narrow(ranked, axis, length - 1, 1)
    return make.where(make.isnan(largest), largest, result)  # type: ignore[no-any-return]  # any row's call


QUANTILE = compose(
    "quantile",
    "The value below which a share q of the elements lies, between two elements by interpolation (linear unless said).",
    family=_FAMILY,
    call=_quantile,
    forms=(
        "torch.quantile(x, 0.4)",
        "x.quantile(0.4, dim=0)",
        "torch.quantile(x, [0.25, 0.75])",
        "torch.quantile(x, 0.4, interpolation='lower')",
        "np.quantile(x, 0.4)",
    ),
    examples=(
        Example("torch.quantile(x, 0.4)", {"x": (4,)}),
        Example("torch.quantile(x, [0.25, 0.75], dim=1)", {"x": (2, 4)}),
    ),
    domain="all numbers, differentiable where no two are equal; NaN where there is one",
    kink="of equal ones, those at the ranks on either side get the parts",
    grad_fn="SqueezeBackward4",
)
