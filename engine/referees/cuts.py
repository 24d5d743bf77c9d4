"""Where complex functions jump: the lines in the plane on whose sides they have other values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def _below_zero(x: Any, y: Any) -> bool:
    return bool(y == 0 and x < 0)


def _outside(x: Any, y: Any) -> bool:
    return bool(y == 0 and abs(x) > 1)


def _outside_upwards(x: Any, y: Any) -> bool:
    return bool(x == 0 and abs(y) > 1)


CUTS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "rsqrt", "pow"), _below_zero),
    "log1p": lambda x, y: bool(y == 0 and x < -1),
    "acosh": lambda x, y: bool(y == 0 and x < 1),
    **dict.fromkeys(("acos", "asin", "atanh"), _outside),
    **dict.fromkeys(("atan", "asinh"), _outside_upwards),
}
"""For ops, by name, whether their first argument lies on a branch cut, by its real and its imaginary part.

There the sign of a zero says which side is meant, as in C99 and NumPy.
"""
