"""Eigenvalues and eigenvectors away from coinciding ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Node, leaf, make
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Curvature = Callable[..., list[list[Any]]]

eigh, eigvalsh, eig, eigvals = (TABLE[f"linalg.{name}"] for name in ("eigh", "eigvalsh", "eig", "eigvals"))


def _symmetric(a: Node, b: Node, c: Node) -> Node:
    return make.stack([make.stack([a, b]), make.stack([b, c])])


def test_eigenvalue_slopes_are_squares_of_vectors(slopes: Slopes) -> None:
    """The slope of an eigenvalue is the outer product of its vector, spread over both triangles."""
    (first,) = slopes(lambda x: make.select(eigvalsh(x), 0, 0), [[2.0, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(first, [[0.5, -0.5], [-0.5, 0.5]], rtol=1e-14)


def test_a_matrix_that_is_not_symmetric_counts_by_its_symmetric_part(value: Callable[[Node], Any]) -> None:
    """Eigenvalues are those of the Hermitian part, whichever triangle is named."""
    matrix = leaf(np.array([[2.0, 0.0], [2.0, 2.0]]))
    assert value(eigvalsh(matrix)) == pytest.approx([1.0, 3.0])
    assert value(eigvalsh(matrix, UPLO="U")) == pytest.approx([1.0, 3.0])


def test_second_derivative_of_an_eigenvalue(curvature: Curvature) -> None:
    """The larger eigenvalue of [[a, b], [b, c]] is (a + c)/2 + hypot((a - c)/2, b)."""
    a, b, c = 2.0, 0.75, 0.0
    length = math.hypot((a - c) / 2, b)
    found = curvature(lambda *entries: make.select(eigvalsh(_symmetric(*entries)), 0, 1), a, b, c)
    assert found[1][1] == pytest.approx(((a - c) / 2) ** 2 / length**3, rel=1e-13)
    assert found[0][2] == pytest.approx(-(b**2) / 4 / length**3, rel=1e-13)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 5))
def test_eigenvectors_rebuild_the_matrix(slopes: Slopes, seed: int, size: int) -> None:
    """V diag(w) V^T is the matrix itself, so its gradient is the symmetric part of the weights."""
    random = np.random.default_rng(seed)
    weights = random.normal(size=(size, size))
    matrix = random.normal(size=(size, size))

    def rebuilt(x: Node) -> Node:
        values, vectors = eigh(x).nodes
        return make.matmul(vectors * values, make.transpose(vectors, 0, 1)) * leaf(weights)

    np.testing.assert_allclose(slopes(rebuilt, matrix + matrix.T)[0], (weights + weights.T) / 2, atol=1e-9)


def test_phase_of_a_complex_eigenvector_is_refused() -> None:
    """A loss that depends on the free phase of complex eigenvectors is an error, as in PyTorch."""
    matrix = leaf(np.array([[2.0, 1j], [-1j, 3.0]]), requires_grad=True)
    loss = make.sum(make.real(eigh(matrix).nodes[1]) * leaf(np.array([[1.0, 2.0], [3.0, -1.0]])))
    loss = loss + make.sum(make.imag(eigh(matrix).nodes[1]) * leaf(np.array([[2.0, 1.0], [0.5, 1.0]])))
    with pytest.raises(InputError, match="up to multiplication by e"):
        evaluate([gradients([loss], [leaf(1.0)])[matrix]])


def test_lengths_of_complex_eigenvectors_have_a_gradient() -> None:
    """What does not depend on the phases has a Hermitian gradient."""
    matrix = leaf(np.array([[2.0, 1j], [-1j, 3.0]]), requires_grad=True)
    loss = make.sum(make.abs(eigh(matrix).nodes[1]) ** 2 * leaf(np.array([[1.0, 2.0], [3.0, -1.0]])))
    found = gradients([loss], [leaf(1.0)])[matrix]
    result = evaluate([found])[found]
    np.testing.assert_allclose(result, result.conj().T, atol=1e-14)
    assert np.abs(result).max() > 0.1


def test_eigenvalues_of_a_rotation(value: Callable[[Node], Any], slopes: Slopes) -> None:
    """Complex eigenvalues come in conjugate pairs; their sum is the trace."""
    matrix = [[0.0, -1.0], [1.0, 0.0]]
    assert sorted(value(eigvals(leaf(np.array(matrix)))), key=lambda z: z.imag) == pytest.approx([-1j, 1j])
    (trace,) = slopes(lambda x: make.real(make.sum(eigvals(x))), matrix)
    np.testing.assert_allclose(trace, np.eye(2), atol=1e-15)


def test_trace_of_a_defective_matrix(slopes: Slopes) -> None:
    """The sum of the eigenvalues has slope 1 on the diagonal even where there are too few eigenvectors."""
    (trace,) = slopes(lambda x: make.real(make.sum(eigvals(x))), [[0.0, 1.0], [0.0, 0.0]])
    assert trace == [[1.0, 0.0], [0.0, 1.0]]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_eig_rebuilds_the_matrix(slopes: Slopes, seed: int) -> None:
    """V diag(w) V^-1 is the matrix itself, so its gradient is the weights."""
    random = np.random.default_rng(seed)
    weights = random.normal(size=(3, 3))
    # Eigenvalues apart by construction.
    basis = random.normal(size=(3, 3)) + 2 * np.eye(3)
    matrix = basis @ np.diag([1.0, 2.0, 4.0]) @ np.linalg.inv(basis)
    condition = np.linalg.cond(basis) ** 2

    def rebuilt(x: Node) -> Node:
        values, vectors = eig(x).nodes
        return make.real(make.matmul(vectors * values, make.inverse(vectors))) * leaf(weights)

    np.testing.assert_allclose(slopes(rebuilt, matrix)[0], weights, atol=1e-12 * condition)


def test_an_infinite_matrix(value: Callable[[Node], Any]) -> None:
    """Where LAPACK gives up the error says why."""
    with pytest.raises(InputError, match="is an element NaN or infinite"):
        value(eigvals(leaf(np.array([[np.inf, 0.0], [0.0, 1.0]]))))
