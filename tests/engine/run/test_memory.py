"""Memory: what a run holds is what it gives and little else; the estimate says so before."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine import conditions
from agrad.engine.conditions import Conditions, free_memory, in_bytes, memory_limit, under
from agrad.engine.errors import LimitError
from agrad.engine.graph import TABLE, Node, leaf
from agrad.engine.run import fused
from agrad.engine.run.blocks import programs_of
from agrad.engine.run.cost import cost
from agrad.engine.run.cpu import run
from agrad.engine.run.plan import make_plan
from agrad.engine.run.steps import RunStep

Targets = Callable[..., list[Node]]

RNG = np.random.default_rng(0)
SIZE = 1_000_000
MORE = 64 * 10**6


def peak_of(nodes: list[Node]) -> int:
    """The most bytes held while nodes are computed, beside what was there."""
    plan = make_plan(nodes)
    tracemalloc.start()
    try:
        run(plan)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("z = sum(tanh(x*y + 1)**2 * exp(-x**2))", (SIZE,)),
        ("z = sum(sin(x*y) * cos(x/(y**2 + 1)) + sigmoid(x - y)**3)", (SIZE,)),
        ("z = sum(F.softmax(x, dim=1) * y)", (1000, 1000)),
        ("z = sum(F.batch_norm(x, None, None, training=True) * y)", (1000, 1000)),
    ],
)
def test_a_fused_run_holds_its_results_and_little_else(targets_of: Targets, text: str, shape: tuple[int, ...]) -> None:
    """The peak is the results and less than 64 MB beside, and no more than the estimate."""
    x, y = RNG.standard_normal(shape), RNG.standard_normal(shape)
    nodes = targets_of(text, x=x, y=y)
    results = sum(node.size * 8 for node in nodes)
    measured = peak_of(nodes)
    assert measured <= results + MORE / 4
    assert measured <= cost(make_plan(nodes)).peak


@pytest.mark.parametrize("workers", [1, 2])
def test_a_few_long_rows_are_taken_in_pieces(targets_of: Targets, workers: int) -> None:
    """Ops on single elements of rows of 8 MB are no run of whole rows, and the peak is that of short ones."""
    text = "y = sum(exp(sin(x)) * cos(x) * x + tanh(x) * x, dim=1)\nz = sum(y * y)"
    nodes = targets_of(text, x=RNG.standard_normal((2, SIZE)))
    plan = make_plan(nodes)
    assert max(programs_of(step).block_rows for step in plan.steps if isinstance(step, RunStep)) > 1000
    with under(Conditions(workers=workers)):
        assert peak_of(nodes) <= 2 * cost(plan).results + MORE / 4
        assert peak_of(nodes) <= cost(plan).peak


@pytest.mark.parametrize("rows", [2, 6])
@pytest.mark.parametrize("text", ["z = sum(F.softmax(x, dim=1) * sin(x))", "z = sum(torch.cumsum(exp(x), 1) * x)"])
def test_long_rows_that_are_computed_whole_are_in_the_estimate(targets_of: Targets, text: str, rows: int) -> None:
    """A block of one long row, with all buffers of each worker, takes no more than was said."""
    nodes = targets_of(text, x=RNG.standard_normal((rows, 2 * SIZE // rows)))
    for workers in (1, 2):
        with under(Conditions(workers=workers)):
            assert peak_of(nodes) <= cost(make_plan(nodes)).peak


def test_values_are_freed_at_their_last_use(targets_of: Targets) -> None:
    """A long chain of steps that cannot be fused holds a few values at a time, not all."""
    text = "a = x\n" + "a = torch.flip(torch.roll(a, 1, 0), (0,))\n" * 10 + "z = sum(a)\n"
    nodes = targets_of(text, x=RNG.standard_normal(SIZE // 4))[:1]
    assert peak_of(nodes) <= 5 * SIZE // 4 * 8


def test_too_much_is_refused_before_anything_is_allocated(targets_of: Targets) -> None:
    """A limit below the estimate is an error with both numbers, and no array has been made."""
    plan = make_plan(targets_of("z = sum(exp(x) * x)", x=RNG.standard_normal(SIZE)))
    tracemalloc.start()
    try:
        with (
            under(Conditions(memory=1_000_000)),
            pytest.raises(LimitError, match=r"MB of memory.*--max-memory is 1 MB"),
        ):
            run(plan)
        assert tracemalloc.get_traced_memory()[1] < SIZE
    finally:
        tracemalloc.stop()
    with under(Conditions(memory=100_000_000)):
        run(plan)


def test_a_plan_without_runs_is_held_against_the_limit(targets_of: Targets) -> None:
    """Many arrays too small to be fused are refused like large ones, with a limit that is given or by what is free."""
    text = "a = sin(x)\n" + "a = sin(a)\n" * 100 + "z = sum(a)"
    plan = make_plan(targets_of(text, x=RNG.standard_normal(5_000)))
    assert not plan.fused
    peak = cost(plan).peak
    for limit in (1_000, peak - 1):
        with under(Conditions(memory=limit)), pytest.raises(LimitError, match="--max-memory is"):
            run(plan)
    with under(Conditions(memory=peak)):
        run(plan)


def test_large_plans_without_runs_are_held_against_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a limit a plan is looked at from a size on, whether something is fused in it or not."""
    monkeypatch.setattr(conditions, "free_memory", lambda: 1_000)
    x = leaf(RNG.standard_normal(50_000))
    nodes = [TABLE["sin"](x * float(number)) for number in range(60)]
    for count in (30, 60):
        plan = make_plan(nodes[:count])
        assert not plan.fused
        if plan.nbytes > conditions.SMALL:
            with pytest.raises(LimitError, match="three quarters of what is free are 750 bytes"):
                run(plan)
        else:
            run(plan)
    assert plan.nbytes > conditions.SMALL


