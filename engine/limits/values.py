"""Values that float64 has not finite, or has wrong because something before them overflowed, from many digits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node, ancestors
from ..referees.arithmetic import PreciseArithmetic
from ..referees.forward import evaluate_graph
from ..worker.budget import OPERATIONS, Budget
from ..worker.interrupt import interrupted
from .settled import VISIBLE, as_float

SECONDS: Final = 2.0
_DIGITS: Final = ((60, 120), (400, 720))
"""A value counts only where both precisions have it. The larger ones hold 1 beside the smallest float64: they are for
numbers that the smaller ones have as zero, and for finite ones that are said to be wrong."""


def suspects(named: Iterable[Node], found: Mapping[Node, Any]) -> list[Node]:
    """The nodes that depend on a value that is not finite.

    Args:
        named: the nodes that are shown.
        found: the values of nodes on the way.
    """
    named = list(dict.fromkeys(named))
    beyond: set[Node] = set()
    for node in ancestors(named):
        if any(arg in beyond for arg in node.args) or (node in found and not np.all(np.isfinite(found[node]))):
            beyond.add(node)
    return [node for node in named if node in beyond]


def repaired_values(
    values: Mapping[Node, Any], nodes: Iterable[Node], *, seconds: float = SECONDS, operations: int = OPERATIONS
) -> dict[Node, Any]:
    """The right values of nodes that float64 has not finite, or has wrong because something before them overflowed.

    Args:
        values: what float64 gives.
        nodes: the nodes to look at.
        seconds, operations: what it may cost.
    """
    wanted = [node for node in nodes if node.op is not LEAF and node.dtype.kind == "f"]
    found: dict[Node, Any] = {}
    if not wanted:
        return found
    budget = Budget(operations, seconds)
    for pair in _DIGITS:
        left = [node for node in wanted if node not in found]
        try:
            with interrupted(budget):
                exact = [_evaluated(left, digits, budget) for digits in pair]
        except Exception:  # what a formula cannot do leaves float64's numbers as they are
            return found
        for node in left:
            right = _value_of(node, values[node], exact, final=pair is _DIGITS[-1])
            if right is not None:
                found[node] = right
    return found


def _evaluated(nodes: Sequence[Node], digits: int, budget: Budget) -> tuple[Any, Mapping[Node, Any]]:
    m = PreciseArithmetic(digits)
    return m, evaluate_graph(m, ancestors(nodes), {}, budget)


def _value_of(node: Node, got: Any, exact: Sequence[tuple[Any, Mapping[Node, Any]]], *, final: bool) -> Any:
    """A value with right numbers in it, or None where it has none to be put right, or needs more digits."""
    numbers = np.array(got, dtype=node.dtype)
    touched = False
    for position in range(node.size):
        first, second = (as_float(m, values[node].flat[position], node.dtype) for m, values in exact)
        now = float(numbers.flat[position])
        agree = np.isfinite(first) and abs(first - second) <= 1e-15 * abs(first)
        if not final and (np.isfinite(now) or not agree or first == 0):
            if np.isfinite(now) and agree and now == first:
                continue
            return None
        if agree and (not np.isfinite(now) or abs(now - first) > VISIBLE[node.dtype.name] * abs(first)):
            numbers.flat[position] = first
            touched = True
    return numbers[()] if touched else None
