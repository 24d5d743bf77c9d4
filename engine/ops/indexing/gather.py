"""Picking and adding entries by tensors of positions: gather and scatter, and their kin along one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Attrs, DType, Example, Node, Op, Shape, apply, as_node, leaf, make
from .. import batch
from ..concrete import value_of
from ..cotangent import zeros
from ..infer import axis_of, broadcast
from ..move import joining, moving, renamed, shape_kept
from ..positions import positions_of, within
from ..shapes.expand import EXPAND
from ..shapes.reshape import reshaped
from .index import add_at, indexed, put_at, spread
from .slice import sliced, typed

_FAMILY: Final = "index"


def _lanes(xp: Any, index: Any, axis: int) -> tuple[Any, ...]:
    """The key of an array that names, for each entry of `index`, its own lane and the position in it."""
    key = [xp.arange(size).reshape((-1,) + (1,) * (index.ndim - place - 1)) for place, size in enumerate(index.shape)]
    if key:
        key[axis] = index
    return tuple(key)


def _gather_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    return args[1].shape, args[0].dtype


def _gather_kernel(xp: Any, x: Any, index: Any, axis: int) -> Any:
    x, index = xp.asarray(x), xp.asarray(index)
    result = xp.atleast_1d(x)[_lanes(xp, xp.atleast_1d(index), axis)]
    return result.reshape(index.shape)[()]


def gathered(node: Node, axis: int, index: Node, *, grad_fn: str | None = None) -> Node:
    """The entries of a node at positions along a dimension, each from its own lane; known to lie inside."""
    return apply(GATHER, (node, index), {"axis": axis}, grad_fn=grad_fn)


def _lane_index(node: Node, dim: int, index: Any, what: str) -> tuple[int, Node]:
    """The dimension and the checked positions of a gather or scatter.

    Raises:
        InputError: where the index has another number of dimensions, is larger than the tensor or points outside.
    """
    places = positions_of(index)
    axis = axis_of(dim, node.ndim)
    if places.dtype.kind == "b":
        raise InputError(f"{what}(): Expected dtype int32/int64 for index", hint="a mask picks with x[mask]")
    if max(places.ndim, 1) != max(node.ndim, 1):
        raise ShapeError(
            "Index tensor must have the same number of dimensions as input tensor",
            hint=f"the index has shape {list(places.shape)}, the tensor {list(node.shape)}",
        )
    for place, (size, most) in enumerate(zip(places.shape, node.shape, strict=False)):
        if place != axis and size > most:
            raise ShapeError(
                f"Size does not match at dimension {place} expected index {list(places.shape)} to be no larger than "
                f"self {list(node.shape)} apart from dimension {axis}",
                hint="along the other dimensions the index may be shorter than the tensor, not longer",
            )
    return axis, within(places, node.shape[axis] if node.ndim else 1, axis, negative=False)


def _gather(input: Node, dim: int, index: Node) -> Node:
    node = as_node(input)
    return gathered(node, *_lane_index(node, dim, index, "gather"))


GATHER = moving(
    "gather",
    "The entries of a tensor at positions along a dimension, for each place of the index from its own lane.",
    family=_FAMILY,
    call=_gather,
    forms=("torch.gather(A, 1, [[0, 2, 1], [1, 1, 0]])", "A.gather(1, index)"),
    inputs={"A": (2, 3)},
    infer=_gather_infer,
    batch=batch.along_lanes,
    kernel=_gather_kernel,
    positions=1,
    rule=lambda node, g: [
        apply(SCATTER_ADD, (zeros(node.args[0].shape, node.args[0].dtype), g, node.args[1]), node.attrs),
        None,
    ],
    grad_fn="GatherBackward0",
)


def _take_along_dim(input: Node, indices: Node, dim: int | None = None) -> Node:
    node, places = as_node(input), positions_of(indices)
    if dim is None:
        node = reshaped(node, (node.size,))
        places = reshaped(places, (places.size,))
        dim = 0
    axis = axis_of(dim, node.ndim)
    if node.ndim != places.ndim:
        raise ShapeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {node.ndim} dimensions for input, and {places.ndim} dimensions for indices",
        )
    places = within(places, node.shape[axis] if node.ndim else 1, axis)
    if places.ndim:
        others = broadcast(*[(*shape[:axis], 1, *shape[axis + 1 :]) for shape in (node.shape, places.shape)])
        for_node, for_places = ((*others[:axis], one.shape[axis], *others[axis + 1 :]) for one in (node, places))
        node = node if node.shape == for_node else apply(EXPAND, (node,), {"shape": for_node})
        places = places if places.shape == for_places else apply(EXPAND, (places,), {"shape": for_places})
    return gathered(node, axis, places)


joining(
    "take_along_dim",
    "The entries of a tensor at positions along a dimension, the other dimensions broadcast; flattened without a dim.",
    family=_FAMILY,
    call=_take_along_dim,
    forms=(
        "torch.take_along_dim(A, [[0], [2]], 1)",
        "A.take_along_dim(index, 1)",
        "np.take_along_axis(A, index, 1)",
    ),
    aliases=("take_along_axis",),
    inputs={"A": (2, 3)},
    grad_fn="GatherBackward0",
)

# --- scatter -----------------------------------------------------------------------------------------------------


def _scatter_kernel(xp: Any, x: Any, source: Any, index: Any, axis: int) -> Any:
    result = xp.array(x)
    wide = result.reshape((1,)) if result.ndim == 0 else result
    index = xp.atleast_1d(xp.asarray(index))
    wide[_lanes(xp, index, axis)] = xp.asarray(source).reshape(index.shape)
    return result[()]


def _scatter_add_kernel(xp: Any, x: Any, source: Any, index: Any, axis: int) -> Any:
    result = xp.array(x)
    wide = result.reshape((1,)) if result.ndim == 0 else result
    index = xp.atleast_1d(xp.asarray(index))
    key, source = _lanes(xp, index, axis), xp.asarray(source).reshape(index.shape)
    if index.shape[axis] == 1:  # one in each lane: no position repeats
        wide[key] += source
    else:
        add_at(xp, wide, key, source)
    return result[()]


def _source(node: Node, src: Any, index: Node, axis: int) -> Node:
    """What is scattered: a number everywhere, or the first entries of a tensor, of the index's shape."""
    values = as_node(src)
    if values.is_number:
        return spread(values, node, index.shape)
    too_small = any(size > most for size, most in zip(index.shape, values.shape, strict=False))
    if max(values.ndim, 1) != max(index.ndim, 1) or too_small:
        raise ShapeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(node.shape)} apart from dimension "
            f"{axis} and to be no larger size than src {list(values.shape)}",
            hint="each place of the index needs an entry of src",
        )
    for place, size in enumerate(index.shape):
        if values.ndim and size < values.shape[place]:
            values = sliced(values, place, 0, size)
    return typed(values if values.shape == index.shape else reshaped(values, index.shape), node.dtype)


