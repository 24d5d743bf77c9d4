"""How the rows of the table pass patterns on: what reaches an entry of a result that is linear in its arguments.

A row that is not named here, and not elementwise, has no pattern: all may depend on all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node, ancestors
from ..ops.concrete import value_of
from .meeting import Known, Size, anywhere, broadcast, folded, met, mixed, multiplied, narrowed, numbers, of
from .pattern import Pattern, added, joined, picked, union
from .windows import averaged, convolved

_MOVES: Final[Mapping[str, int | None]] = {
    "alias": None,
    "assemble": 1,
    "cat": None,
    "channel_shuffle": None,
    "clone": None,
    "contiguous": None,
    "diag_embed": None,
    "diagonal": None,
    "diagonal_scatter": None,
    "expand": None,
    "flip": None,
    "gather": 1,
    "index": 1,
    "index_put": 2,
    "pad": None,
    "permute": None,
    "pixel_shuffle": None,
    "pixel_unshuffle": None,
    "repeat": None,
    "reshape": None,
    "roll": None,
    "rot90": None,
    "scatter": 2,
    "scatter_add": 2,
    "select": None,
    "select_scatter": None,
    "shift": None,
    "slice": None,
    "slice_scatter": None,
    "squeeze": None,
    "stack": None,
    "tril": None,
    "triu": None,
    "unsqueeze": None,
}
"""Rows each of whose entries is one of an argument's or fixed, and the first of their arguments that are positions."""

_FILLINGS: Final = ("fill", "value")
"""Attributes that name what such a row puts into other entries: a number that no seed reaches."""

_ALONG: Final = frozenset({"centered", "cumsum", "recurrence"})
"""Rows of one shape with their arguments in which entries along the axes `dim` or `axis` meet."""

_ITEMS: Final = frozenset({"linalg.solve", "linalg.solve_triangular", "matrix_exp"})
"""Rows in which the entries of each matrix of a batch meet."""


def passed(node: Node, known: Known, size: Size) -> Pattern | None:
    """The pattern of a node, from those of its arguments that have seeds; None where it is not known.

    Args:
        node: linear in the arguments that vary.
        known: the pattern of each node that varies, or None.
        size: of patterns.

    Raises:
        FullError: where it would be too full.
    """
    moving = [arg for arg in dict.fromkeys(node.args) if arg in known]
    if any(known[arg] is None for arg in moving) or node.op.outputs > 1:
        return None
    if node.op.elementwise:
        parts = [broadcast(of(known, arg), arg.shape, node.shape, size) for arg in moving]
        return union(parts, size.seeds)
    name = node.op.name
    if name in _ADDING:
        return _ADDING[name](node, known, size)
    if name in _MOVES:
        if _positions_stay(node, known):
            return _moved(node, known, size)
        return anywhere(node, known, size) if name in ("gather", "scatter") else None
    if name in _ALONG:
        return met(node, [broadcast(of(known, arg), arg.shape, node.shape, size) for arg in moving], size)
    if name in _ITEMS and not node.attrs.get("vector") and all(arg.ndim > 1 for arg in node.args):
        return union([mixed(of(known, arg), arg.shape, node.shape, size) for arg in moving], size.seeds)
    return None


def _positions_stay(node: Node, known: Known) -> bool:
    """Whether the positions that a node reads are the same whatever the values of the variables are."""
    first = _MOVES[node.op.name]
    positions = node.args[first:] if first is not None else ()
    return not any(
        arg in known or any(part.op is LEAF and part.dtype.kind in "fc" for part in ancestors([arg]))
        for arg in positions
    )


def _moved(node: Node, known: Known, size: Size) -> Pattern:
    """By the row's own kernel on the numbers of its arguments' entries."""
    first = _MOVES[node.op.name]
    values: list[Any] = []
    parts: list[Pattern] = []
    end = 1  # 0 stands for what no seed reaches
    for place, arg in enumerate(node.args):
        if first is not None and place >= first:
            values.append(value_of(arg))
        elif arg in known:
            values.append(numbers(arg.shape) + end)
            parts.append(of(known, arg))
            end += arg.size
        else:
            values.append(np.broadcast_to(np.int64(0), arg.shape))
    attrs = {name: 0 if name in _FILLINGS else value for name, value in node.attrs.items()}
    assert node.op.kernel is not None
    sources = node.op.kernel(np, *values, **attrs)
    return picked(joined(parts), np.ravel(sources) - 1, size.most)


def _scattered(node: Node, known: Known, size: Size) -> Pattern | None:
    """A base to which a source is added at positions."""
    if node.op.name == "index_put" and not node.attrs["accumulate"]:
        return _moved(node, known, size) if _positions_stay(node, known) else None
    if not _positions_stay(node, known):
        return anywhere(node, known, size) if node.op.name == "scatter_add" else None
    base, source, *positions = node.args
    parts = [of(known, base)] if base in known else []
    if source in known:
        places = [np.asarray(value_of(each)) for each in positions]
        places_of_entries = np.atleast_1d(numbers(node.shape))
        if node.op.name == "index_put":
            key: list[Any] = [slice(None)] * node.ndim
            for axis, place in zip(node.attrs["axes"], places, strict=True):
                key[axis] = place
            targets = places_of_entries[tuple(key)]
        else:
            lanes: list[Any] = list(np.indices(np.atleast_1d(places[0]).shape, sparse=True))
            lanes[node.attrs["axis"]] = np.atleast_1d(places[0])
            targets = places_of_entries[tuple(lanes)]
        parts.append(added(of(known, source), np.ravel(targets), node.size, size.seeds))
    return union(parts, size.seeds)


_ADDING: Final[Mapping[str, Callable[[Node, Known, Size], Pattern | None]]] = {
    **dict.fromkeys([f"{name}_pool{rank}d" for name in ("avg", "adaptive_avg") for rank in (2, 3)], averaged),
    **dict.fromkeys([f"{name}{rank}d" for name in ("conv", "conv_transpose") for rank in (1, 2, 3)], convolved),
    "index_put": _scattered,
    "matmul": multiplied,
    "mean": folded,
    "scatter_add": _scattered,
    "sum": folded,
    "sum_to_size": narrowed,
}
