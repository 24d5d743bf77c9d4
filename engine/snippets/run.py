"""One snippet from text to its end: looked at, run within its limits, its ending put into words."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ..errors import AgradError, LimitError, OutputError, Source, Span
from .interpreter import Interpreter, Write
from .limits import Limits
from .places import Places
from .process import Line, alarm, confine, deep_calls, heard, told, watched
from .stop import Closed, Stop
from .syntax import parsed

FAILED: Final = 1
"""The exit code of a snippet that raises an error which it does not catch."""
CLOSED_PIPE: Final = 141
_LIMIT: Final = 3

After = Callable[[Interpreter, Places, Any], None]


@dataclass(frozen=True, slots=True)
class Streams:
    """Where a snippet writes.

    Attributes:
        output: takes the bytes of its standard output.
        tell: takes the text of warnings and errors.
    """

    output: Write
    tell: Callable[[str], object]


def run_snippet(
    source: Source,
    limits: Limits,
    streams: Streams,
    *,
    line: Line | None = None,
    after: After | None = None,
    confined: bool = False,
) -> int:
    """Run a snippet in this process; gives its exit code.

    Args:
        source: its text.
        limits: what it may use up.
        streams: where it writes.
        line: is told the line that is running.
        after: is given each statement of the top level once it has run.
        confined: whether this process is the snippet's own, and may be limited.

    Raises:
        InputError, SeveralErrors: where it is refused, before or while it runs.
        LimitError: where it uses up too much.
    """
    tree = parsed(source)
    places = Places(source)
    from .torch_side import connect, imported, library, modules

    names = imported(tree)

    run = Interpreter(
        limits,
        streams.output,
        modules=modules(names),
        library=library(names),
        tell=streams.tell,
        name=source.name,
    )
    run.warnings.source_line = places.line
    run.on_statement = line.set if line is not None else None
    if confined:
        confine(limits.memory, limits.seconds)
    try:
        with deep_calls(), connect(run, places, names), run.warnings:
            if confined:
                with alarm(limits.seconds, run.meter.out_of_time):
                    _run(run, tree, places, after)
            else:
                _run(run, tree, places, after)
    except Stop as stop:
        raise _located(stop.reason, run, places) from None
    except MemoryError as error:
        raise _located(_out_of_memory(error, limits), run, places) from None
    except Closed:
        return CLOSED_PIPE
    except Exception as error:
        from .failure import failure_text

        streams.tell(failure_text(error, run, tree, places) + "\n")
        return _LIMIT if isinstance(error, RecursionError) else FAILED
    return 0


def _run(run: Interpreter, tree: Any, places: Places, after: After | None) -> None:
    run.run(tree, None if after is None else lambda statement: after(run, places, statement))


def _out_of_memory(error: MemoryError, limits: Limits) -> LimitError:
    """The library says what would be too large; Python and NumPy only that there is no room."""
    hint = getattr(error, "hint", None)
    if hint is not None and str(error):
        return LimitError(str(error), hint=hint)
    return LimitError(f"more than {limits.memory >> 20} MiB of memory", code="memory")


def _located(reason: AgradError, run: Interpreter, places: Places) -> AgradError:
    reason.spans = reason.spans or (places.span(run.failed_at if run.failed is not None else run.at),)
    reason.source = places.source
    return reason


def run_watched(source: Source, limits: Limits, *, after: After | None = None, traceback: bool = False) -> int:
    """Run a snippet in a process of its own, its output on our standard output; gives its exit code.

    Args:
        source: its text.
        limits: what it may use up.
        after: is given each statement of the top level once it has run, in that process.
        traceback: whether a bug of ours shows where it is.

    Raises:
        InputError, SeveralErrors, LimitError: as `run_snippet`.
        OutputError: where there is no standard output, or it cannot be written.
        KeyboardInterrupt: where the person interrupts.
    """
    if sys.stdout is None:  # a pipe of ours would be given its number
        raise OutputError("cannot write the output: the standard output is closed")
    streams = Streams(lambda data: _write_all(1, data), _complain if sys.stderr is not None else str)
    if not hasattr(os, "fork"):  # this system cannot watch a copy of a process: the limits count, but cannot interrupt
        return run_snippet(source, limits, streams, after=after)
    line = Line()

    def work() -> dict[str, Any]:
        gc.freeze()
        gc.enable()  # a snippet's functions and their names hold each other
        try:
            return {"code": run_snippet(source, limits, streams, line=line, after=after, confined=True)}
        except AgradError as error:
            return {"errors": told(error)}
        except Exception as bug:
            if traceback:
                import traceback as tracebacks

                streams.tell("".join(tracebacks.format_exception(bug)))
            return {"bug": f"{type(bug).__name__}: {bug}"[:1000]}

    ending = watched(work, limits.seconds)
    return _concluded(ending.answer, ending.status, ending.late, source, limits, line.get())


def _concluded(
    answer: dict[str, Any] | None, status: int, late: bool, source: Source, limits: Limits, number: int
) -> int:
    if answer is not None and "code" in answer:
        return int(answer["code"])
    if answer is not None and "errors" in answer:
        raise heard(answer["errors"], source)
    if answer is not None:
        raise RuntimeError(f"while a snippet ran: {answer['bug']}")
    if late:
        error = LimitError(f"more than {limits.seconds:g} s of time", hint="allow it more with --timeout")
    elif status == signal.SIGKILL:
        error = LimitError(f"more than {limits.memory >> 20} MiB of memory", code="memory")
    else:
        named = signal.Signals(status).name if status else "its own doing"
        error = LimitError(f"the snippet broke the Python that ran it (ended by {named})", code="crash")
    places = Places(source)
    start = places.offset(number, 0)
    text = places.line(number)
    start += len(text) - len(text.lstrip())
    error.spans = (Span(start, max(start + 1, start + len(text.strip()))),)
    error.source = source
    raise error


def _complain(text: str) -> None:
    with contextlib.suppress(OSError):  # nobody is left to be told
        _write_all(2, text.encode("utf-8", "backslashreplace"))


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


__all__ = ["FAILED", "Streams", "run_snippet", "run_watched"]
