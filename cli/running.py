"""Under what conditions a command computes: how much memory it may take, and the bar that shows how far it is."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from agrad.engine.errors import InputError

from .progress import Bar

PATIENCE: Final = 1.0
"""Seconds before a person at a terminal is shown how far the work is."""

_WHOLE: Final = 100

_LONGEST: Final = 24
_SIZE: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def bytes_of(text: str) -> int:
    """A size such as 500MB, 2G or 1.5GiB in bytes.

    Raises:
        InputError: where it is none, or more than can be counted.
    """
    found = _SIZE.fullmatch(text)
    said = repr(text) if len(text) <= _LONGEST else f"{text[:_LONGEST]!r}..."
    if found is None:
        raise InputError(f"--max-memory {said}: no size", hint="write 500MB, 2GB or 1.5GiB", code="usage")
    number, prefix, binary = found.groups()
    size = float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix.lower() or " ")
    if size > sys.maxsize:
        raise InputError(
            f"--max-memory {said}: more than any machine has", hint="write 500MB, 2GB or 1.5GiB", code="usage"
        )
    return int(size)


class Waiting:
    """A bar that appears when the work has taken a while, and goes when it ends."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._bar: Bar | None = None
        self._shown = 0

    def tell(self, share: float) -> None:
        """Take which share of the work is done."""
        percent = int(_WHOLE * share)
        if self._bar is not None and percent < self._shown:  # another piece of work has begun
            self.end()
        if self._bar is None:
            if time.monotonic() - self._start < PATIENCE:
                return
            self._bar = Bar(_WHOLE, "computing")
            self._bar.__enter__()
        while self._shown < percent:
            self._bar.advance()
            self._shown += 1
        if percent >= _WHOLE:
            self.end()

    def end(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.__exit__()
            self._bar = None
        self._shown = 0


@contextmanager
def running(max_memory: str | None) -> Iterator[None]:
    """Let a command compute under the conditions that its options and its terminal set."""
    memory = None if max_memory is None else bytes_of(max_memory)
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if memory is None and not terminal:
        yield
        return
    from agrad.engine.conditions import Conditions, under

    waiting = Waiting()
    try:
        with under(Conditions(memory=memory, watch=waiting.tell if terminal else None)):
            yield
    finally:
        waiting.end()
