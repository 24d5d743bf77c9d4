"""Ops with several results: one factorisation serves all of them."""

from __future__ import annotations

import numpy as np

from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, leaf, make
from agrad.engine.run.cpu import evaluate
from agrad.engine.run.plan import make_plan


def test_one_factorisation_for_all_results() -> None:
    """The results of one call come from one step of the plan."""
    matrix = leaf(np.array([[2.0, 1.0], [1.0, 3.0]]))
    q, r = TABLE["linalg.qr"](matrix).nodes
    kernels = [step.kernel for step in make_plan([make.matmul(q, r)]).steps]
    assert kernels.count(TABLE["qr.tall"].kernel) == 1


def test_cotangents_of_all_results_add_up() -> None:
    """The gradient through two results is the sum of those through each alone."""
    matrix = leaf(np.array([[2.0, 1.0], [1.0, 3.0]]), requires_grad=True)
    q, r = TABLE["linalg.qr"](matrix).nodes
    ones = leaf(np.ones((2, 2)))
    both, first, second = (gradients(nodes, [ones] * len(nodes))[matrix] for nodes in ([q, r], [q], [r]))
    values = evaluate([both, first, second])
    np.testing.assert_allclose(values[both], values[first] + values[second], rtol=1e-13)


def test_names_and_grad_fn() -> None:
    """Each result has PyTorch's name and grad_fn; what has no derivative requires no gradient."""
    matrix = leaf(np.eye(2), requires_grad=True)
    results = TABLE["linalg.lu"](matrix)
    assert results.names == ("P", "L", "U")
    assert [node.grad_fn for node in results.nodes] == [None, "LinalgLuBackward0", "LinalgLuBackward0"]
    assert [node.requires_grad for node in results.nodes] == [False, True, True]
