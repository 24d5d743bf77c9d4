"""Jacobians and Hessians as values, against closed forms and single runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.derivatives import jacobian as module
from agrad.engine.derivatives.jacobian import derivatives, hessian, jacobian, rows_of
from agrad.engine.derivatives.nodes import by_entries, gradient
from agrad.engine.errors import LimitError, Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate


def single_runs(output: Node, node: Node) -> Any:
    """The Jacobian, one gradient for each entry."""
    rows = []
    for place in range(output.size):
        unit = np.zeros(output.size)
        unit[place] = 1
        found = gradients([output], [leaf(unit.reshape(output.shape)[()])])
        rows.append(evaluate([found[node]])[found[node]] if node in found else np.zeros(node.shape))
    return np.reshape(rows, (*output.shape, *node.shape))


def network() -> tuple[Node, dict[str, Node]]:
    """A formula that goes through products, reductions, parts and masks."""
    text = (
        "h = tanh(W @ x + b)\n"
        "y = softmax(h, 0)[[0, 2, 0]] * cumsum(x, 0)[1:].sum() + relu(x).mean() * norm(W, dim=1)\n"
        "z = sum(logsumexp(W * y[:, None], 1) ** 2)"
    )
    rng = np.random.default_rng(5)
    inputs = {"W": rng.standard_normal((3, 4)), "b": rng.standard_normal(3), "x": rng.standard_normal(4)}
    formulas = build(Source(text), inputs=inputs, wrt=list(inputs))
    return formulas.names["y"], formulas.wrt | {"z": formulas.names["z"]}


def test_jacobians_are_what_single_runs_give() -> None:
    """Every block of a formula of three leaves."""
    y, names = network()
    leaves = [names[name] for name in "Wbx"]
    found = jacobian(y, leaves)
    assert list(found) == leaves
    for node in leaves:
        assert found[node].shape == (*y.shape, *node.shape)
        np.testing.assert_allclose(found[node], single_runs(y, node), rtol=1e-12, atol=1e-14)


def test_hessian_blocks_are_jacobians_of_gradients() -> None:
    """Every pair of leaves, the computed blocks and the transposed ones."""
    _, names = network()
    leaves = [names[name] for name in "Wbx"]
    blocks = hessian(names["z"], leaves)
    for first, slope in zip(leaves, gradient(names["z"], leaves), strict=True):
        for second in leaves:
            expected = single_runs(slope, second)
            np.testing.assert_allclose(blocks[first][second], expected, rtol=1e-10, atol=1e-12)


def rosenbrock(n: int) -> tuple[Node, Node, Any]:
    """The function of n variables, its leaf and its Hessian in closed form."""
    x = np.random.default_rng(n).standard_normal(n)
    text = "f = sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)"
    formulas = build(Source(text), inputs={"x": x})
    diagonal = np.zeros(n)
    diagonal[:-1] += 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    diagonal[1:] += 200
    beside = np.diag(-400 * x[:-1], 1)
    return formulas.names["f"], formulas.wrt["x"], np.diag(diagonal) + beside + beside.T


def test_the_hessian_of_rosenbrock() -> None:
    """Its closed form, with exact zeros outside of the three diagonals."""
    f, x, expected = rosenbrock(200)
    found = hessian(f, [x])[x][x]
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert np.count_nonzero(found) == 3 * 200 - 2


def test_parts_that_fit_into_memory_give_the_same() -> None:
    """Whatever the memory, even too little for a single run, the rows are the same; the last part is shorter."""
    f, x, expected = rosenbrock(50)
    runs = by_entries(gradient(f, [x])[0], [x])
    for megabytes in (64, 0.02, 0.003, 1e-9):
        np.testing.assert_allclose(rows_of(runs, megabytes)[0], expected, rtol=1e-13)


def test_parts_stay_within_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one batch makes is bounded by the memory allowed, and what does not vary is computed once."""
    f, x, _ = rosenbrock(50)
    runs = by_entries(gradient(f, [x])[0], [x])
    lengths = []
    plain = module.batched

    def spied(targets: Any, leaves: Any, fixed: Any) -> Any:
        lengths.append(next(iter(leaves.values())).shape[0])
        assert all(node.op.name == "leaf" for node in fixed.values())
        return plain(targets, leaves, fixed)

    monkeypatch.setattr(module, "batched", spied)
    for megabytes in (64, 0.02, 1e-9):
        rows_of(runs, megabytes)
    assert lengths[0] == 50
    assert 1 < lengths[1] < 25
    assert lengths[2] == 1


