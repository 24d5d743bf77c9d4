"""Plans: each value once, freed at its last use."""

from __future__ import annotations

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.derivatives.nodes import merged
from agrad.engine.graph import TABLE, Node, ancestors, leaf
from agrad.engine.run.cpu import evaluate, run
from agrad.engine.run.plan import fused_plan, make_plan


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


def of_bounds(bounds: tuple[float, float]) -> list[Node]:
    """For each bound, 1 over a vector of numbers that are no less than it."""
    x = leaf(np.full(3, -3.0))
    return [1.0 / TABLE["clamp"](x, min=bound) for bound in bounds]


@pytest.mark.parametrize(("bounds", "values"), [((0.0, -0.0), (np.inf, -np.inf)), ((1, 1.0), (1.0, 1.0))])
def test_parameters_are_equal_when_they_are_written_equal(
    bounds: tuple[float, float], values: tuple[float, float]
) -> None:
    """0.0 and -0.0, or 1 and 1.0, as parameters of one op make two values in each kind of plan; equal ones make one."""
    nodes = of_bounds(bounds)
    for plan in (make_plan(nodes), fused_plan(nodes, least=2), fused_plan(nodes, least=1000)):
        found = run(plan)
        assert [found[node][0] for node in nodes] == list(values)
        assert len(set(plan.results.values())) == 2
    x = leaf(np.full(3, -3.0))
    assert len(make_plan([TABLE["clamp"](x, min=bounds[1]) for _ in range(2)]).steps) == 1


def test_merged_graphs_keep_parameters_of_another_sign_apart() -> None:
    """A graph whose equal parts are one node has one node for each sign of a zero."""
    x = leaf(np.float64(-3.0), requires_grad=True)
    clamped = [TABLE["clamp"](x, min=bound) for bound in (0.0, -0.0, 0.0)]
    graph = merged(clamped[0] + clamped[1] * clamped[2], {x})
    assert [node.op.name for node in ancestors([graph])].count("clamp_min") == 2
