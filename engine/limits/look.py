"""A closer look at a gradient: the slopes of the whole function on both sides of each entry, and along directions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node, ancestors
from ..referees.case import CannotJudge, Case
from ..referees.directions import moved
from ..referees.forward import cost_of
from ..referees.slopes import Slope, Slopes
from ..referees.ties import Ties
from ..worker.budget import Budget, BudgetSpent
from ..worker.interrupt import interrupted
from .places import Place, are_finite, places
from .settled import TOLD, Kink, as_float, settled, shortened

OPERATIONS: Final = 60_000
"""How many operations on exact numbers a look may take; where they do not suffice for all, for some entries only."""
SECONDS: Final = 3.0
"""And how long, on a machine too busy for them."""

_LINEAR: Final = 1e-6
_DIRECTIONS: Final = 2
_FEW: Final = 32
_PARTS: Final = 300
"""Uses of nodes of which the parts of a derivative are looked at."""
_DEAR: Final = 5
"""How many times a slope's cost an entry takes where it also has to be seen whether it is tied to others."""


@dataclass(slots=True)
class Repairs:
    """What a closer look has found.

    Attributes:
        gradients: the gradients, by name, with right numbers in them.
        kinks: the entries that have two slopes.
        warnings: sentences for the person.
    """

    gradients: dict[str, Any] = field(default_factory=dict)
    kinks: list[Kink] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class _Look:
    """A closer look at the gradient of one case.

    Args:
        case: the outputs, their weights and what the rules give.
        budget: what may be spent.
        subject: what is differentiated.
    """

    def __init__(self, case: Case, budget: Budget, subject: str) -> None:
        self.case = case
        self.subject = subject
        self.slopes = Slopes(case, budget)
        self._ties = Ties(case, self.slopes)
        self._steepest: dict[Node, float] = {}
        self.found: dict[Place, Slope] = {}
        self.warnings: list[str] = []
        self.kinks: list[Kink] = []

    def gradients(self, most: int | None = None) -> dict[str, Any]:
        """The gradients with right numbers in them, as far as the budget goes.

        Args:
            most: how many entries to look at that are finite; all if not given.
        """
        if self.slopes.m.undefined_number(self.slopes.point.total):
            self._look_at_hole()
            return dict(self.case.gradients)
        numbers = {name: np.array(self.case.gradients[name], node.dtype) for name, node in self.case.wrt.items()}
        with suppress(BudgetSpent):
            for place in self._chosen(numbers, most):
                with suppress(CannotJudge):
                    slope = self.slopes.slope(*place.unit(self.slopes))
                    if most is None or not isfinite(place.of(numbers[place.name])) or not self._is_tied(place, slope):
                        self.found[place] = slope
        m = self.slopes.m
        for place, slope in self.found.items():
            if slope.value is not None and m.finite(slope.value):
                size = as_float(m, abs(slope.value), float)
                self._steepest[place.node] = max(size, self._steepest.get(place.node, 0.0))
        scale = max(size_of(self.slopes), *self._steepest.values(), 0.0)
        bent = self._look_along()
        for place, slope in self.found.items():
            # Of a function without a gradient a rule may choose another finite number than the slope along an axis.
            chosen = bent and slope.value is not None and m.finite(slope.value)
            if not chosen or not isfinite(place.of(numbers[place.name])):
                self._settle(place, slope, numbers[place.name], scale)
        return {name: array[()] for name, array in numbers.items()}

    def _places(self) -> Iterator[Place]:
        for name, node in self.case.wrt.items():
            yield from places(name, node)

    def _chosen(self, numbers: Mapping[str, Any], most: int | None) -> list[Place]:
        """The numbers to look at: broken ones first, then those of entries that are 0, where most kinks are."""
        every = [*self._places()]
        if most is None:
            return every
        finite = [place for place in every if isfinite(place.of(numbers[place.name]))]
        values = self.slopes.point.values
        finite.sort(key=lambda place: bool(values[place.node].flat[place.position] != 0))
        return [place for place in every if not isfinite(place.of(numbers[place.name]))] + finite[:most]

    def _is_tied(self, place: Place, slope: Slope) -> bool:
        """Whether another entry takes its place where it moves, so that its slope alone is none of a gradient."""
        return place.node.dtype.kind == "f" and self._ties.are_bent(place.node, place.position, slope)

    def _settle(self, place: Place, slope: Slope, numbers: Any, scale: float) -> None:
        m = self.slopes.m
        node = place.node
        got = place.of(numbers)
        where = f"{place.label} at {self._at(place)}"
        if not m.finite(self.slopes.point.total) and (slope.value is None or m.finite(slope.value)):
            return  # at a pole there is no other number
        if self._is_jump(place, slope):
            left, right = (as_float(m, side, node.dtype) for side in self._steepness(place))
            self.kinks.append(place.kink(left, right, got))
            self.warnings.append(
                f"{self.subject} is not differentiable by {where}: it jumps there, the slope is {left!r} from the left "
                f"and {right!r} from the right, and {got!r} is given"
            )
            return
        number = settled(m, got, slope, node, scale)
        if number.number == got and slope.value is not None and got != slope.value:
            # However large the result and the slopes of others are, rounding is that of slopes by the same leaf, and of
            # the parts that are added up for this one.
            parts = as_float(m, self.slopes.parts(*place.unit(self.slopes), _PARTS), float)
            number = settled(m, got, slope, node, min(scale, max(parts, self._steepest.get(node, 0.0))))
        place.put(numbers, number.number)
        if number.sides is not None:
            self.kinks.append(place.kink(*number.sides, number.number))
        if number.reason is not None:
            self.warnings.append(f"the derivative of {self.subject} by {where}: {number.reason}")

    def _at(self, place: Place) -> str:
        return place.at(self.slopes.point.values)

    def _steepness(self, place: Place) -> tuple[Any, Any]:
        """What both quotients tend to at a jump."""
        m = self.slopes.m
        direction, exponent = place.unit(self.slopes)
        near, far = (self.slopes.quotients(direction, exponent, step) for step in (25, 50))
        sides = []
        for first, second in zip(near, far, strict=True):
            steep = m.finite(second) and abs(second) > abs(first) * 1.3
            flat = m.finite(first) and abs(second) * 1.3 < abs(first)
            sides.append((m.inf if second > 0 else -m.inf) if steep else m.number(0) if flat else second)
        return sides[0], sides[1]

    def _is_jump(self, place: Place, slope: Slope) -> bool:
        """Whether an infinite slope is that of a jump: the quotient grows just as the step shrinks."""
        m = self.slopes.m
        if all(m.finite(side) or m.undefined_number(side) for side in (slope.left, slope.right)):
            return False
        if not m.finite(self.slopes.point.total):
            return False
        direction, exponent = place.unit(self.slopes)
        near, far = (self.slopes.quotients(direction, exponent, step) for step in (25, 50))
        leaps = [
            m.finite(second) and first != 0 and abs(second) > abs(first) * m.number(10) ** 25 * 0.99
            for first, second in zip(near, far, strict=True)
        ]
        return any(leaps) or all(abs(second) == m.inf for second in far)

    def _look_at_hole(self) -> None:
        """Say that the function has no value at the point, and its limit where it has one."""
        m = self.slopes.m
        directions = []
        told = []
        for name, node in self.case.wrt.items():
            for place in islice(places(name, node), _FEW):
                with suppress(CannotJudge):
                    directions.append(place.unit(self.slopes))
                    told.append(self._at(place))
        sides: list[Any] = []
        if directions:
            uneven = [m.number(1) + count for count in range(len(directions))]
            together = moved([direction for direction, _ in directions], uneven, m)
            least = min(exponent for _, exponent in directions)
            for direction, exponent in [*directions, (together, least)]:
                sides += self.slopes.beside(direction, exponent)
        limit = ""
        if sides and all(m.finite(side) for side in sides):
            low, high = min(sides), max(sides)
            size = max(abs(low), abs(high))
            if size < 1e-20:
                low = high = m.number(0)
            if high - low <= size * 1e-9:
                limit = f"; its limit there is {m.text((low + high) / 2, 10)}"
        where = f" at {', '.join(told[:TOLD])}" if told else ""
        self.warnings.append(f"{self.subject} has no value{where}, with many digits neither{limit}")

    def _look_along(self) -> bool:
        """Whether the slopes along directions are others than those that the partial derivatives add up to."""
        m = self.slopes.m
        # Only leaves: other nodes move with them.
        entries = [
            (place, slope)
            for place, slope in self.found.items()
            if place.node.op is LEAF and slope.value is not None and m.finite(slope.value)
        ]
        if len(entries) < 2:
            return False
        choose = random.Random(0).uniform  # noqa: S311  # reproducible, no secret
        for attempt in range(_DIRECTIONS + 1):
            weights = [self._side(slope) * (1.0 if not attempt else choose(0.3, 1.0)) for _, slope in entries]
            if attempt == _DIRECTIONS:
                weights = [
                    weight * (-1 if i % 2 and self._is_free(slope) else 1)
                    for i, (weight, (_, slope)) in enumerate(zip(weights, entries, strict=True))
                ]
            try:
                if self._is_bent(weights, entries):
                    return True
            except (BudgetSpent, CannotJudge):
                break
        return False

    def _side(self, slope: Slope) -> int:
        return -1 if self.slopes.m.undefined_number(slope.right) else 1

    def _is_free(self, slope: Slope) -> bool:
        m = self.slopes.m
        return not m.undefined_number(slope.left) and not m.undefined_number(slope.right)

    def _is_bent(self, weights: Sequence[float], entries: Sequence[tuple[Place, Slope]]) -> bool:
        """Whether the slope along a direction is another than that of the partial derivatives; then it is told."""
        m = self.slopes.m
        direction: dict[Node, dict[int, Any]] = {}
        parts = []
        for (place, slope), weight in zip(entries, weights, strict=True):
            _, exponent = place.unit(self.slopes)
            move = m.number(weight) * m.number(10) ** exponent
            moves = direction.setdefault(place.node, {})
            moves[place.position] = moves.get(place.position, 0) + move * place.turn
            parts.append(move * slope.value)
        along = self.slopes.slope(direction, 0)
        ahead = along.value if along.value is not None else along.right
        expected = m.total(parts)
        scale = max(abs(ahead), *(abs(part) for part in parts))
        linear = m.undefined_number(ahead) or abs(ahead - expected) <= scale * _LINEAR
        if linear and (along.value is not None or m.undefined_number(along.left)):
            return False
        points = [self._at(place) for place, _ in entries[:TOLD]]
        names = ", ".join(points + ["..."] * (len(entries) > TOLD))
        way = ", ".join([f"{weight:.3g}" for weight in weights[:TOLD]] + ["..."] * (len(weights) > TOLD))
        self.warnings.append(
            f"{self.subject} is not differentiable at {names}: along the direction ({way}) the slope is "
            f"{m.text(ahead, 10)}, and the partial derivatives add up to {m.text(expected, 10)}"
        )
        return True


