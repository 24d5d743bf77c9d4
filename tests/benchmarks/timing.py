"""The clock, and the memory of this process as Linux counts it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

_STATUS: Final = Path("/proc/self/status")
_CLEAR: Final = Path("/proc/self/clear_refs")


class Times(NamedTuple):
    """The times of some calls, in seconds.

    Attributes:
        wall: of each, by the clock on the wall.
        cpu: of each, of all threads on the cores; what disturbs the machine counts less here.
    """

    wall: list[float]
    cpu: list[float]


def times(call: Callable[[], Any], budget: float, most: int) -> Times:
    """The times of some calls: as many as fit into the budget, at least one.

    Args:
        call: what is timed; its result is dropped before the next call.
        budget: seconds for all.
        most: how many calls at most.
    """
    gc.collect()
    taken = Times([], [])
    end = time.perf_counter() + budget
    while not taken.wall or (len(taken.wall) < most and time.perf_counter() < end):
        on_cores = time.process_time()
        begin = time.perf_counter()
        call()
        taken.wall.append(time.perf_counter() - begin)
        taken.cpu.append(time.process_time() - on_cores)
    return taken


def memory_mb(field: str) -> float | None:
    """A field of this process's memory in MB, VmRSS (now) or VmHWM (the peak); None where the system does not tell."""
    try:
        lines = _STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(field + ":")), None)


def forget_peak() -> None:
    """Make the peak what is in use now, where the system lets it be done."""
    try:
        _CLEAR.write_text("5", encoding="ascii")
    except OSError:
        return
