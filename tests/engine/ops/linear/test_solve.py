"""Inverses, linear systems and Cholesky factors."""

from __future__ import annotations

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
Value = Callable[[Node], Any]

cholesky = TABLE["linalg.cholesky"]


def test_the_trace_of_an_inverse(slopes: Slopes) -> None:
    """The recorded slope of trace(inv(A)) is right."""
    wanted = [[-0.20118343195266272, -0.11834319526627218], [0.05917159763313609, -0.08284023668639054]]
    found = slopes(lambda a: make.trace(make.inv(a)), [[2.0, 0.5], [-1.0, 3.0]])[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_singular_matrices_are_refused() -> None:
    """An inverse or a solution that does not exist is an error in PyTorch's words, when it is computed."""
    singular = leaf(np.ones((2, 2)))
    for node in (make.inverse(singular), make.solve(singular, leaf(np.ones(2)))):
        with pytest.raises(InputError, match="singular"):
            evaluate([node])
    with pytest.raises(InputError, match="not positive-definite"):
        evaluate([node := cholesky(leaf(-np.eye(2)))])


@pytest.mark.parametrize(
    ("name", "matrix", "message"),
    [
        ("inverse", [[1.0, 0.0], [0.0, 0.0]], "linalg.inv: The diagonal element 2 is zero, the inversion"),
        ("inverse", [np.eye(2), np.zeros((2, 2))], "linalg.inv: (Batch element 1): The diagonal element 1 is zero"),
        (
            "linalg.cholesky",
            [[1.0, 2.0], [2.0, 1.0]],
            "linalg.cholesky: The factorization could not be completed "
            "because the input is not positive-definite (the leading minor of order 2 is not positive-definite).",
        ),
        ("linalg.cholesky", [np.eye(2), -np.eye(2)], "linalg.cholesky: (Batch element 1): The factorization"),
    ],
)
def test_the_matrix_and_the_step_that_fail_are_told(name: str, matrix: Any, message: str) -> None:
    """The message names the member of a stack and the step at which LAPACK gives up, as PyTorch's does."""
    with pytest.raises(InputError) as caught:
        evaluate([TABLE[name](leaf(np.array(matrix)))])
    assert caught.value.message.startswith(message)
    assert caught.value.code == "singular"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**16), st.sampled_from([(3,), (3, 2), (2, 3, 2)]))
def test_solutions_move_as_their_equations_say(seed: int, shape: tuple[int, ...]) -> None:
    """A change of either side changes the solution by what the linear equations say."""
    chance = np.random.default_rng(seed)
    a = leaf(chance.normal(size=(3, 3)) + 4 * np.eye(3), requires_grad=True)
    b = leaf(chance.normal(size=shape), requires_grad=True)
    x = make.solve(a, b)
    weight, to_a, to_b = chance.normal(size=shape), chance.normal(size=(3, 3)), chance.normal(size=shape)
    found = gradients([x], [leaf(weight)])
    values = evaluate([x, found[a], found[b]])
    solution = values[x]
    moved_by_a = -np.linalg.solve(a.value, to_a @ solution)
    moved_by_b = np.linalg.solve(a.value, to_b)
    assert np.sum(values[found[a]] * to_a) == pytest.approx(np.sum(weight * moved_by_a))
    assert np.sum(values[found[b]] * to_b) == pytest.approx(np.sum(weight * moved_by_b))


def test_only_one_triangle_is_read(value: Value, slopes: Slopes) -> None:
    """A triangular solver neither reads nor moves the other triangle; a unit diagonal counts as ones."""
    lower = [[2.0, 99.0], [1.0, 4.0]]
    right = leaf(np.array([[2.0], [9.0]]))
    assert value(make.solve_triangular(leaf(np.array(lower)), right, upper=False)) == [[1.0], [2.0]]
    slope = slopes(lambda a: make.solve_triangular(a, right, upper=False), lower)[0]
    np.testing.assert_allclose(slope, [[-0.375, 0.0], [-0.25, -0.5]])
    unit = slopes(lambda a: make.solve_triangular(a, right, upper=False, unitriangular=True), lower)[0]
    np.testing.assert_allclose(unit, [[0.0, 0.0], [-2.0, 0.0]])
    turned = make.solve_triangular(leaf(np.array(lower).T), make.transpose(right, 0, 1), upper=True, left=False)
    assert value(turned) == [[1.0, 2.0]]
    assert value(make.triangular_solve(right, leaf(np.array(lower)), upper=False).nodes[0]) == [[1.0], [2.0]]


def test_the_slope_of_a_cholesky_factor_is_symmetric(value: Value, slopes: Slopes) -> None:
    """The recorded slope of the factor of [[4, 2], [2, 3]] is right, and symmetric."""
    matrix = [[4.0, 2.0], [2.0, 3.0]]
    np.testing.assert_allclose(value(cholesky(leaf(np.array(matrix)))), [[2.0, 0.0], [1.0, np.sqrt(2)]])
    slope = slopes(cholesky, matrix)[0]
    np.testing.assert_allclose(slope, [[0.213388, 0.0732233], [0.0732233, 0.353553]], rtol=1e-5)
    upper = cholesky(leaf(np.array(matrix), requires_grad=True), upper=True)
    assert upper.grad_fn == "LinalgCholeskyExBackward0"
    np.testing.assert_allclose(value(upper), [[2.0, 1.0], [0.0, np.sqrt(2)]])


def test_a_cholesky_factor_solves(value: Value) -> None:
    """cholesky_solve and cholesky_inverse are solve and inverse of the matrix whose factor is given."""
    factor = np.array([[2.0, 0.0], [1.0, 3.0]])
    right = np.array([[1.0], [5.0]])
    found = value(make.cholesky_solve(leaf(right), leaf(factor)))
    np.testing.assert_allclose(found, np.linalg.solve(factor @ factor.T, right))
    np.testing.assert_allclose(value(make.cholesky_inverse(leaf(factor))), np.linalg.inv(factor @ factor.T))
    np.testing.assert_allclose(value(make.cholesky_solve(leaf(right), leaf(factor.T), True)), found)


@pytest.mark.parametrize("n", [-2, -1, 0, 1, 2, 3, 5])
def test_powers_of_matrices(value: Value, n: int) -> None:
    """A power is NumPy's, of negative n that of the inverse."""
    matrix = np.array([[2.0, 1.0], [0.5, 3.0]])
    node = make.matrix_power(leaf(matrix, requires_grad=True), n)
    np.testing.assert_allclose(value(node), np.linalg.matrix_power(matrix, n))
    names = {-1: "LinalgInvExBackward0", 0: "CopyBackwards", 1: "CloneBackward0"}
    assert node.grad_fn == names.get(n, "MmBackward0")
