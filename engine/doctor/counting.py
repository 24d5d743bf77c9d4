"""How many digits of a value are right, entry by entry, against its exact one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ..graph import Node

MOST: Final[Mapping[str, int]] = {"float64": 16, "float32": 7}


def right_digits(m: Any, got: Any, exact: Any, node: Node) -> Any:
    """The right digits of each entry of a node, as an array of its shape.

    Args:
        m: the exact arithmetic.
        got: the value.
        exact: an object array of exact numbers.
        node: whose value it is.
    """
    most = MOST.get(node.dtype.name, 16)
    if node.dtype.kind != "f":
        return np.full(node.shape, float(most))
    limit = float(np.finfo(node.dtype).max)
    entries = exact.ravel().tolist()
    scale = max((abs(true) for true in entries if m.finite(true)), default=0)
    pairs = zip(np.asarray(got).ravel().tolist(), entries, strict=True)
    return np.array([_right(m, number, true, scale, limit, most) for number, true in pairs]).reshape(node.shape)


def _right(m: Any, got: float, true: Any, scale: Any, limit: float, most: int) -> int:
    """The right digits of one number; where it should be zero they are counted against the largest entry."""
    number = m.number(got)
    if not m.finite(number) or not m.finite(true):
        same = got == m.clipped(true, limit) or (got != got and m.undefined_number(true))
        return most if same and not (m.finite(true) and not m.finite(number)) else 0
    error = abs(number - true)
    if error == 0:
        return most
    reference = abs(true) or scale
    return max(0, min(most, -int(m.exponent(error / reference)))) if reference else 0
