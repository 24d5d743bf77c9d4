"""A plan as rows that can be read: its steps, what is fused, what is moved and held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..conditions import core_count, current, memory_limit
from ..graph import LEAF, Node
from .blocks import programs_of
from .cost import StepCost, cost
from .steps import Plan, RunStep
from .values import Value


def listed(plan: Plan, names: Mapping[Node, str]) -> dict[str, Any]:
    """What a plan does, as plain data.

    Args:
        plan: the plan.
        names: what the nodes that are asked for are called.
    """
    costs = cost(plan)
    of_slot = _names(plan, names)
    return {
        "steps": [
            _fused(step, each, of_slot) if isinstance(step, RunStep) else _single(plan, step, each, of_slot)
            for step, each in zip(plan.steps, costs.steps, strict=True)
        ],
        "workers": current().workers or core_count(),
        "bytes_inputs": costs.inputs,
        "bytes_results": costs.results,
        "bytes_moved": costs.moved,
        "bytes_peak": costs.peak,
        "bytes_allowed": memory_limit(),
        "seconds": round(costs.seconds, 6),
    }


def _names(plan: Plan, names: Mapping[Node, str]) -> list[str]:
    """What is in each slot, in words: its name, the number that it is, or its op and which one without a name it is."""
    found: list[str] = []
    for value in plan.values:
        name = value.name if value.op is not LEAF else value.name or _leaf(value)
        found.append(name or "")
    for node, slot in plan.results.items():
        if node in names:
            found[slot] = names[node]
    count = 0
    for step in plan.steps:
        for slot in step.outputs if isinstance(step, RunStep) else (step.output,):
            if not found[slot]:
                count += 1
                found[slot] = f"{plan.values[slot].op.name} #{count}"
    return found


def _leaf(value: Value | Node) -> str:
    node = value.node if isinstance(value, Value) else value
    return repr(node.value) if node is not None and not node.shape else f"array {list(value.shape)}"


def _figures(costs: StepCost) -> dict[str, Any]:
    return {
        "bytes_read": costs.read,
        "bytes_written": costs.written,
        "bytes_peak": costs.peak,
        "seconds": round(costs.nanoseconds * 1e-9, 9),
    }


def _single(plan: Plan, step: Any, costs: StepCost, names: list[str]) -> dict[str, Any]:
    value = plan.values[step.output]
    return {
        "kind": "step",
        "op": value.op.name,
        "result": names[step.output],
        "inputs": [names[slot] for slot in step.inputs],
        "shape": list(value.shape),
        "dtype": value.dtype.name,
        **_figures(costs),
    }


def _fused(step: RunStep, costs: StepCost, names: list[str]) -> dict[str, Any]:
    run = step.run
    programs = programs_of(step)
    outputs, endings = step.outputs[: len(run.outputs)], step.outputs[len(run.outputs) :]
    rows = [programs.block_rows if by_rows else 1 for by_rows, _, _ in programs.plain.buffers]
    return {
        "kind": "fused",
        "rows": run.rows,
        "block": programs.block_rows,
        "blocks": -(-run.rows // programs.block_rows),
        "inputs": [names[slot] for slot in step.inputs],
        "outputs": [names[slot] for slot in outputs],
        "reductions": [
            {"op": value.op.name, "result": names[slot]} for value, slot in zip(run.endings, endings, strict=True)
        ],
        "members": [{"op": value.op.name, "name": value.name} for value in run.members],
        "calls": len(programs.plain.calls),
        "buffers": len(rows),
        "guarded": programs.guarded is not programs.plain,
        **_figures(costs),
    }
