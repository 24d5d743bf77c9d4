"""What a piece of work may spend, and the word that it has spent it."""

from __future__ import annotations

import time
from typing import Final

SECONDS: Final = 5.0
"""How long one request may take, unless the caller says otherwise."""

OPERATIONS: Final = 200_000
"""How many operations on exact numbers a piece of work may spend, unless the caller says otherwise."""

MEMORY: Final = 1 << 30
"""How many bytes a worker may take for one request beyond what it has, unless the caller says otherwise."""

_POLLED: Final = 64


class BudgetSpent(Exception):  # noqa: N818  # no error: the work stops and says so
    """Operations or seconds are used up; it never leaves the engine."""


class Budget:
    """Operations and seconds that a piece of work may spend; its loops call `spend`.

    Args:
        operations: how many operations on exact numbers.
        seconds: how long, from now on.
    """

    def __init__(self, operations: int = OPERATIONS, seconds: float = SECONDS) -> None:
        self.operations = operations
        self.seconds = seconds
        self._left = operations
        self._end = time.monotonic() + seconds
        self._poll = 0

    @property
    def seconds_left(self) -> float:
        """How much time is left; never negative."""
        return max(0.0, self._end - time.monotonic())

    def part(self, share: float) -> Budget:
        """A budget of its own with a share of what is left."""
        return Budget(int(self._left * share), self.seconds_left * share)

    def spend(self, operations: int = 1) -> None:
        """Count some operations.

        Raises:
            BudgetSpent: where there are none left, or no time.
        """
        self._left -= operations
        if self._left < 0:
            raise BudgetSpent(f"more than {self.operations:,} operations")
        self._poll += operations
        if self._poll >= _POLLED:
            self._poll = 0
            self.require_time()

    def require_time(self) -> None:
        """Look at the clock, which `spend` does only now and then.

        Raises:
            BudgetSpent: where there is no time left.
        """
        if time.monotonic() > self._end:
            raise BudgetSpent(f"not done within {self.seconds:.3g} s")
