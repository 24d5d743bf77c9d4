"""Where a leaf lies: an interval, or a set of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, Span


@dataclass(frozen=True, slots=True)
class Domain:
    """Where every entry of a leaf lies.

    Attributes:
        low, high: the ends of an interval.
        brackets: the opening and the closing one: "(" and ")" leave an end out.
        values: the numbers of a set, instead of an interval.
    """

    low: float = -math.inf
    high: float = math.inf
    brackets: str = "()"
    values: tuple[float, ...] = ()

    def holds(self, value: float) -> bool:
        """Whether a number lies in it; infinities lie in none."""
        if self.values:
            return value in self.values
        above = self.low < value or (self.brackets[0] == "[" and value == self.low)
        below = value < self.high or (self.brackets[1] == "]" and value == self.high)
        return above and below and math.isfinite(value)

    def first_outside(self, values: Any) -> float | None:
        """The first entry that does not lie in it, if any."""
        return next((value for value in np.asarray(values).ravel().tolist() if not self.holds(value)), None)

    def __str__(self) -> str:
        if self.values:
            return f"{{{', '.join(map(_shown, self.values))}}}"
        opening = "(" if self.low == -math.inf else self.brackets[0]
        closing = ")" if self.high == math.inf else self.brackets[1]
        return f"{opening}{_shown(self.low)}, {_shown(self.high)}{closing}"


def _shown(value: float) -> str:
    """A number with the digits that it takes to read it back."""
    return repr(value + 0.0).removesuffix(".0")  # -0.0 + 0.0 is 0.0


REALS = Domain()
"""Where a leaf lies whose domain is not declared."""


def domain_of(brackets: str, ends: list[float], span: Span) -> Domain:
    """The domain that a line writes.

    Raises:
        InputError: where nothing lies in it.
    """
    if brackets == "{}":
        if not all(map(math.isfinite, ends)):
            raise InputError("infinity is no value", spans=(span,), hint="write an interval: (0, inf)")
        return Domain(values=tuple(dict.fromkeys(ends)))
    low, high = ends
    if low > high or (low == high and brackets != "[]") or (low == high and math.isinf(low)):
        raise InputError(f"no number lies in {Domain(low, high, brackets)}", spans=(span,), hint="the lower end first")
    return Domain(low, high, brackets)
