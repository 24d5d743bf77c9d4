"""Positions and masks: whole numbers that say where an entry stands, checked when the graph is built."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..graph import BOOL, INT64, INTEGERS, Node, Shape, leaf, make
from .concrete import value_now, value_of


def _values(value: Any) -> Any:
    if isinstance(value, Node):
        return value_of(value)
    return [_values(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def positions_of(value: Any) -> Node:
    """A node of integers or booleans that says where entries stand.

    Args:
        value: a node, an array, an integer or nested lists of them. Floats are taken where they are whole, because
            numbers in an expression file are floats.

    Raises:
        InputError: where a number is not whole.
    """
    if not isinstance(value, Node):
        array = np.asarray(_values(value))
        if array.dtype.kind not in "biuf":
            raise InputError("tensors used as indices must be long, int, byte or bool tensors", hint=_WHOLE)
        value = leaf((array if array.dtype.kind != "f" or array.size else array.astype(np.int64))[()])
    if value.dtype.kind in "biu":
        return value if not value.is_number else leaf(value.dtype.type(value.value))
    if value.dtype.kind == "f":
        values = np.asarray(value_now(value))
        if np.all(np.isfinite(values)) and np.all(values == np.floor(values)):
            return make.to(value, INT64)  # type: ignore[no-any-return]  # a row's call is of any type
    raise InputError("tensors used as indices must be long, int, byte or bool tensors", hint=_WHOLE)


_WHOLE = "an index is a whole number, a list of them, or a mask such as x > 0"


def integer_of(value: Any, what: str) -> int:
    """One whole number as Python's: an int, or a node whose value is known.

    Raises:
        InputError: where it is no whole number, or too large for an index.
    """
    if type(value) is int and not -INTEGERS <= value < INTEGERS:
        raise InputError("Overflow when unpacking long long", hint="the largest index is 2**63 - 1", code="value")
    entry = np.asarray(value_of(value) if isinstance(value, Node) else value)
    if (
        entry.size == 1
        and entry.dtype.kind in "iuf"
        and np.all(entry == np.floor(entry))
        and np.all(np.isfinite(entry))
    ):
        return int(entry.ravel()[0])
    raise InputError(
        f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid {what}"
        + ("" if isinstance(value, Node) else f" (got {type(value).__name__})"),
        hint=_WHOLE,
        code="index",
    )


def _from_to(first: int, size: int) -> str:
    return f"positions go from {first} to {size - 1}" if size else "the dimension is empty"


def place_of(index: Any, size: int, fault: str) -> int:
    """One position of a dimension, counted from the front.

    Args:
        index: a whole number.
        size: the dimension's size.
        fault: the message where it lies outside, with {} for the number.

    Raises:
        InputError: where it is no whole number or lies outside.
    """
    place = integer_of(index, "indices")
    if not -size <= place < size:
        raise InputError(fault.format(place), hint=_from_to(-size, size), code="index")
    return place % size


def within(positions: Node, size: int, axis: int, *, negative: bool = True) -> Node:
    """Positions that are known to lie inside of a dimension.

    Args:
        positions: integers.
        size: the dimension's size.
        axis: which dimension, for the message.
        negative: whether positions may be counted from the end.

    Raises:
        InputError: where one lies outside.
    """
    values = np.asarray(value_now(positions))
    outside = (values >= size) | (values < (-size if negative else 0))
    if np.any(outside):
        worst = int(values[outside].ravel()[0])
        raise InputError(
            f"index {worst} is out of bounds for dimension {axis} with size {size}",
            hint=_from_to(-size if negative else 0, size),
            code="index" if negative else None,
        )
    return positions


def mask_of(value: Any, what: str) -> Node:
    """A node of booleans.

    Raises:
        InputError: where it is none.
    """
    node = value if isinstance(value, Node) else positions_of(value)
    if node.dtype != BOOL:
        raise InputError(
            f"{what} only supports boolean masks, but got mask with dtype {node.dtype}",
            hint="a mask is a comparison such as x > 0, or a tensor of True and False",
        )
    return node


def places_of(mask: Node, shape: Shape | None = None) -> list[Node]:
    """Where a mask holds: one leaf of positions for each of its axes.

    Args:
        mask: booleans.
        shape: what the mask is broadcast to before.
    """
    values = np.asarray(value_of(mask))
    if shape is not None:
        values = np.broadcast_to(values, shape)
    return [leaf(places) for places in np.nonzero(values)]
