"""The sign of a zero where it decides the side of a branch cut: exact numbers have none, so floating point is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..graph import Node
from .arithmetic import PreciseArithmetic
from .cuts import CUTS

_BESIDE: Final = 20
"""A number beside the cut is 10**-20 to the power of the digits away from it."""
_NONE: Final = 15
"""What is smaller than 10**-15 to the power of the digits comes of that distance alone."""

Floats = Callable[[Node], Any]
"""Gives the value of a node in floating point."""


def beside_cuts(m: PreciseArithmetic, node: Node, args: Sequence[Any], floats: Floats) -> list[Any] | None:
    """The arguments of an op, with those that lie on a branch cut a little beside it, on the side of floating point.

    Args:
        m: the arithmetic of the arguments.
        node: the op's node.
        args: its arguments.
        floats: see `Floats`.

    Returns:
        The arguments, or None where none of them lies on a cut.
    """
    if node.op.name == "atan2":
        return _beside_half_turn(m, node, args, floats)
    cut = CUTS.get(node.op.name)
    if cut is None or node.args[0].dtype.kind != "c":
        return None
    entries = list(args[0].flat)
    on_cut = [place for place, entry in enumerate(entries) if cut(entry.real, entry.imag)]
    if not on_cut:
        return None
    given = np.ravel(floats(node.args[0]))
    away = _away(m)
    for place in on_cut:
        x, y, value = entries[place].real, entries[place].imag, given[place]
        x = x if x else _signed(away, value.real)
        y = y if y else _signed(away, value.imag)
        entries[place] = m.context.mpc(x, y)
    return [_array(args[0].shape, entries), *args[1:]]


def _beside_half_turn(m: PreciseArithmetic, node: Node, args: Sequence[Any], floats: Floats) -> list[Any] | None:
    """The same for the angle of a point on the left half of the first axis."""
    rows, columns = (np.broadcast_to(arg, node.shape).ravel().tolist() for arg in args)
    places = [place for place, (y, x) in enumerate(zip(rows, columns, strict=True)) if y == 0 and x <= 0]
    if not places:
        return None
    given = [np.broadcast_to(floats(arg), node.shape).ravel() for arg in node.args]
    away = _away(m)
    for place in places:
        if columns[place] == 0 and not np.signbit(given[1][place]):
            continue
        columns[place] = columns[place] if columns[place] else -away
        rows[place] = _signed(away * away, given[0][place])
    return [_array(node.shape, rows), _array(node.shape, columns)]


def without_traces(m: PreciseArithmetic, value: Any) -> Any:
    """A value on a cut without what the small distance has left in it."""
    least = m.number(10) ** -(_NONE * m.digits)
    entries = []
    for entry in value.flat:
        x, y = (part if abs(part) > least or not m.finite(part) else m.number(0) for part in (entry.real, entry.imag))
        entries.append(m.context.mpc(x, y) if isinstance(entry, m.context.mpc) else x)
    return _array(value.shape, entries)


def _away(m: PreciseArithmetic) -> Any:
    return m.number(10) ** -(_BESIDE * m.digits)


def _signed(size: Any, like: float) -> Any:
    return -size if np.signbit(like) else size


def _array(shape: tuple[int, ...], entries: Sequence[Any]) -> Any:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)
