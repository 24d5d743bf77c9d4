"""What `agrad run` does once its options are known: read the script, run it, trace it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from agrad.engine.errors import InputError, Source
from agrad.engine.snippets import Limits, run_watched

if TYPE_CHECKING:
    from agrad.engine.snippets import After


def run(file: str, *, timeout: float, trace: bool, traceback: bool) -> int:
    """Run a script; gives the exit code."""
    source = read_script(file)
    after: After | None = None
    if trace:
        from .trace import tracer

        after = tracer()
    return run_watched(source, Limits(seconds=timeout), after=after, traceback=traceback)


def read_script(file: str) -> Source:
    """The text of a script; `-` is the standard input.

    Raises:
        InputError: where it cannot be read, or is no text.
    """
    from agrad.engine.files.texts import decoded, read_text

    if file != "-":
        return Source(read_text(file), file)
    if sys.stdin is None:
        raise InputError("there is no standard input to read", code="file")
    try:
        return Source(decoded(sys.stdin.buffer, "<stdin>"), "<stdin>")
    except OSError as fault:
        raise InputError(f"cannot read the standard input: {fault.strerror or fault}", code="file") from None
