"""Points where a function has slopes along each axis and yet no gradient, as the median of equal numbers has.

Each entry by itself moves nothing there, since another takes its place, and any one of them is a choice that an op may
make. What may be chosen is what the gradient is close by, where no two are equal.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ..graph import Node
from .case import Case
from .digits import Entry
from .directions import moved
from .point import Direction
from .sides import between
from .slopes import Slope, Slopes

_TRIALS: Final = 6
"""Points close by."""
_THOROUGH: Final = 30
"""Points close by where somebody objects: of three equal numbers of three leaves each order is one in six."""
_EVALUATIONS: Final = 200
_NEAR: Final = 25
"""How far they are: 10**-25 of each entry, or less. The slopes there are taken with a step of the square of it."""
_MOST: Final = 400
"""Entries up to which they are looked at."""
_LARGE: Final = 10
"""The decimal exponent of a number whose waves may be shorter than the way to the points close by."""
_FAINT: Final = 15
"""Slopes that differ by less than 10**-15 may do so by curvature or by rounding."""
_BENT: Final = 1e-6
"""A slope that differs by that part is another one."""


class Ties:
    """The gradients close by the point of a case.

    Args:
        case: the case.
        slopes: its difference quotients.
    """

    def __init__(self, case: Case, slopes: Slopes) -> None:
        self._case = case
        self._slopes = slopes
        self._ranges: dict[str, tuple[Any, Any]] = {}
        magnitude = slopes.point.magnitude
        self._near = _NEAR + (magnitude if magnitude > _LARGE else 0)
        # Beside large numbers each trial takes thousands of digits.
        self._thorough = _THOROUGH if self._near == _NEAR else _TRIALS

    def allow(self, entry: Entry) -> bool:
        """Whether there is no gradient at the point, because of this entry, and what agrad gives is one close by."""
        node = self._case.wrt[entry.name]
        if node.dtype.kind != "f" or node.size > _MOST or not np.isfinite(entry.got):
            return False
        position = int(np.ravel_multi_index(entry.index, node.shape)) if entry.index else 0
        slope = self._slopes.slope(*self._slopes.unit(node, position))
        if not self.are_bent(node, position, slope, self._thorough):
            return False
        if entry.name not in self._ranges:
            self._ranges[entry.name] = self._range_of(node)
        low, high = self._ranges[entry.name]
        return between(self._slopes.m, entry.got, Slope(low, high, None))

    def are_bent(self, node: Node, position: int, slope: Slope, trials: int = _TRIALS) -> bool:
        """Whether moving an entry changes something else when others have moved than when it moves alone.

        Args:
            node, position: the entry.
            slope: its slopes when it moves alone.
            trials: at how many points close by.
        """
        m = self._slopes.m
        sides = [side for side in (slope.left, slope.right) if m.finite(side)]
        if not sides:
            return False
        for seed in range(trials):
            direction = self._away(node, seed)
            beside = {each: dict(moves) for each, moves in direction.items()}
            move = beside[node].pop(position)
            point = self._slopes.fine(self._near)
            h = point.m.number(10) ** -self._near
            found = (point.at(direction, h) - point.at(beside, h)) / (h * move)
            apart = [max(_BENT * max(abs(found), abs(side)), m.number(10) ** -_FAINT) for side in sides]
            if m.finite(found) and all(abs(found - side) > size for side, size in zip(sides, apart, strict=True)):
                return True
        return False

    def _range_of(self, node: Node) -> tuple[Any, Any]:
        """The least and the largest slope that any entry of a node has at any of the points close by."""
        point = self._slopes.fine(self._near)
        m = point.m
        h = m.number(10) ** -self._near
        found = [m.number(0)]
        for seed in range(max(_TRIALS, min(self._thorough, _EVALUATIONS // node.size))):
            away = self._away(node, seed)
            for position in range(node.size):
                unit, exponent = self._slopes.unit(node, position)
                ahead, back = (point.at(moved([away, unit], [1, sign * h], m), h) for sign in (1, -1))
                slope = (ahead - back) / (2 * h * h * m.number(10) ** exponent)
                if m.finite(slope):
                    found.append(slope)
        return min(found), max(found)

    def _away(self, node: Node, seed: int) -> Direction:
        """A direction in which no two entries stay equal: of all leaves, or of an intermediate node alone.

        In the first it is the last of equal entries that becomes the largest, in the second the first.
        """
        choose = random.Random(seed).uniform  # noqa: S311  # reproducible, no secret
        nodes: Mapping[Any, Node] = {0: node} if node.args else self._case.wrt
        direction: dict[Node, dict[int, Any]] = {}
        moving = [each for each in nodes.values() if each.dtype.kind == "f" and bool(each.args) == bool(node.args)]
        entries = sum(each.size for each in moving)
        ramp = [(place + 1) / (entries + 1) for place in range(entries)]
        parts = iter((ramp, ramp[::-1])[seed] if seed < 2 else [choose(-1.0, 1.0) for _ in ramp])
        for each in moving:
            lengths = [next(iter(self._slopes.unit(each, i)[0][each].values())) for i in range(each.size)]
            direction[each] = {i: self._slopes.m.number(next(parts)) * x for i, x in enumerate(lengths)}
        return direction