def test_jacobians_by_what_is_not_used_are_zero() -> None:
    """An output that does not depend on a leaf, and a linear function's second derivative."""
    x, y = leaf(np.ones(2), requires_grad=True), leaf(np.ones(3), requires_grad=True)
    assert np.array_equal(jacobian(x * 2.0, [y])[y], np.zeros((2, 3)))
    assert np.array_equal(hessian(make.sum(x) * 3.0, [x, y])[x][y], np.zeros((2, 3)))


def test_tensors_without_entries() -> None:
    """An empty output, and a number by a number."""
    x = leaf(np.ones(0), requires_grad=True)
    assert jacobian(make.exp(x), [x])[x].shape == (0, 0)
    t = leaf(np.float64(2.0), requires_grad=True)
    assert jacobian(t * t, [t])[t] == 4.0
    assert np.shape(jacobian(t * t, [t])[t]) == ()


def test_sparse_and_full_blocks_side_by_side() -> None:
    """One input reaches one entry each, the other all: each block in its own way, and none in the other's place."""
    x, z = np.linspace(1.0, 2.0, 300), np.linspace(0.5, 1.5, 100)
    formulas = build(Source("y = x**2 * sum(z**2)"), inputs={"x": x, "z": z}, wrt=["x", "z"])
    leaves = [formulas.wrt[name] for name in "zx"]
    runs = by_entries(formulas.names["y"], leaves)
    assert [node is None for node in module.compressed(runs.targets, runs.leaf, 0)] == [True, False]
    found = jacobian(formulas.names["y"], leaves)
    np.testing.assert_allclose(found[leaves[0]], np.outer(x**2, 2 * z), rtol=1e-14)
    np.testing.assert_allclose(found[leaves[1]], np.diag(2 * x * np.sum(z**2)), rtol=1e-14)


def test_dtypes_are_kept() -> None:
    """float32 stays float32."""
    x = leaf(np.ones(3, np.float32), requires_grad=True)
    assert jacobian(make.exp(x), [x])[x].dtype == np.float32
    assert hessian(make.sum(make.exp(x)), [x])[x][x].dtype == np.float32


def test_one_hot_rows_stop_at_infinite_slopes() -> None:
    """A Jacobian row is zero where the output does not depend on an entry, also beside an infinite slope: no NaN."""
    formulas = build(Source("x = [0.0, 4.0]\ny = sqrt(x)\nz = sum(where(x > 0, sqrt(x), 0.0)**3)"))
    x = formulas.wrt["x"]
    assert np.array_equal(jacobian(formulas.names["y"], [x])[x], [[np.inf, 0.0], [0.0, 0.25]])
    assert np.array_equal(hessian(formulas.names["z"], [x])[x][x], [[0.0, 0.0], [0.0, 0.375]])


def test_repeated_derivatives() -> None:
    """Orders 1 to 5, with zeros once nothing is left."""
    formulas = build(Source("x = 2.0\ny = x**3"))
    assert derivatives(formulas.names["y"], formulas.wrt["x"], 5) == [12.0, 12.0, 6.0, 0.0, 0.0]


def test_matrices_too_large_are_refused() -> None:
    """Before anything is computed."""
    x = leaf(np.broadcast_to(np.float64(1.0), 100_000), requires_grad=True)
    with pytest.raises(LimitError, match="80 GB"):
        jacobian(x * x, [x])
