"""Sets of values that see each other row by row, while they grow."""

from __future__ import annotations

import math
from typing import Final

from ..graph import Shape

LONGEST_ROW: Final = 2**18
"""Components are not joined where a row common to both would have more elements than this, and one has shorter ones: a
block is one row at least, and a dozen such rows are what it may take."""


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
    """Join two components that share rows along some first axes, unless rows would become too long."""
    one, other = one.root(), other.root()
    axes = min(one.axes, other.axes, axes)
    rows = math.prod(one.shape[:axes])
    if one.shape[:axes] != other.shape[:axes] or rows < 2:
        return
    most = max(math.prod(one.lead), math.prod(other.lead))
    if rows < most and max(one.largest, other.largest) > LONGEST_ROW * rows:
        return
    one.axes = axes
    if one is not other:
        other.parent = one
        one.largest = max(one.largest, other.largest)
