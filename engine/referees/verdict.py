"""The check of a gradient: which referees suit a case, run so that nothing can hang, and what they say together."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from ..errors import AgradError
from ..graph import Node, ancestors
from ..worker.budget import MEMORY, OPERATIONS, SECONDS, Budget
from . import differences, precise, symbolic
from .alone import op_cases, packed
from .case import CANNOT, DISAGREE, KINK, SKIPPED_CHECK, Blame, CannotJudge, Case, Check, Judgement, Verdict
from .chain import follows_rules
from .description import described
from .hearing import suited
from .process import RefereeProcess

NAMES: Final = (symbolic.NAME, precise.NAME)
"""The referees that are asked where the caller does not say which; differences where a case suits neither."""
ALL: Final = (*NAMES, differences.NAME)

_LEAST: Final = 0.5
"""Seconds for the search for the op that is to blame, where the referees have used up theirs."""
_PORTION: Final = 100
_PORTION_SIZE: Final = 100_000
"""Ops, and numbers in them, that are described at a time."""


class RunningCheck:
    """A check that is under way; `finish` waits for it, `stop` gives it up.

    Args:
        case: what is checked.
        order: the names of the referees, as they are to be reported.
        process: the process that the exact ones were asked in, if any.
        budget: what each may spend.
        reason: why there is no process, where one was wanted.
        keep: leave the process alive for other cases.
    """

    def __init__(
        self,
        case: Case,
        order: Sequence[str],
        process: RefereeProcess | None,
        budget: Budget,
        *,
        reason: str | None = None,
        keep: bool = False,
    ) -> None:
        self._case = case
        self._order = order
        self._process = process
        self._budget = budget
        self._reason = reason
        self._keep = keep

    def finish(self) -> Check:
        """Wait for the referees, at most for their time, and say what they say together."""
        begin = time.monotonic()
        said: dict[str, Judgement] = {}
        if differences.NAME in self._order:
            said[differences.NAME] = _differences(self._case, Budget(self._budget.operations, self._budget.seconds))
        if self._process is not None:
            self._read(self._process.answers(self._budget.seconds), said)
        reason = self._reason or f"no answer within {self._budget.seconds:g} s, or out of memory"
        check = Check.of(said.get(name) or Judgement(name, CANNOT, None, reason) for name in self._order)
        if check.verdict == DISAGREE:
            left = max(_LEAST, self._budget.seconds - (time.monotonic() - begin))
            check = self._searched(check, Budget(self._budget.operations, left))
        if not self._keep:
            self.stop()
        return check

    def _searched(self, check: Check, budget: Budget) -> Check:
        """A check with an objection, once the op that is wrong was looked for, as far as the time goes."""
        with suppress(OSError, AgradError, CannotJudge):
            if self._process is None or not self._process.alive:
                self.stop()
                self._process, self._keep = RefereeProcess("mpmath"), False
            cleared, at_kinks = True, False
            whole = _described_if_small(self._case, budget.operations)
            for nodes, cases in _portions(self._case):
                request = {"ops": cases, "seconds": budget.seconds_left, "operations": budget.operations}
                self._process.ask({"case": whole, **request})
                found = next((answer for answer in self._process.answers(budget.seconds_left) if "wrong" in answer), {})
                wrong = found.get("wrong")
                if wrong is not None:
                    node = nodes[wrong["position"]]
                    return replace(check, blame=Blame(node, wrong["fault"], wrong["argument"], wrong["reason"]))
                cleared = cleared and len(cases) == len(nodes) and found.get("cleared", False)
                at_kinks = at_kinks or found.get("at_kinks", False)
                if not self._process.alive or budget.seconds_left == 0:
                    return check
            if cleared and follows_rules(self._case):
                return _withdrawn(check, at_kinks=at_kinks)
        return check

    def _read(self, answers: Sequence[dict[str, Any]], said: dict[str, Judgement]) -> None:
        for answer in answers:
            if "name" in answer:
                said[answer["name"]] = Judgement(**answer)
            elif "error" in answer:
                self._reason = answer["error"]
            elif symbolic.NAME in said:
                said[symbolic.NAME] = replace(said[symbolic.NAME], forms=answer["forms"])

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
    memory: int = MEMORY,
    referees: Sequence[str] = NAMES,
    process: RefereeProcess | None = None,
    keep: bool = False,
) -> RunningCheck:
    """Ask the referees that suit a case, and go on; `finish()` gives their verdict.

    A graph that is too large for exact numbers is left to differences in float64, which run in `finish`.

    Args:
        case: the gradient to be checked.
        seconds: how long all referees together may take.
        operations: how many operations on exact numbers each may spend.
        memory: how many bytes their process may take for it.
        referees: the names of those to ask.
        process: one that was started early, so that its imports are done; it is used or ended here.
        keep: leave that process alive, for other cases.
    """
    order, directions = suited(case, operations, referees)
    asked = [name for name in order if name != differences.NAME]
    budget = Budget(operations, seconds)
    reason = None
    if asked:
        try:
            text = described(case)
            process = process or RefereeProcess(asked[0])
        except (CannotJudge, OSError) as error:
            reason, asked = str(error), []
    if not asked:
        if process is not None and not keep:
            process.end()
        return RunningCheck(case, order, None, budget, reason=reason)
    assert process is not None
    # The fast one first: what it learns of the point helps the other.
    asked.sort(key=lambda name: name != precise.NAME)
    limits = {"seconds": seconds, "operations": operations, "memory": memory}
    process.ask({"case": text, "referees": asked, "directions": directions, **limits})
    return RunningCheck(case, order, process, budget, keep=keep)


def check(
    case: Case, *, seconds: float = SECONDS, operations: int = OPERATIONS, referees: Sequence[str] = NAMES
) -> Check:
    """Ask the referees and wait for their verdict; see `start_check`."""
    return start_check(case, seconds=seconds, operations=operations, referees=referees).finish()


def _withdrawn(check: Check, *, at_kinks: bool) -> Check:
    """A check without its objections, where every op is right by itself and so is how they are put together.

    Then the gradient is the true one of nearly the same numbers, and what is left to object to is their rounding.
    """
    verdict: Verdict = KINK if at_kinks else CANNOT
    what = "rounded numbers meet a kink" if at_kinks else "rounding on the way is what is left"
    words = f"every op is right by itself, and {what}"
    return Check.of(
        replace(judgement, verdict=verdict, reason=f"{words}; {judgement.reason}")
        if judgement.verdict == DISAGREE
        else judgement
        for judgement in check.referees
    )


def _described_if_small(case: Case, operations: int) -> str | None:
    """The text of a case; None where it is too large for exact numbers, or plain data cannot describe it."""
    with suppress(CannotJudge):
        if sum(node.size for node in ancestors(case.outputs)) <= operations:
            return described(case)
    return None


def _portions(case: Case) -> Iterator[tuple[list[Node], list[dict[str, Any]]]]:
    """The ops of a case, some at a time, so that the first wrong one is found before all are described.

    There are fewer cases than nodes where some cannot be looked at.
    """
    nodes: list[Node] = []
    cases: list[dict[str, Any]] = []
    size = 0
    left_out: list[Node] = []
    for node, op_case in op_cases(case):
        data = None
        if op_case is not None:
            with suppress(CannotJudge):  # one that plain data cannot describe is left out
                data = packed(op_case)
        if data is None:
            left_out.append(node)
        else:
            cases.append(data)
            nodes.append(node)
        size += sum(part.size for part in (node, *node.args))
        if len(nodes) >= _PORTION or size >= _PORTION_SIZE:
            yield nodes + left_out, cases
            nodes, cases, size, left_out = [], [], 0, []
    if nodes or left_out:
        yield nodes + left_out, cases


def _differences(case: Case, budget: Budget) -> Judgement:
    try:
        return differences.judge(case, budget)
    except Exception as error:  # a referee that fails has no say
        return Judgement(differences.NAME, CANNOT, None, f"{type(error).__name__}: {error}")


__all__ = ["ALL", "NAMES", "SKIPPED_CHECK", "RunningCheck", "check", "start_check", "suited"]
