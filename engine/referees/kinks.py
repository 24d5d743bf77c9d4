"""Kinks that the point misses by no more than rounding, and ends of domains."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import numpy as np

from ..graph import Node
from .case import CannotJudge
from .digits import Entry
from .sides import between, entry_slope
from .slopes import Slope, Slopes

_ENDS: Final[Mapping[str, tuple[float, ...]]] = {"binary_cross_entropy.element": (0.0, 1.0)}
"""Where the domain of an op ends, and its row gives a finite slope of its own."""
_FAINT: Final = 30
"""Slopes of less than 10**-30 of the largest number may be rounding of the quotients themselves."""


def kink_within_rounding(slopes: Slopes, node: Node, position: int, entry: Entry) -> bool:
    """Whether a step as long as the rounding of an entry leads over a kink between whose slopes the gradient lies."""
    if node.dtype.kind == "c":
        return False
    direction, exponent = slopes.unit(node, position)
    size = abs(slopes.point.values[node].flat[position])
    # A unit is no longer than 1: what is larger is rounded in larger steps.
    step = (6 if node.dtype.itemsize == 4 else 14) - (max(0, int(slopes.m.exponent(size))) if size else 0)
    left, right = slopes.quotients(direction, exponent, step)
    further_left, further_right = slopes.quotients(direction, exponent, step - 1)
    # Curvature sets both sides apart as well, but ten times less at a tenth of the step.
    least = slopes.m.number(10) ** (slopes.point.magnitude - _FAINT + min(0, step))
    apart = abs(right - left) > max(1e-3 * max(abs(left), abs(right)), abs(further_right - further_left) / 3, least)
    if bool(apart) and entry.got == entry.got and between(slopes.m, entry.got, Slope(left, right, None), 0.05):
        return True
    with suppress(CannotJudge):
        # Results that differ may be equal as their dtypes hold them: 1e300 + 1 and 1e300 + 2.
        stored = slopes.as_stored.slope(direction, exponent)
        return entry.got == entry.got and stored.is_kink and between(slopes.m, entry.got, stored)
    return False


def at_edge(slopes: Slopes, node: Node, position: int, entry: Entry) -> bool:
    """Whether the function ends here, and an op stands where its row says that a convention gives a finite number."""
    if node.dtype.kind == "c" or not np.isfinite(entry.got):
        return False
    slope = entry_slope(slopes, node, position)
    return (
        slope.is_one_sided
        and slopes.m.finite(slope.value)
        and any(
            value in _ENDS.get(at.op.name, ())
            for at in slopes.point.nodes_after((node,))
            for value in (slopes.point.values[at.args[0]].flat if at.op.name in _ENDS else ())
        )
    )
