"""Memory of dropped results reused, and never that of results that somebody holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad.engine.graph import TABLE, leaf
from agrad.engine.run.cpu import run
from agrad.engine.run.plan import make_plan
from agrad.engine.run.reuse import SETS, Results, is_alone

SHAPE = (500, 400)


def address(array: Any) -> int:
    """Where an array's numbers are."""
    return int(array.__array_interface__["data"][0])


def test_what_somebody_holds_is_not_alone() -> None:
    """A name, another list and a view each count."""
    held = [np.zeros(3)]
    assert is_alone(held, 0)
    name = held[0]
    assert not is_alone(held, 0)
    del name
    others = [held[0]]
    assert not is_alone(held, 0)
    others.clear()
    view = held[0][1:]
    assert not is_alone(held, 0)
    del view
    assert is_alone(held, 0)


def test_dropped_memory_is_used_again() -> None:
    """The array after a dropped one of its size has its memory; a small one is always new."""
    results = Results()
    first = results.empty(SHAPE, np.dtype(float))
    place = address(first)
    del first
    assert address(results.empty(SHAPE, np.dtype(float))) == place
    assert results.empty((3,), np.dtype(float)).flags.owndata


def test_held_memory_is_not() -> None:
    """While the result, a view of it or a view of a view is alive, another array has other memory."""
    results = Results()
    held = results.empty(SHAPE, np.dtype(float))[3:].T.ravel(order="K")[5:]
    assert not np.shares_memory(held, results.empty(SHAPE, np.dtype(float)))
    exported = memoryview(results.empty(SHAPE, np.dtype(float)))
    assert not np.shares_memory(np.asarray(exported), results.empty(SHAPE, np.dtype(float)))


def test_only_a_few_sets_are_kept() -> None:
    """What a caller hoards is not kept by the plan too."""
    results = Results()
    hoard = []
    for _ in range(10):
        hoard.append(results.empty(SHAPE, np.dtype(float)))
        results.trim(1)
    assert len(results._kept) == SETS


def test_results_of_a_plan_stay_what_they_are() -> None:
    """Results that are held keep their numbers when the plan runs again; dropped ones give their memory."""
    x = leaf(np.random.default_rng(0).random(SHAPE))
    node = TABLE["exp"](x)
    plan = make_plan([node])
    first = run(plan)[node]
    copy = first.copy()
    second = run(plan, {x: np.zeros(SHAPE)})[node]
    assert np.array_equal(first, copy)
    assert np.array_equal(second, np.ones(SHAPE))
    place = address(second)
    del second
    assert address(run(plan)[node]) == place


def test_memory_of_intermediates_is_not_kept() -> None:
    """Between runs a plan holds no more than its results."""
    x = leaf(np.random.default_rng(0).random(SHAPE))
    middle = TABLE["exp"](x)
    node = TABLE["sum"](TABLE["flip"](middle, (0,)))
    plan = make_plan([node])
    run(plan)
    assert all("results" not in step.made for step in plan.steps if hasattr(step, "made"))
