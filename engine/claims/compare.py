"""How two formulas compare at one point: by float64 where that is enough, else by exact arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..referees.case import CannotJudge
from .losses import finite, lost
from .precision import DIGITS, MOST_DIGITS, SPARE
from .relations import ABOVE, BELOW, EQUAL, ROUNDED, UNCLEAR, Relations
from .sides import Point, Side, Sides, WrongRuleError

NEARLY: Final = 1e-6
"""The tolerance of `~=` where none is written."""

_CLEARLY: Final = 1e-4
"""A difference in float64 that no rounding makes, as part of the largest entry."""
_FLOATS: Final = 1e-12
"""How near float64 must come for equal values, as part of the larger; else exact arithmetic is asked."""
_FLOATS_ALONE: Final = 1e-9
"""How near it must come where exact arithmetic is not asked."""
_BESIDE: Final = (1e-8, 1e-4)
"""So far beside a point, as part of it, numbers on the way are rounded in other ways; small ones only farther away."""
_WAYS: Final = 4
_OFTEN: Final = 30
"""A difference is none of rounding that is so many times what changes at such points, some at each distance."""
_SHOWN: Final = 50
"""How many digits of a value are shown where that takes so many to tell it from another, at most."""

SKIPPED: Final = "skipped"
HOLDS: Final = "holds"
DIFFERS: Final = "differs"
UNDEFINED: Final = "undefined"
"""One side is defined and the other is not."""

_ALLOWED: Final = {
    "eq": (EQUAL, ROUNDED),
    "approximate": (EQUAL, ROUNDED),
    "ne": (BELOW, ABOVE),
    "lt": (BELOW,),
    "le": (BELOW, EQUAL, ROUNDED),
    "gt": (ABOVE,),
    "ge": (ABOVE, EQUAL, ROUNDED),
}
"""The relations for which a comparison holds; where what is rounded is not among them, nothing is said."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is found at one point.

    Attributes:
        kind: one of the words above.
        left, right: the exact values at the worst entry; NaN where a side is undefined.
        entry: its index.
        note: what a person should know of the point.
        exact: whether exact arithmetic was asked.
        texts: both values with as many digits as tell them apart, where as floats they are one.
    """

    kind: str
    left: float = float("nan")
    right: float = float("nan")
    entry: tuple[int, ...] = ()
    note: str | None = None
    exact: bool = False
    texts: tuple[str, str] | None = None

    @property
    def refutes(self) -> bool:
        """Whether the claim does not hold at the point."""
        return self.kind in (DIFFERS, UNDEFINED)

    @property
    def is_plain(self) -> bool:
        """Whether the sides differ so much that floats show it."""
        return self.kind == DIFFERS and self.texts is None


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
    if not sides.is_as_built():
        return Comparison(SKIPPED)
    left, right = sides.floats()
    agree = _agree_as_floats(sides, left, right)
    if agree and not exactly:
        return Comparison(HOLDS)
    if sides.is_large:
        return Comparison(HOLDS) if agree else _differ_as_floats(sides, left, right)
    try:
        exact = sides.exact(rules=rules)
        if not agree and not _is_in_reach(sides):
            return Comparison(SKIPPED)
        digits = sides.digits_needed()
        if DIGITS + SPARE < digits <= MOST_DIGITS and not sides.question.derivatives:
            exact = sides.exact(digits)
        found = _compared_exactly(Relations(sides, exact))
        if found.refutes and not _is_in_reach(sides):
            return Comparison(SKIPPED)
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


def _is_in_reach(sides: Sides) -> bool:
    """Whether exact arithmetic has as many digits as it needs; difference quotients have no more than they have."""
    digits = sides.digits_needed()
    if digits <= DIGITS + SPARE:
        return True
    return digits <= MOST_DIGITS and (not sides.question.derivatives or sides.steady(digits))


def _agree_as_floats(sides: Sides, left: Any, right: Any) -> bool:
    with np.errstate(all="ignore"):
        if not (np.all(np.isfinite(left)) and np.all(np.isfinite(right))):
            return False
        size = np.maximum(np.abs(left), np.abs(right))
        part = _FLOATS_ALONE if sides.is_large else _FLOATS
        away = np.abs(left - right) > part * size
        operator = sides.question.operator
        if operator == "eq":
            return not np.any(away)
        if operator == "approximate":
            return bool(np.all(np.abs(left - right) <= _tolerance(sides) / 2 * np.maximum(size, 1)))
        holds = {"ne": left != right, "lt": left < right, "le": left <= right, "gt": left > right, "ge": left >= right}
        # Which side is the larger one may be what rounding of large numbers on the way makes of equal ones.
        return bool(np.all(holds[operator] & away & (np.abs(left - right) > part * sides.largest_float())))


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
    if float(gaps[index]) <= max(allowed, _FLOATS_ALONE * sides.largest_float()):
        return Comparison(SKIPPED)
    around = [sides.floats_beside(seed, away) for away in _BESIDE for seed in range(_WAYS)]
    noise = [float((np.abs(one - left) + np.abs(other - right))[index]) for one, other in around]
    if float(gaps[index]) <= _OFTEN * max((each for each in noise if np.isfinite(each)), default=0.0):
        return Comparison(SKIPPED)
    # Plus zero: minus zero is shown as the zero that it is, as where exact numbers are asked.
    values = float(left[index]) + 0.0, float(right[index]) + 0.0
    return Comparison(DIFFERS, values[0], values[1], tuple(int(i) for i in index))


def _tolerance(sides: Sides) -> float:
    given = sides.question.tolerance
    return given if given is not None else NEARLY if sides.question.operator == "approximate" else 0.0


def _compared_exactly(relations: Relations) -> Comparison:
    sides, exact = relations.sides, relations.first
    worst: tuple[float, Comparison] | None = None
    holding = unclear = False
    for index in np.ndindex(exact.left.shape):
        found, badness = _entry(relations, index)
        holding = holding or found.kind == HOLDS
        unclear = unclear or found.kind == UNCLEAR
        if found.refutes and (worst is None or badness > worst[0]):
            worst = badness, found
    if worst is None:
        if unclear or not holding:
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


def _entry(relations: Relations, index: tuple[int, ...]) -> tuple[Comparison, float]:
    """One entry, and how bad it is."""
    sides, exact = relations.sides, relations.first
    left, right = exact.left[index], exact.right[index]
    defined = [finite(value) for value in (left, right)]
    if not any(defined):
        return Comparison(SKIPPED), 0
    if not all(defined):
        if exact.doubtful or not relations.is_sure(index):
            return Comparison(UNCLEAR), 0
        return Comparison(UNDEFINED, _float(left), _float(right), index, exact=True), 0
    gap, size = abs(left - right), max(abs(left), abs(right))
    operator = sides.question.operator
    tolerance = _tolerance(sides) if operator in ("eq", "approximate") else 0
    if tolerance and gap <= tolerance * max(size, 1):
        return Comparison(HOLDS), 0
    relation = relations.relation(index)
    if relation in _ALLOWED[operator]:
        return Comparison(HOLDS), 0
    if relation in (ROUNDED, UNCLEAR):
        return Comparison(UNCLEAR), 0
    texts = _texts(left, right) if relation != EQUAL else None
    shown = Comparison(DIFFERS, _float(left), _float(right), index, exact=True, texts=texts)
    return shown, float(gap / size) if size else 0


def _float(value: Any) -> float:
    return float(value) if finite(value) else float("nan")


def _texts(left: Any, right: Any) -> tuple[str, str] | None:
    """Both values in decimal to the digit where they differ, where floats do not tell them apart."""
    if left == right or float(left) != float(right):
        return None
    context = left.context
    size = max(abs(left), abs(right))
    digits = 2 + (context.mag(size) - context.mag(left - right)) * 3 // 10
    texts = context.nstr(left, digits), context.nstr(right, digits)
    if digits <= _SHOWN and texts[0] != texts[1]:
        return texts
    number = float(left)
    gap = context.nstr(abs(right - left), 3)
    if right == number:
        return f"{number!r} {'+' if left > right else '-'} {gap}", repr(number)
    return repr(number), f"{number!r} {'+' if right > left else '-'} {gap}"
