"""The largest element along some axes, also of none: no array module but NumPy has a parameter for that."""

from __future__ import annotations

from typing import Any


def largest(xp: Any, x: Any, axis: int | tuple[int, ...], *, least: float, keepdims: bool = False) -> Any:
    """The largest element along some axes; `least` where there is none, or all are smaller."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    if all(x.shape[each] for each in axes):
        peak = xp.max(x, axis=axis, keepdims=keepdims)
        return peak if least == float("-inf") else xp.maximum(peak, least)
    lanes = {each % x.ndim for each in axes}
    shape = [(1 if place in lanes else size) for place, size in enumerate(x.shape) if keepdims or place not in lanes]
    return xp.full(tuple(shape), least, x.dtype)
