"""How two formulas compare at one point: by float64 where that is enough, else by exact arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..referees.case import CannotJudge
from .losses import finite, lost
from .precision import DIGITS, MOST_DIGITS, SPARE
from .sides import ExactSides, Point, Side, Sides, WrongRuleError

TOLERANCE: Final = 1e-12
"""How far exact values may differ that are equal as mathematics, as part of the larger: numbers of the text are
rounded when they are read."""

NEARLY: Final = 1e-6
"""The tolerance of `~=` where none is written."""

_CLEARLY: Final = 1e-4
"""A difference in float64 that no rounding makes, as part of the largest entry."""
_FLOATS: Final = 1e-12
"""How near float64 must come for equal values; else exact arithmetic is asked."""
_FLOATS_ALONE: Final = 1e-9
"""How near it must come where exact arithmetic is not asked."""
_NOISE: Final = 40
"""Difference quotients have no more digits than 10**-40 of the largest number on the way."""
_ROUNDING: Final = 16
"""Differences up to so many times what the rounding of written numbers makes are that rounding."""
_LEAST: Final = 5e-324
"""The least double: what is smaller is zero on both sides, and difference quotients see no further."""

SKIPPED: Final = "skipped"
HOLDS: Final = "holds"
DIFFERS: Final = "differs"
UNDEFINED: Final = "undefined"
"""One side is defined and the other is not."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is found at one point.

    Attributes:
        kind: one of the words above.
        left, right: the exact values at the worst entry; NaN where a side is undefined.
        entry: its index.
        note: what a person should know of the point.
        exact: whether exact arithmetic was asked.
    """

    kind: str
    left: float = float("nan")
    right: float = float("nan")
    entry: tuple[int, ...] = ()
    note: str | None = None
    exact: bool = False

    @property
    def refutes(self) -> bool:
        """Whether the claim does not hold at the point."""
        return self.kind in (DIFFERS, UNDEFINED)


def compared(sides: Sides, point: Point, *, exactly: bool, rules: bool = False) -> Comparison:
    """How the sides compare at a point.

    Args:
        sides: both sides.
        point: where.
        exactly: ask exact arithmetic even where float64 shows no difference.
        rules: check that the rules give the derivatives, wherever exact arithmetic is asked.

    Raises:
        WrongRuleError: where a derivative by the rules is not the derivative.
        BudgetSpent: where the budget is spent.
    """
    sides.move(point)
    left, right = sides.floats()
    agree = _agree_as_floats(sides, left, right)
    if agree and not exactly:
        return Comparison(HOLDS)
    if sides.is_large:
        return Comparison(HOLDS) if agree else _differ_as_floats(sides, left, right)
    try:
        exact = sides.exact(rules=rules)
        found = _compared_exactly(sides, exact)
        if found.refutes or not agree:
            digits = sides.digits_needed()
            if digits > MOST_DIGITS or (digits > DIGITS + SPARE and not _is_steady(sides, digits)):
                return Comparison(SKIPPED)
            if digits > DIGITS + SPARE and not sides.question.derivatives:
                exact = sides.exact(digits)
                found = _compared_exactly(sides, exact)
        if found.kind == DIFFERS and not sides.is_smooth():
            return Comparison(SKIPPED, note="there is no derivative", exact=True)
    except CannotJudge:
        return Comparison(HOLDS if agree else SKIPPED)
    if found.refutes:
        return found
    if exact.wrong:
        raise WrongRuleError(exact.wrong[0])
    if found.kind != HOLDS:
        return found
    return Comparison(HOLDS, note=found.note if agree else lost(exact, left, right) or found.note, exact=True)


def _is_steady(sides: Sides, digits: int) -> bool:
    """Whether difference quotients, which have no more digits, can be trusted."""
    return not sides.question.derivatives or sides.steady(digits)


def _agree_as_floats(sides: Sides, left: Any, right: Any) -> bool:
    with np.errstate(all="ignore"):
        if not (np.all(np.isfinite(left)) and np.all(np.isfinite(right))):
            return False
        size = np.maximum(np.abs(left), np.abs(right))
        away = np.abs(left - right) > (_FLOATS_ALONE if sides.is_large else _FLOATS) * size
        operator = sides.question.operator
        if operator == "eq":
            return not np.any(away)
        if operator == "approximate":
            return bool(np.all(np.abs(left - right) <= _tolerance(sides) / 2 * np.maximum(size, 1)))
        holds = {"ne": left != right, "lt": left < right, "le": left <= right, "gt": left > right, "ge": left >= right}
        return bool(np.all(holds[operator] & away))


def _differ_as_floats(sides: Sides, left: Any, right: Any) -> Comparison:
    """Sides that are too large for exact arithmetic: they differ only where no rounding makes such a difference."""
    if sides.question.operator not in ("eq", "approximate") or not sides.is_moderate() or sides.is_at_kink:
        return Comparison(SKIPPED)
    if not (np.all(np.isfinite(left)) and np.all(np.isfinite(right))):
        return Comparison(SKIPPED)
    gaps = np.abs(left - right)
    index = np.unravel_index(int(np.argmax(gaps)), gaps.shape) if gaps.shape else ()
    scale = max(float(np.max(np.abs(left))), float(np.max(np.abs(right))))
    allowed = _CLEARLY * scale
    if sides.question.tolerance is not None or sides.question.operator == "approximate":
        allowed = max(allowed, _tolerance(sides) * max(scale, 1))
    if float(gaps[index]) <= allowed:
        return Comparison(SKIPPED)
    return Comparison(DIFFERS, float(left[index]), float(right[index]), tuple(int(i) for i in index))


def _tolerance(sides: Sides) -> float:
    given = sides.question.tolerance
    return given if given is not None else NEARLY if sides.question.operator == "approximate" else TOLERANCE


def _compared_exactly(sides: Sides, exact: ExactSides) -> Comparison:
    worst: tuple[float, Comparison] | None = None
    defined = False
    for index in np.ndindex(exact.left.shape):
        found, badness = _entry(sides, exact, index)
        defined = defined or found.kind != SKIPPED
        if found.refutes and (worst is None or badness > worst[0]):
            worst = badness, found
    if worst is None:
        if not defined:
            return Comparison(SKIPPED)
        return Comparison(HOLDS, note=exact.kinks[0] if exact.kinks else None, exact=True)
    if exact.kinks and worst[1].kind == DIFFERS and _between_slopes(sides, worst[1].entry):
        return Comparison(SKIPPED, note=exact.kinks[0], exact=True)
    return worst[1]


def _between_slopes(sides: Sides, index: tuple[int, ...]) -> bool:
    """Whether at a kink the other side lies between the slopes and what the rule chooses: nothing objects to that."""
    gaps = []
    sides_of_it: tuple[Side, ...] = ("left", "right", "chosen")
    for side in sides_of_it:
        exact = sides.exact(side=side)
        gaps.append(exact.left[index] - exact.right[index])
    return bool(min(gaps) <= 0 <= max(gaps))


def _entry(sides: Sides, exact: ExactSides, index: tuple[int, ...]) -> tuple[Comparison, float]:
    """One entry, and how bad it is."""
    left, right = exact.left[index], exact.right[index]
    defined = [finite(value) for value in (left, right)]
    if not any(defined):
        return Comparison(SKIPPED), 0
    shown = Comparison(DIFFERS, _float(left), _float(right), index, exact=True)
    if not all(defined):
        return Comparison(UNDEFINED, shown.left, shown.right, index, exact=True), 0
    if _holds(sides, left, right) or _is_rounding(sides, exact, index):
        return Comparison(HOLDS), 0
    size = max(abs(left), abs(right))
    return shown, float(abs(left - right) / size) if size else 0


def _float(value: Any) -> float:
    return float(value) if finite(value) else float("nan")


def _holds(sides: Sides, left: Any, right: Any) -> bool:
    operator = sides.question.operator
    size, gap = max(abs(left), abs(right)), abs(left - right)
    if operator in ("eq", "approximate"):
        tolerance = _tolerance(sides)
        given = sides.question.tolerance is not None or operator == "approximate"
        return bool(gap <= tolerance * (max(size, 1) if given else size))
    equal = gap <= TOLERANCE * size
    if operator == "ne":
        return not equal
    if equal:
        return operator in ("le", "ge")
    return bool(left < right) is (operator in ("lt", "le"))


def _is_rounding(sides: Sides, exact: ExactSides, index: tuple[int, ...]) -> bool:
    """Whether sides that should be equal differ only because digits ran out, or written numbers are rounded."""
    if sides.question.operator not in ("eq", "le", "ge"):
        return False
    left, right = exact.left[index], exact.right[index]
    gap = abs(left - right)
    if max(abs(left), abs(right)) <= _LEAST:
        return True
    if sides.question.derivatives and gap <= exact.size * left.context.mpf(10) ** -_NOISE:
        return True
    if not sides.holds_rounded_numbers:
        return False
    spread = left.context.mpf(0)
    for seed in range(3):
        with sides.rewritten(seed):
            other = sides.exact()
        spread = max(spread, abs((other.left[index] - other.right[index]) - (left - right)))
    return bool(gap <= _ROUNDING * spread)
