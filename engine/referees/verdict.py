"""The check of a gradient: which referees suit a case, run so that nothing can hang, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from ..graph import ancestors
from . import differences, precise, symbolic
from .case import CANNOT, OPERATIONS, SECONDS, SKIPPED_CHECK, Budget, CannotJudge, Case, Check, Judgement
from .description import described
from .forward import cost_of
from .process import RefereeProcess

NAMES: Final = (symbolic.NAME, precise.NAME)
_SYMBOLIC_OPERATIONS: Final = 4_000
_SYMBOLIC_ENTRIES: Final = 200
_LARGEST_GRAPH: Final = 100_000


class RunningCheck:
    """A check that is under way; `finish` waits for it, `stop` gives it up.

    Args:
        now: what has been said already.
        order: the names of the referees, as they are to be reported.
        process: the process that the others are asked in, if any.
        seconds: its limit.
        case: the case, and the budget for the differences, where they are asked too.
    """

    def __init__(
        self,
        now: Sequence[Judgement],
        order: Sequence[str],
        process: RefereeProcess | None,
        seconds: float,
        late: tuple[Case, Budget] | None = None,
    ) -> None:
        self._said = {judgement.name: judgement for judgement in now}
        self._order = order
        self._process = process
        self._seconds = seconds
        self._late = late

    def finish(self) -> Check:
        """Wait for the referees, at most for their time, and say what they say together."""
        if self._late is not None:
            self._said[differences.NAME] = _differences(*self._late)
            self._late = None
        if self._process is not None:
            self._read(self._process.answers(self._seconds))
            self._process = None
        missing = Judgement("", CANNOT, None, f"no answer within {self._seconds:g} s, or out of memory")
        return Check.of(self._said.get(name, replace(missing, name=name)) for name in self._order)

    def _read(self, answers: Sequence[dict[str, Any]]) -> None:
        for answer in answers:
            if "name" in answer:
                self._said[answer["name"]] = Judgement(**answer)
            elif symbolic.NAME in self._said:
                self._said[symbolic.NAME] = replace(self._said[symbolic.NAME], forms=answer["forms"])

    def stop(self) -> None:
        """Give it up."""
        if self._process is not None:
            self._process.end()
            self._process = None


def start_check(
    case: Case,
    *,
    seconds: float = SECONDS,
    operations: int = OPERATIONS,
    referees: Sequence[str] = NAMES,
    process: RefereeProcess | None = None,
) -> RunningCheck:
    """Ask the referees that suit a case, and go on; `finish()` gives their verdict.

    A graph that is too large for exact numbers is left to differences in float64, which run in `finish`.

    Args:
        case: the gradient to be checked.
        seconds: how long all referees together may take.
        operations: how many operations on exact numbers each may spend.
        referees: the names of those to ask.
        process: one that was started early, so that its imports are done; it is used or ended here.
    """
    order, directions = suited(case, operations, referees)
    if not order:
        if process is not None:
            process.end()
        return RunningCheck([], [differences.NAME], None, seconds, (case, Budget(operations, seconds)))
    try:
        text = described(case)
        process = process or RefereeProcess(order[0])
    except (CannotJudge, OSError) as reason:
        if process is not None:
            process.end()
        return RunningCheck([Judgement(name, CANNOT, None, str(reason)) for name in order], order, None, seconds)
    # The fast one first: what it learns of the point helps the other.
    asked = sorted(order, key=lambda name: name != precise.NAME)
    process.ask(
        {"case": text, "seconds": seconds, "operations": operations, "referees": asked, "directions": directions}
    )
    return RunningCheck([], order, process, seconds)


def check(
    case: Case, *, seconds: float = SECONDS, operations: int = OPERATIONS, referees: Sequence[str] = NAMES
) -> Check:
    """Ask the referees and wait for their verdict; see `start_check`."""
    return start_check(case, seconds=seconds, operations=operations, referees=referees).finish()


def suited(case: Case, operations: int, referees: Sequence[str]) -> tuple[list[str], bool]:
    """The referees whose budget a case fits, and whether mpmath is to look along random directions only."""
    nodes = ancestors([*case.outputs, *case.wrt.values()])
    if len(nodes) > _LARGEST_GRAPH or sum(node.size for node in nodes) > operations:
        return [], False
    once = sum(cost_of(node) for node in nodes)
    entries = sum(node.size for node in case.wrt.values())
    chosen = []
    if symbolic.NAME in referees and once <= _SYMBOLIC_OPERATIONS and entries <= _SYMBOLIC_ENTRIES:
        chosen.append(symbolic.NAME)
    directions = precise.cost(case, nodes) > operations
    if precise.NAME in referees and once * 2 * precise.DIRECTIONS <= operations:
        chosen.append(precise.NAME)
    return chosen, directions


def _differences(case: Case, budget: Budget) -> Judgement:
    try:
        return differences.judge(case, budget)
    except Exception as error:  # a referee that fails has no say
        return Judgement(differences.NAME, CANNOT, None, f"{type(error).__name__}: {error}")


__all__ = ["NAMES", "SKIPPED_CHECK", "RunningCheck", "check", "start_check", "suited"]
