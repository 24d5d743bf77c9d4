"""From a point that refutes a claim to a simpler one: as many zeros, and as few digits, as the claim lets it have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from .points import SIMPLE
from .sides import Point, Sides

_MOST: Final = 200
"""How many points are tried."""
_PASSES: Final = 6
_WHOLE: Final = 1e6
"""Below this the integers on both sides are tried."""


def shrunk(sides: Sides, point: Point, refutes: Callable[[Point], bool]) -> Point:
    """The simplest point that is found to refute the claim as a given one does.

    Args:
        sides: both sides, which know the domains.
        point: where it is refuted.
        refutes: whether it is refuted at another one.
    """
    left = _MOST

    def tried(candidate: Point) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and refutes(candidate)

    small = [name for name, array in point.items() if np.size(array) <= _MOST]
    places = [(name, index) for name in small for index in np.ndindex(np.shape(point[name]))]
    point = _at_once(sides, point, tried)
    for _ in range(_PASSES):
        before = point
        for name, index in places:
            if left <= 0:
                return point
            for value in _simpler(float(np.asarray(point[name])[index])):
                if not sides.question.domain(name).holds(value):
                    continue
                array = np.array(point[name], np.float64)
                array[index] = value
                candidate = {**point, name: array}
                if tried(candidate):
                    point = candidate
                    break
        if before is point or left <= 0:
            break
    return point


def _at_once(sides: Sides, point: Point, tried: Callable[[Point], bool]) -> Point:
    """All entries of all leaves, then of each leaf, at one simple number."""
    domains = {name: sides.question.domain(name) for name in point}
    for value in SIMPLE[:6]:
        candidate = {name: np.full(np.shape(array), value) for name, array in point.items()}
        if all(domain.holds(value) for domain in domains.values()) and tried(candidate):
            return candidate
    for name, domain in domains.items():
        for value in SIMPLE[:6]:
            if np.size(point[name]) > _MOST:
                break
            candidate = {**point, name: np.full(np.shape(point[name]), value)}
            if domain.holds(value) and _plainness(point[name]) > _plainness(candidate[name]) and tried(candidate):
                point = candidate
                break
    return point


def _simpler(value: float) -> Iterator[float]:
    """Simpler numbers than one, from the simplest on."""
    for candidate in SIMPLE:
        if _rank(candidate) < _rank(value):
            yield candidate
    if value not in SIMPLE:
        if abs(value) < _WHOLE:
            yield from (float(math.trunc(value)), math.copysign(math.ceil(abs(value)), value))
        exponent = math.floor(math.log10(abs(value)))
        if abs(exponent) > 3:
            for part in (8, 4, 2):
                yield math.copysign(float(f"1e{exponent // part}"), value)
            yield math.copysign(float(f"1e{exponent * 3 // 4}"), value)
        for digits in range(1, 7):
            rounded = float(f"{value:.{digits}g}")
            if rounded != value:
                yield rounded
        yield float(f"{value / 2:.2g}")


def _rank(value: float) -> tuple[int, int, float]:
    """How plain a number is: the lower the plainer."""
    if value in SIMPLE:
        return 0, SIMPLE.index(value), 0.0
    return 1, len(f"{value:.17g}".replace(".", "")), abs(value)


def _plainness(array: Any) -> tuple[int, int]:
    flat = np.asarray(array).ravel().tolist()
    return sum(value != 0 for value in flat), sum(_rank(value)[0] * 100 + _rank(value)[1] for value in flat)
