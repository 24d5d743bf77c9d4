"""What algorithms on a matrix lose by how it is scaled: inverses and factors, and most of all gradients of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..graph import Node
from .point import Point
from .roundings import DOUBLE, of_matrices, rounding_of

_ROUNDINGS: Final = 16
"""How many roundings of the largest entry a gradient may be off by, times the square of the condition."""
_MOST: Final = 0.1
"""What is farther off than that is no loss, however a matrix is scaled."""


def matrix_loss(point: Point) -> float:
    """The part of the largest entry, at most a tenth, that a gradient through matrices may be wrong by.

    A pseudo-inverse appears twice in the gradient of one, and so does the inverse of a factor in that of a factor: what
    is lost goes with the square of the condition (Golub, Pereyra 1973).
    """
    losses = (_loss(point, node) for node in point.nodes if of_matrices(node) and node.args)
    return min(max(losses, default=0.0), _MOST)


def _loss(point: Point, node: Node) -> float:
    values = point.values[node.args[0]]
    if values.ndim < 2 or not values.size:
        return 0.0
    condition = max(_condition(values[place]) for place in np.ndindex(values.shape[:-2]))
    return _ROUNDINGS * rounding_of(node) * condition * condition


def _condition(matrix: Any) -> float:
    """The largest singular value by the least that is not rounding of it."""
    numbers = np.array([complex(entry) for entry in matrix.flat]).reshape(matrix.shape)
    if not np.all(np.isfinite(numbers)):
        return 1.0
    sizes = np.linalg.svd(numbers, compute_uv=False)
    kept = sizes[sizes > sizes[0] * DOUBLE * max(matrix.shape)]
    return float(sizes[0] / kept[-1]) if kept.size else 1.0
