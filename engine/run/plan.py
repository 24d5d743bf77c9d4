"""From nodes to steps: dead nodes dropped, common subexpressions merged, values freed at their last use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..graph import LEAF, Attrs, Node, ancestors


class Step(NamedTuple):
    """One kernel to run.

    Attributes:
        kernel: the row's kernel.
        attrs: its plain parameters.
        inputs: the slots of its arguments.
        output: the slot of its result.
        frees: slots whose value nobody needs afterwards.
    """

    kernel: Callable[..., Any]
    attrs: Attrs
    inputs: tuple[int, ...]
    output: int
    frees: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What an executor does, in order.

    Attributes:
        leaves: each leaf in use and its slot.
        steps: what to run.
        results: the slot of each node that was asked for.
        slots: how many slots there are.
    """

    leaves: list[tuple[Node, int]]
    steps: list[Step]
    results: dict[Node, int]
    slots: int


def make_plan(targets: Iterable[Node]) -> Plan:
    """The plan that computes the targets, each value once."""
    targets = list(targets)
    slot_of: dict[Node, int] = {}
    known: dict[tuple[Any, ...], int] = {}
    leaves: list[tuple[Node, int]] = []
    drafts: list[tuple[Callable[..., Any], Attrs, tuple[int, ...], int]] = []
    slots = 0
    for node in ancestors(targets):
        key: tuple[Any, ...]
        if node.op is LEAF:
            # Written numbers are equal when they are written equal (and 0.0 is not -0.0); other leaves never are.
            key = (type(node.value), repr(node.value)) if node.is_number else (id(node),)
        else:
            inputs = tuple([slot_of[arg] for arg in node.args])
            key = (node.op.name, inputs, *node.attrs.items()) if node.attrs else (node.op.name, inputs)
        slot = known.get(key)
        if slot is None:
            slot = known[key] = slots
            slots += 1
            if node.op is LEAF:
                leaves.append((node, slot))
            else:
                assert node.op.kernel is not None, node.op.name
                drafts.append((node.op.kernel, node.attrs, inputs, slot))
        slot_of[node] = slot
    results = {node: slot_of[node] for node in targets}
    return Plan(leaves, _with_frees(drafts, set(results.values())), results, slots)


def _with_frees(
    drafts: list[tuple[Callable[..., Any], Attrs, tuple[int, ...], int]], kept: set[int]
) -> list[Step]:
    """Liveness, from the last step to the first: a slot is freed where it is seen first from behind."""
    steps: list[Step] = []
    seen = set(kept)
    for kernel, attrs, inputs, output in reversed(drafts):
        frees = []
        for slot in inputs:
            if slot not in seen:
                seen.add(slot)
                frees.append(slot)
        steps.append(Step(kernel, attrs, inputs, output, tuple(frees)))
    steps.reverse()
    return steps
