"""Difference quotients in high precision, with steps that pass over nothing and as many digits as they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..graph import Node, ancestors
from ..worker.budget import Budget
from .case import CannotJudge, Case
from .point import Direction, Point

STEP: Final = 25
"""The step is 10**-25 of the entry, or of 1 where the entry is larger or zero."""
BASE: Final = 80
"""Digits to work with: the step, its square for the central quotient, and as many to spare."""
SURE: Final = 50
"""What is larger than 10**-50 shows at the second step already whether it stays."""
DENORMAL: Final = 330
"""The digits to see the least double."""
_PART: Final = 10
"""A step moves the argument of what repeats by no more than 10**-10, and no number by more than that part of it."""
_NESTED: Final = 6
"""How often the step is made smaller: waves in waves show only as the outer ones are no longer passed over."""
_MOST: Final = 4_000
_COUNTED: Final = 10**12
"""So many digits are written out in a reason."""


class Quotients:
    """Difference quotients of a case, with as many digits as they need.

    Args:
        case: the case.
        budget: what may be spent.
        rounding: see `Point`.
        finer: how many times as many digits as usual; the steps are smaller as well.
        below: see `Point`.
    """

    def __init__(
        self, case: Case, budget: Budget, rounding: int | None = None, finer: int = 1, *, below: bool = False
    ) -> None:
        self.case = case
        self.budget = budget
        self._rounding = rounding
        self._below = below
        self.nodes: Sequence[Node] = ancestors([*case.outputs, *case.wrt.values()])
        self._points: dict[int, Point] = {}
        self.point = self._point(BASE * finer)
        self.m = self.point.m
        self._step = STEP * finer
        self._shifts: dict[tuple[Any, ...], int] = {}

    def _point(self, digits: int) -> Point:
        self.budget.require_time()
        digits = -(-digits // 40) * 40
        if digits > _MOST:
            many = f"{digits:,}" if digits < _COUNTED else "far more"
            raise CannotJudge(f"the difference quotient would need {many} digits")
        if digits not in self._points:
            self._points[digits] = Point(self.case, self.nodes, self.budget, digits, self._rounding, below=self._below)
        return self._points[digits]

    def fine(self, step: int) -> Point:
        """The point with the digits for slopes a step of 10**-step beside it, by steps of the square of that."""
        return self._point(BASE + 4 * step + self.point.magnitude)

    @property
    def deepest(self) -> Point:
        """The point with the digits to see the least double beside one."""
        return self._point(BASE + DENORMAL + self.point.magnitude)

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
            step: how small the step is; it is made smaller where something on the way repeats within it.
            extra: more digits than the step asks for.
        """
        if step >= self._step:
            step += self._shift(direction, exponent)
        point, h = self._around(direction, exponent, step, extra)
        length = h * point.m.number(10) ** exponent
        right = (point.at(direction, h) - point.total) / length
        left = (point.total - point.at(direction, -h)) / length
        return left, right

    def _around(self, direction: Direction, exponent: int, step: int, extra: int) -> tuple[Point, Any]:
        """The point with the digits for quotients with a step of 10**-step, and the step."""
        start = self.point.values
        size = max((abs(start[node].flat[i]) for node, moves in direction.items() for i in moves), default=0)
        large = max(0, int(self.m.exponent(size))) if size else 0
        digits = 2 * step + BASE - 2 * STEP + extra - exponent + max(large, self.point.magnitude)
        point = self._point(max(digits, BASE))
        return point, point.m.number(10) ** -step

    def _shift(self, direction: Direction, exponent: int) -> int:
        """How much smaller steps must be than usual, so that none passes over what lies beside the point.

        Raises:
            CannotJudge: where no step is small enough for what repeats.
        """
        key = tuple((node, *moves.items()) for node, moves in direction.items())
        if key not in self._shifts:
            self._shifts[key] = self._found_shift(direction, exponent)
        return self._shifts[key]

    def _found_shift(self, direction: Direction, exponent: int) -> int:
        shift, waves = 0, self.m.number(0)
        for _ in range(_NESTED):
            try:
                point, h = self._around(direction, exponent, self._step + shift, 0)
            except CannotJudge:
                break
            waves, beside = point.passed_over(direction, h)
            if max(waves, beside) <= point.m.number(10) ** -_PART:
                return shift
            shift += int(point.m.exponent(max(waves, beside))) + _PART
        if waves > 1:
            raise CannotJudge("something on the way repeats within every step")
        return 0  # a root has no end at zero, whatever stands beside it

    def parts(self, direction: Direction, exponent: int, most: int) -> Any:
        """The largest sum of absolute parts that a node on the way adds up for a derivative, one part a use of it."""
        size = self._parts(direction, exponent, most, 0)
        return size if size > self.m.number(10) ** -SURE else self._parts(direction, exponent, most, DENORMAL)

    def _parts(self, direction: Direction, exponent: int, most: int, extra: int) -> Any:
        point, h = self._around(direction, exponent, self._step + self._shift(direction, exponent), extra)
        length = h * point.m.number(10) ** exponent
        sums = [
            point.m.total([abs(total - point.total) / length for total in totals])
            for totals in point.at_single_uses(direction, h, most)
        ]
        return max((size for size in sums if point.m.finite(size)), default=point.m.number(0))

    def beside(self, direction: Direction, exponent: int) -> tuple[Any, Any]:
        """The values a step to the left and to the right: where there is none at the point, they may tell a limit."""
        point, h = self._around(direction, exponent, self._step + self._shift(direction, exponent), 2 * STEP)
        return point.at(direction, -h), point.at(direction, h)
