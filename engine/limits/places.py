"""The single real numbers that a gradient has: its entries, and of complex ones both parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..graph import Node
from ..referees.point import Direction
from ..referees.slopes import Slopes
from .settled import Kink, index_of, label


class Place(NamedTuple):
    """One entry of a node, or one part of it.

    Attributes:
        name, node: the node.
        position: the flat position of the entry.
        part: of a complex entry, which part it is: "real" or "imag".
    """

    name: str
    node: Node
    position: int
    part: str

    @property
    def label(self) -> str:
        """As in `x[0, 1]`, `z.imag`."""
        entry = label(self.name, self.node, self.position)
        return f"{entry}.{self.part}" if self.part else entry

    @property
    def turn(self) -> complex:
        """What a step of 1 adds to the entry."""
        return 1j if self.part == "imag" else 1

    def unit(self, slopes: Slopes) -> tuple[Direction, int]:
        """The direction that moves it, see `Slopes.unit`."""
        return slopes.unit(self.node, self.position, imaginary=self.part == "imag")

    def at(self, values: Mapping[Node, Any]) -> str:
        """The point in words: `x[0] = 0.5`."""
        return f"{self.label} = {_part(values[self.node].flat[self.position], self.part)!r}"

    def of(self, numbers: Any) -> float:
        """Its number in an array of the node's shape."""
        return _part(numbers.flat[self.position], self.part)

    def put(self, numbers: Any, number: float) -> None:
        """Write its number into an array of the node's shape."""
        if not self.part:
            numbers.flat[self.position] = number
            return
        old = numbers.flat[self.position]
        # Part by part: real + 1j*imag would turn an infinite part into NaN.
        real, imag = (number, old.imag) if self.part == "real" else (old.real, number)
        numbers.flat[self.position] = complex(real, imag)

    def kink(self, left: float, right: float, shown: float) -> Kink:
        """It as a kink."""
        return Kink(self.name, index_of(self.node, self.position), left, right, shown, self.part)


def places(name: str, node: Node) -> Iterator[Place]:
    """All numbers of a node's gradient."""
    for position in range(node.size):
        for part in ("real", "imag") if node.dtype.kind == "c" else ("",):
            yield Place(name, node, position, part)


def are_finite(numbers: Mapping[str, Any]) -> bool:
    """Whether no number of some gradients is infinite or NaN."""
    return all(bool(np.all(np.isfinite(value))) for value in numbers.values())


def _part(entry: Any, part: str) -> float:
    return float(getattr(entry, part)) if part else float(entry)
