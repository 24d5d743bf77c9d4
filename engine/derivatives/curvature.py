"""What Jacobians and Hessians say: how full they are, their largest entries, and the shape of the curvature."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

LARGEST_SHOWN: Final = 5
"""How many of the largest entries a digest names."""
MOST_EIGENVALUES: Final = 2000
"""The eigenvalues of a Hessian with more rows are not computed: they would take minutes."""
MOST_IN_BAND: Final = 5000
"""As above, where all entries stand in a narrow band about the diagonal: they would take seconds."""
_BANDS_FROM: Final = 500
"""Rows below which all eigenvalues are there before SciPy is imported."""
_NARROW: Final = 16
"""How many times more rows than diagonals on one side a narrow band has."""


class Entry(NamedTuple):
    """One entry of an array and its place."""

    place: tuple[int, ...]
    value: float


class Digest(NamedTuple):
    """What a large array comes down to.

    Attributes:
        shape: of the array.
        nonzero: the share of entries that are not zero, from 0 to 1.
        nonfinite: how many entries are infinite or NaN.
        largest: the entries of the largest magnitude, NaN before all others.
    """

    shape: tuple[int, ...]
    nonzero: float
    nonfinite: int
    largest: list[Entry]


class Curvature(NamedTuple):
    """What the Hessian by all inputs together says.

    Attributes:
        eigenvalues: ascending; None where an entry is not finite or the matrix is too large.
        definiteness: in words; "unknown" without eigenvalues.
        condition: the largest magnitude of an eigenvalue divided by the smallest; infinite for a singular matrix.
        asymmetry: the largest difference between an entry and its mirror image, divided by the largest entry.
    """

    eigenvalues: Any
    definiteness: str
    condition: float | None
    asymmetry: float


def digest(array: Any) -> Digest:
    """The digest of an array of numbers."""
    array = np.asarray(array)
    flat = array.ravel()
    count = min(LARGEST_SHOWN, flat.size)
    sizes = np.abs(flat)
    sizes = np.where(np.isnan(sizes), np.inf, sizes)
    chosen = np.argpartition(-sizes, count - 1)[:count] if 0 < count < flat.size else np.arange(count)
    chosen = chosen[np.lexsort((chosen, -sizes[chosen]))]
    entries = [
        Entry(tuple(int(place) for place in np.unravel_index(position, array.shape)), flat[position].item())
        for position in chosen
    ]
    return Digest(
        array.shape,
        float(np.count_nonzero(flat)) / flat.size if flat.size else 0.0,
        int(flat.size - np.count_nonzero(np.isfinite(flat))),
        [entry for entry in entries if entry.value != 0],
    )


def whole_matrix(blocks: Mapping[str, Mapping[str, Any]], shapes: Mapping[str, Sequence[int]]) -> Any:
    """The blocks of a Hessian as one square matrix, the entries of each input in row-major order.

    Args:
        blocks: for each pair of inputs the array of second derivatives.
        shapes: the shape of each input.
    """
    sizes = {name: math.prod(shape) for name, shape in shapes.items()}
    return np.block(
        [[np.reshape(blocks[row][column], (sizes[row], sizes[column])) for column in shapes] for row in shapes]
    )


def curvature(matrix: Any) -> Curvature:
    """The eigenvalues of a Hessian and what follows from them.

    An eigenvalue counts as zero where it is not larger than the rounding of the largest one: its magnitude times the
    number of rows times the spacing of floats at 1.

    Args:
        matrix: a square matrix; its symmetric part is what counts.
    """
    matrix = np.asarray(matrix)
    rows = len(matrix)
    if not rows or not np.all(np.isfinite(matrix)):
        return Curvature(None, "unknown", None, math.nan if rows else 0.0)
    peak = float(np.max(np.abs(matrix)))
    asymmetry = float(np.max(np.abs(matrix - matrix.T))) / peak if peak else 0.0
    width = _width(matrix) if _BANDS_FROM <= rows <= MOST_IN_BAND else rows
    if rows > MOST_EIGENVALUES and width == rows:
        return Curvature(None, "unknown", None, asymmetry)
    # Scaled, so that neither the sum with the transpose nor the eigenvalues' own squares overflow or vanish.
    scale = math.ldexp(1.0, math.frexp(peak)[1] - 1) if peak else 1.0
    scaled = matrix / scale
    symmetric = (scaled + scaled.T) / 2
    eigenvalues = np.linalg.eigvalsh(symmetric) if width == rows else _of_band(symmetric, width)
    sizes = np.abs(eigenvalues)
    least = float(np.max(sizes)) * rows * float(np.finfo(matrix.dtype).eps)
    smallest = float(np.min(sizes))
    condition = float(np.max(sizes)) / smallest if smallest > least else math.inf
    definiteness = _definiteness(eigenvalues, least)
    with np.errstate(over="ignore"):  # an eigenvalue may be larger than every float although no entry is
        eigenvalues = eigenvalues * scale
    return Curvature(eigenvalues, definiteness, condition, asymmetry)


def _width(matrix: Any) -> int:
    """How many diagonals beside the main one, on one side, hold all entries; the number of rows where they are many."""
    rows = len(matrix)
    most = rows // _NARROW
    if np.count_nonzero(matrix) > rows * (2 * most + 1):
        return rows
    places = np.nonzero(matrix)
    width = int(np.max(np.abs(places[0] - places[1]), initial=0))
    return width if width <= most else rows


def _of_band(matrix: Any, width: int) -> Any:
    """The eigenvalues of a symmetric matrix of a narrow band, ascending."""
    from scipy.linalg import eigvals_banded  # takes longer to import than most Hessians to compute

    band = np.zeros((width + 1, len(matrix)), matrix.dtype)
    for offset in range(width + 1):
        band[offset, : len(matrix) - offset] = np.diagonal(matrix, offset)
    return eigvals_banded(band, lower=True)


def _definiteness(eigenvalues: Any, least: float) -> str:
    positive, negative = bool(np.any(eigenvalues > least)), bool(np.any(eigenvalues < -least))
    if positive and negative:
        return "indefinite"
    if not positive and not negative:
        return "zero"
    singular = bool(np.any(np.abs(eigenvalues) <= least))
    return f"{'positive' if positive else 'negative'} {'semidefinite' if singular else 'definite'}"
