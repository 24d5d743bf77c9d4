"""A case as a function in float64: its outputs, weighted and summed, a step away from the point."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node, ancestors
from ..run.cpu import run
from ..run.plan import make_plan
from ..worker.budget import Budget, BudgetSpent
from .case import Case
from .forward import cost_of

RUNS: Final = 20
"""How often the graph is run for one direction: two rows of five steps, forwards and backwards."""
_FASTEST: Final = 2e10
"""Operations a second that no processor of today exceeds: what would take longer even so is not begun."""

Values = dict[Node, Any]


class Function:
    """The weighted sum of a case's outputs as a function of a direction and a step along it.

    Args:
        case: the case, all of whose nodes that are differentiated by are leaves.
        budget: what may be spent.
        seconds: how long one run takes.
        noise: by how much a value may be off, of rounding.
    """

    def __init__(self, case: Case, budget: Budget, seconds: float, noise: float) -> None:
        self.case = case
        self.noise = noise
        self._budget = budget
        self._seconds = seconds
        self._plan = make_plan(case.outputs)
        self._weights = [np.asarray(cotangent) for cotangent in case.cotangents]

    def require_time(self) -> None:
        """See whether there is time for one direction.

        Raises:
            BudgetSpent: where there is not.
        """
        if self._seconds * RUNS > self._budget.seconds_left:
            raise BudgetSpent(f"{RUNS} runs of the graph are not done within {self._budget.seconds:.3g} s")

    def at(self, direction: Values, step: float) -> float:
        """The value a step away from the point."""
        self._budget.require_time()
        with np.errstate(all="ignore"):
            shifted = {node: node.value + step * move for node, move in direction.items()}
        results = run(self._plan, shifted)
        return _total(self.case.outputs, self._weights, results)


def _total(outputs: Sequence[Node], weights: Sequence[Any], results: Mapping[Node, Any]) -> float:
    with np.errstate(all="ignore"):
        return float(
            sum(
                np.sum(np.real(np.conj(weight) * results[output]))
                for output, weight in zip(outputs, weights, strict=True)
            )
        )


def functions(case: Case, budget: Budget) -> list[Function]:
    """One function of all leaves, and one of each intermediate node, which is cut free."""
    nodes = ancestors([*case.outputs, *case.wrt.values()])
    if sum(cost_of(node) for node in nodes) * RUNS > _FASTEST * budget.seconds_left:
        raise BudgetSpent(f"too large to be run {RUNS} times within {budget.seconds:.3g} s")
    fixed = [node for node in nodes if node.op.name == "detach"]
    inner = {name: node for name, node in case.wrt.items() if node.args}
    begin = time.monotonic()
    values = _point(nodes, {*case.outputs, *fixed, *inner.values()}, budget)
    seconds = time.monotonic() - begin
    sizes = [np.abs(weight) for weight in case.cotangents]
    size = _total(case.outputs, sizes, {output: np.abs(values[output]) for output in case.outputs})
    unit = max((float(np.finfo(output.dtype).eps) for output in case.outputs if output.dtype.kind in "fc"), default=0.0)
    found = []
    leaves = {name: node for name, node in case.wrt.items() if not node.args}
    for group in ([leaves] if leaves else []) + [{name: node} for name, node in inner.items()]:
        cut = {node: _leaf_like(node, values[node]) for node in (*fixed, *group.values()) if node.args}
        outputs = _rebuilt(case.outputs, cut)
        wrt = {name: cut.get(node, node) for name, node in group.items()}
        found.append(Function(replace(case, outputs=outputs, wrt=wrt), budget, seconds, unit * size))
    return found


def _point(nodes: Sequence[Node], kept: set[Node], budget: Budget) -> Values:
    """The values of some nodes at the point; the clock is looked at between any two."""
    uses: dict[Node, int] = {}
    for node in nodes:
        for arg in node.args:
            uses[arg] = uses.get(arg, 0) + 1
    values: Values = {}
    with np.errstate(all="ignore"):
        for node in nodes:
            if node.op is LEAF:
                values[node] = node.value
                continue
            budget.require_time()
            assert node.op.kernel is not None, node.op.name
            values[node] = node.op.kernel(np, *[values[arg] for arg in node.args], **node.attrs)
            for arg in node.args:
                uses[arg] -= 1
                if not uses[arg] and arg not in kept:
                    values.pop(arg, None)
    return values


def _leaf_like(node: Node, value: Any) -> Node:
    return Node(LEAF, (), {}, node.shape, node.dtype, node.requires_grad, None, value)


def _rebuilt(outputs: Sequence[Node], instead: Mapping[Node, Node]) -> list[Node]:
    """The outputs computed from other nodes in the place of some."""
    if not instead:
        return list(outputs)
    new = dict(instead)
    for node in ancestors(outputs):
        if node not in new and any(new.get(arg, arg) is not arg for arg in node.args):
            args = tuple(new.get(arg, arg) for arg in node.args)
            new[node] = Node(node.op, args, node.attrs, node.shape, node.dtype, node.requires_grad)
    return [new.get(output, output) for output in outputs]
