"""Batching rules: how rows run once for a whole batch of arguments, along an axis of its own that comes first.

A rule gets the node of one run, and its arguments, of which those flagged have the batch axis; the others are the same
for the whole batch. It gives the node of the whole batch, or None where it has no form for these arguments: then each
run becomes a node of its own. Only ops that are linear in a cotangent need a rule: in a batch of gradients everything
else is the same for all. Elementwise rows need none either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..graph import Node, Shape, apply, make

Batch = Callable[[Node, Sequence[Node], Sequence[bool]], Node | None]

_AXES: Final = ("axis", "axes", "dim", "dims", "dim1", "dim2")
"""The attributes that count axes, from the front."""


def count_of(args: Sequence[Node], batched: Sequence[bool]) -> int:
    """How many runs the batch has."""
    return next(arg.shape[0] for arg, flag in zip(args, batched, strict=True) if flag)


def in_shape(node: Node, shape: Shape) -> Node:
    """A node's entries in another shape, which is known to fit."""
    return node if node.shape == shape else apply(make.reshape, (node,), {"shape": shape}, grad_fn="ViewBackward0")


def widened(node: Node, ndim: int) -> Node:
    """A batch of tensors of fewer axes as one of tensors of `ndim` axes, to broadcast as the single ones would."""
    batch, *sizes = node.shape
    return in_shape(node, (batch, *(1,) * (ndim - len(sizes)), *sizes))


def turned(node: Node, *dims: int) -> Node:
    """A node with its axes in another order."""
    return apply(make.permute, (node,), {"dims": dims})


def everywhere(args: Sequence[Node], batched: Sequence[bool]) -> list[Node]:
    """All arguments with the batch axis: those that lack it repeated, without a copy."""
    count = count_of(args, batched)
    return [
        arg if flag else apply(make.expand, (arg,), {"shape": (count, *arg.shape)})
        for arg, flag in zip(args, batched, strict=True)
    ]


