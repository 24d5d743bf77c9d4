"""How an operation loses digits: cancellation, absorption, saturation, underflow, overflow, or a steep function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..graph import Node
from .finding import number_text
from .operation import operation_text
from .suspicion import DIFFERENCES

_CLOSE: Final = 0.1
_ABSORBED: Final = 1e-3
"""What part of the smaller number a sum must lose for that to be the cause."""
_SUMS: Final = frozenset({"sum", "mean", "dot", "mv", "mm", "matmul", "bmm", "inner", "vdot", "cumsum", "sum_to_size"})
_VANISHING: Final = frozenset({"exp", "exp2", "mul", "flow", "meet", "pow", "square", "prod", "div"})
_SATURATING: Final = frozenset({"tanh", "sigmoid", "erf", "softmax", "expit"})


class Cause(NamedTuple):
    """Why digits are lost.

    Attributes:
        name: one word.
        operation: what is computed, with its numbers; empty where its entries do not stand one to one.
        words: a part of a sentence.
    """

    name: str
    operation: str
    words: str


def cause_of(node: Node, values: Mapping[Node, Any], index: tuple[int, ...]) -> Cause:
    """Why a node has fewer digits than what it is computed from, at one entry.

    Args:
        node: the node.
        values: of it and of all nodes before it.
        index: the entry.
    """
    result = float(np.asarray(values[node])[index])
    name = node.op.name
    tiny = float(np.finfo(node.dtype).tiny)
    entries = _entries(node, values, index)
    operation = operation_text(name, entries) if entries else ""
    shown = f"{operation} = {number_text(result)}" if operation else ""
    if not np.isfinite(result):
        return Cause("overflow", operation, f"{shown or name}: it is too large for {node.dtype.name}")
    if name in DIFFERENCES and len(entries) == 2 and abs(result) <= _CLOSE * max(map(abs, entries)):
        return _cancelled(node, values, index, f"{shown}:")._replace(operation=operation)
    if abs(result) < tiny and name in _VANISHING:
        return Cause("underflow", operation, f"{shown or name}: it is too small for {node.dtype.name}")
    if name in _SUMS:
        return Cause("cancellation", operation, f"the terms of {name} cancel")
    return Cause("condition", operation, f"{shown or name} makes much of the rounding of its argument")


def _entries(node: Node, values: Mapping[Node, Any], index: tuple[int, ...]) -> list[float]:
    """The numbers that an elementwise node is given at an entry; none of other nodes."""
    if not node.op.elementwise or any(arg not in values for arg in node.args):
        return []
    return [float(np.broadcast_to(values[arg], node.shape)[index]) for arg in node.args]


def _cancelled(node: Node, values: Mapping[Node, Any], index: tuple[int, ...], shown: str) -> Cause:
    """Why a difference is small: something before it has been rounded away, or nothing but both being alike."""
    for arg, entry in zip(node.args, _entries(node, values, index), strict=True):
        if arg.op.name in _SATURATING and abs(entry) == 1:
            return Cause("saturation", "", f"{shown} {arg.op.name} is so near to 1 that its tail is gone")
        inner = index if arg.shape == node.shape else ()
        if arg.op.name in DIFFERENCES and len(inner) == arg.ndim:
            small, swallowed = _rounded_away(_entries(arg, values, inner), arg.op.name == "sub")
            if swallowed:
                word = number_text(entry)
                return Cause("absorption", "", f"{shown} the sum before it, {word}, has rounded {small!r} away")
    return Cause("cancellation", "", f"{shown} both are nearly equal, and their rounding is what is left")


def _rounded_away(parts: Sequence[float], minus: bool) -> tuple[float, bool]:
    """The smaller part of a sum, and whether the sum in float64 has lost a good part of it."""
    if len(parts) != 2:
        return 0.0, False
    small, large = sorted(parts, key=abs)
    signed = -small if minus and small == parts[1] else small
    big = -large if minus and large == parts[1] else large
    kept = (big + signed) - big
    return small, small != 0 and abs(kept - signed) > _ABSORBED * abs(signed)
