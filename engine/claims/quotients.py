"""Derivatives as difference quotients in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ..language.differentials import Derivative
from ..referees.case import CannotJudge, Case
from ..referees.point import Direction
from ..referees.slopes import Slope, Slopes
from ..run.cpu import run
from ..run.plan import make_plan
from ..worker.budget import Budget

_LINEAR: Final = 1e-10
_SMALLER: Final = 50
"""The exponent of a step that is smaller by 10**-25 than that of slopes."""


def slopes_of(of: Derivative, budget: Budget, finer: int = 1) -> Iterator[Slope]:
    """The slopes of every entry of a derivative, in its order, with so many times as many digits as usual."""
    wrt = {str(place): node for place, node in enumerate(dict.fromkeys(of.by))}
    for cotangent in _cotangents(of):
        slopes = Slopes(Case([of.output], [cotangent], wrt, {}), budget, finer=finer)
        for places in np.ndindex(*[by.size for by in of.by]):
            directions = [slopes.unit(by, place) for by, place in zip(of.by, places, strict=True)]
            try:
                yield slopes.order(directions) if len(directions) > 1 else slopes.slope(*directions[0])
            except CannotJudge:
                if not slopes.m.undefined_number(slopes.point.total):
                    raise
                undefined = slopes.m.undefined()
                yield Slope(undefined, undefined, undefined)


def is_linear(of: Derivative, budget: Budget) -> bool:
    """Whether the slope along a direction is the sum of those along its parts; else there is no derivative.

    Only first derivatives by several entries are looked at.
    """
    node = of.by[0]
    if len(of.by) > 1:
        return True
    for cotangent in _cotangents(of):
        slopes = Slopes(Case([of.output], [cotangent], {"0": node}, {}), budget)
        units = [slopes.unit(node, place) for place in range(node.size)]
        parts = [slopes.slope(*unit).value for unit in units]
        if node.size == 1:
            parts = [part if part is not None else slopes.m.number(0) for part in parts]
        elif None in parts:
            return False
        if not all(_settled(slopes, *unit, part) for unit, part in zip(units, parts, strict=True)):
            return False
        if node.size == 1:
            continue
        for signs in ((1, -1), (-1, 1)):
            direction: dict[int, Any] = {}
            total = slopes.m.number(0)
            for place, ((way, _), part) in enumerate(zip(units, parts, strict=True)):
                move = way[node][place] * signs[place % 2] * (1 + place) / (2 + place)
                direction[place] = move
                total += move * part
            along = slopes.slope({node: direction}, 0)
            size = slopes.m.total([abs(direction[place] * part) for place, part in enumerate(parts)])
            if along.value is None or not abs(along.value - total) <= size * _LINEAR:
                return False
    return True


def _settled(slopes: Slopes, direction: Direction, exponent: int, slope: Any) -> bool:
    """Whether a far smaller step gives the same slope: a function that jumps again and again has none."""
    sides = slopes.quotients(direction, exponent, _SMALLER)
    least = slopes.m.number(10) ** -30
    return slope == 0 or any(abs(side - slope) <= abs(slope) * 1e-6 or abs(side - slope) < least for side in sides)


def _cotangents(of: Derivative) -> Iterator[Any]:
    if of.weights is not None:
        yield np.asarray(run(make_plan([of.weights]))[of.weights])
        return
    for position in range(of.output.size):
        unit = np.zeros(of.output.size)
        unit[position] = 1
        yield unit.reshape(of.output.shape)
