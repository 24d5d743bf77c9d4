"""Referees for many cases: one process after another of them is asked, and started anew where it had to be ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from ..worker.budget import MEMORY, OPERATIONS, SECONDS
from .case import Case, Check
from .process import RefereeProcess
from .verdict import NAMES, RunningCheck, start_check


class Referees:
    """Referees that judge case after case in one process, so that SymPy is imported once.

    It is a context manager: leaving it ends the process. One thread at a time may use it.

    Args:
        seconds: how long the referees may take for one case together.
        operations: how many operations on exact numbers each may spend on it.
        names: those to ask, of `verdict.ALL`.
        memory: how many bytes their process may take for one case.
    """

    def __init__(
        self,
        *,
        seconds: float = SECONDS,
        operations: int = OPERATIONS,
        names: Sequence[str] = NAMES,
        memory: int = MEMORY,
    ) -> None:
        self._seconds = seconds
        self._operations = operations
        self._names = names
        self._memory = memory
        self._process: RefereeProcess | None = None

    def start(self, case: Case) -> RunningCheck:
        """Ask about a case and go on; it must be finished or stopped before the next one starts."""
        if self._process is None or not self._process.alive:
            self._process = RefereeProcess()
        return start_check(
            case,
            seconds=self._seconds,
            operations=self._operations,
            memory=self._memory,
            referees=self._names,
            process=self._process,
            keep=True,
        )

    def check(self, case: Case) -> Check:
        """What the referees say of a case."""
        return self.start(case).finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None