def along_axes(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node:
    """For rows that work along numbered axes: the numbers move up by one."""
    attrs = dict(node.attrs)
    for name in _AXES:
        if name in attrs:
            value = attrs[name]
            attrs[name] = value + 1 if isinstance(value, int) else tuple([axis + 1 for axis in value])
    return apply(node.op, everywhere(args, batched), attrs)


def along_lanes(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node | None:
    """As `along_axes`, for rows that take a tensor without axes as one of one axis: that has no form here."""
    return along_axes(node, args, batched) if node.args[0].ndim else None


def rolled(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node:
    """For a rotation: of all entries in a row where no axes are named."""
    if node.attrs["dims"]:
        return along_axes(node, args, batched)
    flat = in_shape(args[0], (args[0].shape[0], math.prod(node.shape)))
    return in_shape(apply(node.op, (flat,), {**node.attrs, "dims": (1,)}), args[0].shape)


def trailing(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node:
    """For rows that work on the last axes, whatever stands before them."""
    return apply(node.op, everywhere(args, batched), node.attrs)


def items(ndim: int) -> Batch:
    """For rows whose first axis counts independent items already: each run's items follow one another.

    Args:
        ndim: how many axes each argument must have for its first to be that one.
    """

    def rule(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node | None:
        if any(arg.ndim < ndim for arg in node.args):
            return None
        count = count_of(args, batched)
        attrs = dict(node.attrs)
        if "shape" in attrs:
            first, *rest = attrs["shape"]
            attrs["shape"] = (count * first, *rest)
        joined = [in_shape(arg, (count * arg.shape[1], *arg.shape[2:])) for arg in everywhere(args, batched)]
        return in_shape(apply(node.op, joined, attrs), (count, *node.shape))

    return rule


def items_of_first(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node | None:
    """As `items` where only the first argument has them and is in the batch: convolutions by a fixed weight."""
    if list(batched) != [True, *[False] * (len(args) - 1)]:
        return None
    count, first, *rest = args[0].shape
    joined = in_shape(args[0], (count * first, *rest))
    return in_shape(apply(node.op, (joined, *args[1:]), node.attrs), (count, *node.shape))


def to_shape(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node:  # noqa: ARG001  # every rule takes flags
    """For a reshape."""
    return in_shape(args[0], (args[0].shape[0], *node.shape))


def repeated(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node:  # noqa: ARG001  # as above
    """For an expansion: new axes come after the batch axis."""
    wide = widened(args[0], node.ndim)
    return apply(make.expand, (wide,), {"shape": (wide.shape[0], *node.shape)})


def summed_to(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node:  # noqa: ARG001  # as above
    """For the sum that undoes broadcasting."""
    count, *sizes = args[0].shape
    kept = (count, *(1,) * (len(sizes) - node.ndim), *node.shape)
    return in_shape(apply(node.op, args, {"shape": kept}), (count, *node.shape))


def padded(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node:  # noqa: ARG001  # as above
    """For a border along every axis: none along the batch."""
    return apply(node.op, args, {**node.attrs, "widths": ((0, 0), *node.attrs["widths"])})


def permuted(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node:  # noqa: ARG001  # as above
    """For another order of the axes: the batch stays first."""
    return turned(args[0], 0, *[axis + 1 for axis in node.attrs["dims"]])


# --- lists of positions ------------------------------------------------------------------------------------------


def _apart(axes: Sequence[int]) -> bool:
    """Whether other axes stand between those that are indexed: then the picked ones come first, before the batch."""
    return list(axes) != list(range(axes[0], axes[0] + len(axes)))


def _shifted(axes: Sequence[int]) -> dict[str, Any]:
    return {"axes": tuple([axis + 1 for axis in axes])}


def picked(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node | None:
    """For the entries at lists of positions that are the same for the whole batch."""
    if any(batched[1:]):
        return None
    axes = node.attrs["axes"]
    result = apply(node.op, args, _shifted(axes))
    if not _apart(axes):
        return result
    lead = max(index.ndim for index in args[1:])
    return turned(result, lead, *range(lead), *range(lead + 1, result.ndim))


def put(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node | None:
    """For values put in, or added, at lists of positions that are the same for the whole batch."""
    if any(batched[2:]):
        return None
    axes = node.attrs["axes"]
    count, indices = count_of(args, batched), args[2:]
    base, values = (
        arg if flag else apply(make.expand, (arg,), {"shape": (count, *arg.shape)})
        for arg, flag in zip(args[:2], batched[:2], strict=True)
    )
    if _apart(axes):
        lead = max(index.ndim for index in indices)
        values = turned(values, *range(1, lead + 1), 0, *range(lead + 1, values.ndim))
    return apply(node.op, (base, values, *indices), {**node.attrs, **_shifted(axes)})


# --- matrices ----------------------------------------------------------------------------------------------------


def multiplied(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node:
    """For a product of matrices or vectors: one large product where one side is the same for the whole batch."""
    left, right = args
    rows, columns = (arg.ndim for arg in node.args)
    if not batched[1] and columns <= 2:
        joined = in_shape(left, (math.prod(left.shape[:-1]), left.shape[-1]))
        return in_shape(apply(node.op, (joined, right), node.attrs), (left.shape[0], *node.shape))
    if not batched[0] and rows == 2 and columns <= 2:
        attrs = {"cotangent": 1 - node.attrs["cotangent"]} if "cotangent" in node.attrs else {}
        across = right if columns == 1 else turned(right, 0, 2, 1)
        joined = in_shape(across, (math.prod(across.shape[:-1]), across.shape[-1]))
        product = apply(node.op, (joined, turned(left, 1, 0)), attrs)
        result = in_shape(product, (*across.shape[:-1], product.shape[-1]))
        return result if columns == 1 else turned(result, 0, 2, 1)
    ndim = max(rows, columns, 2)
    left = in_shape(left, (*left.shape[:-1], 1, left.shape[-1])) if rows == 1 else left
    right = in_shape(right, (*right.shape, 1)) if columns == 1 else right
    sides = [widened(arg, ndim) if flag else arg for arg, flag in zip((left, right), batched, strict=True)]
    count = count_of(args, batched)
    return in_shape(apply(node.op, sides, node.attrs), (count, *node.shape))


def solved(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node:
    """For a system of equations: where the matrix is the same for the whole batch, all right sides at once."""
    matrix, right = args
    vector = node.args[1].ndim == 1
    attrs = {**node.attrs, "vector": False} if "vector" in node.attrs else node.attrs
    count = count_of(args, batched)
    if batched[0] or matrix.ndim != 2 or node.args[1].ndim > 2:
        columns = in_shape(right, (*right.shape, 1)) if vector else right
        ndim = max(each.ndim - flag for each, flag in zip((matrix, columns), batched, strict=True))
        sides = [widened(each, ndim) if flag else each for each, flag in zip((matrix, columns), batched, strict=True)]
        return in_shape(apply(node.op, sides, attrs), (count, *node.shape))
    if vector:
        return turned(apply(node.op, (matrix, turned(right, 1, 0)), attrs), 1, 0)
    _, size, width = right.shape
    columns = in_shape(turned(right, 1, 0, 2), (size, count * width))
    return turned(in_shape(apply(node.op, (matrix, columns), attrs), (size, count, width)), 1, 0, 2)


def weights(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node | None:
    """For the gradient of a convolution by its weight: the batch joins the channels of its cotangent."""
    if list(batched) != [False, True] or node.attrs["cotangent"] != 1:
        return None
    x, g = args
    groups = node.attrs["groups"]
    count, number, channels, *sizes = g.shape
    parted = in_shape(g, (count, number, groups, channels // groups, *sizes))
    spatial = range(4, parted.ndim)
    joined = in_shape(turned(parted, 1, 2, 0, 3, *spatial), (number, count * channels, *sizes))
    result = apply(node.op, (x, joined), node.attrs)
    own = node.shape[1:]
    apart = in_shape(result, (groups, count, channels // groups, *own))
    return in_shape(turned(apart, 1, 0, 2, *range(3, apart.ndim)), (count, *node.shape))
