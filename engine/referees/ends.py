"""What a difference quotient tends to, from its values at a few steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

SECOND: Final = 25
"""The second step is smaller by 10**-25: the slopes at both tell a limit from a divergence."""
_STAYS: Final = 1e-8
"""A quotient that changes by less than that part of itself has arrived."""
_GROWS: Final = 1.3
"""A quotient that is so much larger, or smaller, at a far smaller step has no end, or ends at zero, as h**0.5 does."""
_SLOWLY: Final = 1e3
"""How much a quotient may change from one step to the next and still be thought of as on its way."""
_ALIKE: Final = 1e-6
"""How well a way of changing must fit."""
_ROUNDING: Final = 1e-20
"""A limit that is so small beside the changes is none but their rounding."""


def stays(one: Any, other: Any) -> bool:
    """Whether a quotient is the same at the next step."""
    return bool(abs(one - other) <= abs(one) * _STAYS)


def jumps(m: Any, first: Any, second: Any) -> bool:
    """Whether a quotient grows just as its step shrinks: the function does not come near its value at the point."""
    return bool(m.finite(first) and m.finite(second) and abs(second) > abs(first) * m.number(10) ** SECOND * 0.99)


def is_slow(m: Any, first: Any, second: Any) -> bool:
    """Whether a quotient changes by a far smaller step, but so little that it may have been on its way to a limit."""
    if not m.finite(first) or not m.finite(second) or first == 0 or second == 0:
        return False
    low, high = sorted((abs(first), abs(second)))
    return bool(high < low * _SLOWLY and not stays(first, second))


def limit_of(m: Any, first: Any, second: Any) -> Any:
    """The limit of a quotient from its values at a small and at a far smaller step."""
    if m.undefined_number(second) or not m.finite(first) or not m.finite(second):
        return second
    if abs(second) > abs(first) * _GROWS and second != 0:
        return m.inf if second > 0 else -m.inf
    return m.number(0) if abs(second) * _GROWS < abs(first) else second


def slow_limit(m: Any, values: Sequence[Any]) -> Any:
    """The limit of a quotient that changes slowly; undefined where it cannot be told.

    Tried are a power of the step, limit + c*h**p, and one of its logarithm, limit + c*log(h)**p.

    Args:
        m: the arithmetic.
        values: the quotient at steps whose exponents are as 1, 2, 4 and 8.
    """
    if not all(m.finite(value) for value in values):
        return values[-1]
    last = values[-1]
    if stays(values[-2], last):  # something was only met on the way, as the bound of a logarithm at 1e-44
        return last
    changes = [later - earlier for earlier, later in pairwise(values)]
    if not all(changes):
        return m.undefined()
    before, after = changes[1] / changes[0], changes[2] / changes[1]
    if before <= 0 or after <= 0:
        return m.undefined()  # it swings
    endless = m.inf if changes[2] > 0 else -m.inf
    # With t = h**p at the first step a power's changes are c*t*(t-1), c*t**2*(t**2-1), c*t**4*(t**4-1).
    t = (m.sqrt(1 + 4 * before) - 1) / 2
    if abs(after - t * t * (t * t + 1)) <= after * _ALIKE:
        return endless if t > 1 - _ALIKE else _limit_before(m, last, changes[0] * t**7 / (t - 1), changes[0])
    # Those of a logarithm's are as 1, 2**p and 4**p.
    if abs(after - before) <= before * _ALIKE:
        return (
            endless if before > 1 - _ALIKE else _limit_before(m, last, -changes[2] * before / (1 - before), changes[0])
        )
    return endless if min(before, after) > 1 and abs(after - before) <= before / 2 else m.undefined()


def _limit_before(m: Any, last: Any, rest: Any, change: Any) -> Any:
    """A value less what it is still away from its limit; zero where no more than rounding is left of the changes."""
    limit = last - rest
    return limit if abs(limit) > abs(change) * _ROUNDING else m.number(0)
