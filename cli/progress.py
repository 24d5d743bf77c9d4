"""How far a long run has come: a bar on stderr, where that is a terminal, that is never mixed with results."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar:
    """A bar of so many steps; nothing where stderr is no terminal. It is a context manager.

    Args:
        total: how many steps.
        words: what is being done.
    """

    def __init__(self, total: int, words: str) -> None:
        self._progress = _progress() if total > 1 and _terminal() else None
        if self._progress is not None:
            self._task = self._progress.add_task(words, total=total)

    def advance(self) -> None:
        """One step is done."""
        if self._progress is not None:
            self._progress.advance(self._task)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Take the bar away while results are written."""
        if self._progress is None:
            yield
            return
        self._progress.stop()
        yield
        self._progress.start()

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()


def _terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
