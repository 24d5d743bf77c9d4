"""Slopes by difference quotients in high precision, from the left and from the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..graph import Node, ancestors
from .case import Budget, CannotJudge, Case
from .point import Direction, Point

_STEP: Final = 25
"""The step is 10**-25 of the entry, or of 1 where the entry is larger or zero."""
_BASE: Final = 80
"""Digits to work with: the step, its square for the central quotient, and as many to spare."""
_SECOND: Final = 25
"""The second step is smaller by 10**-25: the slopes at both tell a limit from a divergence."""
_TINY: Final = 75
_DENORMAL: Final = 330
"""What is computed again with a step smaller by 10**-75, and with the digits to see the least double."""
_MOST: Final = 2_000


@dataclass(frozen=True, slots=True)
class Slope:
    """A derivative along a direction.

    Attributes:
        left, right: the one-sided derivatives; undefined where the function is not defined on that side.
        value: the derivative; where only one side exists, that side's; None at a kink.
    """

    left: Any
    right: Any
    value: Any

    @property
    def is_kink(self) -> bool:
        """Whether both sides exist and differ."""
        return self.value is None

    @property
    def is_one_sided(self) -> bool:
        """Whether the function ends at this point."""
        return self.value is not None and (self.left != self.left or self.right != self.right)  # NaN


class Slopes:
    """Difference quotients of a case, with as many digits as they need.

    Args:
        case: the case.
        budget: what may be spent.
        rounding: see `Point`.
    """

    def __init__(self, case: Case, budget: Budget, rounding: int | None = None) -> None:
        self.case = case
        self._budget = budget
        self._rounding = rounding
        self.nodes: Sequence[Node] = ancestors([*case.outputs, *case.wrt.values()])
        self._points: dict[int, Point] = {}
        self.point = self._point(_BASE)
        self.m = self.point.m

    def _point(self, digits: int) -> Point:
        digits = -(-digits // 40) * 40
        if digits > _MOST:
            raise CannotJudge(f"the difference quotient would need {digits:,} digits")
        if digits not in self._points:
            self._points[digits] = Point(self.case, self.nodes, self._budget, digits, self._rounding)
        return self._points[digits]

    def unit(self, node: Node, position: int, *, imaginary: bool = False) -> tuple[Direction, int]:
        """The direction of one entry, as long as the entry but at most 1, and the decimal exponent of that length."""
        size = abs(self.point.values[node].flat[position])
        if not self.point.m.finite(size):
            raise CannotJudge("a leaf is not finite")
        exponent = min(0, int(self.m.exponent(size))) if size else 0
        factor = 1j if imaginary else 1
        return {node: {position: self.m.number(10) ** exponent * self.m.number(factor)}}, exponent

    def quotients(self, direction: Direction, exponent: int, step: int, extra: int = 0) -> tuple[Any, Any]:
        """The left and the right difference quotient with a step of 10**-step, divided by 10**exponent.

        Args:
            direction: where to.
            exponent: the decimal exponent of the direction's length.
            step: how small the step is.
            extra: more digits than the step asks for.
        """
        start = self.point.values
        size = max((abs(start[node].flat[i]) for node, moves in direction.items() for i in moves), default=0)
        large = max(0, int(self.m.exponent(size))) if size else 0
        point = self._point(2 * step + _BASE - 2 * _STEP + extra - exponent + max(large, self.point.magnitude))
        h = point.m.number(10) ** -step
        length = h * point.m.number(10) ** exponent
        right = (point.at(direction, h) - point.total) / length
        left = (point.total - point.at(direction, -h)) / length
        return left, right

    def slope(self, direction: Direction, exponent: int) -> Slope:
        """The derivative along a direction, per unit of length."""
        m = self.m
        if m.undefined_number(self.point.total):
            raise CannotJudge("the value is not a number here")
        left, right = self.quotients(direction, exponent, _STEP)
        if not self._alike(left, right):
            return self._limit(direction, exponent, left, right)
        value = (left + right) / 2
        if abs(value) < m.number(10) ** (self.point.magnitude - 30):
            value = self._tiny(direction, exponent, value)
        return Slope(value, value, value)

    def _alike(self, left: Any, right: Any) -> bool:
        """Whether both quotients are one slope, up to the step, and none that only a tiny step makes so steep."""
        m = self.m
        if not (m.finite(left) and m.finite(right)):
            return False
        steepest = m.number(10) ** (self.point.magnitude + 10)
        return bool(abs(right - left) <= max(abs(left), abs(right)) * 1e-8 and abs(left) < steepest)

    def _limit(self, direction: Direction, exponent: int, left: Any, right: Any) -> Slope:
        """What the quotients tend to as the step shrinks, where left and right are not alike."""
        m = self.m
        left2, right2 = self.quotients(direction, exponent, _STEP + _SECOND)
        if _jumps(m, left, left2) and _jumps(m, right, right2):
            return Slope(-m.inf, m.inf, None)
        left2, right2 = _limit_of(m, left, left2), _limit_of(m, right, right2)
        if m.undefined_number(left2):
            return Slope(left2, right2, right2)
        if m.undefined_number(right2) or left2 == right2:
            return Slope(left2, right2, left2)
        if m.finite(left2) and m.finite(right2) and abs(right2 - left2) < abs(right - left) / 2:
            middle = (left2 + right2) / 2
            if abs(middle) < m.number(10) ** (self.point.magnitude - 30):
                middle = self._tiny(direction, exponent, (left + right) / 2)
            return Slope(middle, middle, middle)
        return Slope(left2, right2, None)

    def _tiny(self, direction: Direction, exponent: int, value: Any) -> Any:
        """A derivative that is small against everything: zero where it shrinks with the step."""
        left, right = self.quotients(direction, exponent, _STEP + _TINY, _DENORMAL)
        again = (left + right) / 2
        return self.m.number(0) if abs(again) <= abs(value) * 1e-10 else again


def _jumps(m: Any, first: Any, second: Any) -> bool:
    """Whether a quotient grows just as its step shrinks: the function does not come near its value at the point."""
    return bool(m.finite(first) and m.finite(second) and abs(second) > abs(first) * m.number(10) ** _SECOND * 0.99)


def _limit_of(m: Any, first: Any, second: Any) -> Any:
    """The limit of a quotient from its values at a small and at a far smaller step."""
    if m.undefined_number(second) or not m.finite(first) or not m.finite(second):
        return second
    if abs(second) > abs(first) * 1.3 and second != 0:
        return m.inf if second > 0 else -m.inf
    return m.number(0) if abs(second) < abs(first) * 1e-3 else second