def _last_scattered(node: Node) -> Any:
    """Which sources a scatter leaves in place: of several for one position, the last."""
    x, source, index = node.args
    places = np.atleast_1d(np.asarray(value_of(index)))
    numbers = np.arange(source.size).reshape(places.shape)
    key = _lanes(np, places, node.attrs["axis"])
    held = np.zeros(x.shape or (1,), dtype=np.int64)
    held[key] = numbers
    return (held[key] == numbers).reshape(source.shape)


def _scatter_rule(node: Node, g: Node) -> list[Node | None]:
    _, source, index = node.args
    taken: Node | None = None
    if source.requires_grad:
        taken = gathered(g, node.attrs["axis"], index)
        kept = _last_scattered(node)
        if not np.all(kept):
            taken = make.where(leaf(kept[()]), taken, 0.0)
    return [apply(SCATTER, (g, zeros(source.shape, source.dtype), index), node.attrs), taken, None]


def _scatter(input: Node, dim: int, index: Node, src: Node | None = None, *, value: Node | None = None) -> Node:
    node = as_node(input)
    axis, places = _lane_index(node, dim, index, "scatter")
    if src is None and value is None:
        raise InputError("scatter needs a src or a value", hint="write torch.scatter(A, 1, index, src)")
    given = as_node(value if src is None else src)
    grad_fn = "ScatterBackward1" if given.is_number else "ScatterBackward0"
    return apply(SCATTER, (node, _source(node, given, places, axis), places), {"axis": axis}, grad_fn=grad_fn)


