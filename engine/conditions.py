"""Under what conditions plans are run: workers, memory, and who is told how far they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What holds while plans are run.

    Attributes:
        workers: how many threads compute blocks; as many as there are cores if not given.
        memory: bytes that a run may take beside its inputs; three quarters of what is free if not given.
        watch: told from time to time which share of a run is done.
    """

    workers: int | None = None
    memory: int | None = None
    watch: Callable[[float], None] | None = None


SMALL: Final = 2**25
"""Bytes of all values together up to which nobody looks how much memory is free."""

_DEFAULT: Final = Conditions()
_current: Final[ContextVar[Conditions]] = ContextVar("conditions", default=_DEFAULT)


def current() -> Conditions:
    """The conditions that hold."""
    return _current.get()


@contextmanager
def under(conditions: Conditions) -> Iterator[None]:
    """Let other conditions hold while the block runs."""
    token = _current.set(conditions)
    try:
        yield
    finally:
        _current.reset(token)


def core_count() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def free_memory() -> int | None:
    """Bytes that programs can still take, or None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123  # pathlib costs 6 ms of a start
            for line in lines:
                name, _, rest = line.partition(":")
                if name == "MemAvailable":
                    return int(rest.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def most_of_free() -> int | None:
    """Three quarters of the bytes that programs can still take, or None where the system does not say."""
    free = free_memory()
    return None if free is None else free * 3 // 4


def memory_limit() -> int | None:
    """Bytes that a run may take beside its inputs; None where nothing is known."""
    given = current().memory
    return given if given is not None else most_of_free()


def limit_on(nbytes: int) -> int | None:
    """Bytes that a run whose values take so many may take beside its inputs; None where that is not looked at."""
    return memory_limit() if nbytes > SMALL or current().memory is not None else None


def in_bytes(count: float) -> str:
    """A number of bytes as a person writes it."""
    units = iter(("bytes", "kB", "MB", "GB", "TB"))
    unit = next(units)
    while count >= 1000 and unit != "TB":
        count /= 1000
        unit = next(units)
    return f"{count:.0f} bytes" if unit == "bytes" else f"{count:.3g} {unit}"
