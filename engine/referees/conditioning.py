"""What algorithms on a matrix lose by how it is scaled: inverses and factors, and most of all gradients of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..graph import Node
from .case import Case
from .point import Direction, Point
from .roundings import DOUBLE, of_matrices, rounding_of
from .sides import part_slopes
from .slopes import Slope, Slopes

_ROUNDINGS: Final = 16
"""How many roundings of the largest entry a gradient may be off by, times the square of the condition."""
_MOST_ENTRIES: Final = 64
_MOST: Final = 0.1
"""What is farther off than that is no loss, however a matrix is scaled."""


def matrix_loss(point: Point) -> float:
    """The part of the largest entry, at most a tenth, that a gradient through matrices may be wrong by.

    A pseudo-inverse appears twice in the gradient of one, and so does the inverse of a factor in that of a factor: what
    is lost goes with the square of the condition (Golub, Pereyra 1973).
    """
    losses = (_loss(point, node) for node in point.nodes if of_matrices(node) and node.args)
    return min(max(losses, default=0.0), _MOST)


def uncancelled(slopes: Slopes, direction: Direction) -> Any:
    """How large the slope along a direction would be if nothing cancelled between the entries of computed matrices.

    Zero where there are too many entries to look at.
    """
    results = [node for node in slopes.nodes if _is_result(node)]
    sizes = [slopes.m.number(0)]
    if sum(node.size for node in results) > _MOST_ENTRIES:
        return sizes[0]
    for node in results:
        for position, unit in enumerate(np.eye(node.size)):
            weight = _size(part_slopes(slopes, node, position), slopes.m)
            if weight:
                # What is differentiated is a real number: of a complex entry each part by itself.
                for turn in (1, 1j) if node.dtype.kind == "c" else (1,):
                    cotangent = (unit * turn).astype(node.dtype).reshape(node.shape)
                    alone = Slopes(Case([node], [cotangent], slopes.case.wrt, {}), slopes.budget)
                    sizes.append(weight * _size([alone.slope(direction, 0)], slopes.m))
    return slopes.m.total(sizes)


def all_entries(slopes: Slopes) -> Direction:
    """A direction that moves each entry of all leaves, one way or the other, by no more than a unit."""
    random = np.random.default_rng(0)
    found: dict[Node, dict[int, Any]] = {}
    for node in slopes.case.wrt.values():
        for position in range(node.size):
            (moves,) = slopes.unit(node, position)[0].values()
            found.setdefault(node, {})[position] = moves[position] * int(random.choice((-1, 1)))
    return found


def _is_result(node: Node) -> bool:
    """Whether a node is a matrix that an algorithm on matrices gives, alone or among others."""
    return node.op.outputs == 1 and (
        of_matrices(node) or any(arg.op.outputs > 1 and of_matrices(arg) for arg in node.args)
    )


def _size(parts: Sequence[Slope], m: Any) -> Any:
    """How large a derivative is; zero where there is none."""
    values = [slope.value for slope in parts]
    return m.total([abs(value) for value in values if value is not None and m.finite(value)])


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
