"""Picking entries out of a tensor by lists of positions, putting them in, and what `x[...]` means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import BOOL, Attrs, DType, Example, Node, Shape, apply, as_node, leaf, make
from .. import batch
from ..concrete import value_of
from ..infer import broadcast
from ..move import joining, moving, renamed, shape_kept
from ..positions import integer_of, place_of, places_of, positions_of, within
from ..shapes.expand import EXPAND
from ..shapes.reshape import reshaped
from ..shapes.single import unsqueezed
from .slice import SELECT_SCATTER, SLICE, SLICE_SCATTER, nothing, range_of, selected, sliced, typed

_FAMILY: Final = "index"

# --- lists of positions ------------------------------------------------------------------------------------------


def _key(ndim: int, axes: Sequence[int], indices: Sequence[Any]) -> tuple[Any, ...]:
    key: list[Any] = [slice(None)] * ndim
    for axis, index in zip(axes, indices, strict=True):
        key[axis] = index
    return tuple(key)


def _indexed_shape(node: Node, axes: Sequence[int], indices: Sequence[Node]) -> Shape:
    """As NumPy and PyTorch: the lists' own shape stands where they stood, or first if something stood between them."""
    picked = broadcast(*[index.shape for index in indices])
    rest = [size for axis, size in enumerate(node.shape) if axis not in axes]
    place = axes[0] if list(axes) == list(range(axes[0], axes[0] + len(axes))) else 0
    return (*rest[:place], *picked, *rest[place:])


def _index_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    return _indexed_shape(args[0], attrs["axes"], args[1:]), args[0].dtype


def _index_kernel(xp: Any, x: Any, *indices: Any, axes: tuple[int, ...]) -> Any:
    return x[_key(x.ndim, axes, [xp.asarray(index) for index in indices])]


def indexed(node: Node, axes: Sequence[int], indices: Sequence[Node], *, grad_fn: str | None = None) -> Node:
    """The entries of a node at lists of positions along some dimensions, known to lie inside."""
    return apply(INDEX, (node, *indices), {"axes": tuple(axes)}, grad_fn=grad_fn)


def _index_rule(node: Node, g: Node) -> list[Node | None]:
    x, *indices = node.args
    back = put_at(nothing(x), g, node.attrs["axes"], indices, accumulate=True)
    return [back, *[None] * len(indices)]


def _getitem(input: Node, items: Any) -> Node:
    node = as_node(input)
    given = items if isinstance(items, tuple) else (items,)
    # As PyTorch: a whole range is no op of its own, unless it is all that is written.
    return _viewed(node, _counted(node, given), whole=len(given) == 1 and given[0] is not Ellipsis)


INDEX = moving(
    "index",
    "The entries of a tensor at lists of positions, or where a mask holds.",
    family=_FAMILY,
    call=_getitem,
    forms=("x[[0, 2, 0]]", "x[x > 0]", "A[[0, 1], [1, 1]]", "A[:, [0, 2]]"),
    method=False,
    inputs={"x": (3,)},
    infer=_index_infer,
    batch=batch.picked,
    kernel=_index_kernel,
    positions=1,
    rule=_index_rule,
    grad_fn="IndexBackward0",
    domain="all numbers: linear; a mask that depends on x is constant around it",
)


def add_at(xp: Any, array: Any, key: tuple[Any, ...], values: Any) -> None:
    """Add values at positions in place, at repeated ones one after another.

    Several lists of positions are made into one, over the flat array: NumPy then takes a fifth of the time.
    """
    lists = [each for each in key if getattr(getattr(each, "dtype", None), "kind", "") == "i"]
    if xp is not np or array.ndim < 2 or len(lists) < array.ndim or not array.flags.c_contiguous or not array.size:
        xp.add.at(array, key, values)
        return
    counted = [each + (each < 0) * size for each, size in zip(lists, array.shape, strict=True)]
    flat = np.ravel_multi_index(np.broadcast_arrays(*counted), array.shape)
    np.add.at(array.reshape(-1), np.ravel(flat), np.broadcast_to(values, np.shape(flat)).reshape(-1))


def _index_put_kernel(xp: Any, x: Any, values: Any, *indices: Any, axes: tuple[int, ...], accumulate: bool) -> Any:
    result = xp.array(x)
    key = _key(result.ndim, axes, [xp.asarray(index) for index in indices])
    if accumulate:
        xp.add.at(result, key, values)
    else:
        result[key] = values
    return result


def _last_written(node: Node) -> Any:
    """Which values a put without accumulation leaves in place: of several for one position, the last."""
    x, values, *indices = node.args
    key = _key(x.ndim, node.attrs["axes"], [np.asarray(value_of(index)) for index in indices])
    numbers = np.arange(values.size).reshape(values.shape)
    places = np.zeros(x.shape, dtype=np.int64)
    places[key] = numbers
    return places[key] == numbers


