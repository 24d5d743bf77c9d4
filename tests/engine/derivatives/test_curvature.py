"""What Jacobians and Hessians say in words and numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agrad.engine.derivatives import curvature as module
from agrad.engine.derivatives.curvature import curvature, digest, whole_matrix


def test_a_digest() -> None:
    """Shape, share of entries that are not zero, and the largest magnitudes first, NaN before all."""
    found = digest(np.diag([1.0, -3.0, 2.0, math.nan, 0.0, 5.0, 7.0]))
    assert found.shape == (7, 7)
    assert found.nonzero == 6 / 49
    assert found.nonfinite == 1
    assert [entry.place for entry in found.largest] == [(3, 3), (6, 6), (5, 5), (1, 1), (2, 2)]
    assert [entry.value for entry in found.largest][1:] == [7.0, 5.0, -3.0, 2.0]


def test_a_digest_of_little() -> None:
    """A number, zeros and no entries at all."""
    assert digest(np.float64(3.0)).largest == [((), 3.0)]
    assert digest(np.zeros((2, 2))).largest == []
    assert digest(np.zeros((0, 2))) == ((0, 2), 0.0, 0, [])


def test_equal_entries_come_in_their_order() -> None:
    """Of entries of the same magnitude the first ones are named."""
    assert [entry.place for entry in digest(np.array([1.0, -1.0, 1.0])).largest] == [(0,), (1,), (2,)]


def test_blocks_become_one_matrix() -> None:
    """The entries of each input in row-major order, numbers and matrices together."""
    blocks = {
        "a": {"a": np.array(1.0), "B": np.array([[2.0, 3.0]])},
        "B": {"a": np.array([[2.0, 3.0]]), "B": np.array([[[[4.0, 5.0]], [[5.0, 6.0]]]]).reshape(1, 2, 1, 2)},
    }
    found = whole_matrix(blocks, {"a": (), "B": (1, 2)})
    assert np.array_equal(found, [[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]])


@pytest.mark.parametrize(
    ("matrix", "definiteness", "condition"),
    [
        ([[2.0, 1.0], [1.0, 2.0]], "positive definite", 3.0),
        ([[-2.0, 0.0], [0.0, -8.0]], "negative definite", 4.0),
        ([[1.0, 1.0], [1.0, 1.0]], "positive semidefinite", math.inf),
        ([[-1.0, 1.0], [1.0, -1.0]], "negative semidefinite", math.inf),
        ([[1.0, 0.0], [0.0, -1.0]], "indefinite", 1.0),
        ([[0.0, 0.0], [0.0, 0.0]], "zero", math.inf),
        ([[1e-310, 0.0], [0.0, -1e-310]], "indefinite", 1.0),
        ([[1e308, 0.0], [0.0, 1e300]], "positive definite", 1e8),
    ],
)
def test_definiteness_and_condition(matrix: list[list[float]], definiteness: str, condition: float) -> None:
    """In words, and the ratio of the largest to the smallest magnitude, at every scale of floats."""
    found = curvature(np.array(matrix))
    assert found.definiteness == definiteness
    assert found.condition == pytest.approx(condition, rel=1e-9)


def test_eigenvalues_ascend() -> None:
    """All of them, those of a matrix without entries too."""
    assert curvature(np.diag([3.0, -1.0, 2.0])).eigenvalues == pytest.approx([-1.0, 2.0, 3.0])
    assert curvature(np.zeros((0, 0))).eigenvalues is None


def test_entries_that_are_not_finite_leave_it_unknown() -> None:
    """No eigenvalues, no word, no condition."""
    assert curvature(np.array([[math.nan, 0.0], [0.0, 1.0]]))[:3] == (None, "unknown", None)


def test_asymmetry_is_measured() -> None:
    """The largest difference to the mirror image, relative to the largest entry."""
    assert curvature(np.array([[4.0, 1.0], [0.0, 4.0]])).asymmetry == 0.25


def banded(rows: int, width: int) -> Any:
    """A random symmetric matrix with so many diagonals on either side of the main one."""
    random = np.random.default_rng(rows + width)
    lower = np.tril(np.triu(random.standard_normal((rows, rows)), -width))
    return lower + lower.T


@pytest.mark.parametrize("width", [0, 1, 4, 9])
def test_eigenvalues_of_bands(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a narrow band are what they are of any matrix, and so is all that follows from them."""
    monkeypatch.setattr(module, "_BANDS_FROM", 1)
    matrix = 1e200 * banded(150, width)
    found = curvature(matrix)
    expected = np.linalg.eigvalsh(matrix / 1e200) * 1e200
    np.testing.assert_allclose(found.eigenvalues, expected, rtol=0, atol=1e-12 * np.max(np.abs(expected)))
    assert found.definiteness == "indefinite"
    assert curvature(matrix.astype(np.float64) / 1e200 + 100 * np.eye(150)).definiteness == "positive definite"


def test_bands_alone_take_the_way_of_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wide one, one far entry, or few rows, and all eigenvalues come from the whole matrix."""
    used = []
    monkeypatch.setattr(module, "_of_band", lambda matrix, width: used.append(width) or np.zeros(len(matrix)))
    curvature(banded(500, 31))
    assert used == [31]
    far = banded(500, 1)
    far[0, 499] = 1.0
    for matrix in (banded(500, 32), far, banded(499, 1), np.ones((500, 500))):
        curvature(matrix)
    assert used == [31]


def test_more_rows_have_eigenvalues_only_in_a_band() -> None:
    """A full matrix of so many rows is left alone; a band of them is not, up to a limit of its own."""
    rows = module.MOST_EIGENVALUES + 1
    found = curvature(np.diag(np.arange(1.0, rows + 1)))
    assert found.condition == rows
    full = np.ones((rows, rows))
    assert curvature(full).eigenvalues is None


def test_bands_keep_float32() -> None:
    """The eigenvalues have the matrix's dtype."""
    assert curvature(banded(500, 1).astype(np.float32)).eigenvalues.dtype == np.float32
