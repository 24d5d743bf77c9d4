"""Rows in whose results entries of their arguments meet: sums, lanes, matrices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph import Node, Shape
from .pattern import Pattern, added, picked, union

Known = Mapping[Node, Pattern | None]


class Size(NamedTuple):
    """How large patterns are.

    Attributes:
        seeds: how many there are.
        most: how many pairs of a seed and an entry a pattern may have.
    """

    seeds: int
    most: int


def of(known: Known, node: Node) -> Pattern:
    """The pattern of a node that has one."""
    pattern = known[node]
    assert pattern is not None
    return pattern


def numbers(shape: Shape) -> Any:
    """The number of each entry in row-major order."""
    return np.arange(math.prod(shape)).reshape(shape)


def broadcast(pattern: Pattern, shape: Shape, target: Shape, size: Size) -> Pattern:
    """The pattern of a tensor repeated to fit another's shape."""
    return pattern if shape == target else picked(pattern, np.broadcast_to(numbers(shape), target).ravel(), size.most)


def _folded_shape(shape: Shape, axes: Sequence[int]) -> Shape:
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape))


def folded(node: Node, known: Known, size: Size) -> Pattern:
    """Sums and means over the axes `dim`."""
    (arg,) = node.args
    targets = np.broadcast_to(numbers(_folded_shape(arg.shape, node.attrs["dim"])), arg.shape)
    return added(of(known, arg), targets.ravel(), node.size, size.seeds)


def narrowed(node: Node, known: Known, size: Size) -> Pattern:
    """The sum that undoes broadcasting."""
    (arg,) = node.args
    targets = np.broadcast_to(numbers(node.shape), arg.shape)
    return added(of(known, arg), targets.ravel(), node.size, size.seeds)


def met(node: Node, parts: Sequence[Pattern], size: Size) -> Pattern:
    """All entries along some axes depend on all of them."""
    axes = node.attrs.get("dim", node.attrs.get("axis"))
    axes = (axes,) if isinstance(axes, int) else axes
    groups = np.broadcast_to(numbers(_folded_shape(node.shape, axes)), node.shape).ravel()
    lanes = math.prod(_folded_shape(node.shape, axes))
    sums = [added(part, groups, lanes, size.seeds) for part in parts]
    return picked(union(sums, size.seeds), groups, size.most)


def anywhere(node: Node, known: Known, size: Size) -> Pattern | None:
    """Entries read from, or written to, positions along an axis that are other ones for other values of variables."""
    axis, positions = node.attrs["axis"], node.args[-1]
    if positions in known or not node.ndim:
        return None
    moved = node.args[0] if node.op.name == "gather" else node.args[1]
    whole = moved.shape if node.op.name == "gather" else node.shape
    parts = [] if node.op.name == "gather" or node.args[0] not in known else [of(known, node.args[0])]
    if moved in known:
        lanes = math.prod(_folded_shape(whole, (axis,)))
        sums = added(of(known, moved), _lanes_of(whole, axis, moved.shape), lanes, size.seeds)
        parts.append(picked(sums, _lanes_of(whole, axis, node.shape), size.most))
    return union(parts, size.seeds)


def _lanes_of(whole: Shape, axis: int, part: Shape) -> Any:
    """For each of the first entries of a tensor, or of more of them along an axis, the number of its lane."""
    lanes = numbers(_folded_shape(whole, (axis,)))
    first = lanes[tuple(slice(1 if place == axis else length) for place, length in enumerate(part))]
    return np.broadcast_to(first, part).ravel()


def mixed(pattern: Pattern, shape: Shape, target: Shape, size: Size) -> Pattern:
    """A matrix of each batch, all of whose entries meet."""
    items = (*shape[:-2], 1, 1)
    groups = np.broadcast_to(numbers(items), shape).ravel()
    sums = added(pattern, groups, math.prod(items), size.seeds)
    return picked(sums, np.broadcast_to(numbers(items), target).ravel(), size.most)


def multiplied(node: Node, known: Known, size: Size) -> Pattern:
    """A product of matrices or vectors: a row of the left side, or a column of the right, reaches a row or column."""
    left, right = node.args
    rows, columns = left.ndim > 1, right.ndim > 1
    lead = node.shape[: node.ndim - rows - columns]
    full = (*lead, node.shape[len(lead)] if rows else 1, node.shape[-1] if columns else 1)
    parts = []
    for arg, axis, new in ((left, -1, not rows), (right, -2, not columns)):
        if arg not in known:
            continue
        matrix = arg.shape if not new else ((1, *arg.shape) if axis == -1 else (*arg.shape, 1))
        folded = _folded_shape(matrix, (len(matrix) + axis,))
        targets = np.broadcast_to(numbers(folded), matrix).ravel()
        sums = added(of(known, arg), targets, math.prod(folded), size.seeds)
        parts.append(picked(sums, np.broadcast_to(numbers(folded), full).ravel(), size.most))
    return union(parts, size.seeds)
