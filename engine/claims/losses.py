"""Where float64 loses digits of a formula that is right as mathematics."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sides import ExactSides


def finite(value: Any) -> bool:
    """Whether an exact value is a number and not infinite."""
    return bool(value - value == 0)


def lost(exact: ExactSides, left: Any, right: Any) -> str | None:
    """Which side loses how many digits in float64, in words, where the sides are equal as mathematics."""
    worst: tuple[int, str] | None = None
    limit = np.finfo(np.float64)
    for name, got, true in (("left", left, exact.left), ("right", right, exact.right)):
        for index in np.ndindex(true.shape):
            value, number = true[index], float(got[index])
            if not finite(value) or abs(value) > float(limit.max):
                continue
            digits = _digits(number, value, float(limit.tiny))  # below it floats have fewer digits
            if digits < 9 and (worst is None or digits < worst[0]):
                how = "overflows" if np.isinf(number) else "is not a number" if number != number else ""
                words = f"the {name} side {how}" if how else f"the {name} side has {digits} right digits"
                worst = digits, f"in float64 {words}"
    return worst[1] if worst is not None else None


def _digits(got: float, true: Any, least: float) -> int:
    if not np.isfinite(got):
        return 0
    error = abs(true.context.mpf(got) - true)
    if error <= least:
        return 16
    if true == 0:
        return 16  # only rounding is left
    return max(0, min(16, -int(true.context.ceil(true.context.log10(error / abs(true))))))
