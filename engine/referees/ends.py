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
_LOGARITHM: Final = 2 - 1e-6
"""What a logarithm changes by, beside its change at a step before whose exponent is half as large."""
_LESS: Final = 0.95
"""What has a limit changes by less than that part of its change before."""


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

    A logarithm of the step has no end, a power of it has one or none by its sign, a reciprocal of a logarithm has one.

    Args:
        m: the arithmetic.
        values: the quotient at steps whose exponents are as 1, 2, 4 and 8.
    """
    if not all(m.finite(value) for value in values):
        return values[-1]
    second, third, fourth = values[1:]
    if stays(third, fourth):  # something was only met on the way, as the bound of a logarithm at 1e-44
        return fourth
    changes = [later - earlier for earlier, later in pairwise(values)]
    if not all(changes):
        return m.undefined()
    before, after = changes[1] / changes[0], changes[2] / changes[1]
    if before >= _LOGARITHM and after >= _LOGARITHM:
        return m.inf if changes[2] > 0 else -m.inf
    if before > 0:
        # Of limit + c*h**p, with t = h**p at the first step: the changes are c*t*(t-1), c*t**2*(t**2-1), ...
        t = (m.sqrt(1 + 4 * before) - 1) / 2
        if abs(after - t * t * (t * t + 1)) <= after * _ALIKE:
            limit = fourth - changes[0] * t**7 / (t - 1)
            return limit if abs(limit) > abs(changes[0]) * _ROUNDING else m.number(0)
    ends = 2 * third - second, 2 * fourth - third
    if abs(ends[1] - ends[0]) <= max(abs(fourth), abs(third)) * _ALIKE:
        return ends[1]
    if before > _LESS and after > _LESS:
        return m.inf if changes[2] > 0 else -m.inf
    return m.undefined()
