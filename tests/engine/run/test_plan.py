"""Plans: each value once, freed at its last use."""

from __future__ import annotations

import numpy as np

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.graph import leaf
from agrad.engine.run.cpu import evaluate, run
from agrad.engine.run.plan import make_plan


def test_common_subexpressions_are_computed_once() -> None:
    """Two equal products share one step, and both nodes get the value."""
    x, y = leaf(np.float64(3.0)), leaf(np.float64(2.0))
    first, second = x * y, x * y
    plan = make_plan([first, second, first + second])
    assert len(plan.steps) == 2
    values = run(plan)
    assert values[first] == values[second] == 6.0


def test_written_zero_and_minus_zero_are_two_values() -> None:
    """0.0 and -0.0 are not merged: one over them differs."""
    positive, negative = 1.0 / leaf(0.0), 1.0 / leaf(-0.0)
    values = evaluate([positive, negative])
    assert (values[positive], values[negative]) == (np.inf, -np.inf)


def test_one_and_one_point_zero_are_two_values() -> None:
    """The integer 1 and the float 1.0 are not merged: their dtypes differ."""
    x = leaf(np.arange(2))
    whole, real = x + 1, x + 1.0
    values = evaluate([whole, real])
    assert (values[whole].dtype, values[real].dtype) == (np.int64, np.float64)


def test_two_leaves_are_never_merged() -> None:
    """Leaves of the same value stay apart, since another value may be given to one of them."""
    x, y = leaf(np.float64(1.0)), leaf(np.float64(1.0))
    first, second = x + 1.0, y + 1.0
    values = run(make_plan([first, second]), {y: np.float64(5.0)})
    assert (values[first], values[second]) == (2.0, 6.0)


def test_dead_nodes_have_no_step() -> None:
    """What no target needs is not computed."""
    x = leaf(np.float64(1.0))
    _ = x * 100.0
    assert len(make_plan([x + 1.0]).steps) == 1


def test_values_are_freed_at_their_last_use() -> None:
    """In a chain of arrays no more than two values live at a time; targets are never freed."""
    x = node = leaf(np.ones(3))
    chain = []
    for _ in range(5):
        node = node + 1.0
        chain.append(node)
    plan = make_plan([chain[2], node])
    kept = set(plan.results.values())
    freed = [slot for step in plan.steps for slot in step.frees]
    assert len(freed) == len(set(freed))
    assert not kept & set(freed)
    outputs = {step.output for step in plan.steps}
    assert outputs - kept <= set(freed)
    assert x in [node for node, _ in plan.leaves]
