"""A question tried at many points, and the simplest point that refutes it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ..errors import AgradError
from ..referees.case import CannotJudge
from ..worker.budget import Budget, BudgetSpent
from .compare import UNDEFINED, Comparison, compared
from .points import points
from .question import Question
from .shrink import shrunk
from .sides import Point, Sides, WrongRuleError

_THOROUGH: Final = 0.2
"""The part of the time in which points are judged by exact arithmetic too, where float64 shows no difference."""
_MOST: Final = 12
"""How many points are, at most."""
_FIRST: Final = 3
"""So many points are judged thoroughly in any case."""
_TRIED: Final = 3
"""How many times the points wanted are tried, where some do not count."""
_LONGEST: Final = 60
"""How many characters a point may take in a note."""
_EACH: Final = 0.25
"""The part of what is left that one point may take."""


@dataclass(slots=True)
class Sampled:
    """What many points say.

    Attributes:
        points: at how many of them the claim holds.
        found: the comparison at the point that refutes it.
        point: that point.
        notes: what a person should know of other points, the first of each kind.
        trouble: why it cannot be judged.
    """

    points: int = 0
    found: Comparison | None = None
    point: Point | None = None
    notes: list[str] = field(default_factory=list)
    trouble: str | None = None

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        data: dict[str, Any] = {"points": self.points, "notes": self.notes, "trouble": self.trouble}
        if self.found is not None and self.point is not None:
            data["found"] = {
                "inputs": {name: np.asarray(value, np.float64).tolist() for name, value in self.point.items()},
                "left": self.found.left,
                "right": self.found.right,
                "entry": list(self.found.entry),
                "exact": self.found.exact,
                "undefined": self.found.kind == UNDEFINED,
                "texts": self.found.texts,
            }
        return data


def sampled(question: Question, budget: Budget, *, count: int, seed: int) -> Sampled:
    """Try a question at some points.

    Args:
        question: what is claimed.
        budget: what may be spent.
        count: at how many points.
        seed: of the random ones.
    """
    result = Sampled()
    sides = Sides(question, budget)
    enough = budget.seconds_left * (1 - _THOROUGH)
    refuting: list[tuple[Point, Comparison]] = []
    try:
        for tried, point in enumerate(points(sides, count, seed)):
            if result.points >= count or tried >= _TRIED * count or (refuting and tried >= count // 2):
                break
            thoroughly = tried < _FIRST or (tried < _MOST and budget.seconds_left > enough)
            found = _at(sides, point, budget, exactly=thoroughly, rules=True)
            if found is None:
                continue
            if found.refutes:
                refuting.append((point, found))
                if found.is_plain:
                    break
            elif found.kind == "holds":
                result.points += 1
            if found.note is not None and len(result.notes) < 4:
                note = f"at {_place(sides, point)} {found.note}"
                if not any(_kind(found.note) in other for other in result.notes):
                    result.notes.append(note)
    except WrongRuleError as wrong:
        result.trouble = f"{wrong} at {_place(sides, point)}"
        return result
    except BudgetSpent as spent:
        if not result.points and not refuting:
            result.trouble = str(spent)
    if refuting:
        point, found = min(refuting, key=lambda each: (each[1].kind == UNDEFINED, not each[1].is_plain))
        result.point, result.found = _simplest(sides, point, found, budget)
    elif not result.points and result.trouble is None:
        result.trouble = "no point was found at which both sides are defined and could be compared"
    return result


def _kind(note: str) -> str:
    """The words that notes of one kind have in common."""
    return note.split(" has ")[0].split(" overflows")[0].split(" is not")[0].split(":")[0]


def _at(sides: Sides, point: Point, budget: Budget, *, exactly: bool, rules: bool) -> Comparison | None:
    """The comparison at one point; None where there is none. Where exact arithmetic takes too long, it is given up."""
    sides.budget = budget.part(_EACH)
    try:
        try:
            return compared(sides, point, exactly=exactly, rules=rules)
        except BudgetSpent:
            budget.require_time()
            sides.give_up()
            return compared(sides, point, exactly=False)
    except (AgradError, CannotJudge, ArithmeticError, ValueError):
        return None


def _simplest(sides: Sides, point: Point, found: Comparison, budget: Budget) -> tuple[Point, Comparison]:
    """A point that refutes in the same way and is as simple as possible, and what is found there."""
    best = point, found

    def refutes(candidate: Point) -> bool:
        nonlocal best
        try:
            there = _at(sides, candidate, budget, exactly=True, rules=False)
        except (BudgetSpent, WrongRuleError):
            return False
        if there is None or there.kind != found.kind or (found.is_plain and not there.is_plain):
            return False
        best = candidate, there
        return True

    with suppress(BudgetSpent):
        shrunk(sides, point, refutes)
    return best


def _place(sides: Sides, point: Point) -> str:
    """A point in words: the leaves that are not at the file's point, or all of them."""
    moved = {name: value for name, value in point.items() if not np.array_equal(value, sides.base[name])}
    parts = []
    for name, value in (moved or point).items():
        array = np.asarray(value)
        same = array.size > 0 and bool(np.all(array == array.flat[0]))
        if array.size > 1 and not same:
            return "a point"
        parts.append(f"{'all ' if array.size > 1 else ''}{name} = {float(array.flat[0])!r}")
    place = ", ".join(parts)
    return place if len(place) <= _LONGEST else "a point"
