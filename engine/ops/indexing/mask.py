"""Picking and replacing entries where a mask holds."""

from __future__ import annotations

from typing import Final

from ...errors import InputError, ShapeError
from ...graph import Node, apply, as_node, make
from ..infer import broadcast
from ..move import joining, renamed
from ..positions import mask_of, places_of
from ..shapes.expand import EXPAND
from ..shapes.reshape import reshaped
from .index import indexed, put_at
from .slice import sliced, typed

_FAMILY: Final = "index"


def _masked_select(input: Node, mask: Node) -> Node:
    node = as_node(input)
    where = mask_of(mask, "masked_select")
    shape = broadcast(node.shape, where.shape)
    if node.shape != shape:
        node = apply(EXPAND, (node,), {"shape": shape})
    if not shape:
        node = reshaped(node, (1,))
        where = reshaped(where, (1,))
    return indexed(node, range(node.ndim), places_of(where, node.shape), grad_fn="MaskedSelectBackward0")


joining(
    "masked_select",
    "The entries where a mask holds, in row-major order.",
    family=_FAMILY,
    call=_masked_select,
    forms=("torch.masked_select(x, x > 0)", "x.masked_select(x > 0)"),
    inputs={"x": (3,)},
    grad_fn="MaskedSelectBackward0",
    domain="all numbers: linear; a mask that depends on x is constant around it",
)


def _masked_fill(input: Node, mask: Node, value: Node) -> Node:
    node, filling = as_node(input), as_node(value)
    if filling.ndim:
        raise InputError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{filling.ndim} dimension(s).",
            hint="write torch.where(mask, value, x)",
        )
    grad_fn = "MaskedFillBackward0" if filling.is_number else "MaskedFillBackward1"
    where = mask_of(mask, "masked_fill_")
    return renamed(make.where(where, typed(filling, node.dtype), node), grad_fn)


joining(
    "masked_fill",
    "A copy of a tensor with one number wherever a mask holds; nothing flows to the entries that it replaces.",
    family=_FAMILY,
    call=_masked_fill,
    forms=("x.masked_fill(x > 0, 0.0)", "torch.masked_fill(x, x > 0, y)"),
    inputs={"x": (3,)},
    grad_fn="MaskedFillBackward0",
    domain="all numbers: linear; a mask that depends on x is constant around it",
)


def _masked_scatter(input: Node, mask: Node, source: Node) -> Node:
    node = as_node(input)
    where = mask_of(mask, "masked_scatter_")
    shape = broadcast(node.shape, where.shape) or (1,)
    places = places_of(where, shape)
    values = typed(source, node.dtype)
    count = places[0].size
    if values.size < count:
        raise ShapeError(
            "Number of elements of source < number of ones in mask",
            hint=f"the mask holds at {count} places, the source has {values.size} elements",
        )
    taken = sliced(reshaped(values, (values.size,)), 0, 0, count)
    whole = apply(EXPAND, (node,), {"shape": shape}) if node.shape != shape else node
    result = put_at(whole, taken, range(len(shape)), places, grad_fn="MaskedScatterBackward0")
    return result if node.ndim or where.ndim else reshaped(result, ())


joining(
    "masked_scatter",
    "A copy of a tensor with the entries of another, in their order, wherever a mask holds.",
    family=_FAMILY,
    call=_masked_scatter,
    forms=("x.masked_scatter(x > 0, y)", "torch.masked_scatter(x, x > 0, y)"),
    inputs={"x": (3,), "y": (3,)},
    grad_fn="MaskedScatterBackward0",
    domain="all numbers: linear; a mask that depends on x is constant around it",
)
