"""Linear algebra over exact numbers, for formulas: elimination, determinants, Cholesky factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_EXPANDED = 6
"""Up to this size a determinant is written as a polynomial, right for singular matrices too."""


def stacked(function: Callable[..., Any], *arrays: Any) -> Any:
    """What a function of matrices gives for each of a stack of them (leading axes broadcast)."""
    matrices = [np.asarray(array, dtype=object) for array in arrays]
    batch = np.broadcast_shapes(*(matrix.shape[:-2] for matrix in matrices))
    wide = [np.broadcast_to(matrix, (*batch, *matrix.shape[-2:])) for matrix in matrices]
    if not batch:
        return function(*wide)
    results = [np.asarray(function(*(matrix[place] for matrix in wide)), dtype=object) for place in np.ndindex(*batch)]
    return np.array(results, dtype=object).reshape((*batch, *results[0].shape))


def _reduced(m: Any, matrix: Any, right: Any) -> tuple[Any, Any, int]:
    """Both sides after elimination down to an upper triangle, and the sign of the row exchanges."""
    matrix, right, sign = np.array(matrix, dtype=object), np.array(right, dtype=object), 1
    size = len(matrix)
    for column in range(size):
        pivot = column
        for row in range(column + 1, size):
            if m.boolean(m.absolute(matrix[row, column]) > m.absolute(matrix[pivot, column])):
                pivot = row
        if pivot != column:
            matrix[[column, pivot]] = matrix[[pivot, column]]
            right[[column, pivot]] = right[[pivot, column]]
            sign = -sign
        for row in range(column + 1, size):
            if m.boolean(m.equal(matrix[column, column], m.number(0))):
                continue
            factor = matrix[row, column] / matrix[column, column]
            matrix[row, column:] = matrix[row, column:] - factor * matrix[column, column:]
            right[row] = right[row] - factor * right[column]
    return matrix, right, sign


def solved(m: Any, matrix: Any, right: Any) -> Any:
    """X in matrix X = right, all of them matrices of exact numbers."""
    upper, result, _ = _reduced(m, matrix, right)
    for row in reversed(range(len(upper))):
        for other in range(row + 1, len(upper)):
            result[row] = result[row] - upper[row, other] * result[other]
        result[row] = result[row] / upper[row, row]
    return result


def identity(m: Any, size: int) -> Any:
    """The identity matrix of exact numbers."""
    result = np.empty((size, size), dtype=object)
    for place in np.ndindex(size, size):
        result[place] = m.number(1 if place[0] == place[1] else 0)
    return result


def determinant(m: Any, matrix: Any) -> Any:
    """The determinant of one matrix of exact numbers."""
    size = len(matrix)
    if size > _EXPANDED:
        upper, _, sign = _reduced(m, matrix, np.zeros((size, 0), dtype=object))
        return m.product([upper[place, place] for place in range(size)]) * sign
    # Along the rows, one after another: the minors of the rows below, by the columns that are left.
    minors = {0: m.number(1)}
    for row in reversed(range(size)):
        wider: dict[int, list[Any]] = {}
        for used, minor in minors.items():
            for column in range(size):
                if not used >> column & 1:
                    sign = -1 if (used & ((1 << column) - 1)).bit_count() % 2 else 1
                    wider.setdefault(used | 1 << column, []).append(matrix[row, column] * minor * sign)
        minors = {used: m.total(parts) for used, parts in wider.items()}
    return minors[(1 << size) - 1]


def cholesky_factor(m: Any, matrix: Any) -> Any:
    """The lower Cholesky factor of the symmetric part of one matrix of exact numbers."""
    size = len(matrix)
    factor = np.empty((size, size), dtype=object)
    half = m.ratio(1, 2)
    for row in range(size):
        for column in range(size):
            if column > row:
                factor[row, column] = m.number(0)
                continue
            rest = (matrix[row, column] + matrix[column, row]) * half
            rest = rest - m.total([factor[row, place] * factor[column, place] for place in range(column)])
            factor[row, column] = m.sqrt(rest) if row == column else rest / factor[column, column]
    return factor