_INDEX: Final = "[[0, 2, 1], [1, 2, 0]]"
_MATRICES: Final = {"A": (2, 3), "B": (2, 3)}

SCATTER = moving(
    "scatter",
    "A copy of a tensor with a source written at positions along a dimension; where one repeats, the last stays.",
    family=_FAMILY,
    call=_scatter,
    forms=(f"torch.scatter(A, 1, {_INDEX}, B)", "A.scatter(1, index, 0.5)"),
    inputs=_MATRICES,
    infer=shape_kept,
    batch=batch.along_lanes,
    kernel=_scatter_kernel,
    positions=2,
    rule=_scatter_rule,
    grad_fn="ScatterBackward0",
    kink="none: linear; of entries written to one position only the last gets a gradient (PyTorch gives it to all)",
)


def _scatter_add(input: Node, dim: int, index: Node, src: Node) -> Node:
    node = as_node(input)
    axis, places = _lane_index(node, dim, index, "scatter_add")
    return apply(SCATTER_ADD, (node, _source(node, src, places, axis), places), {"axis": axis})


SCATTER_ADD: Op = moving(
    "scatter_add",
    "A copy of a tensor with a source added at positions along a dimension; repeated ones add up.",
    family=_FAMILY,
    call=_scatter_add,
    forms=("torch.scatter_add(A, 1, [[0, 2, 1], [1, 1, 0]], B)", "A.scatter_add(1, index, B)"),
    inputs=_MATRICES,
    infer=shape_kept,
    batch=batch.along_lanes,
    kernel=_scatter_add_kernel,
    positions=2,
    rule=lambda node, g: [g, gathered(g, node.attrs["axis"], node.args[2]), None],
    grad_fn="ScatterAddBackward0",
)

# --- scatter_reduce ----------------------------------------------------------------------------------------------


def _extreme_kernel(xp: Any, x: Any, source: Any, index: Any, axis: int, reduce: str, include_self: bool) -> Any:
    result = xp.array(x)
    wide = result.reshape((1,)) if result.ndim == 0 else result
    index = xp.atleast_1d(xp.asarray(index))
    key, source = _lanes(xp, index, axis), xp.asarray(source).reshape(index.shape)
    if not include_self:
        wide[key] = source
    (xp.maximum if reduce == "amax" else xp.minimum).at(wide, key, source)
    return result[()]


def _extreme_formula(m: Any, x: Any, source: Any, index: Any, axis: int, reduce: str, include_self: bool) -> Any:
    x, index = np.asarray(x, dtype=object), np.atleast_1d(np.asarray(index)).astype(np.int64)
    groups: dict[tuple[int, ...], list[Any]] = {}
    for place, value in zip(np.ndindex(index.shape), np.asarray(source, dtype=object).ravel(), strict=True):
        target = (*place[:axis], int(index[place]), *place[axis + 1 :])
        groups.setdefault(target, []).append(value)
    result = np.atleast_1d(x.copy())
    for target, values in groups.items():
        values = [*values, result[target]] if include_self else values
        result[target] = m.maximum(values) if reduce == "amax" else m.minimum(values)
    return result.reshape(x.shape)


def _extreme_rule(node: Node, g: Node) -> list[Node | None]:
    x, source, index = node.args
    axis = node.attrs["axis"]
    own = make.where(make.eq(x, node), 1.0, 0.0)
    if not node.attrs["include_self"]:
        own = apply(SCATTER, (own, zeros(index.shape), index), {"axis": axis})
    among = make.where(make.eq(source, gathered(node, axis, index)), 1.0, 0.0)
    count = apply(SCATTER_ADD, (own, among, index), {"axis": axis})
    untouched = make.where(make.eq(count, 0.0), 1.0, count)
    share = g / untouched
    return [make.where(own > 0, share, 0.0), make.where(among > 0, gathered(share, axis, index), 0.0), None]


