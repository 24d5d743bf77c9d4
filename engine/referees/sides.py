"""What the slopes at a point say of a gradient there."""

from __future__ import annotations

from collections.abc import Sequence
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


def part_slopes(slopes: Slopes, node: Node, position: int) -> list[Slope]:
    """The derivative by one entry; by a complex one, that by its real and that by its imaginary part."""
    parts = (False, True) if node.dtype.kind == "c" else (False,)
    return [slopes.slope(*slopes.unit(node, position, imaginary=part)) for part in parts]


def entry_slope(slopes: Slopes, node: Node, position: int) -> Slope:
    """The derivative by one entry; by a complex one, that by its real part plus i times that by its imaginary part."""
    parts = part_slopes(slopes, node, position)
    if len(parts) == 1:
        return parts[0]
    if any(part.is_kink for part in parts):
        raise CannotJudge("a kink in the complex plane")
    value = joined(slopes.m, [part.value for part in parts])
    return Slope(value, value, value)


def joined(m: Any, parts: Sequence[Any]) -> Any:
    """A number of its real and its imaginary part, or of itself alone."""
    return parts[0] if len(parts) == 1 else m.context.mpc(*parts)


def parts_of(got: Any, count: int) -> list[Any]:
    """The real and the imaginary part of a number, or the number itself where one is asked for."""
    return [got.real, got.imag][:count]


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
