"""What a plan will cost, before anything is allocated: memory at each step, bytes moved, and the time, roughly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ..conditions import core_count, current, in_bytes, limit_on, memory_limit
from ..errors import LimitError
from ..graph import LEAF, Node
from .blocks import LONG, MOST_WORKING_BYTES, SHORT, WORKING_BYTES, programs_of
from .fusion import FusedRun
from .steps import Plan, RunStep, Step
from .values import Value
from .weights import BYTES_A_NANOSECOND, PRODUCTS_A_NANOSECOND, nanoseconds

_VIEWS: Final = frozenset(
    {"expand", "reshape", "squeeze", "unsqueeze", "permute", "select", "slice", "uniform", "part"}
)
"""Ops whose result is another view of their argument, and takes no memory."""

_IN_PLACE: Final = frozenset({"matmul", "contracted", "to", "sum", "sum_to_size"})
"""Ops that need no memory beside their result."""

_SURELY: Final = 3
"""Times the bytes of all values that a plan without fused runs does not exceed."""

_NUMBER: Final = 64
"""Bytes of a number, and of its place."""

_CALL: Final = 1_000.0
"""Nanoseconds that one call of a kernel takes whatever it computes."""


class StepCost(NamedTuple):
    """What one step costs.

    Attributes:
        read, written: bytes from and to memory.
        peak: bytes that are held while it runs, beside the inputs of the plan.
        nanoseconds: about how long it takes.
    """

    read: int
    written: int
    peak: int
    nanoseconds: float


@dataclass(frozen=True, slots=True)
class PlanCost:
    """What a plan costs.

    Attributes:
        steps: what each step costs.
        inputs: bytes of the leaves.
        results: bytes of what was asked for.
        peak: the most bytes that are held at a time, beside the inputs.
    """

    steps: list[StepCost]
    inputs: int
    results: int
    peak: int

    @property
    def moved(self) -> int:
        """Bytes read from and written to memory."""
        return sum(step.read + step.written for step in self.steps)

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return sum(step.nanoseconds for step in self.steps) * 1e-9


def cost(plan: Plan) -> PlanCost:
    """What a plan costs."""
    cores = current().workers or core_count()
    sizes = [_nbytes(value) for value in plan.values]
    inputs = {slot for _, slot in plan.leaves}
    # A view holds the memory of what it is a view of.
    root = list(range(plan.slots))
    users = [0] * plan.slots
    held = peak = 0
    steps = []
    for step in plan.steps:
        made = step.outputs if isinstance(step, RunStep) else (step.output,)
        if isinstance(step, Step):
            value = plan.values[step.output]
            if value.op.name in _VIEWS:
                root[step.output] = root[step.inputs[0]] if step.inputs else step.output
                sizes[step.output] = 0
        for slot in made:
            users[root[slot]] += 1
            held += sizes[slot] if root[slot] == slot else 0
        read, written, beside, duration = _of_step(plan, step, sizes, cores)
        steps.append(StepCost(read, written, held + beside, duration))
        peak = max(peak, held + beside)
        for slot in step.frees:
            base = root[slot]
            users[base] -= 1
            if base not in inputs and users[base] == 0:
                held -= sizes[base]
    results = sum(sizes[slot] for slot in set(plan.results.values()) - inputs)
    return PlanCost(steps, sum(sizes[slot] for slot in inputs), results, peak)


def _nbytes(value: Value | Node) -> int:
    if isinstance(value, Node) and (value.op is LEAF or not value.shape) and value.is_number:
        return 0
    return math.prod(value.shape) * value.dtype.itemsize


def _of_step(plan: Plan, step: Any, sizes: Sequence[int], cores: int) -> tuple[int, int, int, float]:
    """Bytes read, bytes written, bytes held beside the results, and nanoseconds."""
    read = sum(sizes[slot] for slot in set(step.inputs))
    if isinstance(step, RunStep):
        written = sum(sizes[slot] for slot in step.outputs)
        arithmetic = _of_run(step.run)
        parts = sum(value.nbytes for value in step.run.endings)
        programs = programs_of(step)
        blocks = -(-step.run.rows // programs.block_rows)
        workers = max(1, min(cores, (read + written) // WORKING_BYTES, blocks // SHORT))
        alive = min(MOST_WORKING_BYTES, max(WORKING_BYTES, 8 * LONG * len(step.run.members)))
        alive = max(alive, programs.block_rows * programs.row_bytes)
        beside = workers * (alive + 4 * parts)
        return read, written, beside, (arithmetic + (read + written) / BYTES_A_NANOSECOND) / workers + _CALL
    value = plan.values[step.output]
    if value.op.name in _VIEWS:
        return 0, 0, 0, _CALL
    written = sizes[step.output]
    beside = 0 if value.op.name in _IN_PLACE else max(read, written)
    size = math.prod(value.shape)
    if value.op.name in ("matmul", "contracted"):
        left = plan.values[step.inputs[0]].shape
        depth = left[0] if value.op.name == "contracted" else left[-1] if left else 1
        arithmetic = size * depth / PRODUCTS_A_NANOSECOND
    else:
        size = max(size, *[math.prod(plan.values[slot].shape) for slot in step.inputs], 1)
        arithmetic = size * nanoseconds(value)
    return read, written, beside, arithmetic + (read + written) / BYTES_A_NANOSECOND + _CALL


def _of_run(run: FusedRun) -> float:
    """Nanoseconds of arithmetic on one core."""
    members = sum(_of_value(value, value.shape) for value in run.members)
    return members + sum(_of_value(value, value.args[0].shape) for value in run.endings)


def _of_value(value: Value, shape: Sequence[int]) -> float:
    if value.op.name in ("matmul", "contracted"):
        left, right = value.args
        return left.size * (right.shape[-1] if len(right.shape) > 1 else 1) / PRODUCTS_A_NANOSECOND
    return math.prod(shape) * nanoseconds(value)


def require_memory(plan: Plan) -> None:
    """Refuse a plan that takes more memory than there may be, before anything is allocated.

    Raises:
        LimitError: with the estimate.
    """
    limit = limit_on(plan.nbytes)
    # A step holds its arguments, its result and no more than as much again beside them.
    if limit is None or (not plan.fused and _SURELY * (plan.nbytes + _NUMBER * plan.slots) <= limit):
        return
    require(cost(plan).peak)


def require(needed: int) -> None:
    """Refuse what takes more bytes than there may be.

    Args:
        needed: how many it takes beside its inputs.

    Raises:
        LimitError: as `require_memory` says.
    """
    limit = memory_limit()
    if limit is not None and needed > limit:
        given = current().memory is not None
        raise LimitError(
            f"this needs about {in_bytes(needed)} of memory beside its inputs, and "
            f"{'--max-memory is' if given else 'three quarters of what is free are'} {in_bytes(limit)}",
            hint="see where with --plan; "
            + ("give a larger --max-memory" if given else "or force it with --max-memory"),
            code="memory",
        )
