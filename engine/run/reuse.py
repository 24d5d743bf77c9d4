"""Memory of results that nobody holds any more, for the results of the next run of the same plan.

A fresh large array costs more than what is written into it: the system gives and clears its pages one by one.
"""

from __future__ import annotations

import math
from sys import getrefcount
from threading import Lock
from typing import Any, Final

import numpy as np

REUSED_FROM: Final = 2**20
"""Bytes below which an array is not worth keeping."""

SETS: Final = 2
"""How many arrays of one size are kept for each result of that size: a caller often holds the last one still."""


def _references(held: list[Any], place: int) -> int:
    return getrefcount(held[place])


_OF_ONE: Final = _references([object()], 0)
"""How many references to something are counted where a list alone holds it: versions of Python count differently."""


def is_alone(held: list[Any], place: int) -> bool:
    """Whether nothing but a list holds what is at a place in it: no name, no other container, no view."""
    return _references(held, place) == _OF_ONE


class Results:
    """The memory of the results of one step."""

    def __init__(self) -> None:
        self._kept: list[Any] = []
        self._lock = Lock()

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array whose numbers are still to be written.

        Views of a result hold its memory, not the result itself: as long as one of them is alive, it is not reused.
        """
        count = math.prod(shape) * dtype.itemsize
        if count < REUSED_FROM:
            return np.empty(shape, dtype)
        with self._lock:
            for place in range(len(self._kept)):
                if self._kept[place].nbytes == count and is_alone(self._kept, place):
                    return self._kept[place].view(dtype).reshape(shape)
            memory = np.empty(count, np.uint8)
            self._kept.append(memory)
            return memory.view(dtype).reshape(shape)

    def trim(self, results: int) -> None:
        """Let go of what was kept first, but for a few sets of so many results."""
        with self._lock:
            del self._kept[: max(len(self._kept) - SETS * results, 0)]
