"""Sets of values that see each other row by row, while they grow."""

from __future__ import annotations

import math
from typing import Final

from ..graph import Shape

FEWEST_ROWS: Final = 32
"""Components are not joined where the rows common to both would be fewer than this, and those of one are more."""


class Component:
    """A set of values, while it grows."""

    __slots__ = ("axes", "largest", "parent", "shape")

    def __init__(self, shape: Shape, axes: int, largest: int) -> None:
        self.parent: Component | None = None
        self.shape = shape
        self.axes = axes
        self.largest = largest

    def root(self) -> Component:
        """The set that it is part of now."""
        node = self
        while node.parent is not None:
            if node.parent.parent is not None:
                node.parent = node.parent.parent
            node = node.parent
        return node

    @property
    def lead(self) -> Shape:
        """The axes that are rows."""
        return self.shape[: self.axes]


def unite(one: Component, other: Component, axes: int) -> None:
    """Join two components that share rows along some first axes, unless too few rows would be left."""
    one, other = one.root(), other.root()
    axes = min(one.axes, other.axes, axes)
    rows = math.prod(one.shape[:axes])
    least = min(math.prod(one.lead), math.prod(other.lead))
    if one.shape[:axes] != other.shape[:axes] or rows < 2 or rows < min(FEWEST_ROWS, least):
        return
    one.axes = axes
    if one is not other:
        other.parent = one
        one.largest = max(one.largest, other.largest)
