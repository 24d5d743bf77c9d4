"""Which of two exact values is the larger: told from rounding by computing both with more digits.

A gap that is the same with more digits, and that the digits of the largest number on the way reach down to, is one of
mathematics; a gap that shrinks as digits are added is rounding. What is below the last digit may be a term that one
side has and the other lost both times: x**3/3 of tanh(x), and of 2*sigmoid(2*x) - 1 beside the 1. What the least
number on the way divides is seen by that many digits less.
"""

from __future__ import annotations

from typing import Final, Literal

from .losses import finite
from .precision import DIGITS, MOST_DIGITS, SPARE
from .sides import ExactSides, Sides

Relation = Literal["below", "above", "equal", "rounded", "unclear"]

BELOW: Final = "below"
ABOVE: Final = "above"
EQUAL: Final = "equal"
ROUNDED: Final = "rounded"
"""They differ, by no more than the rounding of written numbers makes."""
UNCLEAR: Final = "unclear"
"""Too few digits to tell."""

_SAME: Final = 1e-6
"""A gap that moves by less than this part of it is real."""
_LAST: Final = 5
"""Of the digits of the largest number on the way so many, the last ones, tell no gap."""
_MORE: Final = 200
"""So many digits are added at a time, at most."""
_NOISE: Final = 40
"""Difference quotients have no more digits than 10**-40 of the largest number on the way."""
_LITTLE: Final = 1e-10
"""Gaps of derivatives that are smaller than this part of the largest number on the way are looked at more finely."""
_FINEST: Final = 4
"""So many times as many digits difference quotients have then, at most."""
_SEEDS: Final = 3
_TIMES: Final = 16
"""Differences up to so many times what the rounding of written numbers makes are that rounding."""
_PARAMETERS: Final = 1e-12
"""How far sides may differ, as part of the larger, where parameters of ops are rounded."""
_NEAR: Final = 1e-9
"""Gaps that are smaller than this part of the largest number on the way may be the rounding of written numbers."""
_LEAST: Final = 5e-324
"""The least double: what is smaller is zero on both sides, and difference quotients see no further."""


