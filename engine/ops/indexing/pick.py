"""Picking, adding and writing whole parts of a tensor by a list of positions along one dimension, or of the whole."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Node, as_node
from ..concrete import value_now
from ..infer import axis_of
from ..move import joining, renamed
from ..positions import positions_of, within
from ..shapes.reshape import reshaped
from .index import indexed, put_at, spread
from .slice import typed

_FAMILY: Final = "index"


def _vector(node: Node, dim: int, index: Any, what: str) -> tuple[Node, int, Node]:
    """A tensor with at least one dimension, the dimension meant and the checked vector of positions along it.

    Raises:
        InputError: where the index is no vector of positions inside of the dimension.
    """
    places = positions_of(index)
    if places.ndim > 1 or places.dtype.kind == "b":
        raise InputError(
            f"{what}(): Index is supposed to be a vector",
            hint=f"the index has shape {list(places.shape)} and dtype {places.dtype}",
        )
    wide = node if node.ndim else reshaped(node, (1,))
    axis = axis_of(dim, node.ndim)
    if places.ndim == 0:
        places = reshaped(places, (1,))
    return wide, axis, within(places, wide.shape[axis], axis)


def _back(result: Node, node: Node, grad_fn: str) -> Node:
    """The result without the dimension that a tensor without any was given."""
    return renamed(result if node.ndim else reshaped(result, ()), grad_fn)


def _index_select(input: Node, dim: int, index: Node) -> Node:
    node = as_node(input)
    wide, axis, places = _vector(node, dim, index, "index_select")
    if not node.ndim and places.size != 1:
        raise ShapeError(
            f"index_select(): Index to scalar can have only 1 value, got {places.size} value(s)", code="index"
        )
    return _back(indexed(wide, (axis,), (places,)), node, "IndexSelectBackward0")


joining(
    "index_select",
    "The parts of a tensor at a list of positions of a dimension.",
    family=_FAMILY,
    call=_index_select,
    forms=("torch.index_select(x, 0, [0, 2])", "x.index_select(0, [0, 2])"),
    inputs={"x": (3,)},
    grad_fn="IndexSelectBackward0",
)


def _parts(node: Node, axis: int, places: Node, source: Any, what: str) -> Node:
    """A source with one part for each position.

    Raises:
        ShapeError: where it has another shape.
    """
    values = typed(source, node.dtype)
    if node.ndim == 1 and values.ndim == 0:
        values = reshaped(values, (1,))
    wanted = (*node.shape[:axis], places.size, *node.shape[axis + 1 :])
    if values.ndim == node.ndim and values.shape[axis] != places.size:
        raise ShapeError(
            f"{what}_(): Number of indices ({places.size}) should be equal to source.size(dim): "
            f"({values.shape[axis]}), for dim: {axis}",
            hint="give one part of the source for each position",
        )
    if values.shape != wanted:
        raise ShapeError(
            f"{what}_(): the source has shape {list(values.shape)}, expected {list(wanted)}",
            hint="the source must have the tensor's shape apart from the dimension that is indexed",
        )
    return values


def _index_add(input: Node, dim: int, index: Node, source: Node, *, alpha: float = 1) -> Node:
    node = as_node(input)
    wide, axis, places = _vector(node, dim, index, "index_add")
    parts = _parts(wide, axis, places, source if alpha == 1 else as_node(source) * alpha, "index_add")
    return _back(put_at(wide, parts, (axis,), (places,), accumulate=True), node, "IndexAddBackward0")


def _index_copy(input: Node, dim: int, index: Node, source: Node) -> Node:
    node = as_node(input)
    wide, axis, places = _vector(node, dim, index, "index_copy")
    parts = _parts(wide, axis, places, source, "index_copy")
    return _back(put_at(wide, parts, (axis,), (places,)), node, "IndexCopyBackward0")


def _index_fill(input: Node, dim: int, index: Node, value: Node) -> Node:
    node, filling = as_node(input), as_node(value)
    if filling.ndim:
        raise InputError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {filling.ndim} dimension(s).",
            hint="write index_copy to put in a tensor",
        )
    wide, axis, places = _vector(node, dim, index, "index_fill")
    shape = (*wide.shape[:axis], places.size, *wide.shape[axis + 1 :])
    result = put_at(wide, spread(filling, wide, shape), (axis,), (places,))
    return _back(result, node, "IndexFillBackward0" if filling.is_number else "IndexFillBackward1")


joining(
    "index_add",
    "A copy of a tensor with a source, times alpha, added at a list of positions of a dimension; repeated ones add up.",
    family=_FAMILY,
    call=_index_add,
    forms=("x.index_add(0, [0, 0], y)", "torch.index_add(x, 0, [0, 2], y, alpha=2)"),
    inputs={"x": (3,), "y": (2,)},
    grad_fn="IndexAddBackward0",
)
joining(
    "index_copy",
    "A copy of a tensor with a source written at a list of positions of a dimension.",
    family=_FAMILY,
    call=_index_copy,
    forms=("x.index_copy(0, [0, 2], y)", "torch.index_copy(x, 0, [0, 2], y)"),
    inputs={"x": (3,), "y": (2,)},
    grad_fn="IndexCopyBackward0",
)
joining(
    "index_fill",
    "A copy of a tensor with one number at a list of positions of a dimension.",
    family=_FAMILY,
    call=_index_fill,
    forms=("x.index_fill(0, [0, 2], 0.5)", "torch.index_fill(x, 0, [0, 2], y)"),
    inputs={"x": (3,)},
    grad_fn="IndexFillBackward0",
)


def _flat_places(node: Node, index: Any) -> Node:
    places = positions_of(index)
    values = np.asarray(value_now(places))
    outside = (values >= node.size) | (values < -node.size)
    if np.any(outside):
        raise InputError(
            f"out of range: tried to access index {int(values[outside].ravel()[0])} on a tensor of {node.size} "
            "elements.",
            hint="positions count the entries in row-major order, from 0",
            code="index",
        )
    return places


def _take(input: Node, index: Node, dim: int | None = None) -> Node:
    node = as_node(input)
    if dim is not None:
        axis, places = axis_of(dim, node.ndim), positions_of(index)
        wide = node if node.ndim else reshaped(node, (1,))
        return indexed(wide, (axis,), (within(places, wide.shape[axis], axis),))
    flat = reshaped(node, (node.size,))
    return indexed(flat, (0,), (_flat_places(node, index),), grad_fn="TakeBackward0")


joining(
    "take",
    "The entries of the flattened tensor at some positions; NumPy's may name an axis.",
    family=_FAMILY,
    call=_take,
    forms=("torch.take(A, [0, 4])", "A.take([0, 4])", "np.take(A, [0, 2], axis=1)"),
    inputs={"A": (2, 3)},
    grad_fn="TakeBackward0",
)


def _put(input: Node, index: Node, source: Node, accumulate: bool = False) -> Node:
    node, values = as_node(input), as_node(source)
    places = _flat_places(node, index)
    if values.size != places.size:
        raise ShapeError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{values.size}, index.numel() = {places.size}",
        )
    flat = reshaped(node, (node.size,))
    parts = reshaped(typed(values, node.dtype), places.shape)
    result = put_at(flat, parts, (0,), (places,), accumulate=accumulate)
    return reshaped(result, node.shape, grad_fn="PutBackward0")


joining(
    "put",
    "A copy of a tensor with a source written, or added, at some positions of the flattened tensor.",
    family=_FAMILY,
    call=_put,
    forms=("A.put([0, 4], y)", "torch.put(A, [0, 0], y, accumulate=True)"),
    inputs={"A": (2, 3), "y": (2,)},
    grad_fn="PutBackward0",
)
