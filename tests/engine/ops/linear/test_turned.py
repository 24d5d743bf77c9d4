"""Equal eigenvalues and singular values: functions that do not feel them have their derivative, others have NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Node, leaf, make
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Function = Callable[[Node, Node], Node]

eigh, eigvalsh, svd = (TABLE[f"linalg.{name}"] for name in ("eigh", "eigvalsh", "svd"))
SPECTRA = st.sampled_from([(1.0, 1.0), (1.0, 1.0, 2.0), (0.5, 0.5, 0.5), (1.0, 1.0, 2.0, 2.0), (1.0, 1.0, 1.0, 3.0)])


def _basis(random: np.random.Generator, size: int, phase: complex = 0) -> Any:
    return np.linalg.qr(random.normal(size=(size, size)) + phase * random.normal(size=(size, size)))[0]


def _adjoint(x: Node) -> Node:
    return make.conj(make.transpose(x, -2, -1)) if x.dtype.kind == "c" else make.transpose(x, -2, -1)


def _exp_by_vectors(x: Node) -> Node:
    values, vectors = eigh(x).nodes
    return make.matmul(vectors * make.exp(values), _adjoint(vectors))


def _slope_of_exp(matrix: Any, weights: Any) -> Any:
    """The gradient of the sum of weights times exp(matrix), by divided differences of the exact eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    gap = np.subtract.outer(values, values)
    equal = np.abs(gap) < 1e-6
    mean = np.add.outer(values, values) / 2
    divided = np.exp(mean) * np.where(equal, 1.0, np.sinh(gap / 2) / np.where(equal, 1.0, gap / 2))
    adjoint = vectors.conj().T
    return vectors @ (divided * (adjoint @ weights @ vectors)) @ adjoint


def test_exp_of_a_multiple_of_the_identity(slopes: Slopes) -> None:
    """At 2 I the gradient of sum(C exp(A)), written with eigenvectors, is e^2 C to the last digit."""
    weights = np.array([[1.0, 0.5], [0.5, 2.0]])
    (found,) = slopes(lambda x: _exp_by_vectors(x) * leaf(weights), [[2.0, 0.0], [0.0, 2.0]])
    np.testing.assert_allclose(found, np.exp(2.0) * weights, rtol=1e-15)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), spectrum=SPECTRA, split=st.sampled_from([0.0, 1e-15, 1e-12, 1e-9]))
def test_matrix_functions(slopes: Slopes, seed: int, spectrum: tuple[float, ...], split: float) -> None:
    """A matrix function written with eigenvectors has its gradient in any basis, at and near equal eigenvalues."""
    random = np.random.default_rng(seed)
    size = len(spectrum)
    basis, weights = _basis(random, size), random.normal(size=(size, size))
    weights = weights + weights.T
    matrix = (basis * (np.array(spectrum) + split * np.arange(size))) @ basis.T
    matrix = (matrix + matrix.T) / 2
    (found,) = slopes(lambda x: _exp_by_vectors(x) * leaf(weights), matrix)
    np.testing.assert_allclose(found, _slope_of_exp(matrix, weights), atol=3e-8)
    (whole,) = slopes(lambda x: make.sum(_exp_by_vectors(x) * leaf(weights)) ** 2, matrix)
    total = 2 * np.sum(weights * ((basis * np.exp(spectrum)) @ basis.T))
    np.testing.assert_allclose(whole, total * _slope_of_exp(matrix, weights), atol=3e-7 * (1 + abs(total)))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), spectrum=SPECTRA)
def test_sums_over_eigenvalues(slopes: Slopes, seed: int, spectrum: tuple[float, ...]) -> None:
    """The gradient of sum(exp(w)) is exp(A), equal eigenvalues or not."""
    basis = _basis(np.random.default_rng(seed), len(spectrum))
    matrix = (basis * np.array(spectrum)) @ basis.T
    (found,) = slopes(lambda x: make.exp(eigvalsh(x)), (matrix + matrix.T) / 2)
    np.testing.assert_allclose(found, (basis * np.exp(spectrum)) @ basis.T, atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), spectrum=SPECTRA)
def test_rebuilding_from_singular_vectors(slopes: Slopes, seed: int, spectrum: tuple[float, ...]) -> None:
    """U diag(S) Vh is the matrix itself, so its gradient is the weights, equal singular values or not."""
    random = np.random.default_rng(seed)
    size = len(spectrum)
    matrix = (_basis(random, size) * np.array(spectrum)) @ _basis(random, size)
    weights = random.normal(size=(size, size))

    def rebuilt(x: Node) -> Node:
        left, values, right = svd(x, full_matrices=False).nodes
        return make.matmul(left * values, right) * leaf(weights)

    np.testing.assert_allclose(slopes(rebuilt, matrix)[0], weights, atol=1e-12)


