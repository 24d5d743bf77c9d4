"""Where an objection is no fault of a rule: kinks, lost digits, and values that a dtype cannot hold.

All is found from the function, by exact numbers; nothing is known of agrad's gradient but its numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..graph import Node
from ..worker.budget import Budget
from .case import AGREE, CANNOT, DISAGREE, KINK, CannotJudge, Case, Judgement
from .conditioning import all_entries, matrix_loss, uncancelled
from .digits import Entry
from .facts import Facts, is_number, losing, overflowing
from .kinks import at_edge, kink_within_rounding
from .out_of_range import out_of_range, sign_of_zero
from .point import Direction
from .roundings import of_matrices, rounding_of
from .sides import between, entry_slope, joined, part_slopes, parts_of
from .slopes import Slopes

_SLACK: Final = 1_000
"""How many times the effect of single roundings an error may be and still be called a loss of floating point: many
roundings add up, but not to more than a tenth of the truth, unless single ones do so already."""
_SEEDS: Final = 10
"""In how many ways roundings are tried before they count as no explanation."""
_FEWEST: Final = 3
"""In how many ways at least."""
_NEGLIGIBLE: Final = 1e-14
"""The part of the largest entry that counts as rounding, where single roundings can make it."""
_ROUNDINGS: Final = 16
"""How many roundings of the largest part a sum of parts may be off by."""
_MOST_SLOPES: Final = 300
"""Entries of nodes on the way whose gradients are looked at."""
_STORED: Final = 1e-12
"""How near a slope must be to that of rounded results: nothing else than their rounding is wrong with it."""


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
        if slope.value is not None and slopes.m.undefined_number(slope.value):
            raise CannotJudge(f"the derivative by {entry.label} is undefined here")
        if slope.is_kink and between(slopes.m, entry.got, slope):
            facts.kinks.add(entry.label)
    left = [entry for entry in objections if entry.label not in facts.kinks]
    if left:
        excused(Judgement("", DISAGREE), left, case, slopes, facts)
    return facts


def excused(judgement: Judgement, objections: list[Entry], case: Case, slopes: Slopes, facts: Facts) -> Judgement:
    """An objection is withdrawn where the function itself explains it: overflow, a kink, lost digits."""
    if facts.overflow is not None and not is_number(objections):
        return replace(judgement, verdict=CANNOT, reason=overflowing(facts, judgement))
    noisy = _Noisy(slopes)
    # Factors of matrices, and what is made of them, are right beside their largest entry only.
    by_matrices = any(of_matrices(node) for node in slopes.nodes)
    lost = matrix_loss(slopes.point)
    for entry in objections:
        node, position = _place_of(case, entry)
        if kink_within_rounding(slopes, node, position, entry) or at_edge(slopes, node, position, entry):
            facts.kinks.add(entry.label)
            continue
        error = abs(slopes.m.number(entry.got) - entry.true)
        small = bool(error <= entry.scale * _NEGLIGIBLE)
        if (
            (small and by_matrices)
            or _lost_in_matrices(slopes, error, entry.scale, lost)
            or _lost_by_rounding(noisy, node, position, entry)
            or _as_stored(slopes, *slopes.unit(node, position), entry.got)
            or _cancelled(slopes, node, position, entry)
            or _is_rounding_of_result(slopes, node, position, entry)
        ):
            (facts.rounded if small else facts.losses).add(entry.label)
        else:
            beyond = sign_of_zero(slopes, node, position) or out_of_range(slopes, [node])
            if beyond is None:
                return judgement
            facts.underflow = beyond
    if facts.underflow is not None:
        return replace(judgement, verdict=CANNOT, reason=f"{facts.underflow}; {judgement.reason}")
    if facts.losses:
        return replace(judgement, verdict=CANNOT, reason=losing(judgement))
    if any(entry.label in facts.kinks for entry in objections):
        return replace(
            judgement, verdict=KINK, reason=f"a kink within rounding, or the edge of a domain; {judgement.reason}"
        )
    return replace(judgement, verdict=AGREE, reason=None)


def _place_of(case: Case, entry: Entry) -> tuple[Node, int]:
    """The node of an entry and its flat position."""
    node = case.wrt[entry.name]
    return node, int(np.ravel_multi_index(entry.index, node.shape)) if entry.index else 0


def _lost_in_matrices(slopes: Slopes, error: Any, scale: Any, lost: float, direction: Direction | None = None) -> bool:
    """Whether an error is what algorithms on matrices lose, beside the largest entry or what cancels to it."""
    if error <= scale * lost or not lost:
        return bool(error <= scale * lost)
    with suppress(CannotJudge):
        return bool(error <= uncancelled(slopes, direction or all_entries(slopes)) * lost)
    return False


class _Noisy:
    """The slopes of a case with results off by one rounding, in different ways, made as they are looked at."""

    def __init__(self, slopes: Slopes) -> None:
        self.m = slopes.m
        self._exact = slopes
        self._made: list[Slopes] = []

    def __iter__(self) -> Iterator[Slopes]:
        for seed in range(_SEEDS):
            if seed == len(self._made):
                self._made.append(self._exact.jostled(seed))
            yield self._made[seed]

    def explain(self, error: Any, true: Any, change: Callable[[Slopes], Any]) -> bool:
        """Whether roundings change a slope by as much as it is wrong; the more ways are tried the nearer they come.

        Args:
            error: how wrong it is.
            true: what it should be.
            change: how far the slope is from that with some roundings.
        """
        spread = self.m.number(0)
        for place, slopes in enumerate(self):
            if place >= _FEWEST and error > spread * _SLACK:
                return False
            spread = max(spread, change(slopes))
            if error <= _allowed(spread, true):
                return True
        return False


def _lost_by_rounding(noisy: _Noisy, node: Node, position: int, entry: Entry) -> bool:
    m = noisy.m

    def change(slopes: Slopes) -> Any:
        try:
            parts = part_slopes(slopes, node, position)
        except CannotJudge:  # one rounding leads out of the domain
            return m.inf
        trues = parts_of(entry.true, len(parts))
        value = joined(m, [true if part.is_kink else part.value for part, true in zip(parts, trues, strict=True)])
        if not m.finite(value):
            return m.number(0)
        # Only something that is exactly zero makes the truth infinite.
        return abs(value - entry.true) if m.finite(entry.true) else m.inf

    if not m.finite(entry.true) and (entry.got == 0 or not np.isfinite(entry.got)):
        return False
    return noisy.explain(abs(m.number(entry.got) - entry.true), entry.true, change)


def _as_stored(slopes: Slopes, direction: Direction, exponent: int, got: complex) -> bool:
    """Whether a slope is right for the results on the way as their dtypes hold them, or these have no finite value."""
    if any(node.dtype.kind == "c" for node in direction):
        return False
    if not np.isfinite(got):
        # 1 - 1e-200 is stored as 1, where atanh has a pole.
        is_finite = slopes.m.finite
        return not is_finite(slopes.as_stored.point.total) and is_finite(slopes.deepest.total)
    with suppress(CannotJudge):
        stored = slopes.as_stored.slope(direction, exponent).value
        if stored is None or not slopes.m.finite(stored):
            return False
        return bool(abs(stored - slopes.m.number(got)) <= abs(stored) * _STORED)
    return False


def _cancelled(slopes: Slopes, node: Node, position: int, entry: Entry) -> bool:
    """Whether the parts that a node's uses contribute cancel, so that an error is one of rounding beside them."""
    if not np.isfinite(entry.got):
        return False
    turns = (False, True) if node.dtype.kind == "c" else (False,)
    size = max(slopes.parts(*slopes.unit(node, position, imaginary=turn), _MOST_SLOPES) for turn in turns)
    unit = rounding_of(node)
    return bool(abs(slopes.m.number(entry.got) - entry.true) <= size * unit * _ROUNDINGS)


