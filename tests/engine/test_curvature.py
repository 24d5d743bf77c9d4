"""What Jacobians and Hessians say in words and numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agrad.engine.curvature import curvature, digest, whole_matrix


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
