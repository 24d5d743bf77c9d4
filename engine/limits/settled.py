"""What is made of two slopes and of the rules' number: which one stands, and what a person is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..graph import Node
from ..referees.slopes import Slope

TOLD: Final = 5
"""So many warnings of a kind are written out; the others are counted."""
VISIBLE: Final = {"float64": 1e-9, "float32": 1e-4, "complex128": 1e-9, "complex64": 1e-4}
"""How far a number must be off, relative to the right one, for a person to be told."""

_EXACT: Final = {"float64": 1e-12, "float32": 1e-6, "complex128": 1e-12, "complex64": 1e-6}
_NOISE: Final = {"float64": 1e-14, "float32": 1e-5, "complex128": 1e-14, "complex64": 1e-5}
_LEAST: Final = 1e-5
"""What is smaller than this part of the noise is none: it has vanished from float64."""


class Kink(NamedTuple):
    """One entry of a gradient at a point where the function has no derivative by it.

    Attributes:
        name, place: the entry.
        left, right: the slopes on both sides.
        shown: the number that is given for it.
        part: of a complex entry, which part it is: "real" or "imag".
    """

    name: str
    place: tuple[int, ...]
    left: float
    right: float
    shown: float
    part: str = ""

    @property
    def label(self) -> str:
        """The entry in words: `x[0, 1]`, `z.imag`."""
        index = f"[{', '.join(map(str, self.place))}]" if self.place else ""
        return f"{self.name}{index}{'.' if self.part else ''}{self.part}"


class Settled(NamedTuple):
    """A number for one entry: what stands, why it is not the rules' (or None), and both slopes where they differ."""

    number: float
    reason: str | None = None
    sides: tuple[float, float] | None = None


def as_float(m: Any, value: Any, dtype: Any) -> float:
    """An exact number as the nearest one of a dtype, infinite where it is beyond its range."""
    if m.undefined_number(value):
        return float("nan")
    return float(m.clipped(value, float(np.finfo(dtype).max)))


def settled(m: Any, got: float, slope: Slope, node: Node, scale: float) -> Settled:
    """The number for an entry.

    Args:
        m: the exact arithmetic.
        got: what the rules give.
        slope: what the function does on both sides.
        node: of whose dtype the number is to be.
        scale: how large the result and its derivatives are: what is a little smaller than their rounding may be some.
    """
    if slope.value is None:
        left, right = (as_float(m, side, node.dtype) for side in (slope.left, slope.right))
        low, high = min(left, right), max(left, right)
        room = 1e-6 * (high - low) if np.isfinite(high - low) else 0.0
        if low - room <= got <= high + room:
            return Settled(got, None, (left, right))
        nearest = min(max(0.0, low), high)
        why = (
            f"{_word(got)}; the slope is {left!r} from the left and {right!r} from the right, and {nearest!r} is given"
        )
        return Settled(nearest, why, (left, right))
    true = as_float(m, slope.value, node.dtype)
    if np.isnan(true) or true == got:
        return Settled(got)
    if np.isinf(true):
        return Settled(true, f"{_word(got)} here; the slope is {true!r}, from 50-digit quotients")
    name = node.dtype.name
    error = abs(got - true)
    if error <= _EXACT[name] * abs(true):
        return Settled(got)
    noise = _NOISE[name] * scale
    if error <= noise and (true == 0 or abs(true) >= noise * _LEAST):
        return Settled(got if true else true)
    if got != 0 and error <= VISIBLE[name] * abs(true):
        return Settled(true)
    return Settled(true, f"{_word(got)} here; the derivative is {true!r}, from 50-digit quotients")


def _word(number: float) -> str:
    return f"the chain rule over float64 gives {'NaN' if number != number else repr(number)}"


def index_of(node: Node, position: int) -> tuple[int, ...]:
    """The index of an entry from its flat position."""
    return tuple(int(i) for i in np.unravel_index(position, node.shape)) if node.shape else ()


def label(name: str, node: Node, position: int) -> str:
    """An entry in words: `x[0, 1]`, or `x` for a single number."""
    index = index_of(node, position)
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def shortened(lines: Sequence[str]) -> list[str]:
    """The first of many lines, and how many more there are."""
    if len(lines) <= TOLD:
        return list(lines)
    return [*lines[:TOLD], f"and {len(lines) - TOLD} more like these"]
