"""What a dtype cannot hold on the way to a gradient: underflow, overflow, and the sign of a zero."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import product
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node
from .case import CannotJudge, Case
from .sides import entry_slope, part_slopes
from .slopes import Slopes

_MOST_SLOPES: Final = 300
"""Entries of nodes on the way whose gradients are looked at."""
_ALIKE: Final = 1e-8
_FINE: Final = 25
_DEEP: Final = 700
"""The step and the more digits that show a slope below the squares of the least doubles beside the largest one."""


def sign_of_zero(slopes: Slopes, node: Node, position: int) -> str | None:
    """The op at a zero whose sign decides the derivative by an entry: exact numbers do not have it."""
    signed = slopes.point.signed_zero
    if signed is None:
        return None
    sides = [entry_slope(each, node, position).value for each in (slopes, slopes.with_negative_zeros())]
    if None not in sides and abs(sides[0] - sides[1]) <= abs(sides[0]) * _ALIKE:
        return None
    return f"the sign of a zero decides what {_words(signed)} is"


def out_of_range(slopes: Slopes, starts: Sequence[Node]) -> str | None:
    """What underflows: a value, a slope on the way, or the gradient by a node on the way, which also may overflow."""
    low = slopes.point.underflows
    if low is not None:
        return f"{_words(low)} underflows here in floating point"
    m = slopes.m
    left = _MOST_SLOPES
    for node in slopes.point.nodes_after(tuple(starts)):
        left -= node.size
        if left < 0:
            break
        if node.dtype.kind not in "fc" or not node.args or node.op.outputs > 1:
            continue
        limits = np.finfo(node.dtype)
        for position in range(node.size):
            with suppress(CannotJudge):
                for slope in part_slopes(slopes, node, position):
                    if slope.value is None or not m.finite(slope.value):
                        continue
                    if 0 < abs(slope.value) < float(limits.tiny):
                        return f"the gradient by {_words(node)} underflows here in floating point"
                    if abs(slope.value) > float(limits.max):
                        return f"the gradient by {_words(node)} overflows here in floating point"
    return _slope_out_of_range(slopes, starts)


def _slope_out_of_range(slopes: Slopes, starts: Sequence[Node]) -> str | None:
    """Which op's own slope, a factor of the gradient, is too small for its dtype."""
    left = _MOST_SLOPES
    moving = {*starts, *slopes.point.nodes_after(tuple(starts))}
    for node in slopes.point.nodes_after(tuple(starts)):
        parts = (node, *node.args)
        if any(part.op.outputs > 1 or part.dtype.kind not in "fciu" for part in parts):
            continue
        cotangents = [np.ones(node.shape)] if node.op.elementwise else _units(node.shape)
        left -= len(cotangents) * sum(arg.size for arg in node.args)
        if left < 0:
            return None
        if any(_underflows(slopes, node, cotangent, moving) for cotangent in cotangents):
            return f"the slope of {_words(node)} underflows here in floating point"
    return None


def _units(shape: Sequence[int]) -> list[Any]:
    """A cotangent for each entry of a shape; none where they are too many."""
    size = math.prod(shape)
    return [row.reshape(shape) for row in np.eye(size)] if size <= _MOST_SLOPES else []


def _underflows(slopes: Slopes, node: Node, cotangent: Any, moving: Collection[Node]) -> bool:
    """Whether a slope of an op by itself is below the least normal number of its dtype, and not zero."""
    least = float(np.finfo(node.dtype).tiny)
    values = [[arg.dtype.type(entry) for entry in slopes.point.values[arg].flat] for arg in node.args]
    args = tuple(
        Node(LEAF, (), {}, arg.shape, arg.dtype, arg in moving, None, np.reshape(value, arg.shape))
        for arg, value in zip(node.args, values, strict=True)
    )
    alone = Node(node.op, args, node.attrs, node.shape, node.dtype, True)
    local = Slopes(Case([alone], [np.asarray(cotangent, node.dtype)], {}, {}), slopes.budget)
    for arg in args:
        turns = (False, True) if arg.dtype.kind == "c" else (False,)
        for position, turn in product(range(arg.size if arg.requires_grad else 0), turns):
            with suppress(CannotJudge):
                unit = local.unit(arg, position, imaginary=turn)
                right, other = (abs(side) for side in local.quotients(*unit, _FINE, _DEEP))
                if local.m.finite(right) and abs(right - other) <= right / 2 and 0 < right < least:
                    return True
    return False


def _words(node: Node) -> str:
    """A node in a reason."""
    return node.name or (f"the result of {node.op.name}" if node.args else "a number")