def _reduce_by(node: Node, source: Node, index: Node, axis: int, reduce: str, include_self: bool) -> Node:
    """A scatter_reduce as other rows: sums and means are added up, products multiplied group by group."""
    attrs = {"axis": axis}
    if reduce in ("amax", "amin"):
        return apply(EXTREME, (node, source, index), {**attrs, "reduce": reduce, "include_self": include_self})
    if reduce == "prod":
        return _product(node, source, index, axis, include_self)
    nothing = zeros(index.shape, node.dtype)
    base = node if include_self else apply(SCATTER, (node, nothing, index), attrs)
    total = apply(SCATTER_ADD, (base, source, index), attrs)
    if reduce == "sum":
        return total
    one = make.ones_like(source)
    start = make.ones_like(node)
    if not include_self:
        start = apply(SCATTER, (start, zeros(index.shape), index), attrs)
    count = apply(SCATTER_ADD, (start, one, index), attrs)
    return total / make.where(make.eq(count, 0.0), 1.0, count)  # type: ignore[no-any-return]  # a row's call is of any type


def _product(node: Node, source: Node, index: Node, axis: int, include_self: bool) -> Node:
    """The product of each group, in which zeros need no division: groups are the rows of a matrix, filled with ones."""
    places = np.atleast_1d(np.asarray(value_of(index)))
    numbers = np.arange(node.size).reshape(node.shape or (1,))
    targets = numbers[_lanes(np, places, axis)].ravel()
    order = np.argsort(targets, kind="stable")
    groups, starts, sizes = np.unique(targets[order], return_index=True, return_counts=True)
    extra = int(include_self)
    longest = int(sizes.max(initial=0)) + extra
    one = node.size + source.size
    table = np.full((groups.size, longest), one)
    if include_self:
        table[:, 0] = groups
    rows = np.repeat(np.arange(groups.size), sizes)
    table[rows, np.arange(order.size) - np.repeat(starts, sizes) + extra] = node.size + order
    pool = make.cat(
        [reshaped(node, (node.size,)), reshaped(source, (source.size,)), make.ones_like(zeros((1,), node.dtype))]
    )
    products = make.prod(indexed(pool, (0,), (leaf(table),)), dim=1)
    flat = put_at(reshaped(node, (node.size,)), products, (0,), (leaf(groups),))
    return reshaped(flat, node.shape)


def _scatter_reduce(input: Node, dim: int, index: Node, src: Node, reduce: str, *, include_self: bool = True) -> Node:
    node = as_node(input)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise InputError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}",
            hint="write reduce='sum'",
        )
    axis, places = _lane_index(node, dim, index, "scatter_reduce")
    source = _source(node, src, places, axis)
    return renamed(_reduce_by(node, source, places, axis, reduce, include_self), "ScatterReduceBackward0")


EXTREME = moving(
    "scatter_reduce",
    "Each entry of a tensor with what is scattered to it: their sum, prod, mean, amax or amin.",
    family=_FAMILY,
    call=_scatter_reduce,
    forms=(
        "A.scatter_reduce(1, [[0, 2, 1], [1, 1, 0]], B, reduce='amax')",
        "torch.scatter_reduce(A, 1, index, B, 'sum', include_self=False)",
    ),
    inputs=_MATRICES,
    examples=tuple(
        Example(f"A.scatter_reduce(1, [[0, 2, 1], [1, 1, 0]], B, reduce='{reduce}')", _MATRICES)
        for reduce in ("amax", "amin", "sum", "mean", "prod")
    ),
    infer=shape_kept,
    kernel=_extreme_kernel,
    formula=_extreme_formula,
    positions=2,
    rule=_extreme_rule,
    grad_fn="ScatterReduceBackward0",
    domain="all numbers; amax and amin where no two of a group are equal",
    kink="amax and amin: equal extremes share the gradient evenly",
)
