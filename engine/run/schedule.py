"""A graph with large arrays as values, its fused runs found, and all of it put in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Any

from ..graph import LEAF, Node
from .fusion import FusedRun, Fusion
from .lowered import lowered
from .steps import Plan, RunStep, Step, set_frees
from .values import LARGE, Value, Values


def scheduled(
    targets: list[Node],
    order: list[Node],
    varying: Iterable[Node],
    least: int,
    fits: Callable[[Value], bool] | None,
    lowers_from: int = LARGE,
) -> Plan:
    """The plan of a graph in values.

    Args:
        targets: the nodes that are asked for.
        order: they and all that they are computed from, arguments before results.
        varying, least, fits, lowers_from: as of `fused_plan`.
    """
    values = Values(varying, lowers_from)
    value_of: dict[Node, Value] = {}
    for node in order:
        if node.op is LEAF:
            value_of[node] = values.leaf(node)
        else:
            args = [value_of[arg] for arg in node.args]
            value_of[node] = lowered(values, node.op, args, node.attrs, node.shape, node.dtype)
        if node.name is not None:
            value_of[node].name = value_of[node].name or node.name
    asked = {node: value_of[node] for node in targets}
    needed = _needed(asked.values())
    runs = Fusion(needed, asked.values(), least=least, fits=fits).runs()
    return _in_order(asked, needed, runs, frozenset(values.assumed))


def _needed(targets: Iterable[Value]) -> list[Value]:
    """The values that the targets are computed from, themselves included, in order."""
    seen = set(targets)
    stack = list(seen)
    while stack:
        for arg in stack.pop().args:
            if arg not in seen:
                seen.add(arg)
                stack.append(arg)
    return sorted(seen, key=lambda value: value.index)


def _in_order(asked: dict[Node, Value], needed: list[Value], runs: list[FusedRun], assumed: frozenset[Node]) -> Plan:
    """Single steps and runs in an order in which each finds its inputs, as near to the graph's as possible."""
    made_by: dict[Value, FusedRun] = {value: run for run in runs for value in run.results}
    inside = {value for run in runs for value in run.members}
    wanted = _read(asked.values(), needed, runs, inside)
    units: list[Value | FusedRun] = [
        *[value for value in needed if value in wanted and value not in made_by and value.op is not LEAF],
        *runs,
    ]
    slot_of: dict[Value, int] = {}
    leaves: list[tuple[Node, int]] = []
    for value in needed:
        if value in wanted:
            slot_of[value] = len(slot_of)
            if value.node is not None:
                leaves.append((value.node, slot_of[value]))
    steps: list[Any] = []
    for unit in _ordered(units, made_by):
        if isinstance(unit, FusedRun):
            inputs = tuple([slot_of[operand.value] for operand in unit.inputs])
            steps.append(RunStep(unit, inputs, tuple([slot_of[value] for value in unit.results]), (), {}))
        else:
            assert unit.op.kernel is not None, unit.op.name
            inputs = tuple([slot_of[arg] for arg in unit.args])
            steps.append(Step(unit.op.kernel, unit.attrs, inputs, slot_of[unit], ()))
    results = {node: slot_of[value] for node, value in asked.items()}
    kept = bytearray(len(slot_of))
    for value, slot in slot_of.items():
        kept[slot] = not value.shape
    for slot in results.values():
        kept[slot] = True
    set_frees(steps, kept)
    nbytes = sum(value.nbytes for value in slot_of)
    return Plan(leaves, steps, results, len(slot_of), True, list(slot_of), assumed, nbytes)


def _read(targets: Iterable[Value], needed: list[Value], runs: list[FusedRun], inside: set[Value]) -> set[Value]:
    """The values that lie in memory: asked for, made by runs, read by runs, or read by single steps that are."""
    wanted = set(targets)
    for run in runs:
        wanted.update(run.results)
        wanted.update(operand.value for operand in run.inputs)
    made = {value for run in runs for value in run.results}
    for value in reversed(needed):
        if value in wanted and value not in made:
            wanted.update(value.args)
    assert not (wanted & inside) - made, "a member of a run is read by others and not written"
    return wanted


def _ordered(units: list[Value | FusedRun], made_by: dict[Value, FusedRun]) -> list[Value | FusedRun]:
    """Units after those that they wait for; of those that could be next, the one that stands first in the graph."""

    def maker(value: Value) -> Value | FusedRun:
        return made_by.get(value, value)

    def place(unit: Value | FusedRun) -> int:
        return min(value.index for value in unit.results) if isinstance(unit, FusedRun) else unit.index

    known = set(units)
    waits: dict[Value | FusedRun, int] = {}
    followers: dict[Value | FusedRun, list[Value | FusedRun]] = {}
    for unit in units:
        read = [operand.value for operand in unit.inputs] if isinstance(unit, FusedRun) else unit.args
        before = {maker(value) for value in read} & known
        waits[unit] = len(before)
        for other in before:
            followers.setdefault(other, []).append(unit)
    ready: list[tuple[int, int, Value | FusedRun]] = []
    for number, unit in enumerate(units):
        if not waits[unit]:
            heappush(ready, (place(unit), number, unit))
    number = len(units)
    ordered: list[Value | FusedRun] = []
    while ready:
        _, _, unit = heappop(ready)
        ordered.append(unit)
        for other in followers.get(unit, ()):
            waits[other] -= 1
            if not waits[other]:
                number += 1
                heappush(ready, (place(other), number, other))
    assert len(ordered) == len(units), "the runs wait for each other"
    return ordered
