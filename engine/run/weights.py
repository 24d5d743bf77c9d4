"""What an op costs: nanoseconds for an element in the cache, on one core, as measured with NumPy on a 2020s server."""

from __future__ import annotations

from typing import Final

from .values import Value

_SIMPLE: Final = 0.3
_OTHER: Final = 5.0

NANOSECONDS: Final[dict[str, float]] = {
    **dict.fromkeys(
        ("add", "sub", "mul", "neg", "flow", "meet", "square", "abs", "maximum", "minimum", "relu"), _SIMPLE
    ),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne", "logical_and", "logical_or", "logical_not"), 0.2),
    **dict.fromkeys(("isnan", "isinf", "isfinite", "to", "clamp_min", "clamp_max", "clamp"), _SIMPLE),
    **dict.fromkeys(("sum", "amax", "amin", "sum_to_size", "largest_place"), 0.2),
    **dict.fromkeys(
        ("expand", "reshape", "squeeze", "unsqueeze", "first", "part", "taken", "permute", "slice", "select"), 0.0
    ),
    "div": 0.4,
    "share": 0.5,
    "over_whole": 0.5,
    "reciprocal": 0.4,
    "placed": 0.3,
    "slice_scatter": 0.6,
    "select_scatter": 0.6,
    "cat": 0.4,
    "stack": 0.4,
    "moments": 1.2,
    "where": 1.0,
    "one_minus_square": 0.8,
    "pow": 0.5,
    "sqrt": 1.0,
    "rsqrt": 1.3,
    "exp": 1.5,
    "exp2": 1.5,
    "expm1": 2.5,
    "log1p": 3.5,
    "log": 4.0,
    "tanh": 3.5,
    "cosh": 2.0,
    "sinh": 2.5,
    "sech_squared": 2.8,
    "sigmoid": 4.5,
    "softplus": 6.0,
    "sin": 12.0,
    "cos": 12.0,
    "logaddexp": 15.0,
}

BYTES_A_NANOSECOND: Final = 8.0
"""What one core reads or writes from memory."""


PRODUCTS_A_NANOSECOND: Final = 15.0
"""Multiplications and additions that one core does in a large matrix product."""


def nanoseconds(value: Value) -> float:
    """What one element of a value costs on one core, its arguments in the cache."""
    return NANOSECONDS.get(value.op.name, _OTHER)