def size_of(slopes: Slopes) -> float:
    """How large the number that is differentiated is."""
    size = abs(slopes.point.total)
    return as_float(slopes.m, size, float) if slopes.m.finite(size) else 0.0


def affordable(case: Case, operations: int) -> int | None:
    """At how many entries so many operations can look, roughly; None where it is all of them."""
    nodes = ancestors([*case.outputs, *case.wrt.values()])
    once = 3 * sum(cost_of(node) for node in nodes)
    entries = sum(node.size for node in case.wrt.values())
    return None if once * entries + once // 3 <= operations else operations // (once * _DEAR)


def repaired(case: Case, subject: str, *, seconds: float = SECONDS, operations: int = OPERATIONS) -> Repairs:
    """The gradients of a case with right numbers where the rules have none, and what is to be said of them.

    Args:
        case: the outputs, their weights, and the rules' gradient for each name of `wrt`.
        subject: what is differentiated.
        seconds, operations: what it may cost.
    """
    found = Repairs(gradients=dict(case.gradients))
    most = affordable(case, operations)
    if most == 0 and are_finite(case.gradients):
        return found
    budget = Budget(operations * 2, seconds)
    try:
        with interrupted(budget):
            look = _Look(case, budget, subject)
            found.gradients = look.gradients(most)
        found.kinks, found.warnings = look.kinks, shortened(look.warnings)
    except BudgetSpent:
        found.warnings = [
            f"{subject} stands at a kink or a singular point, and a closer look at it took too long: "
            "its gradients are the chain rule's, as they are"
        ]
    except CannotJudge as reason:
        if not are_finite(case.gradients):
            found.warnings = [f"a closer look at {subject} is not possible: {reason}"]
    except Exception as failure:  # what a formula cannot do leaves the rules' numbers as they are
        found.warnings = [failed(subject, failure)]
    return found


def failed(subject: str, failure: Exception) -> str:
    """What is said where a closer look ended with an error of its own."""
    what = f"{type(failure).__name__}: {failure}".split("\n", 1)[0]
    return f"a closer look at {subject} failed ({what}): its numbers are float64's, as they are"
