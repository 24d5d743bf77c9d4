"""What is fused: the runs of known graphs, and what is left beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.graph import Node, leaf
from agrad.engine.run.cpu import run
from agrad.engine.run.plan import Plan, RunStep, make_plan

Targets = Callable[..., list[Node]]
Runs = Callable[[Plan], list[dict[str, Any]]]

RNG = np.random.default_rng(0)
VECTOR = RNG.standard_normal(70_000)
TABLE = RNG.standard_normal((700, 100))
LABELS = RNG.integers(0, 100, 700)


def test_forward_and_backward_are_one_run(targets_of: Targets, runs_of: Runs) -> None:
    """The value and both gradients of a sum of elementwise ops take one pass, and nothing beside it."""
    plan = make_plan(targets_of("z = sum(tanh(x*y + 1)**2 * exp(-x**2))", x=VECTOR, y=VECTOR))
    (only,) = runs_of(plan)
    assert len(plan.steps) == 1
    assert sorted(only["reads"]) == ["x", "y"]
    assert only["reduces"] == ["sum"]
    assert len(only["writes"]) == 2
    assert "expand" not in only["ops"]  # the weight 1 is a factor that is not there


def test_row_patterns_are_one_run(targets_of: Targets, runs_of: Runs) -> None:
    """Softmax and layer norm, forward and backward, take one pass: a block holds whole rows."""
    for text in ("z = sum(F.softmax(x, dim=1) * c)", "z = sum(F.layer_norm(x, (100,), w, b) * c)"):
        inputs = {"x": TABLE, "c": TABLE[::-1].copy()}
        if "w" in text:
            inputs |= {"w": TABLE[0], "b": TABLE[1]}
        plan = make_plan(targets_of(text, **inputs))
        (only,) = runs_of(plan)
        assert only["lead"] == (700,)
        assert "softmax" not in only["ops"]
        assert "standardize" not in only["ops"]


def test_cross_entropy_reads_its_scores_once(targets_of: Targets, runs_of: Runs) -> None:
    """The count of labels is a pass over the labels; loss and gradient are one pass over the scores."""
    plan = make_plan(targets_of("z = F.cross_entropy(x, t)", x=TABLE, t=LABELS))
    over_scores = [each for each in runs_of(plan) if "x" in each["reads"]]
    (only,) = over_scores
    assert only["ops"].count("exp") == 1
    assert only["reduces"] == ["sum"]


def test_batch_norm_takes_three_passes(targets_of: Targets, runs_of: Runs) -> None:
    """Moments, then the loss and the sums of its gradient, then the gradient; nothing of full size is kept between."""
    text = "z = sum(F.batch_norm(x, None, None, w, b, training=True) * c)"
    plan = make_plan(targets_of(text, wrt="x w b", x=TABLE, w=TABLE[0], b=TABLE[1], c=TABLE[::-1].copy()))
    runs = runs_of(plan)
    assert len(runs) == 3
    assert [len(each["writes"]) for each in runs] == [0, 0, 1]
    assert "moments" in runs[0]["reduces"]


def test_logistic_regression_reads_its_matrix_once(targets_of: Targets, runs_of: Runs) -> None:
    """The product with the weights, the loss and the product for the gradient are one pass over the rows."""
    text = "z = F.binary_cross_entropy_with_logits(X @ w + b, t)"
    plan = make_plan(targets_of(text, wrt="w b", X=TABLE, w=TABLE[0], b=0.5, t=1.0 * (LABELS > 50)))
    (only,) = runs_of(plan)
    assert "X" in only["reads"]
    assert "contracted" in only["reduces"]
    assert not only["writes"]


def test_large_products_are_steps(targets_of: Targets, runs_of: Runs) -> None:
    """What lies between two large matrix products is fused; the products are steps, their transposes views."""
    plan = make_plan(targets_of("z = sum(relu(A @ B) @ C)", A=TABLE, B=TABLE.T.copy(), C=TABLE))
    steps = [plan.values[step.output].op.name for step in plan.steps if not isinstance(step, RunStep)]
    assert steps.count("matmul") >= 4
    assert any("relu" in each["ops"] for each in runs_of(plan))


def test_two_readers_of_an_array_share_the_pass(targets_of: Targets, runs_of: Runs) -> None:
    """Sums that have nothing in common but an input are one run."""
    plan = make_plan(targets_of("z = sum(x**2) + sum(exp(x))", x=VECTOR))
    assert len(runs_of(plan)) == 1


def test_small_graphs_have_no_runs() -> None:
    """Below the size from which fusing pays, every op is a step."""
    x = leaf(np.ones(100))
    assert not make_plan([x * 2.0 + 1.0]).fused


@pytest.mark.parametrize("shape", [(350, 200), (70, 10, 100)])
def test_same_shapes_have_all_axes_as_rows(targets_of: Targets, runs_of: Runs, shape: tuple[int, ...]) -> None:
    """Where nothing is broadcast, all axes are rows, so that blocks are as long as they should be."""
    x = VECTOR.reshape(shape)
    (only,) = runs_of(make_plan(targets_of("z = sum(sin(x) * x)", x=x)))
    assert only["lead"] == shape


def test_what_is_dear_is_kept_and_what_is_cheap_computed_again(targets_of: Targets, runs_of: Runs) -> None:
    """After a sum over all rows a cheap value is computed again, and a very dear one written."""
    cheap = runs_of(make_plan(targets_of("z = sum((x - sum(x**2)) * x)", x=VECTOR)[:1]))
    assert all(not each["writes"] for each in cheap)
    text = "y = lgamma(lgamma(lgamma(lgamma(lgamma(lgamma(x**2 + 2) + 2) + 2) + 2) + 2) + 2)\nz = sum(y * sum(y))"
    dear = runs_of(make_plan(targets_of(text, x=VECTOR)[:1]))
    assert sum(len(each["writes"]) for each in dear) == 1


def test_constants_are_folded_and_assumed() -> None:
    """A weight of 1 drops out of the plan, which does not hold for another weight."""
    x = leaf(VECTOR)
    weight = leaf(np.float64(1.0))
    product = x * weight
    total = product + x
    plan = make_plan([total])
    assert weight in plan.assumed
    assert np.array_equal(run(plan, {weight: np.float64(3.0)})[total], VECTOR * 3.0 + VECTOR)
    assert weight not in make_plan([total], varying=[weight]).assumed
