"""The largest element along some axes, and a unit of its size."""

from __future__ import annotations

from typing import Any

from ..graph import Node, make


def largest(xp: Any, x: Any, axis: int | tuple[int, ...], *, least: float, keepdims: bool = False) -> Any:
    """The largest element along some axes; `least` where there is none, or all are smaller.

    Of none it is to be as well, for which no array module but NumPy has a parameter.
    """
    axes = axis if isinstance(axis, tuple) else (axis,)
    if all(x.shape[each] for each in axes):
        peak = xp.max(x, axis=axis, keepdims=keepdims)
        return peak if least == float("-inf") else xp.maximum(peak, least)
    lanes = {each % x.ndim for each in axes}
    shape = [(1 if place in lanes else size) for place, size in enumerate(x.shape) if keepdims or place not in lanes]
    return xp.full(tuple(shape), least, x.dtype)


def unit_of(size: Node, ordinary: int = 0) -> Node:
    """The power of two below a size: what is divided by it keeps every bit. It is 1 where the size is 0 or not finite.

    Args:
        size: what is not negative.
        ordinary: binary exponents, up to which and down to whose negative the unit is 1.
    """
    exponent = make.floor(make.log2(make.detach(size)))
    far = make.logical_and(make.isfinite(exponent), make.gt(make.abs(exponent), ordinary))
    return make.exp2(make.where(far, exponent, 0.0))  # type: ignore[no-any-return]  # any row's call
