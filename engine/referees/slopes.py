"""Slopes by difference quotients in high precision, from the left and from the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Final

from .case import CannotJudge
from .directions import moved, sides_of
from .ends import SECOND, is_slow, jumps, limit_of, slow_limit, stays
from .point import Direction
from .quotients import BASE, DENORMAL, STEP, SURE, Quotients
from .roundings import AS_STORED

_SMALL: Final = 20
"""A slope of less than 10**-20 may be nothing but curvature times the step."""
_TINY: Final = 75
_LARGE: Final = 10
"""The decimal exponent of a number beside which a function may bend within a step of 10**-25."""
_MIXED: Final = 0.8
"""The exponents of the steps of derivatives of higher order, as part of the usual one and of twice that: 20 and 40."""


@dataclass(frozen=True, slots=True)
class Slope:
    """A derivative along a direction.

    Attributes:
        left, right: the one-sided derivatives; undefined where the function is not defined on that side.
        value: the derivative; where only one side exists, that side's; None at a kink.
        jumps: whether the function does not tend to its value on some side, so that a slope there means nothing.
    """

    left: Any
    right: Any
    value: Any
    jumps: bool = False

    @property
    def is_kink(self) -> bool:
        """Whether both sides exist and differ."""
        return self.value is None

    @property
    def is_one_sided(self) -> bool:
        """Whether the function ends at this point."""
        return self.value is not None and (self.left != self.left or self.right != self.right)  # NaN


class Slopes(Quotients):
    """One-sided derivatives by what difference quotients tend to.

    See `Quotients` for its arguments.
    """

    def jostled(self, seed: int) -> Slopes:
        """The slopes of the same case with every result off by one rounding, see `Point`."""
        return Slopes(self.case, self.budget, seed)

    @cached_property
    def as_stored(self) -> Slopes:
        """The slopes of the same case with every result as its dtype holds it."""
        return Slopes(self.case, self.budget, AS_STORED)

    def with_negative_zeros(self) -> Slopes:
        """The slopes of the same case where zeros whose sign counts are negative."""
        return Slopes(self.case, self.budget, below=True)

    def slope(self, direction: Direction, exponent: int) -> Slope:
        """The derivative along a direction, per unit of length."""
        m = self.m
        if m.undefined_number(self.point.total):
            raise CannotJudge("the value is not a number here")
        left, right = self.quotients(direction, exponent, self._step)
        if max(abs(left), abs(right)) < m.number(10) ** -SURE:
            return self._faint(direction, exponent, left, right)
        if not self._alike(left, right) or self._grows(direction, exponent, left):
            return self._limit(direction, exponent, left, right)
        value = (left + right) / 2
        if abs(value) < m.number(10) ** (self.point.magnitude - _SMALL):
            value = self._tiny(direction, exponent, value)
        return Slope(value, value, value)

    def _alike(self, left: Any, right: Any) -> bool:
        """Whether both quotients are one slope, up to the step, and none that only a tiny step makes so steep."""
        m = self.m
        if not (m.finite(left) and m.finite(right)):
            return False
        steepest = m.number(10) ** min(self.point.magnitude + 10, self._step - 10)
        return bool(abs(right - left) <= max(abs(left), abs(right)) * 1e-8 and abs(left) < steepest)

    def _grows(self, direction: Direction, exponent: int, slope: Any) -> bool:
        """Whether quotients that are alike on both sides have no end, as those of x*log(abs(x)) at 0."""
        if not self.point.has_end:
            return False
        further, _ = self.quotients(direction, exponent, self._step + SECOND)
        return not self.m.finite(further) or not stays(slope, further)

    def order(self, directions: Sequence[tuple[Direction, int]]) -> Slope:
        """The derivative along several directions, one after another: of the order of their number.

        Each direction is taken forwards and backwards; `left` and `right` are the smallest and the largest of what the
        sides have, and `value` is None where they differ.

        Args:
            directions: of single entries, each with the decimal exponent of its length, as `unit` gives them.
        """
        m = self.m
        if m.undefined_number(self.point.total):
            raise CannotJudge("the value is not a number here")
        step = int(_MIXED * self._step)
        near, far = self._mixed(directions, step), self._mixed(directions, 2 * step)
        if all(abs(side) < m.number(10) ** -SURE for side in (*near, *far)):
            # They may be rounding: only the digits to see the least double tell.
            near, far = (
                [side if abs(side) >= m.number(10) ** -DENORMAL else m.number(0) for side in sides]
                for sides in (self._mixed(directions, step, DENORMAL), self._mixed(directions, 2 * step, DENORMAL))
            )
        ends = self._ends(near, far, lambda times: self._mixed(directions, times * step))
        sides = [end for end, last in zip(ends, far, strict=True) if not m.undefined_number(last)]
        if not sides or any(m.undefined_number(side) for side in sides):
            return Slope(m.undefined(), m.undefined(), m.undefined())
        low, high = min(sides), max(sides)
        alike = low == high or (m.finite(high - low) and high - low <= max(abs(low), abs(high)) * 1e-12)
        return Slope(low, high, m.total(sides) / len(sides) if alike and m.finite(low) else low if alike else None)

    def _mixed(self, directions: Sequence[tuple[Direction, int]], step: int, extra: int = 0) -> list[Any]:
        """The difference quotients of all sides with steps of 10**-step, and with more digits than that asks for."""
        exponents = sum(exponent for _, exponent in directions)
        step += max(self._shift(*direction) for direction in directions)
        digits = (len(directions) + 1) * step + BASE - 2 * STEP + extra - exponents + self.point.magnitude
        point = self._point(digits)
        h = point.m.number(10) ** -step
        values: dict[tuple[int, ...], Any] = {}
        quotients = []
        for signs in sides_of(directions):
            total = []
            for corner in product((0, 1), repeat=len(signs)):
                steps = tuple(sign * on for sign, on in zip(signs, corner, strict=True))
                if steps not in values:
                    way = moved([direction for direction, _ in directions], steps, point.m)
                    values[steps] = point.at(way, h) if any(steps) else point.total
                total.append(values[steps] * (-1) ** (len(signs) - sum(corner)))
            sign = -1 if signs.count(-1) % 2 else 1
            length = h ** len(signs) * point.m.number(10) ** exponents
            quotients.append(sign * point.m.total(total) / length)
        return quotients

    def _limit(self, direction: Direction, exponent: int, left: Any, right: Any) -> Slope:
        """What the quotients tend to as the step shrinks, where left and right are not alike."""
        m = self.m
        close = self._smooth_close_by(direction, exponent)
        if close is not None:
            return close
        left2, right2 = self.quotients(direction, exponent, self._step + SECOND)
        jumped = [jumps(m, first, second) for first, second in ((left, left2), (right, right2))]
        poles = [m.finite(self.point.total) and abs(side) == m.inf for side in (left2, right2)]
        leaps = [jump or pole for jump, pole in zip(jumped, poles, strict=True)]
        if all(leaps):
            return Slope(-m.inf, m.inf, None, jumps=True)
        middle = (left2 + right2) / 2
        if all(m.finite(s) and abs(s - middle) <= abs(middle) * 1e-8 for s in (left, right, left2, right2)):
            return Slope(middle, middle, middle)  # steep, but not because the step is small
        ends = self._ends(
            (left, right), (left2, right2), lambda times: self.quotients(direction, exponent, self._step * times)
        )
        if any(
            m.undefined_number(end) and not m.undefined_number(side)
            for end, side in zip(ends, (left2, right2), strict=True)
        ):
            return Slope(m.undefined(), m.undefined(), m.undefined())  # what a side tends to does not show
        if not any(ends) and not any(leaps):
            # Beside curvature times the step a slope down to the least double would not be seen yet.
            ends = list(self._deepest(direction, exponent, left, right))
        left2, right2 = ends
        if m.undefined_number(left2):
            return Slope(left2, right2, None if leaps[1] else right2, leaps[1])
        if m.undefined_number(right2):
            return Slope(left2, right2, None if leaps[0] else left2, leaps[0])
        if left2 == right2 and not any(leaps):
            return Slope(left2, right2, left2)
        if m.finite(left2) and m.finite(right2) and abs(right2 - left2) < abs(right - left) / 2:
            middle = (left2 + right2) / 2
            if abs(middle) < m.number(10) ** (self.point.magnitude - _SMALL):
                middle = self._tiny(direction, exponent, (left + right) / 2)
            return Slope(middle, middle, middle)
        return Slope(left2, right2, None, any(leaps))

    def _ends(self, first: Sequence[Any], second: Sequence[Any], at: Callable[[int], Sequence[Any]]) -> list[Any]:
        """What the quotients of some sides tend to.

        Args:
            first, second: the quotients at a step and at a far smaller one.
            at: gives them at a step whose exponent is so many times that of the first.
        """
        pairs = list(zip(first, second, strict=True))
        slow = [is_slow(self.m, *pair) for pair in pairs]
        if any(slow):
            with suppress(CannotJudge):  # more digits than there may be
                rows = zip(first, *[at(times) for times in (2, 4, 8)], strict=True)
                return [
                    slow_limit(self.m, row) if lags else limit_of(self.m, *pair)
                    for row, lags, pair in zip(rows, slow, pairs, strict=True)
                ]
        return [limit_of(self.m, *pair) for pair in pairs]

    def _smooth_close_by(self, direction: Direction, exponent: int) -> Slope | None:
        """The derivative where large numbers make the function bend within the steps so far, as atan(1e300*x) at 0."""
        magnitude = self.point.magnitude
        if magnitude <= _LARGE:
            return None
        try:
            left, right = self.quotients(direction, exponent, self._step + SECOND + 2 * magnitude)
        except CannotJudge:  # more digits than there may be
            return None
        if not (self.m.finite(left) and self.m.finite(right)):
            return None
        middle = (left + right) / 2
        # A leap, which is as steep as the step is small, is no slope.
        smooth = abs(right - left) <= abs(middle) * 1e-8 and abs(middle) < self.m.number(10) ** (2 * magnitude + _LARGE)
        return Slope(middle, middle, middle) if smooth else None

    def _tiny(self, direction: Direction, exponent: int, value: Any) -> Any:
        """A derivative that is small against everything: zero where it shrinks with the step."""
        if abs(value) > self.m.number(10) ** -SURE:
            left, right = self.quotients(direction, exponent, self._step + SECOND)
            if abs(left + right - 2 * value) <= abs(value) * 1e-8:
                return value
        left, right = self._deepest(direction, exponent, value, value)
        return (left + right) / 2

    def _faint(self, direction: Direction, exponent: int, left: Any, right: Any) -> Slope:
        """The derivative where both quotients are so small that they may be rounding."""
        left, right = self._deepest(direction, exponent, left, right)
        if self.m.undefined_number(left) or self.m.undefined_number(right):
            # Only so many digits show that the function ends here, or is not defined at all: 1 - 1e-300 below 1.
            return Slope(left, right, right if self.m.undefined_number(left) else left)
        if self._alike(left, right):
            middle = (left + right) / 2
            return Slope(middle, middle, middle)
        return self._smooth_close_by(direction, exponent) or Slope(left, right, None)

    def _deepest(self, direction: Direction, exponent: int, left: Any, right: Any) -> tuple[Any, Any]:
        """Both quotients once more, with the digits to see the least double; zero where they shrink with the step."""
        sides = self.quotients(direction, exponent, self._step + _TINY, DENORMAL)
        shrunk = [
            side != 0 and (first == 0 or abs(side) <= abs(first) * 1e-10)
            for side, first in zip(sides, (left, right), strict=True)
        ]
        if not any(shrunk):
            return sides
        # What was there before may have been rounding, or curvature times the step: only a third step tells.
        third = self.quotients(direction, exponent, self._step + DENORMAL)
        found = [
            self._settled(one, side, again) if small else side
            for small, one, side, again in zip(shrunk, (left, right), sides, third, strict=True)
        ]
        if None in found:
            fourth = self.quotients(direction, exponent, self._step + DENORMAL + _TINY)
            found = [
                side if side is not None else again if stays(again, last) else self.m.number(0)
                for side, again, last in zip(found, third, fourth, strict=True)
            ]
        return found[0], found[1]

    def _settled(self, first: Any, second: Any, third: Any) -> Any:
        """What a quotient tends to: it stays, or it shrinks at each step as at the one before; else None."""
        m = self.m
        if stays(second, third):
            return second
        if not (first and m.finite(first) and m.finite(third)):
            return None
        if not third:
            return third
        before, after = m.exponent(abs(second / first)), m.exponent(abs(third / second))
        return m.number(0) if abs(after * _TINY - before * (DENORMAL - _TINY)) <= _TINY * DENORMAL / 50 else None
