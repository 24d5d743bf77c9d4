"""Work in this very process, ended where it hangs inside one call of a library and no loop looks at the clock."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from .budget import Budget, BudgetSpent

_LATE: Final = 0.5
"""Seconds that the loops have to notice it themselves, and until it is said again, where the first was caught."""


@contextmanager
def interrupted(budget: Budget) -> Iterator[None]:
    """Raise `BudgetSpent` inside whatever is running once the time of a budget is up.

    By a signal: only in the main thread, and not on every system; elsewhere the loops alone watch the clock.
    """
    able = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not able or signal.getitimer(signal.ITIMER_REAL)[0]:  # somebody's own alarm is running: theirs rings
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise BudgetSpent(f"not done within {budget.seconds:.3g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, budget.seconds_left + _LATE, _LATE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
