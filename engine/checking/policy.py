"""What counts as a failure, and how hard the referees look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..worker.budget import SECONDS
from .finding import FAILED, FAILURE, NOTED, PASSED, Outcome

POINTS: Final = 100
"""At how many points a claim is tried that nothing proves, unless the caller says otherwise."""

_PASSING: Final = frozenset({"agree", "proved", "holds", "refuted as expected"})
_FAILING: Final = frozenset({"disagree", "refuted", "moved", "added", "removed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a file is judged.

    Attributes:
        referees: the names of those to ask; empty for those that suit.
        against: further referees, each run beside the others.
        device: where values and gradients are computed; the CPU is one more referee of another device.
        digits: how many digits must be right; None for what the referees themselves call agreement.
        tolerance: the relative difference at which numbers of a claim or a lock still count as equal; None for theirs.
        seed: of random cotangents and of the points where claims are tried.
        points: at how many points.
        seconds: how long the referees may take for one gradient, and for one claim.
        strict: whether what cannot be judged fails.
        strict_kinks: whether a kink fails.
    """

    referees: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    device: str = "cpu"
    digits: int | None = None
    tolerance: float | None = None
    seed: int = 0
    points: int = POINTS
    seconds: float = SECONDS
    strict: bool = False
    strict_kinks: bool = False

    def outcome(self, verdict: str) -> Outcome:
        """What a verdict means."""
        if verdict in _PASSING:
            return PASSED
        strict = self.strict_kinks if verdict == "kink" else self.strict
        return FAILED if strict or verdict in _FAILING else NOTED


def code_of(outcome: Outcome) -> int:
    """The exit code that goes with an outcome of a verdict."""
    return FAILURE if outcome == FAILED else 0
