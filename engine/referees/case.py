"""What a referee is asked and what it answers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from ..graph import Node

Verdict = Literal["agree", "disagree", "kink", "cannot judge", "skipped"]

AGREE: Final = "agree"
DISAGREE: Final = "disagree"
KINK: Final = "kink"
CANNOT: Final = "cannot judge"
SKIPPED: Final = "skipped"

SECONDS: Final = 5.0
"""How long all referees of one check may take together, unless the caller says otherwise."""

OPERATIONS: Final = 200_000
"""How many operations on exact numbers a referee may spend, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class Case:
    """A gradient to be checked.

    Attributes:
        outputs: the nodes that were differentiated.
        cotangents: the weight of each output, of its shape.
        wrt: the nodes that the gradient is taken with respect to, by name.
        gradients: what agrad gives for each of them; a name that is absent has a gradient of zeros.
    """

    outputs: list[Node]
    cotangents: list[Any]
    wrt: dict[str, Node]
    gradients: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one referee says.

    Attributes:
        name: "sympy", "mpmath" or "differences".
        verdict: `agree`, `disagree`, `kink`, `cannot judge` or `skipped`.
        digits: how many digits are right in the worst entry; None where nothing was compared. See `digits.py`.
        reason: why, where the verdict alone does not say it.
        entry: the worst entry, as in `x[0, 1]`.
        forms: the closed form of derivatives, by the name of the leaf; only from sympy.
    """

    name: str
    verdict: Verdict
    digits: int | None = None
    reason: str | None = None
    entry: str | None = None
    forms: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Check:
    """What all referees say together."""

    verdict: Verdict
    referees: list[Judgement]

    @classmethod
    def of(cls, referees: Iterable[Judgement]) -> Check:
        """One objection is an objection, a kink is a kink, and one agreement suffices where nobody objects."""
        referees = list(referees)
        verdicts = {judgement.verdict for judgement in referees}
        order: tuple[Verdict, ...] = (DISAGREE, KINK, AGREE, CANNOT)
        return cls(next((verdict for verdict in order if verdict in verdicts), SKIPPED), referees)


SKIPPED_CHECK: Final = Check(SKIPPED, [])
"""The check that was not asked for."""


class BudgetSpent(Exception):  # noqa: N818  # no error: the referee stops and says so
    """A referee has used up its operations or its seconds; it never leaves this package."""


class CannotJudge(Exception):  # noqa: N818  # no error: the referee's honest answer
    """A referee has no means to judge, for the reason given; it never leaves this package."""


class Budget:
    """Operations and seconds that a referee may spend; its loops call `spend`.

    Args:
        operations: how many operations on exact numbers.
        seconds: how long, from now on.
    """

    def __init__(self, operations: int = OPERATIONS, seconds: float = SECONDS) -> None:
        self.operations = operations
        self.seconds = seconds
        self._left = operations
        self._end = time.monotonic() + seconds
        self._poll = 0

    @property
    def seconds_left(self) -> float:
        """How much time is left; never negative."""
        return max(0.0, self._end - time.monotonic())

    def part(self, share: float) -> Budget:
        """A budget of its own with a share of what is left."""
        return Budget(int(self._left * share), self.seconds_left * share)

    def spend(self, operations: int = 1) -> None:
        """Count some operations.

        Raises:
            BudgetSpent: where there are none left, or no time.
        """
        self._left -= operations
        if self._left < 0:
            raise BudgetSpent(f"more than {self.operations:,} operations")
        self._poll += operations
        if self._poll >= 64:
            self._poll = 0
            self.require_time()

    def require_time(self) -> None:
        """Look at the clock, which `spend` does only now and then.

        Raises:
            BudgetSpent: where there is no time left.
        """
        if time.monotonic() > self._end:
            raise BudgetSpent(f"not done within {self.seconds:g} s")