def _is_rounding_of_result(slopes: Slopes, node: Node, position: int, entry: Entry) -> bool:
    """Whether what stands for a zero is so small that over the whole size of the entry it moves no digit of the result.

    It comes of inside of an op, as of the sign of a complex number, whose length does not move.
    """
    total = slopes.point.total
    if entry.true != 0 or not np.isfinite(entry.got) or not slopes.m.finite(total):
        return False
    reach = abs(entry.got) * abs(slopes.point.values[node].flat[position])
    return bool(0 < reach <= abs(total) * rounding_of(node) * _ROUNDINGS)


def _allowed(spread: Any, true: Any) -> Any:
    """How wrong a gradient may be of rounding, by the effect of single roundings; most where the truth has no size."""
    return max(spread * 3, min(spread * _SLACK, abs(true) / 10) if true else spread * _SLACK)


def excused_along(judgement: Judgement, slopes: Slopes, direction: Direction, got: Any) -> Judgement:
    """As `excused`, for a slope along a direction."""
    m = slopes.m
    overflow = slopes.point.overflows
    if overflow is not None and not m.finite(got):
        reason = f"{overflow.op.name} overflows here in floating point; {judgement.reason}"
        return replace(judgement, verdict=CANNOT, reason=reason)
    if _is_lost_along(slopes, direction, got):
        return replace(judgement, verdict=CANNOT, reason=losing(judgement))
    beyond = out_of_range(slopes, list(direction))
    return judgement if beyond is None else replace(judgement, verdict=CANNOT, reason=f"{beyond}; {judgement.reason}")


def _is_lost_along(slopes: Slopes, direction: Direction, got: Any) -> bool:
    """Whether floating point loses what a slope along a direction is wrong by."""
    m = slopes.m
    true = slopes.slope(direction, 0).value
    error = abs(got - true)
    if _lost_in_matrices(slopes, error, max(abs(got), abs(true)), matrix_loss(slopes.point), direction):
        return True

    def change(noisy: Slopes) -> Any:
        off = noisy.slope(direction, 0).value
        return abs(off - true) if off is not None and m.finite(off) else m.number(0)

    if _Noisy(slopes).explain(error, true, change):
        return True
    unit = max(rounding_of(node) for node in direction)
    return bool(error <= slopes.parts(direction, 0, _MOST_SLOPES) * unit * _ROUNDINGS)
