"""A snippet runs in a process of its own, which another one watches: whatever it does, it can be ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from ..errors import AgradError, InputError, LimitError, OutputError, SeveralErrors, Source, Span

_GRACE: Final = 1.0
"""Seconds that a snippet has, past its time, to end by itself."""
_LONGEST: Final = 60_000
"""Bytes of an answer: less than a pipe holds."""
_STACK: Final = 96 * 2**20
"""Bytes: more than so many calls need, also those of C that Python counts."""


class Line:
    """The line that is running, seen by both processes."""

    def __init__(self) -> None:
        import mmap

        self._shared = memoryview(mmap.mmap(-1, 8)).cast("q")
        self.set(1)

    def set(self, number: int) -> None:
        """Tell the line."""
        self._shared[0] = number

    def get(self) -> int:
        """The line told last."""
        return int(self._shared[0])


@dataclass(frozen=True, slots=True)
class Ending:
    """How a watched process ended.

    Attributes:
        answer: what it gave; None where it did not come to that.
        status: the signal that ended it; 0 for none.
        late: whether it was ended because of its time.
    """

    answer: dict[str, Any] | None
    status: int = 0
    late: bool = False


def watched(work: Callable[[], dict[str, Any]], seconds: float) -> Ending:
    """Do work in a child process, and end it when it takes too long.

    Args:
        work: gives an answer that JSON can write.
        seconds: how long it may take; it is given a second more to end by itself.

    Raises:
        KeyboardInterrupt: where the person interrupts; the child is gone by then.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _work(work, write)
    os.close(write)
    try:
        data, late = _answer(read, seconds + _GRACE)
        if late:
            _kill(child)
        _, status = os.waitpid(child, 0)
    except BaseException:
        _kill(child)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
        raise
    finally:
        os.close(read)
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if ended_by == signal.SIGINT:
        raise KeyboardInterrupt
    try:
        return Ending(json.loads(data), ended_by, late)
    except ValueError:
        return Ending(None, ended_by, late)


def _kill(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)


def _answer(read: int, seconds: float) -> tuple[bytes, bool]:
    """What the child writes before it ends, and whether it has not ended in time."""
    deadline = time.monotonic() + seconds
    data = b""
    while True:
        ready, _, _ = select.select([read], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return data, True
        part = os.read(read, 65536)
        if not part:
            return data, False
        data += part


def _work(work: Callable[[], dict[str, Any]], write: int) -> NoReturn:
    """The life of the child; it never returns into the program that it is a copy of."""
    try:
        # Ctrl-C ends it at once, also within one long operation of C; the parent says the rest.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        answer = work()
        os.write(write, json.dumps(answer).encode()[:_LONGEST])
    finally:
        # Nothing of the parent's is to be flushed or taken down twice.
        os._exit(0)


@contextlib.contextmanager
def alarm(seconds: float, ring: Callable[[], None]) -> Iterator[None]:
    """Call a function after some time, within whatever of Python is running then, and again until it has ended."""
    on = True

    def rung(_signal: int, _frame: Any) -> None:
        if on:
            ring()

    signal.signal(signal.SIGALRM, rung)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)
    try:
        yield
    finally:
        on = False
        signal.setitimer(signal.ITIMER_REAL, 0)


def confine(memory: int, seconds: float) -> None:
    """Limit this process: what it allocates from now on, its stack, the time of its processors if nobody watches."""
    try:
        import resource
    except ImportError:  # this system has no such limits
        return
    data = _allocated()
    wanted = [
        (resource.RLIMIT_STACK, _STACK),
        (resource.RLIMIT_CPU, int(seconds * min(8, os.cpu_count() or 1)) + 5),
        (resource.RLIMIT_CORE, 0),
    ]
    if data is not None:
        wanted.append((resource.RLIMIT_DATA, data + memory))
    for kind, most in wanted:
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most if kind == resource.RLIMIT_CORE else hard))


@contextlib.contextmanager
def deep_calls() -> Iterator[None]:
    """Let Python nest its own calls deeply: the interpreter counts those of the snippet, each of them many of ours."""
    kept = sys.getrecursionlimit()
    sys.setrecursionlimit(max(kept, 100_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(kept)


def _allocated() -> int | None:
    """The bytes that this process has asked for; None where the system does not tell."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123  # as in files.py
            for line in status:
                if line.startswith("VmData:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


# --- errors from one process to another --------------------------------------------------------------------------

_KINDS: Final = {each.__name__: each for each in (InputError, LimitError, OutputError)}


def told(error: AgradError) -> list[dict[str, Any]]:
    """An error, or several, as JSON."""
    errors = error.errors if isinstance(error, SeveralErrors) else [error]
    return [
        {
            "kind": next((name for name, kind in _KINDS.items() if type(each) is kind), "InputError"),
            "message": each.message[:2000],
            "hint": each.hint[:2000],
            "spans": [list(span) for span in each.spans],
            "code": each.code,
        }
        for each in errors
    ]


def heard(errors: list[dict[str, Any]], source: Source) -> AgradError:
    """The error, or the several, that `told` has told."""
    found: list[AgradError] = []
    for each in errors:
        error = _KINDS[each["kind"]](each["message"], hint=each["hint"], code=each["code"])
        error.spans = tuple(Span(*span) for span in each["spans"])
        error.source = source
        found.append(error)
    if len(found) == 1:
        return found[0]
    several = SeveralErrors(found)
    several.source = source
    return several
