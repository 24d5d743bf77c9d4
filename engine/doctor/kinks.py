"""Kinks in full: both slopes, what lies between, what is chosen and by which convention, and what others choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..evaluation.evaluate import Evaluation
from ..files.json_data import json_value
from ..graph import Node, ancestors
from ..language import Formulas
from ..limits.settled import Kink
from ..ops.departures import CONVENTION
from ..referees.case import KINK, Case, Check
from ..referees.digits import entry_label
from .conventions import Elsewhere, elsewhere
from .finding import text_of
from .sides import kinks_beside

_SILENT: Final = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
"""Ops whose convention says nothing of a choice: the `where` over them does."""
_TRIED: Final = 50
_MOST: Final = 5
"""So many entries of a costly graph are looked at, until so many kinks are found."""


@dataclass(frozen=True, slots=True)
class Kinked:
    """An op that stands on a kink at the point.

    Attributes:
        op: its name.
        expression, line: where it stands in the text; None for the line of what is not of it.
        sentence: what the convention chooses there, as the op's row says it.
        others: what other programs choose at this point, where that is on record.
    """

    op: str
    expression: str
    line: int | None
    sentence: str
    others: Elsewhere | None


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry of a gradient at a kink.

    Attributes:
        entry: as in `x[0]`.
        left, right: the slopes on both sides.
        chosen: the number that is given.
        ops: what makes the kink, as far as it is known.
    """

    entry: str
    left: float
    right: float
    chosen: float
    ops: Sequence[Kinked]

    @property
    def convention(self) -> str:
        """The name of the convention."""
        return CONVENTION

    @property
    def between(self) -> tuple[float, float]:
        """The ends of the interval between both slopes."""
        return min(self.left, self.right), max(self.left, self.right)

    def as_json(self) -> dict[str, Any]:
        """The same as data."""
        return {
            "entry": self.entry,
            "left": json_value(self.left),
            "right": json_value(self.right),
            "between": [json_value(end) for end in self.between],
            "chosen": json_value(self.chosen),
            "convention": self.convention,
            "ops": [
                {"op": kinked.op, "expression": kinked.expression, "line": kinked.line, "sentence": kinked.sentence}
                for kinked in self.ops
            ],
            "others": [kinked.others.as_json() for kinked in self.ops if kinked.others is not None],
        }


def choices(formulas: Formulas, evaluation: Evaluation, check: Check | None = None) -> list[Choice]:
    """What is chosen at each kink of a run.

    Args:
        formulas, evaluation: the run.
        check: what the referees say: where it is a kink and no closer look was taken, some entries are looked at now.
    """
    kinks = evaluation.kinks or _kinks_of(evaluation, check)
    if not kinks:
        return []
    told: dict[Node, Kinked] = {}
    if evaluation.closer is not None:
        found, shown = evaluation.closer.found, evaluation.closer.shown
        nodes = _at_kink(evaluation.closer.watching, found)
        told = {node: _kinked(formulas, node, shown.get(node, node), found) for node in nodes}
    behind = {node: set(ancestors([node])) for node in told}
    made = []
    for kink in kinks:
        leaf = evaluation.wrt.get(kink.name) or next((n for n in evaluation.grads if n.name == kink.name), None)
        ops = [kinked for node, kinked in told.items() if leaf in behind[node]]
        made.append(Choice(kink.label, kink.left, kink.right, kink.shown, ops))
    return made


def _kinks_of(evaluation: Evaluation, check: Check | None) -> Sequence[Kink]:
    """Kinks that the referees have found in a graph too costly for a look at every entry: the first few of them."""
    if check is None or check.verdict != KINK:
        return []
    real = {name: node for name, node in evaluation.wrt.items() if node.dtype.kind == "f"}
    used = {name: node for name, node in real.items() if name not in evaluation.unused}
    entries = [(name, position) for name, node in used.items() for position in range(min(node.size, _TRIED))]
    named = {judgement.entry for judgement in check.referees if judgement.verdict == KINK}
    entries.sort(key=lambda entry: _label(used, entry) not in named)
    case = Case(list(evaluation.outputs.values()), list(evaluation.cotangents), used, {})
    kinks = []
    for name, position, sides in kinks_beside(case, entries, _MOST):
        index = tuple(int(i) for i in np.unravel_index(position, used[name].shape))
        shown = float(np.asarray(evaluation.gradient(name))[index])
        kinks.append(Kink(name, index, sides.left, sides.right, shown))
    return kinks


def _label(nodes: Mapping[str, Node], entry: tuple[str, int]) -> str:
    name, position = entry
    return entry_label(name, tuple(int(i) for i in np.unravel_index(position, nodes[name].shape)))


def _at_kink(nodes: Sequence[Node], values: Mapping[Node, Any]) -> list[Node]:
    """The nodes that stand on a kink: a `where` over a comparison only where nothing else does, or one is on record."""
    found = []
    with np.errstate(all="ignore"):
        for node in nodes:
            test = node.op.at_kink
            if test is None or not any(arg.requires_grad for arg in node.args):
                continue
            if np.any(test(np, *[values[arg] for arg in node.args], **node.attrs)):
                found.append(node)
    compared = {node for node in found if node.op.name in _SILENT}
    choosers = [node for node in nodes if node.op.name == "where" and compared & set(ancestors([node.args[0]]))]
    recorded = [node for node in choosers if elsewhere(node, [values[arg] for arg in node.args]) is not None]
    return recorded or [node for node in found if node not in compared] or choosers


def _kinked(formulas: Formulas, node: Node, written: Node, values: Mapping[Node, Any]) -> Kinked:
    line = formulas.source.location(written.span.start).line if written.span is not None else None
    others = elsewhere(node, [values[arg] for arg in node.args])
    return Kinked(node.op.name, text_of(formulas, written), line, node.op.kink, others)