def _index_put_rule(node: Node, g: Node) -> list[Node | None]:
    _, values, *indices = node.args
    axes, accumulate = node.attrs["axes"], node.attrs["accumulate"]
    taken: Node | None = None
    if values.requires_grad:
        taken = indexed(g, axes, indices)
        kept = True if accumulate else _last_written(node)
        if not np.all(kept):
            taken = make.where(leaf(kept), taken, 0.0)
    kept_g = g if accumulate else put_at(g, nothing(values), axes, indices)
    return [kept_g, taken, *[None] * len(indices)]


def put_at(
    node: Node,
    values: Node,
    axes: Sequence[int],
    indices: Sequence[Node],
    *,
    accumulate: bool = False,
    grad_fn: str | None = None,
) -> Node:
    """A copy of a node with values, of the shape of the indexing's result, put in or added at lists of positions."""
    attrs = {"axes": tuple(axes), "accumulate": accumulate}
    return apply(INDEX_PUT, (node, values, *indices), attrs, grad_fn=grad_fn)


def spread(value: Any, node: Node, shape: Shape) -> Node:
    """A value for a part of a node: of the node's dtype, broadcast to the part's shape.

    Raises:
        ShapeError: where it does not broadcast to it.
    """
    values = typed(value, node.dtype)
    own = values.shape
    while len(own) > len(shape) and own[0] == 1:
        own = own[1:]
    if len(own) > len(shape) or any(
        have not in (1, want) for have, want in zip(own, shape[len(shape) - len(own) :], strict=True)
    ):
        raise ShapeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of "
            f"shape {list(shape)}",
            hint="the value must be a number, or have the shape of what it replaces",
        )
    if own != values.shape:
        values = reshaped(values, own)
    return values if own == shape else apply(EXPAND, (values,), {"shape": shape})


def _index_put(input: Node, indices: Any, values: Node, accumulate: bool = False) -> Node:
    node = as_node(input)
    given = indices if isinstance(indices, (tuple, list)) else (indices,)
    if len(given) > node.ndim:
        raise InputError(f"too many indices for tensor of dimension {node.ndim} (got {len(given)})", code="index")
    axes, places = _lists([(axis, positions_of(index)) for axis, index in enumerate(given)], node)
    part = spread(values, node, _indexed_shape(node, axes, places))
    return put_at(node, part, axes, places, accumulate=accumulate)


INDEX_PUT = moving(
    "index_put",
    "A copy of a tensor with values put in, or added, at lists of positions; where one repeats, the last value stays.",
    family=_FAMILY,
    call=_index_put,
    forms=("x.index_put(([0, 2],), y)", "torch.index_put(x, ([0, 0],), y, accumulate=True)"),
    inputs={"x": (3,), "y": (2,)},
    infer=shape_kept,
    batch=batch.put,
    kernel=_index_put_kernel,
    positions=2,
    rule=_index_put_rule,
    grad_fn="IndexPutBackward0",
)

# --- x[...] ------------------------------------------------------------------------------------------------------


def _alias(input: Node) -> Node:
    return apply(ALIAS, (as_node(input),))


ALIAS = moving(
    "alias",
    "The whole tensor, seen again: an op of its own in the graph.",
    family=_FAMILY,
    call=_alias,
    forms=("x[...]", "A[:, :]"),
    method=False,
    inputs={"x": (3,)},
    infer=shape_kept,
    batch=batch.trailing,
    kernel=lambda xp, x: xp.asarray(x)[()],
    rule=lambda _node, g: [g],
    grad_fn="AliasBackward0",
)


def _is_list(item: Any) -> bool:
    return not (item is None or item is Ellipsis or isinstance(item, (bool, int, float, np.integer, slice)))


def _counted(node: Node, items: Sequence[Any]) -> list[Any]:
    """The items of an index with lists as nodes and `...` written out as slices.

    Raises:
        InputError: where there are more of them than dimensions.
    """
    result: list[Any] = []
    for item in items:
        if not _is_list(item):
            result.append(item)
            continue
        places = positions_of(item)
        single = places.ndim == 0 and places.dtype != BOOL
        result.append(integer_of(places, "indices") if single else places)
    used = sum(
        (item.ndim if item.dtype == BOOL else 1)
        if isinstance(item, Node)
        else 0
        if item is None or item is Ellipsis or isinstance(item, bool)
        else 1
        for item in result
    )
    if used > node.ndim:
        if node.ndim == 0:
            raise InputError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                "convert a 0-dim tensor to a number",
                hint="it is a single number and has no dimensions",
                code="index",
            )
        raise InputError(
            f"too many indices for tensor of dimension {node.ndim}",
            hint=f"the tensor has shape {list(node.shape)}, the index names {used} dimensions",
            code="index",
        )
    dots = [place for place, item in enumerate(result) if item is Ellipsis]
    for number, place in reversed(list(enumerate(dots))):
        result[place : place + 1] = [slice(None)] * (node.ndim - used if number == 0 else 0)
    return result


