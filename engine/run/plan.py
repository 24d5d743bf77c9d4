"""From nodes to steps: dead nodes dropped, common subexpressions merged, values freed at their last use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ..graph import LEAF, Attrs, Node, ancestors

MERGES_SCALARS_BELOW: Final = 50_000
"""In a larger graph scalars are computed again rather than merged: looking one up costs more than computing it."""


class Step(NamedTuple):
    """One kernel to run.

    Attributes:
        kernel: the row's kernel.
        attrs: its plain parameters.
        inputs: the slots of its arguments.
        output: the slot of its result.
        frees: slots of arrays that nobody needs afterwards; a number is not worth the note.
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
    order = ancestors(targets)
    merges_scalars = len(order) < MERGES_SCALARS_BELOW
    slot_of: dict[Node, int] = {}
    known: dict[tuple[Any, ...], int] = {}
    leaves: list[tuple[Node, int]] = []
    steps: list[Step] = []
    kept = bytearray()  # whether a slot is not to be freed: results, and numbers
    slots = 0
    for node in order:
        slot: int | None = None
        key: tuple[Any, ...] | None = None
        inputs = tuple([slot_of[arg] for arg in node.args])
        if node.shape or merges_scalars or node.is_number:
            key = _key(node, inputs)
            slot = known.get(key)
        if slot is None:
            slot = slots
            slots += 1
            kept.append(not node.shape)
            if key is not None:
                known[key] = slot
            if node.op is LEAF:
                leaves.append((node, slot))
            else:
                assert node.op.kernel is not None, node.op.name
                steps.append(Step(node.op.kernel, node.attrs, inputs, slot, ()))
        slot_of[node] = slot
    results = {node: slot_of[node] for node in targets}
    for slot in results.values():
        kept[slot] = True
    _set_frees(steps, kept)
    return Plan(leaves, steps, results, slots)


def _key(node: Node, inputs: tuple[int, ...]) -> tuple[Any, ...]:
    """What two nodes have in common if they have the same value."""
    if node.op is LEAF:
        # Written numbers are equal when they are written equal (and 0.0 is not -0.0); other leaves never are.
        return (type(node.value), repr(node.value)) if node.is_number else (id(node),)
    return (node.op.name, inputs, *node.attrs.items()) if node.attrs else (node.op.name, inputs)


def _set_frees(steps: list[Step], seen: bytearray) -> None:
    """Liveness, from the last step to the first: a slot is freed where it is seen first from behind."""
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        frees = []
        for slot in step.inputs:
            if not seen[slot]:
                seen[slot] = True
                frees.append(slot)
        if frees:
            steps[index] = step._replace(frees=tuple(frees))
