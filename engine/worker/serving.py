"""The inside of a worker: one request a line in, answers a line each out, every request within its limits.

A line `{"started": ...}` says when a request was read, `{"done": true}` that its answers are complete; `"last": true`
beside it, that the process ends now, because its memory was short.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType
from typing import Any, Final

from .budget import MEMORY, OPERATIONS, SECONDS, Budget, BudgetSpent

Handle = Callable[[dict[str, Any], Budget], Iterator[dict[str, Any]]]
"""From a request and its budget to its answers: plain data."""

_AGAIN: Final = 0.1
"""Seconds after which the alarm rings again: somebody may have caught the first one."""


def serve(handle: Handle, *imports: str) -> None:
    """Answer requests until the standard input ends.

    A request may hold `seconds`, `operations` and `memory` (bytes beyond what the process has). What goes wrong in
    `handle` becomes its last answer, `{"error": ..., "kind": "budget" | "memory" | "import" | "failure"}`.

    Args:
        handle: does the work.
        imports: modules to import while there is no request yet; those that are not installed are left out.
    """
    gc.disable()  # the imports make a million objects and no garbage
    for name in imports:
        with suppress(ImportError):
            import_module(name)
    gc.freeze()
    gc.enable()
    alarm = _Alarm()
    for line in sys.stdin.buffer:
        if line.strip() and not _answered(handle, line, alarm):
            return


def _answered(handle: Handle, line: bytes, alarm: _Alarm) -> bool:
    """Answer one request; gives whether the process is fit for another one."""
    _write({"started": time.monotonic()})
    fit = True
    try:
        with alarm:
            request = json.loads(line)
            _limit_memory(request.get("memory", MEMORY))
            budget = Budget(request.get("operations", OPERATIONS), request.get("seconds", SECONDS))
            alarm.set(budget)
            for answer in handle(request, budget):
                with alarm.silent():
                    _write(answer)
    except MemoryError:
        fit = False
    except Exception as error:  # whatever goes wrong is an answer
        alarm.off()
        _write(told(error))
    if not fit:
        alarm.off()
        _free_memory()
        _write(told(MemoryError()))
    _write({"done": True} if fit else {"done": True, "last": True})
    return fit


def told(error: Exception) -> dict[str, Any]:
    """What went wrong, as an answer."""
    if isinstance(error, BudgetSpent):
        return {"error": str(error), "kind": "budget"}
    if isinstance(error, MemoryError):
        return {"error": "out of memory", "kind": "memory"}
    if isinstance(error, OverflowError):
        return {"error": "a number with too many digits", "kind": "failure"}
    if isinstance(error, ImportError):
        return {"error": f"{error.name} is not installed", "kind": "import"}
    return {"error": f"{type(error).__name__}: {error}", "kind": "failure"}


def _write(answer: dict[str, Any]) -> None:
    line = json.dumps(answer).encode() + b"\n"
    while line:
        line = line[os.write(1, line) :]


class _Alarm:
    """Raises `BudgetSpent` within whatever is running when the time is up; the parent kills what does not stop then."""

    def __init__(self) -> None:
        self._on = False
        self._words = ""
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, self._ring)

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        if self._on:
            raise BudgetSpent(self._words)

    def set(self, budget: Budget) -> None:
        """Ring when the budget's time is up."""
        self._words = f"not done within {budget.seconds:.3g} s"
        self._on = True
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, max(budget.seconds, 1e-3), _AGAIN)

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Do not ring just now: half a line would be written."""
        self._on = False
        yield
        self._on = True

    def __enter__(self) -> None:
        self._on = False

    def __exit__(self, *_: object) -> None:
        self.off()

    def off(self) -> None:
        """Ring no more."""
        self._on = False
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def _limit_memory(memory: int) -> None:
    with suppress(ImportError, OSError, ValueError):  # not on every system
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        with suppress(OSError), open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123  # no need of pathlib
            used = int(statm.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = used + memory
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))


def _free_memory() -> None:
    """Let the last words be written."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