def _viewed(node: Node, items: Sequence[Any], *, whole: bool) -> Node:
    """The chain of views that an index means: selections, slices and new dimensions, then the lists at once."""
    start = node
    axis = 0
    lists: list[tuple[int, Node]] = []
    for item in items:
        if item is None:
            node = unsqueezed(node, axis)
            axis += 1
        elif isinstance(item, bool):
            node = unsqueezed(node, axis)
            lists.append((axis, leaf(np.arange(int(item)))))
            axis += 1
        elif isinstance(item, Node):
            lists.append((axis, item))
            if item.dtype == BOOL and item.ndim == 0:
                node = unsqueezed(node, axis)
            axis += item.ndim or 1 if item.dtype == BOOL else 1
        elif isinstance(item, slice):
            if whole or item != slice(None):
                node = sliced(node, axis, *range_of(node.shape[axis], item.start, item.stop, item.step))
            axis += 1
        else:
            size = node.shape[axis]
            # PyTorch counts the dimensions of the tensor that the index began with.
            fault = f"index {{}} is out of bounds for dimension {axis + start.ndim - node.ndim} with size {size}"
            node = selected(node, axis, place_of(item, size, fault))
    if lists:
        return indexed(node, *_lists(lists, node))
    return apply(ALIAS, (node,)) if node is start else node


def _lists(given: Sequence[tuple[int, Node]], node: Node) -> tuple[list[int], list[Node]]:
    """The dimensions and the positions along them that lists and masks mean.

    Raises:
        InputError: where a position lies outside, a mask has another shape, or the lists do not broadcast.
    """
    axes: list[int] = []
    places: list[Node] = []
    for axis, item in given:
        if item.dtype != BOOL:
            axes.append(axis)
            places.append(within(item, node.shape[axis], axis))
            continue
        if item.ndim == 0:
            axes.append(axis)
            places.append(leaf(np.arange(int(value_of(item)))))
            continue
        for inner, size in enumerate(item.shape):
            if axis + inner >= node.ndim or node.shape[axis + inner] != size:
                raise ShapeError(
                    f"The shape of the mask {list(item.shape)} at index {inner} does not match the shape of the "
                    f"indexed tensor {list(node.shape)} at index {axis + inner}",
                    hint="a mask must have the shape of the dimensions that it picks from",
                    code="index",
                )
        axes += range(axis, axis + item.ndim)
        places += places_of(item)
    try:
        broadcast(*[place.shape for place in places])
    except ShapeError:
        shapes = ", ".join(str(list(place.shape)) for place in places)
        raise ShapeError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}",
            hint="the lists are read in pairs; write A[[0, 1]][:, [0, 2]] for rows and columns",
        ) from None
    return axes, places


joining(
    "getitem",
    "The part of a tensor that an index names: integers, ranges, None, `...`, lists of positions and masks.",
    family=_FAMILY,
    call=_getitem,
    forms=("x[0]", "A[1, :2]", "x[None]", "A[..., 0]", "x[[0, 2]]", "x[x > 0]"),
    method=False,
    inputs={"x": (3,)},
    grad_fn="SelectBackward0",
)

_PUT_BACK: Final[Mapping[str, Callable[[Node, Node, Node], Node]]] = {
    "alias": lambda _part, _source, new: new,
    "unsqueeze": lambda _part, source, new: reshaped(new, source.shape),
    "select": lambda part, source, new: apply(SELECT_SCATTER, (source, new), part.attrs),
    "slice": lambda part, source, new: apply(SLICE_SCATTER, (source, new), part.attrs),
    "index": lambda part, source, new: put_at(source, new, part.attrs["axes"], part.args[1:]),
}
"""For each view: how a new value for it is put into what it is a view of."""


def _setitem(input: Node, items: Any, value: Node) -> Node:
    node = as_node(input)
    part = _getitem(node, items)
    new = spread(value, node, part.shape)
    views = []
    while part is not node:
        views.append(part)
        part = part.args[0]
    for view in views:
        new = _PUT_BACK[view.op.name](view, view.args[0], new)
    if views == [view] and view.op is INDEX:
        return new
    if new.args[:1] != (node,) and node.ndim:  # all of it is replaced, and it is still the tensor that was
        attrs = {"axis": 0, "start": 0, "stop": node.shape[0], "step": 1}
        new = apply(SLICE_SCATTER, (node, new), attrs)
    if len(views) == 1 and view.op in (ALIAS, SLICE) and view.shape == node.shape:
        return renamed(new, "CopyBackwards" if as_node(value).ndim else "FillBackward3")
    return renamed(new, "CopySlices")


joining(
    "setitem",
    "A copy of a tensor with a value put in at an index; `x[0] = v` binds x to it.",
    family=_FAMILY,
    call=_setitem,
    forms=("x[0] = 2.0", "x[[0, 2]] = y"),
    method=False,
    inputs={},
    # An assignment is no expression; this one does the same.
    examples=(Example("torch.select_scatter(A, x, 0, 1)", {"A": (2, 3), "x": (3,)}),),
    grad_fn=lambda _args, _attrs: "CopySlices",
)