def test_hermitian_matrices() -> None:
    """Complex eigenvectors of equal eigenvalues are turned by phases too."""
    random = np.random.default_rng(3)
    basis, weights = _basis(random, 3, 1j), _basis(random, 3, 1j)
    weights = weights + weights.conj().T
    matrix = (basis * np.array([1.0, 1.0, 2.0])) @ basis.conj().T
    x = leaf(matrix, requires_grad=True)
    loss = make.real(make.sum(leaf(weights.conj()) * _exp_by_vectors(x)))
    found = gradients([loss], [leaf(1.0)])[x]
    np.testing.assert_allclose(evaluate([found])[found], _slope_of_exp(matrix, weights), atol=1e-12)


def test_each_matrix_of_a_stack_by_itself(slopes: Slopes) -> None:
    """Equal eigenvalues in one matrix of a stack do not disturb the others, even where a loss couples them."""
    stack = np.stack([2 * np.eye(3), np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 1.0, 3.0])])
    weights = np.array([[1.0, 0.5, 0.0], [0.5, 2.0, 1.0], [0.0, 1.0, -1.0]])

    def loss(x: Node) -> Node:
        values, vectors = eigh(x).nodes
        whole = make.matmul(vectors * make.unsqueeze(make.exp(values), 1), make.transpose(vectors, 1, 2))
        return make.sum(whole * leaf(weights)) ** 2

    (found,) = slopes(loss, stack)
    total = sum(np.sum(weights * np.diag(np.exp(np.diag(matrix)))) for matrix in stack)
    for part, matrix in zip(found, stack, strict=True):
        np.testing.assert_allclose(part, 2 * total * _slope_of_exp(matrix, weights), rtol=1e-12, atol=1e-12)


def test_projection_on_a_common_eigenspace(slopes: Slopes) -> None:
    """V V^T is the identity whatever V is: its gradient is 0, also where eigenvalues coincide."""
    weights = np.array([[1.0, 0.5], [0.5, 2.0]])

    def projection(x: Node) -> Node:
        vectors = eigh(x).nodes[1]
        return make.matmul(vectors, make.transpose(vectors, 0, 1)) * leaf(weights)

    np.testing.assert_allclose(slopes(projection, np.eye(2))[0], np.zeros((2, 2)), atol=1e-15)


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda w, v: make.select(make.select(v, 0, 0), 0, 0), id="one entry"),  # noqa: ARG005  # of both
        pytest.param(lambda w, v: v**4, id="fourth powers"),  # noqa: ARG005  # of both
        pytest.param(lambda w, v: v * make.exp(w), id="vectors times values"),
        pytest.param(lambda w, v: make.matmul(v * leaf(np.array([1.0, 2.0])), make.transpose(v, 0, 1)), id="labelled"),  # noqa: ARG005  # of both
    ],
)
def test_what_depends_on_the_choice_of_vectors(slopes: Slopes, function: Function) -> None:
    """Where eigenvalues coincide a function of single eigenvectors has no derivative: NaN, never a number."""
    (found,) = slopes(lambda x: function(*eigh(x).nodes), np.eye(2))
    assert np.isnan(found).all()


def test_dependence_on_the_matrix_by_another_way(slopes: Slopes) -> None:
    """Where only all ways together have a derivative, one decomposition does not invent its part: NaN."""

    def twice(x: Node) -> Node:
        vectors = eigh(x).nodes[1]
        return make.matmul(vectors * make.exp(eigvalsh(x)), make.transpose(vectors, 0, 1)) * leaf(np.ones((2, 2)))

    assert np.isnan(slopes(twice, np.eye(2))[0]).all()


def test_second_derivative_between_equal_values() -> None:
    """The limit is known to first order only: one more derivative of it is NaN, never a wrong number."""
    x = leaf(2 * np.eye(2), requires_grad=True)
    ones = leaf(np.ones((2, 2)))
    first = gradients([_exp_by_vectors(x)], [ones])[x]
    second = gradients([first], [ones])[x]
    values = evaluate([first, second])
    np.testing.assert_allclose(values[first], np.exp(2.0) * np.ones((2, 2)), rtol=1e-14)
    assert np.isnan(values[second]).any()


def test_single_values_follow_their_vectors(slopes: Slopes) -> None:
    """Each of two equal eigenvalues has the slope along LAPACK's vector, as in PyTorch."""
    (found,) = slopes(lambda x: make.select(eigvalsh(x), 0, 0), np.eye(2))
    assert found == [[1.0, 0.0], [0.0, 0.0]]
    (both,) = slopes(eigvalsh, np.eye(2))
    assert both == [[1.0, 0.0], [0.0, 1.0]]


def test_float32() -> None:
    """Single precision has its own measure of what is equal."""
    x = leaf(2 * np.eye(3, dtype=np.float32), requires_grad=True)
    found = gradients([_exp_by_vectors(x)], [leaf(np.ones((3, 3), np.float32))])[x]
    result = evaluate([found])[found]
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, np.full((3, 3), np.exp(2.0)), rtol=1e-6)
