"""From nodes to steps: dead nodes dropped, common subexpressions merged, values freed at their last use, rows fused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from ..graph import LEAF, Node, ancestors, attrs_key
from .steps import Plan, Step, set_frees

if TYPE_CHECKING:
    from .values import Value

FUSES_FROM: Final = 65_536
"""Elements of the largest value of a run, below which its ops are single steps: planning takes a millisecond or two."""

_ALONE: Final = frozenset({"assemble"})
"""Ops that make a large array of small ones: alone they are no reason to fuse."""

MERGES_SCALARS_BELOW: Final = 50_000
"""In a larger graph scalars are computed again rather than merged: looking one up costs more than computing it."""


def make_plan(targets: Iterable[Node], *, varying: Iterable[Node] = (), fuse: bool = True) -> Plan:
    """The plan that computes the targets, each value once.

    Args:
        targets: the nodes that are asked for.
        varying: leaves that will be given other values than their own.
        fuse: whether large arrays are computed block by block.
    """
    targets = list(targets)
    order = ancestors(targets)
    merges_scalars = len(order) < MERGES_SCALARS_BELOW
    slot_of: dict[Node, int] = {}
    known: dict[tuple[Any, ...], int] = {}
    leaves: list[tuple[Node, int]] = []
    steps: list[Any] = []
    kept = bytearray()  # whether a slot is not to be freed: results, and numbers
    slots = 0
    nbytes = 0
    values: list[Any] = []
    for node in order:
        slot: int | None = None
        key: tuple[Any, ...] | None = None
        inputs = tuple([slot_of[arg] for arg in node.args])
        size = 0
        if node.shape:
            size = math.prod(node.shape)
            if fuse and size >= FUSES_FROM and node.op.name not in _ALONE:
                return fused_plan(targets, varying=varying, least=FUSES_FROM)
            key = _key(node, inputs)
            slot = known.get(key)
        elif merges_scalars or node.is_number:
            key = _key(node, inputs)
            slot = known.get(key)
        if slot is None:
            slot = slots
            slots += 1
            values.append(node)
            kept.append(not node.shape)
            if size:
                nbytes += size * node.dtype.itemsize
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
    set_frees(steps, kept)
    return Plan(leaves, steps, results, slots, values=values, nbytes=nbytes)


def fused_plan(
    targets: Iterable[Node],
    *,
    varying: Iterable[Node] = (),
    least: int,
    fits: Callable[[Value], bool] | None = None,
    lowers_from: int | None = None,
) -> Plan:
    """The plan of a graph in values, with fused runs.

    Args:
        targets, varying: as of `make_plan`.
        least: elements of the largest value of a run, below which its ops are single steps.
        fits: whether a value may be part of a run; all may if not given.
        lowers_from: elements of its argument from which an op is taken apart, if it can be.
    """
    from .schedule import scheduled  # small graphs do without
    from .values import LARGE

    targets = list(targets)
    large = LARGE if lowers_from is None else lowers_from
    return scheduled(targets, ancestors(targets), varying, least, fits, large)


def _key(node: Node, inputs: tuple[int, ...]) -> tuple[Any, ...]:
    """What two nodes have in common if they have the same value."""
    if node.op is LEAF:
        # Written numbers are equal when they are written equal (and 0.0 is not -0.0); other leaves never are.
        return (type(node.value), repr(node.value)) if node.is_number else (id(node),)
    return (node.op.name, inputs, attrs_key(node.attrs)) if node.attrs else (node.op.name, inputs)
