"""The CPU executor: runs a plan's steps one after another on NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..conditions import limit_on
from ..graph import Node
from .plan import make_plan
from .steps import Plan


def run(plan: Plan, values: Mapping[Node, Any] | None = None) -> dict[Node, Any]:
    """The values of the nodes that the plan was made for.

    Args:
        plan: what to do.
        values: other values for some leaves, of the same shape and dtype.

    Raises:
        LimitError: where it takes more memory than there may be.
    """
    if values and not plan.assumed.isdisjoint(values):
        plan = make_plan(plan.results, varying=values)
    slots: list[Any] = [None] * plan.slots
    for node, slot in plan.leaves:
        slots[slot] = node.value if values is None or node not in values else values[node]
    if plan.fused:
        from .fused import run_steps  # small graphs do without

        run_steps(plan, slots)
        return {node: slots[slot] for node, slot in plan.results.items()}
    if limit_on(plan.nbytes) is not None:
        from .cost import require_memory  # as above

        require_memory(plan)
    with np.errstate(all="ignore"):
        for kernel, attrs, inputs, output, frees in plan.steps:
            if attrs:
                slots[output] = kernel(np, *[slots[slot] for slot in inputs], **attrs)
            elif len(inputs) == 2:
                # Most steps are of this kind; in a graph of scalars the call itself is what costs.
                slots[output] = kernel(np, slots[inputs[0]], slots[inputs[1]])
            elif len(inputs) == 1:
                slots[output] = kernel(np, slots[inputs[0]])
            else:
                slots[output] = kernel(np, *[slots[slot] for slot in inputs])
            for slot in frees:
                slots[slot] = None
    return {node: slots[slot] for node, slot in plan.results.items()}


def evaluate(nodes: Iterable[Node], values: Mapping[Node, Any] | None = None) -> dict[Node, Any]:
    """The values of some nodes, planned and run."""
    return run(make_plan(nodes), values)
