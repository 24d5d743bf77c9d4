"""What a value or a slope tends to on both sides of a point, from numbers of many digits beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from ..graph import Node, ancestors
from ..referees.case import CannotJudge, Case
from ..referees.ends import is_slow, limit_of, slow_limit
from ..referees.point import Point
from ..referees.slopes import Slopes
from ..worker.budget import OPERATIONS, Budget, BudgetSpent
from ..worker.interrupt import interrupted

SECONDS: Final = 1.0
_STEPS: Final = (25, 50, 100, 200)
_DIGITS: Final = 300


class Sides(NamedTuple):
    """What there is on both sides: NaN where there is nothing, infinite where float64 cannot hold it.

    Attributes:
        left, right: the numbers.
        words: both in words; empty where there is nothing.
    """

    left: float
    right: float
    words: tuple[str, str]

    @property
    def text(self) -> str:
        """Both in words, or one word for both."""
        left, right = self.words
        if left == right:
            return f"{left} from both sides" if left else "nothing on either side"
        if not left:
            return f"{right} from the right, and there is nothing on the left"
        if not right:
            return f"{left} from the left, and there is nothing on the right"
        return f"{left} from the left and {right} from the right"

    @property
    def alike(self) -> float | None:
        """The finite number on both sides, if it is one."""
        return self.left if self.left == self.right and abs(self.left) < float("inf") else None


def _sides(m: Any, left: Any, right: Any) -> Sides:
    numbers = [float("nan") if m.undefined_number(side) else float(side) for side in (left, right)]
    words = [
        ""
        if m.undefined_number(side)
        else m.text(side, 6)
        if m.finite(side) and abs(number) == float("inf")
        else repr(number)
        for side, number in zip((left, right), numbers, strict=True)
    ]
    return Sides(numbers[0], numbers[1], (words[0], words[1]))


def slopes_beside(case: Case, node: Node, position: int) -> Sides | None:
    """The slopes on both sides of one entry of a leaf; None where nobody can tell."""
    try:
        budget = Budget(OPERATIONS, SECONDS)
        with interrupted(budget):
            slopes = Slopes(case, budget)
            if not slopes.m.finite(slopes.point.total):
                return None  # beside a pole quotients say nothing
            slope = slopes.slope(*slopes.unit(node, position))
    except (CannotJudge, BudgetSpent, ArithmeticError, TypeError, ValueError):
        return None
    return _sides(slopes.m, slope.left, slope.right)


def kinks_beside(case: Case, entries: Iterable[tuple[str, int]], most: int) -> list[tuple[str, int, Sides]]:
    """Those of some entries that have two slopes, at most so many, as far as the time goes."""
    found: list[tuple[str, int, Sides]] = []
    budget = Budget(OPERATIONS, SECONDS)
    with suppress(CannotJudge, BudgetSpent, ArithmeticError, TypeError, ValueError), interrupted(budget):
        slopes = Slopes(case, budget)
        for name, position in entries:
            slope = slopes.slope(*slopes.unit(case.wrt[name], position))
            if slope.is_kink:
                found.append((name, position, _sides(slopes.m, slope.left, slope.right)))
            if len(found) == most:
                break
    return found


def values_beside(case: Case, node: Node, position: int) -> Sides | None:
    """What the weighted outputs tend to as one entry of a leaf comes from both sides; None where nobody can tell."""
    budget = Budget(OPERATIONS, SECONDS)
    try:
        with interrupted(budget):
            point = Point(case, ancestors([*case.outputs, node]), budget, _DIGITS)
            m = point.m
            size = abs(point.values[node].flat[position])
            if not m.finite(size):
                return None
            unit = m.number(10) ** (min(0, m.exponent(size)) if size else 0)
            left, right = (
                _limit(m, [point.at({node: {position: unit}}, sign * m.number(10) ** -step) for step in _STEPS])
                for sign in (-1, 1)
            )
    except (CannotJudge, BudgetSpent, ArithmeticError, TypeError, ValueError):
        return None
    return _sides(m, left, right)


def _limit(m: Any, values: Sequence[Any]) -> Any:
    """What values tend to at steps whose exponents double."""
    near, far = values[:2]
    limit = slow_limit(m, values) if is_slow(m, near, far) else limit_of(m, near, far)
    if m.undefined_number(limit) and not m.undefined_number(far):
        raise CannotJudge("no limit shows")
    return limit
