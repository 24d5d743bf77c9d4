"""Runs plans with large arrays on the CPU: single kernels as they are, fused runs block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ..conditions import current
from .blocks import programs_of, run_blocks
from .cost import cost, require_memory
from .reuse import Results, is_alone
from .steps import Plan, RunStep


def run_steps(plan: Plan, slots: list[Any]) -> None:
    """Run single kernels and fused runs, one after another, on the slots."""
    require_memory(plan)
    conditions = current()
    wanted = frozenset(plan.results.values())
    watch = _Watch(plan, conditions.watch) if conditions.watch is not None else None
    for number, step in enumerate(plan.steps):
        share = watch.of_step(number) if watch is not None else None
        if isinstance(step, RunStep):
            over = _written_over(step, slots)
            into = _results(step, wanted)
            arrays = [slots[slot] for slot in step.inputs]
            programs = programs_of(step)
            found = run_blocks(programs, arrays, over=over, into=into, workers=conditions.workers, watch=share)
            del arrays, over, into
            for slot, value in zip(step.outputs, found, strict=True):
                slots[slot] = value
            del found
        else:
            with np.errstate(all="ignore"):
                slots[step.output] = step.kernel(np, *[slots[slot] for slot in step.inputs], **step.attrs)
            if share is not None:
                share(1.0)
        for slot in step.frees:
            slots[slot] = None


def _written_over(step: RunStep, slots: list[Any]) -> dict[int, Any]:
    """Inputs that nobody needs after a run, each for an output of its shape and dtype to be written over."""
    found: dict[int, Any] = {}
    frees, reads = frozenset(step.frees), Counter(step.inputs)
    free: dict[Any, list[int]] = {}
    for place in range(len(step.run.outputs) - 1, -1, -1):
        value = step.run.outputs[place]
        free.setdefault((value.shape, value.dtype), []).append(place)
    for operand, slot in zip(step.run.inputs, step.inputs, strict=True):
        if slot not in frees or not operand.rows or reads[slot] > 1:
            continue
        alone = is_alone(slots, slot)  # no view of it is alive, and nobody outside holds it
        array = slots[slot]
        own = alone and type(array) is np.ndarray and array.flags.owndata
        if not own or not array.flags.c_contiguous or not array.flags.writeable:
            continue
        places = free.get((array.shape, array.dtype))
        if places:
            found[places.pop()] = array
    return found


def _results(step: RunStep, wanted: frozenset[int]) -> dict[int, Any]:
    """Memory for those outputs of a run that are asked for: of earlier runs, where it is free again."""
    places = [place for place, slot in enumerate(step.outputs[: len(step.run.outputs)]) if slot in wanted]
    if not places:
        return {}
    results: Results = step.made.setdefault("results", Results())
    values = step.run.outputs
    found = {place: results.empty(values[place].shape, values[place].dtype) for place in places}
    results.trim(len(places))
    return found


class _Watch:
    """Tells which share of a plan is done, by the time that each step is thought to take."""

    def __init__(self, plan: Plan, tell: Callable[[float], None]) -> None:
        self._tell = tell
        self._starts = [0.0]
        for step in cost(plan).steps:
            self._starts.append(self._starts[-1] + step.nanoseconds)

    def of_step(self, number: int) -> Callable[[float], None]:
        """Takes which share of one step is done."""
        start, stop, end = self._starts[number], self._starts[number + 1], self._starts[-1]
        return lambda share: self._tell((start + (stop - start) * share) / end)
