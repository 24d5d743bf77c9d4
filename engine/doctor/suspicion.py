"""Quick tests, in float64 and of what the referees said, of whether a number has lost digits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..evaluation.evaluate import Closer, Evaluation
from ..graph import LEAF, Node, ancestors
from ..referees.case import AGREE, CANNOT, Check, Judgement
from ..referees.digits import entry_label

FEW: Final[Mapping[str, int]] = {"float64": 10, "float32": 4}
"""A result with fewer right digits has lost some that another form may keep."""
DIFFERENCES: Final = frozenset({"add", "sub"})

_SUSPICIOUS: Final[Mapping[str, float]] = {"float64": 1e-7, "float32": 1e-3}
"""A difference that is so much smaller than what it is of has lost digits, if that was rounded."""
_MOVES: Final = frozenset({"shape", "index"})


@dataclass(frozen=True, slots=True)
class Target:
    """One number that has lost digits.

    Attributes:
        label: as a person reads it: `y`, `dy/dx[0]`.
        output: the position of the output whose value it is; None for a gradient.
        node: the leaf that the gradient is by; None for a value.
        index: the entry.
    """

    label: str
    output: int | None
    node: Node | None
    index: tuple[int, ...]


def suspected(evaluation: Evaluation, check: Check) -> bool:
    """Whether anything has."""
    return next(iter(targets(evaluation, check)), None) is not None


def targets(evaluation: Evaluation, check: Check | None) -> list[Target]:
    """The numbers that may have lost digits: values first, since a gradient often suffers from the same."""
    closer = evaluation.closer
    if closer is None or any(node.dtype.kind == "c" for node in closer.watching):
        return []
    steep = list(_gradient_targets(evaluation, check))
    return [*_value_targets(evaluation, closer, anyway=bool(steep)), *steep]


def _gradient_targets(evaluation: Evaluation, check: Check | None) -> Iterator[Target]:
    for judgement in check.referees if check is not None else ():
        if judgement.name != "mpmath" or judgement.entry is None or judgement.digits is None:
            continue
        target = _entry(evaluation, judgement)
        if target is not None and target.node is not None and judgement.digits < FEW.get(target.node.dtype.name, 0):
            yield target


def _entry(evaluation: Evaluation, judgement: Judgement) -> Target | None:
    """The entry that a referee names, where what it says is about digits."""
    if judgement.verdict not in (AGREE, CANNOT):
        return None
    for name, node in evaluation.wrt.items():
        for index in np.ndindex(node.shape):
            if entry_label(name, index) == judgement.entry:
                numerator = f"d{next(iter(evaluation.outputs))}" if len(evaluation.outputs) == 1 else "d"
                return Target(f"{numerator}/d{judgement.entry}", None, node, index)
    return None


def _value_targets(evaluation: Evaluation, closer: Closer, *, anyway: bool) -> Iterator[Target]:
    """The outputs in which a quick test suspects a loss, or all of them."""
    for position, (name, node) in enumerate(evaluation.outputs.items()):
        output = closer.outputs[position]
        repaired = not np.array_equal(evaluation.values[node], closer.found[output], equal_nan=True)
        if anyway or repaired or _is_suspicious(output, closer.found):
            yield Target(name, position, None, ())


def _is_suspicious(output: Node, found: Mapping[Node, Any]) -> bool:
    """Whether any node on the way to an output is."""
    behind = [node for node in ancestors([output]) if node in found]
    return any(suspicious(node, [found.get(arg) for arg in node.args], found[node]) for node in behind)


def suspicious(node: Node, args: Sequence[Any], value: Any) -> bool:
    """Whether a value may have lost digits: a difference of rounded numbers that nearly cancel, or an underflow.

    Args:
        node: the node.
        args: the values of its arguments, None for what is no array.
        value: its value.
    """
    if not node.requires_grad or node.dtype.kind != "f" or any(arg is None for arg in args):
        return False
    name = node.op.name
    with np.errstate(all="ignore"):
        if name in DIFFERENCES:
            if all(_is_given(arg) for arg in node.args):
                return False  # what is given is exact, and so is the difference of two that are close
            largest = np.maximum(np.abs(args[0]), np.abs(args[1]))
            small = np.abs(value) < largest * _SUSPICIOUS[node.dtype.name]
            return bool(np.any(small & np.isfinite(largest)))
        if name == "log":
            return not _is_given(node.args[0]) and bool(np.any(np.abs(value) < _SUSPICIOUS[node.dtype.name]))
        if name == "exp":
            return bool(np.any((value == 0) & (args[0] > -np.inf)))
        return name == "prod" and bool(np.any(value == 0) and np.all(args[0] != 0))


def _is_given(node: Node) -> bool:
    """Whether a node is a leaf, or entries of one moved about."""
    while node.op.family in _MOVES and node.args:
        node = node.args[0]
    return node.op is LEAF
