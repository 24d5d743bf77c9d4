"""What the slopes at a point say of a gradient there."""

from __future__ import annotations

from typing import Any, Final

from ..graph import Node
from .case import CannotJudge
from .slopes import Slope, Slopes

_ROUNDING: Final = 1e-8
"""The part of a slope by which a gradient may miss it."""
_LARGEST: Final = 1.7976931348623157e308
"""The largest double: what is beyond counts as infinite."""
_LEAST: Final = 5e-324
"""The least double."""


def entry_slope(slopes: Slopes, node: Node, position: int) -> Slope:
    """The derivative by one entry; by a complex one, that by its real part plus i times that by its imaginary part."""
    direction, exponent = slopes.unit(node, position)
    slope = slopes.slope(direction, exponent)
    if node.dtype.kind != "c":
        return slope
    direction, exponent = slopes.unit(node, position, imaginary=True)
    other = slopes.slope(direction, exponent)
    if slope.is_kink or other.is_kink:
        raise CannotJudge("a kink in the complex plane")
    value = slope.value + slopes.m.number(1j) * other.value
    return Slope(value, value, value)


def between(m: Any, got: complex, slope: Slope, room: float = 1e-6) -> bool:
    """Whether a gradient lies between both slopes.

    One that is not a number claims nothing, nor does an infinite one where the function leaps away; and where it jumps,
    there is nothing to be claimed.
    """
    value = m.number(got)
    if slope.jumps or m.undefined_number(value):
        return True
    if not m.finite(value) and not (m.finite(slope.left) and m.finite(slope.right)):
        return True
    low, high = (m.clipped(end(slope.left, slope.right), _LARGEST) for end in (min, max))
    if not m.finite(value):
        return bool(value in (low, high))
    width = high - low if m.finite(high - low) else max(1, *(abs(end) for end in (low, high) if m.finite(end)), 1)
    allowed = max(width * room, *(abs(end) * _ROUNDING for end in (low, high) if m.finite(end)), _LEAST)
    return bool(low - allowed <= value <= high + allowed)