class Relations:
    """How the entries of both sides stand to each other at one point.

    Args:
        sides: the sides, at the point.
        first: their exact values with as many digits as they seem to need.
    """

    def __init__(self, sides: Sides, first: ExactSides) -> None:
        self.sides = sides
        self._stages = [first]
        self._rewritten: list[ExactSides] = []
        self._finer: ExactSides | None = None

    @property
    def first(self) -> ExactSides:
        """The exact values with the fewest digits."""
        return self._stages[0]

    def is_sure(self, index: tuple[int, ...]) -> bool:
        """Whether an entry is defined, or is not, with more digits too, on both sides."""
        if self.sides.question.derivatives:
            return True
        later = self._stage(1)
        return later is not None and all(
            finite(one[index]) == finite(other[index])
            for one, other in ((self.first.left, later.left), (self.first.right, later.right))
        )

    def relation(self, index: tuple[int, ...]) -> Relation:
        """How the left value of an entry stands to the right one; both are defined."""
        exact = self.first
        found = self._of_derivatives(index) if self.sides.question.derivatives else self._of_more_digits(index)
        if found not in (BELOW, ABOVE):
            return found
        if any(stage.doubtful for stage in self._stages):
            return UNCLEAR
        left, right = exact.left[index], exact.right[index]
        if self._wants_equality and max(abs(left), abs(right)) <= _LEAST:
            return ROUNDED
        if not self._wants_equality and abs(left - right) > exact.size * _NEAR:
            return found
        return ROUNDED if self._is_rounding(index) else found

    def _of_derivatives(self, index: tuple[int, ...]) -> Relation:
        """The relation where derivatives are difference quotients, which have no more digits."""
        exact = self.first
        gap = exact.left[index] - exact.right[index]
        noise = exact.size * gap.context.mpf(10) ** -_NOISE
        if noise < abs(gap) <= exact.size * _LITTLE:
            finer = self._with_finer_quotients()
            next_gap = finer.left[index] - finer.right[index]
            # Where the slope itself has a kink, a quotient is wrong by as much as its step is long.
            if not abs(next_gap - gap) <= abs(next_gap) * _SAME:
                if not abs(next_gap) <= noise:
                    return UNCLEAR
                gap = next_gap
        if abs(gap) <= noise:
            sure = self._wants_equality or (self._tells_equality and self.sides.digits_needed() <= DIGITS + SPARE)
            return EQUAL if sure else UNCLEAR
        return BELOW if gap < 0 else ABOVE

    def _with_finer_quotients(self) -> ExactSides:
        """The values with as many digits as they seem to need, by difference quotients of far smaller steps."""
        if self._finer is None:
            digits = max(2 * self.first.digits, min(self.sides.digits_needed(), MOST_DIGITS))
            self._finer = self.sides.exact(digits, finer=min(digits // self.first.digits, _FINEST))
        return self._finer

    def _of_more_digits(self, index: tuple[int, ...]) -> Relation:
        earlier, place, spread = self.first, 1, _magnitudes(self.first)
        gap = earlier.left[index] - earlier.right[index]
        while True:
            small = abs(gap) <= earlier.size * gap.context.mpf(10) ** (-earlier.digits // 4)
            later = self._stage(place)
            if later is None:
                return EQUAL if small and self._wants_equality else UNCLEAR
            next_gap = later.left[index] - later.right[index]
            if not finite(next_gap):
                return UNCLEAR
            seen = abs(next_gap) > later.size * gap.context.mpf(10) ** (_LAST + spread - later.digits)
            if gap and seen and abs(next_gap - gap) <= abs(next_gap) * _SAME:
                return BELOW if next_gap < 0 else ABOVE
            more = later.digits - earlier.digits
            if small and abs(next_gap) <= abs(gap) * gap.context.mpf(10) ** (-more // 4):
                return EQUAL if self._tells_equality else UNCLEAR
            earlier, gap, place = later, next_gap, place + 1

    @property
    def _wants_equality(self) -> bool:
        """Whether the comparison holds for equal values."""
        return self.sides.question.operator in ("eq", "le", "ge", "approximate")

    @property
    def _tells_equality(self) -> bool:
        """Whether a gap that is not seen is none: no series has terms that small here."""
        return self._wants_equality or self.sides.is_algebraic or self.sides.is_moderate()

    def _stage(self, place: int) -> ExactSides | None:
        """The values with more digits, the more the later; None where they would be too many."""
        while len(self._stages) <= place:
            last = self._stages[-1]
            digits = last.digits + min(last.digits, _MORE)
            if len(self._stages) == 1:
                digits = max(digits, DIGITS + 2 * _magnitudes(last))
            if digits > MOST_DIGITS + _MORE:  # what needs the most is confirmed by more
                return None
            self._stages.append(self.sides.exact(digits))
        return self._stages[place]

    def _is_rounding(self, index: tuple[int, ...]) -> bool:
        """Whether sides differ only because written numbers are rounded when they are read."""
        exact, sides = self.first, self.sides
        left, right = exact.left[index], exact.right[index]
        gap = abs(left - right)
        if sides.has_rounded_parameters and gap <= max(abs(left), abs(right)) * _PARAMETERS:
            return True
        if not sides.holds_rounded_numbers:
            return False
        if not self._rewritten:
            for seed in range(_SEEDS):
                with sides.rewritten(seed):
                    self._rewritten.append(sides.exact(exact.digits))
        spread = max(abs((other.left[index] - other.right[index]) - (left - right)) for other in self._rewritten)
        return bool(gap <= _TIMES * spread)


def _magnitudes(exact: ExactSides) -> int:
    """How many powers of ten lie between the least and the largest number on the way."""
    if not exact.size or not finite(exact.least):
        return 0
    return int(exact.size.context.mag(exact.size) - exact.least.context.mag(exact.least)) * 3 // 10
