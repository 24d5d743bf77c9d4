"""Who judges in one thread: the referees of gradients, the worker that proves claims, and further referees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..referees.case import Case, Check, Judgement
from ..referees.panel import Referees
from ..referees.verdict import ALL
from ..run.device import Compute, compute_on
from ..worker.budget import OPERATIONS, Budget
from ..worker.process import Worker
from .policy import Policy

if TYPE_CHECKING:
    from ..claims import ClaimJudgement
    from ..language import Formulas
    from ..referees.device import Comparing


class EndedError(Exception):
    """The judges have been ended; nobody waits for what they would say."""


class Judges:
    """The judges of one thread; each starts when it is first asked, and answers for many files.

    Args:
        policy: how they judge.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._referees = Referees(seconds=policy.seconds, names=policy.referees or ALL)
        self._worker: Worker | None = None
        self._compute: Compute | None = None
        self._ended = False

    def comparing(self) -> Comparing:
        """The way to compute on the device that is asked for, which the CPU judges afterwards."""
        from ..referees.device import Comparing

        if self._compute is None:
            self._compute = compute_on(self._policy.device)
        return Comparing(self._compute)

    def check(self, case: Case) -> Check:
        """What the referees say of a gradient."""
        self._require_time()
        check = self._referees.check(case)
        if not self._policy.against:
            return check
        more = [self._against(case) for _ in self._policy.against]
        return replace(Check.of([*check.referees, *more]), blame=check.blame)

    def _against(self, case: Case) -> Judgement:
        from ..referees import against_torch

        return against_torch.judge(case, Budget(OPERATIONS, self._policy.seconds))

    def claims(self, formulas: Formulas) -> list[ClaimJudgement]:
        """What is said of the claims of a file."""
        if not formulas.claims:
            return []
        from ..claims import judge_claims
        from ..claims.child import MODULE

        self._require_time()
        if self._worker is None or not self._worker.alive:
            self._worker = Worker(MODULE)
        policy = self._policy
        return judge_claims(
            formulas,
            points=policy.points,
            seed=policy.seed,
            tolerance=policy.tolerance,
            seconds=policy.seconds,
            worker=self._worker,
        )

    def _require_time(self) -> None:
        if self._ended:
            raise EndedError

    def end(self) -> None:
        """End everything that was started, whatever it is doing; another thread may wait for it."""
        self._ended = True
        self._referees.__exit__(None, None, None)
        if self._worker is not None:
            self._worker.end()
