"""What is fused: the runs of known graphs, and what is left beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.graph import TABLE as OPS
from agrad.engine.graph import Node, leaf, make
from agrad.engine.run import schedule
from agrad.engine.run.blocks import programs_of
from agrad.engine.run.cpu import run
from agrad.engine.run.fusion import Fusion
from agrad.engine.run.members import Members
from agrad.engine.run.plan import fused_plan, make_plan
from agrad.engine.run.steps import Plan, RunStep
from agrad.engine.run.values import Value, Values
from agrad.engine.run.weights import nanoseconds

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


def doubled(x: Node, times: int) -> Node:
    """A sum of a value and itself, of which again a sum is made, so many times."""
    for _ in range(times):
        x = x + x
    return x


def added(x: Node, times: int) -> Node:
    """A value to which it is added again and again."""
    total = x
    for _ in range(times):
        total = total + x
    return total


@pytest.mark.parametrize(("grow", "times"), [(doubled, 3), (doubled, 40), (added, 3000)])
def test_an_element_of_sums_is_looked_for_through_a_few(grow: Callable[[Node, int], Node], times: int) -> None:
    """Rows of which one element is taken may be any number of sums deep: few steps come of it, and the same numbers."""
    x = leaf(np.arange(6.0).reshape(3, 2))
    places = leaf(np.array([[0], [1], [0]]))
    node = make.gather(grow(x, times), 1, places)
    plan = fused_plan([node], least=2, lowers_from=2)
    assert plan.slots <= 2 * times + 60
    np.testing.assert_array_equal(run(plan)[node], run(make_plan([node], fuse=False))[node])


class Counted(Fusion):
    """Finds the runs, and counts how often it asks whether two values share a run."""

    asked = 0

    def _joined(self, value: Value, place: int) -> bool:
        Counted.asked += 1
        return super()._joined(value, place)


def chained(x: Node, results: int, *, ends: bool) -> list[Node]:
    """Results each of which is computed from the one before, and one that waits for all rows of the first."""
    found = []
    for _ in range(results):
        x = make.sin(x)
        found.append(make.sum(x) if ends else x)
    return [*found, make.exp(x / make.sum(found[0]))]


@pytest.mark.parametrize("ends", [False, True])
def test_planning_takes_time_in_proportion_to_the_results(monkeypatch: pytest.MonkeyPatch, ends: bool) -> None:
    """Twice as many results in one run, each needing those before it, take twice as many questions."""
    monkeypatch.setattr(schedule, "Fusion", Counted)
    asked = []
    for results in (200, 400):
        Counted.asked = 0
        plan = fused_plan(chained(leaf(np.ones(8)), results, ends=ends), least=2)
        asked.append(Counted.asked)
        assert sum(isinstance(step, RunStep) for step in plan.steps) <= 2
    assert asked[1] <= 2.1 * asked[0]
    assert asked[1] <= 40 * 400


def test_results_that_can_wait_join_the_pass_that_computes_them_anyway(targets_of: Targets, runs_of: Runs) -> None:
    """A sum that nothing waits for is taken by the later pass that needs its terms, not by the first."""
    text = "y = exp(x)\nw = cos(x / sum(x)) * y\nz = sum(w) + sum(y)"
    runs = runs_of(make_plan(targets_of(text, x=VECTOR)[:1]))
    assert [each["reduces"] for each in runs] == [["sum"], ["sum", "sum"]]
    assert [each["ops"].count("exp") for each in runs] == [0, 1]


def test_parts_are_taken_as_soon_as_they_can_be(targets_of: Targets) -> None:
    """The part of a reduction, and the test of a result, come right after the call that makes what they read."""
    plan = make_plan(targets_of("a = exp(x)\nb = sin(a) * x\nz = sum(a) + sum(b) + sum(cos(b))", x=VECTOR))
    (step,) = [each for each in plan.steps if isinstance(each, RunStep)]
    program = programs_of(step).plain
    made = {call.output: place for place, call in enumerate(program.calls)}
    kinds = [call.kind for call in program.calls]
    assert kinds.count("part") == 3
    for place, call in enumerate(program.calls):
        if call.kind == "part":
            last = max(made.get(each, -1) for each in call.inputs)
            assert set(kinds[last + 1 : place]) <= {"part", "check"}


def test_members_are_sets() -> None:
    """Sets of members as whole numbers join, meet and weigh like the sets that they stand for."""
    values = Values()
    x = values.leaf(leaf(np.ones(3)))
    ops = [values.make(OPS[name], (x,), {}, x.shape, x.dtype) for name in ("exp", "sin", "cos", "neg", "tanh")]
    members = Members(ops[:4])
    some, others = members.of([ops[0], ops[1], ops[4]]), members.of([ops[1], ops[3], ops[1]])
    assert some & others == members.of([ops[1]])
    assert some | others == members.of([ops[0], ops[1], ops[3]])
    assert members.of([]) == members.of([ops[4]]) == 0
    assert members.nanoseconds(some | others) == pytest.approx(sum(nanoseconds(ops[place]) for place in (0, 1, 3)))


def test_a_long_chain_of_views_is_planned_at_once() -> None:
    """What a view may be a view of is held once, however often it is named on the way: 2**60 times here."""
    x = leaf(np.arange(12.0).reshape(4, 3))
    node = make.exp(x)
    for _ in range(60):
        node = make.select(make.stack([node, node], 1), 1, 0)
    plan = fused_plan([node], least=2)
    assert any(isinstance(step, RunStep) for step in plan.steps)
    np.testing.assert_array_equal(run(plan)[node], np.exp(x.value))
