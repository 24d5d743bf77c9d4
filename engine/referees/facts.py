"""What the referee of high precision has found out about a function, for the others to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .case import Judgement
from .digits import MOST, Entry


@dataclass(slots=True)
class Facts:
    """What this referee found out about the function (not about agrad's gradient), for the other referee to know.

    Attributes:
        kinks: entries that lie on a kink, or within rounding of one.
        losses: entries of which floating point cannot know more digits.
        rounded: entries that are nothing but rounding beside the largest entry.
        overflow: the op whose value does not fit into its dtype.
        underflow: what is too small for its dtype, or which slope or gradient on the way is out of its range, or where
            the sign of a zero decides, which exact numbers do not have.
        complete: whether every entry was looked at.
    """

    kinks: set[str] = field(default_factory=set)
    losses: set[str] = field(default_factory=set)
    rounded: set[str] = field(default_factory=set)
    overflow: str | None = None
    underflow: str | None = None
    complete: bool = False

    def joined(self, more: Facts) -> Facts:
        """These, of some entries, and those of others."""
        return Facts(
            self.kinks | more.kinks,
            self.losses | more.losses,
            self.rounded | more.rounded,
            more.overflow or self.overflow,
            more.underflow or self.underflow,
            more.complete,
        )

    def explain(self, entries: Sequence[Entry]) -> bool:
        """Whether all of some entries stand at a kink, have lost their digits, or are what an overflow leaves."""
        if self.underflow is not None or (self.overflow is not None and not is_number(entries)):
            return True
        return {entry.label for entry in entries} <= self.kinks | self.losses


def is_number(objections: Sequence[Entry]) -> bool:
    """Whether some of what agrad gives cannot come of an overflow: that leaves infinities, NaN and zeros."""
    return any(entry.got != 0 and np.isfinite(entry.got) for entry in objections)


def overflowing(facts: Facts, judgement: Judgement) -> str:
    """The reason not to judge where a value does not fit into its dtype, or a gradient on the way does not."""
    words = facts.underflow or f"{facts.overflow} overflows here in floating point"
    return f"{words}; {judgement.reason}"


def losing(judgement: Judgement) -> str:
    """The reason not to judge where floating point cannot know the digits."""
    return f"floating point loses {MOST - (judgement.digits or 0)} digits here; {judgement.reason}"