def test_three_quarters_of_what_is_free_is_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a limit the system's free memory sets it; where it does not say, there is none."""
    monkeypatch.setattr(conditions, "free_memory", lambda: 4_000)
    assert memory_limit() == 3_000
    monkeypatch.setattr(conditions, "free_memory", lambda: None)
    assert memory_limit() is None


def test_free_memory_is_what_the_system_says() -> None:
    """On Linux it is a positive number; elsewhere unknown."""
    free = free_memory()
    assert free is None or free > 2**20


def test_default_limit_is_named_in_the_error(monkeypatch: pytest.MonkeyPatch, targets_of: Targets) -> None:
    """The message says where the limit comes from, and how to raise it."""
    monkeypatch.setattr(conditions, "free_memory", lambda: 1_000_000)
    monkeypatch.setattr(conditions, "SMALL", 0)
    plan = make_plan(targets_of("z = sum(exp(x*y))", x=RNG.standard_normal(SIZE), y=RNG.standard_normal(SIZE)))
    with pytest.raises(LimitError, match="three quarters of what is free are 750 kB") as caught:
        run(plan)
    assert "--max-memory" in caught.value.hint


def test_views_take_no_memory() -> None:
    """Transposed, reshaped and broadcast arrays are views in the estimate."""
    x = leaf(np.zeros((500, 400)))
    plan = make_plan([TABLE["permute"](x, 1, 0), TABLE["reshape"](x, 400, 500)])
    assert cost(plan).peak < 10_000


def test_small_plans_have_a_cost_too() -> None:
    """A plan of scalars is a few bytes and some microseconds."""
    x: Any = leaf(np.float64(2.0))
    found = cost(make_plan([x * x + 1.0]))
    assert 0 < found.peak < 1000
    assert 0 < found.seconds < 1e-3


def test_bytes_in_words() -> None:
    """Three digits and a unit."""
    assert [in_bytes(count) for count in (8, 1500, 2.5e6, 3e9, 4e12, 5e15)] == [
        "8 bytes",
        "1.5 kB",
        "2.5 MB",
        "3 GB",
        "4 TB",
        "5e+03 TB",
    ]


def test_watching_goes_from_nothing_to_all(targets_of: Targets) -> None:
    """Who watches is told shares that grow to 1."""
    told: list[float] = []
    plan = make_plan(targets_of("z = sum(exp(x) * log(sum(x**2)))", x=RNG.standard_normal(SIZE // 2)))
    with under(Conditions(workers=1, watch=told.append)):
        run(plan)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    assert len(told) > 5


def test_a_value_is_written_over_at_its_last_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a product gives and only one run reads is overwritten by that run's result; a leaf never is."""
    left, right = RNG.standard_normal((300, 200)), RNG.standard_normal((200, 300))
    given: list[int] = []
    compute = fused.run_blocks

    def noted(*args: Any, **options: Any) -> list[Any]:
        given.append(len(options["over"]))
        return compute(*args, **options)

    monkeypatch.setattr(fused, "run_blocks", noted)
    product = TABLE["matmul"](leaf(left), leaf(right))
    node = TABLE["flip"](TABLE["exp"](product * 0.01), (0,))
    found = run(make_plan([node]))[node]
    np.testing.assert_array_equal(found, np.exp(left @ right * 0.01)[::-1])
    seen = run(make_plan([node, product]))[product]
    np.testing.assert_array_equal(seen, left @ right)
    assert given == [1, 0]
