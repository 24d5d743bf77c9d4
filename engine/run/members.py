"""Sets of members of runs as the bits of whole numbers, so that many large ones are joined and weighed fast."""

from __future__ import annotations

from collections.abc import Iterable

from .values import Value
from .weights import nanoseconds


class Members:
    """Gives each of some values its bit.

    Args:
        values: those that can be in a set.
    """

    def __init__(self, values: Iterable[Value]) -> None:
        self._place: dict[Value, int] = {}
        of_weight: dict[float, list[Value]] = {}
        for value in values:
            if value not in self._place:
                self._place[value] = len(self._place)
                of_weight.setdefault(nanoseconds(value), []).append(value)
        self._weights = [(weight, self.of(alike)) for weight, alike in of_weight.items()]

    def of(self, values: Iterable[Value]) -> int:
        """The set of those of some values that have a bit."""
        places = [place for place in map(self._place.get, values) if place is not None]
        found = bytearray(max(places, default=0) // 8 + 1)
        for place in places:
            found[place // 8] |= 1 << place % 8
        return int.from_bytes(found, "little")

    def nanoseconds(self, members: int) -> float:
        """What an element of each member of a set costs, all together."""
        return sum(weight * (members & alike).bit_count() for weight, alike in self._weights)
