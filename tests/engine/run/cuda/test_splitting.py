"""Runs in parts: none holds more than a thread has registers for, and little goes through memory between them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from agrad.engine.graph import TABLE, leaf, make
from agrad.engine.run.cuda.cut import narrowest
from agrad.engine.run.cuda.program import DeviceProgram, KernelStep, device_program
from agrad.engine.run.cuda.registers import MOST, pressure_of
from agrad.engine.run.cuda.splitting import MOST_MEMBERS
from agrad.engine.run.values import Value

from ....gpu.cases import chain, random_chain


def _steps(program: DeviceProgram) -> list[KernelStep]:
    return [action for action in program.actions if isinstance(action, KernelStep)]


def _chain(length: int, dtype: str) -> DeviceProgram:
    return device_program(chain(length, 1000, dtype).targets.values())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("length", [60, 300])
def test_no_part_holds_too_much(length: int, dtype: str) -> None:
    """Neither live values nor members are more than a kernel may have."""
    for step in _steps(_chain(length, dtype)):
        assert pressure_of(step.run) <= MOST
        assert len(step.run.members) <= MOST_MEMBERS


@pytest.mark.parametrize("seed", range(6))
def test_parts_read_what_is_there(seed: int) -> None:
    """Each part reads inputs and what earlier parts have left, and every result is written once."""
    graph = random_chain(seed)
    program = device_program(graph.targets.values())
    there = {slot for _, slot in program.uploads} | set(program.on_host)
    for action in program.actions:
        outputs = action.outputs if isinstance(action, KernelStep) else (action.output,)
        assert there.issuperset(action.inputs)
        assert there.isdisjoint(outputs)
        there |= {*outputs}
    assert there.issuperset(program.plan.results.values())


def test_a_chain_leaves_few_arrays_in_memory() -> None:
    """A value and a cotangent a part, not one for each op: the rest is computed again."""
    program = _chain(300, "float64")
    assert program.peak <= 1000 * 8 * (len(_steps(program)) + 2)
    assert sum(len(step.run.members) for step in _steps(program)) < 2 * 2240


def test_a_run_that_fits_is_not_split() -> None:
    """Thirty ops of float64, and sixty of float32, are one part."""
    assert len(_steps(_chain(30, "float64"))) == len(_steps(_chain(60, "float32"))) == 1


def test_many_arrays_are_read_in_parts() -> None:
    """A sum of more arrays than a kernel may have parameters is several kernels."""
    total: Any = leaf(np.ones(50))
    for _ in range(450):
        total = total + make.tanh(leaf(np.ones(50)))
    steps = _steps(device_program([total]))
    assert len(steps) == 3
    assert all(len(step.run.inputs) + len(step.run.results) <= 200 for step in steps)


def test_many_sums_are_ended_in_parts() -> None:
    """What a kernel adds up stays in registers while it runs: a hundred sums are more than one kernel."""
    x = leaf(np.random.default_rng(2).normal(size=5000))
    steps = _steps(device_program([make.sum(make.tanh(x * float(number))) for number in range(1, 101)]))
    assert len(steps) > 1
    assert all(pressure_of(step.run) <= MOST for step in steps)


def _value(index: int, *args: Value) -> Value:
    return Value(TABLE["add"], args, {}, (2,), np.dtype(np.float64), index)


def test_the_narrowest_cut_is_the_nearest_to_what_is_wanted() -> None:
    """Of a chain with a loop in it: the last value that all must pass, or what is wanted itself."""
    first = _value(0)
    left, right = _value(1, first), _value(2, first)
    joined = _value(3, left, right)
    near = [_value(4, joined), _value(5, joined)]
    values = [first, left, right, joined, *near]
    assert narrowest(near, values, lambda value: value is first) == [joined]
    assert narrowest([left, right], values[:3], lambda value: value is first) == [first]
    assert narrowest([joined, left], values[:4], lambda value: value is first) == [first]
    assert narrowest([first], [first], lambda value: value is first) == [first]


def test_a_cut_is_as_small_as_any() -> None:
    """In random graphs no smaller set of values is on every path, and this one is."""
    random = np.random.default_rng(4)
    for _ in range(60):
        values: list[Value] = []
        for index in range(int(random.integers(3, 11))):
            args = random.choice(index, min(index, int(random.integers(0, 3))), replace=False) if index else []
            values.append(_value(index, *[values[each] for each in args]))
        wanted = values[-2:]
        sources = [value for value in values if not value.args]
        found = narrowest(wanted, values, lambda value, sources=sources: value in sources)  # type: ignore[misc]  # mypy cannot infer it
        assert _separates(found, wanted, sources)
        smaller = combinations(values, len(found) - 1)
        assert not any(_separates(each, wanted, sources) for each in smaller)


def _separates(cut: Any, wanted: list[Value], sources: list[Value]) -> bool:
    """Whether no way leads from what is wanted to a source without a value of the cut."""
    stack, seen = [value for value in wanted if value not in cut], set(cut)
    while stack:
        value = stack.pop()
        if value in sources:
            return False
        seen.add(value)
        stack += [arg for arg in value.args if arg not in seen]
    return True
