"""Where an objection is no fault of a rule: kinks, lost digits, and values that a dtype cannot hold.

All is found from the function, by exact numbers; nothing is known of agrad's gradient but its numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from ..graph import Node
from ..worker.budget import Budget
from .case import AGREE, CANNOT, DISAGREE, KINK, CannotJudge, Case, Judgement
from .digits import MOST, Entry
from .point import ROUNDING, Direction
from .sides import between, entry_slope
from .slopes import Slope, Slopes

_SLACK: Final = 1_000
"""How many times the effect of single roundings an error may be and still be called a loss of floating point: many
roundings add up, but not to more than a tenth of the truth, unless single ones do so already."""
_NEGLIGIBLE: Final = 1e-14
"""The part of the largest entry that counts as rounding, where single roundings can make it."""
_ROUNDINGS: Final = 16
"""How many roundings of the largest part a sum of parts may be off by."""
_MOST_SLOPES: Final = 300
"""Entries of nodes on the way whose gradients are looked at."""
_FAINT: Final = 30
"""Slopes of less than 10**-30 of the largest number may be rounding of the quotients themselves."""


@dataclass(slots=True)
class Facts:
    """What this referee found out about the function (not about agrad's gradient), for the other referee to know.

    Attributes:
        kinks: entries that lie on a kink, or within rounding of one.
        losses: entries of which floating point cannot know more digits.
        rounded: entries that are nothing but rounding beside the largest entry.
        overflow: the op whose value does not fit into its dtype.
        underflow: what is too small for its dtype, or which gradient on the way is too small or too large.
        complete: whether every entry was looked at.
    """

    kinks: set[str] = field(default_factory=set)
    losses: set[str] = field(default_factory=set)
    rounded: set[str] = field(default_factory=set)
    overflow: str | None = None
    underflow: str | None = None
    complete: bool = False

    def explain(self, entries: Sequence[Entry]) -> bool:
        """Whether all of some entries stand at a kink, have lost their digits, or are what an overflow leaves."""
        if self.underflow is not None or (self.overflow is not None and not _is_number(entries)):
            return True
        return {entry.label for entry in entries} <= self.kinks | self.losses


def explained(case: Case, objections: Sequence[Entry], budget: Budget) -> Facts:
    """What the function itself has to say of entries that another referee objects to, by their true values.

    Raises:
        BudgetSpent, CannotJudge: where it cannot be told.
    """
    facts = Facts()
    slopes = Slopes(case, budget)
    overflow = slopes.point.overflows
    facts.overflow = overflow.op.name if overflow is not None else None
    for entry in objections:
        node, position = _place_of(case, entry)
        slope = entry_slope(slopes, node, position)
        if slope.is_kink and between(slopes.m, entry.got, slope):
            facts.kinks.add(entry.label)
    left = [entry for entry in objections if entry.label not in facts.kinks]
    if left:
        excused(Judgement("", DISAGREE), left, case, slopes, facts)
    return facts


def excused(judgement: Judgement, objections: list[Entry], case: Case, slopes: Slopes, facts: Facts) -> Judgement:
    """An objection is withdrawn where the function itself explains it: overflow, a kink, lost digits."""
    if facts.overflow is not None and not _is_number(objections):
        return replace(judgement, verdict=CANNOT, reason=overflowing(facts, judgement))
    noisy = [slopes.jostled(seed) for seed in range(3)]
    for entry in objections:
        node, position = _place_of(case, entry)
        if _kink_within_rounding(slopes, node, position, entry):
            facts.kinks.add(entry.label)
        elif _lost_by_rounding(noisy, node, position, entry) or _cancelled(slopes, node, position, entry):
            error = abs(slopes.m.number(entry.got) - entry.true)
            (facts.rounded if error <= entry.scale * _NEGLIGIBLE else facts.losses).add(entry.label)
        else:
            facts.underflow = facts.underflow or _out_of_range(slopes)
            if facts.underflow is None:
                return judgement
    if facts.underflow is not None:
        return replace(judgement, verdict=CANNOT, reason=f"{facts.underflow}; {judgement.reason}")
    if facts.losses:
        return replace(judgement, verdict=CANNOT, reason=losing(judgement))
    if any(entry.label in facts.kinks for entry in objections):
        return replace(judgement, verdict=KINK, reason=f"a kink within rounding; {judgement.reason}")
    return replace(judgement, verdict=AGREE, reason=None)


def _is_number(objections: Sequence[Entry]) -> bool:
    """Whether some of what agrad gives cannot come of an overflow: that leaves infinities, NaN and zeros."""
    return any(entry.got != 0 and np.isfinite(entry.got) for entry in objections)


def _out_of_range(slopes: Slopes) -> str | None:
    """What underflows: a value, or the gradient by a node on the way, which also may overflow."""
    low = slopes.point.underflows
    if low is not None:
        return f"{_words(low)} underflows here in floating point"
    m = slopes.m
    left = _MOST_SLOPES
    for node in slopes.nodes:
        left -= node.size
        if left < 0:
            break
        if node.dtype.kind != "f" or not node.args or node.op.outputs > 1:
            continue
        limits = np.finfo(node.dtype)
        for position in range(node.size):
            with suppress(CannotJudge):
                slope = slopes.slope(*slopes.unit(node, position))
                if slope.value is None or not m.finite(slope.value):
                    continue
                if 0 < abs(slope.value) < float(limits.tiny):
                    return f"the gradient by {_words(node)} underflows here in floating point"
                if abs(slope.value) > float(limits.max):
                    return f"the gradient by {_words(node)} overflows here in floating point"
    return None


def _words(node: Node) -> str:
    """A node in a reason."""
    return node.name or (f"the result of {node.op.name}" if node.args else "a number")


def overflowing(facts: Facts, judgement: Judgement) -> str:
    """The reason not to judge where a value does not fit into its dtype, or a gradient on the way does not."""
    words = facts.underflow or f"{facts.overflow} overflows here in floating point"
    return f"{words}; {judgement.reason}"


def losing(judgement: Judgement) -> str:
    """The reason not to judge where floating point cannot know the digits."""
    return f"floating point loses {MOST - (judgement.digits or 0)} digits here; {judgement.reason}"


def _place_of(case: Case, entry: Entry) -> tuple[Node, int]:
    """The node of an entry and its flat position."""
    node = case.wrt[entry.name]
    return node, int(np.ravel_multi_index(entry.index, node.shape)) if entry.index else 0


def _kink_within_rounding(slopes: Slopes, node: Node, position: int, entry: Entry) -> bool:
    if node.dtype.kind == "c":
        return False
    direction, exponent = slopes.unit(node, position)
    step = 6 if node.dtype.itemsize == 4 else 14
    left, right = slopes.quotients(direction, exponent, step)
    further_left, further_right = slopes.quotients(direction, exponent, step - 1)
    # Curvature sets both sides apart as well, but ten times less at a tenth of the step.
    least = slopes.m.number(10) ** (slopes.point.magnitude - _FAINT)
    apart = abs(right - left) > max(1e-3 * max(abs(left), abs(right)), abs(further_right - further_left) / 3, least)
    return bool(apart) and entry.got == entry.got and between(slopes.m, entry.got, Slope(left, right, None), 0.05)


def _lost_by_rounding(noisy: list[Slopes], node: Node, position: int, entry: Entry) -> bool:
    m = noisy[0].m
    spread = m.number(0)
    for slopes in noisy:
        try:
            slope = entry_slope(slopes, node, position)
        except CannotJudge:  # one rounding leads out of the domain
            return True
        if slope.value is not None and m.finite(slope.value) and m.finite(entry.true):
            spread = max(spread, abs(slope.value - entry.true))
    return bool(abs(m.number(entry.got) - entry.true) <= _allowed(spread, entry.true))


def _cancelled(slopes: Slopes, node: Node, position: int, entry: Entry) -> bool:
    """Whether the parts that a node's uses contribute cancel, so that an error is one of rounding beside them."""
    if node.dtype.kind == "c" or not np.isfinite(entry.got):
        return False
    size = slopes.parts(*slopes.unit(node, position), _MOST_SLOPES)
    unit = ROUNDING.get(node.dtype.name, 2.0**-53)
    return bool(abs(slopes.m.number(entry.got) - entry.true) <= size * unit * _ROUNDINGS)


def _allowed(spread: Any, true: Any) -> Any:
    """How wrong a gradient may be of rounding, by the effect of single roundings."""
    return max(spread * 3, min(spread * _SLACK, abs(true) / 10))


def excused_along(judgement: Judgement, slopes: Slopes, direction: Direction, got: Any) -> Judgement:
    """As `excused`, for a slope along a direction."""
    m = slopes.m
    overflow = slopes.point.overflows
    if overflow is not None and not m.finite(got):
        reason = f"{overflow.op.name} overflows here in floating point; {judgement.reason}"
        return replace(judgement, verdict=CANNOT, reason=reason)
    if slopes.point.underflows is not None:
        reason = f"{_words(slopes.point.underflows)} underflows here in floating point; {judgement.reason}"
        return replace(judgement, verdict=CANNOT, reason=reason)
    true = slopes.slope(direction, 0).value
    spread = m.number(0)
    for seed in range(3):
        off = slopes.jostled(seed).slope(direction, 0)
        if off.value is not None and m.finite(off.value):
            spread = max(spread, abs(off.value - true))
    if abs(got - true) <= _allowed(spread, true):
        return replace(judgement, verdict=CANNOT, reason=losing(judgement))
    return judgement
