"""Each op of a graph by itself: what its kernel and its rule give at the values that its arguments have.

This is the engine's side of the search for a fault; the referees' side, `blame`, knows neither kernels nor rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import numpy as np

from ..errors import AgradError
from ..gradient import gradients
from ..graph import LEAF, Node, ancestors, leaf
from ..run.cpu import evaluate
from .case import CannotJudge, Case
from .description import described, packed_array, rebuilt, unpacked_array

_LARGEST: Final = 2**20
"""Elements of a node that is looked at by itself."""
_LARGEST_GRAPH: Final = 2**24
"""Elements of all nodes, whose values are needed together."""


class OpCase(NamedTuple):
    """One op at one point.

    Attributes:
        case: its results by each of its arguments; the gradients are its rule's, for a random cotangent.
        values: what its kernel gives, for each result.
        place: which it is of the nodes that the outputs of the whole case are computed from.
    """

    case: Case
    values: list[Any]
    place: int


def op_cases(case: Case) -> Iterator[tuple[Node, OpCase | None]]:
    """Each node that the outputs are computed from, as a case of its own, in order from the leaves.

    None stands for one that cannot be looked at.
    """
    nodes = ancestors(case.outputs)
    parts, values = parts_in(nodes), values_of(nodes)
    for place, node in enumerate(nodes):
        if node.op is LEAF or node.op.name == "output":
            continue
        found = None
        if values is not None and node.op.kernel is not None and node.size <= _LARGEST:
            with suppress(AgradError, CannotJudge):
                found = _op_case(node, parts.get(node, []), values, place)
        yield node, found


def values_of(nodes: Sequence[Node]) -> dict[Node, Any] | None:
    """The values of nodes, all at once; None where they are too many."""
    return evaluate(nodes) if sum(node.size for node in nodes) <= _LARGEST_GRAPH else None


def parts_in(nodes: Sequence[Node]) -> dict[Node, list[Node]]:
    """The results of those nodes that have several, as far as they are used."""
    parts: dict[Node, list[Node]] = {}
    for node in nodes:
        if node.op.name == "output":
            parts.setdefault(node.args[0], []).append(node)
    return parts


class Alone(NamedTuple):
    """A node whose arguments are leaves with their values, and its results: itself, or those of several in use."""

    args: tuple[Node, ...]
    results: list[Node]

    @classmethod
    def of(cls, node: Node, parts: Sequence[Node], values: Mapping[Node, Any]) -> Alone:
        """A node, the results of it where it has several, and the values of its arguments."""
        args = tuple(
            Node(LEAF, (), {}, arg.shape, arg.dtype, arg.requires_grad, None, values[arg]) for arg in node.args
        )
        again = _like(node, args)
        return cls(args, [_like(part, (again,)) for part in parts] if node.op.outputs > 1 else [again])

    def by_rule(self, cotangents: Sequence[Any]) -> list[Any]:
        """What the op's rule gives each argument, or None, for a cotangent of each result of floats."""
        pairs = [
            (result, leaf(cotangent))
            for result, cotangent in zip(self.results, cotangents, strict=True)
            if result.dtype.kind in "fc"
        ]
        found = gradients([result for result, _ in pairs], [cotangent for _, cotangent in pairs])
        values = evaluate([found[arg] for arg in self.args if arg in found])
        return [values[found[arg]] if arg in found else None for arg in self.args]


def _like(node: Node, args: tuple[Node, ...]) -> Node:
    return Node(node.op, args, node.attrs, node.shape, node.dtype, node.requires_grad, node.grad_fn)


def _op_case(node: Node, parts: Sequence[Node], values: dict[Node, Any], place: int) -> OpCase:
    alone = Alone.of(node, parts, values)
    given = [values[part] for part in parts] if node.op.outputs > 1 else [values[node]]
    smooth = [result for result in alone.results if result.dtype.kind in "fc"]
    if not smooth or not node.requires_grad:
        return OpCase(Case(alone.results, [zeros(result) for result in alone.results], {}, {}), given, place)
    random = np.random.default_rng(place)
    cotangents = [_cotangent(result, random) for result in alone.results]
    slopes = alone.by_rule(cotangents)
    wrt = {f"argument {i + 1}": arg for i, arg in enumerate(alone.args) if arg.requires_grad}
    by_rule = {f"argument {i + 1}": slope for i, slope in enumerate(slopes) if slope is not None}
    return OpCase(Case(alone.results, cotangents, wrt, by_rule), given, place)


def zeros(node: Node) -> Any:
    """A cotangent of nothing."""
    return np.zeros(node.shape, node.dtype)[()]


def _cotangent(node: Node, random: np.random.Generator) -> Any:
    """Weights of the size of one; just one where there is one number, or each entry stands for itself."""
    if node.dtype.kind not in "fc":
        return zeros(node)
    if node.size == 1 or node.op.elementwise:
        return np.ones(node.shape, node.dtype)[()]
    weights = random.uniform(0.5, 1.5, node.shape)
    if node.dtype.kind == "c":
        weights = weights + 1j * random.uniform(0.5, 1.5, node.shape)
    return weights.astype(node.dtype)[()]


def packed(op_case: OpCase) -> dict[str, Any]:
    """The case of one op as plain data.

    Raises:
        CannotJudge: as `description.described` says.
    """
    values = [packed_array(value) for value in op_case.values]
    return {"case": described(op_case.case), "values": values, "place": op_case.place}


def unpacked(data: dict[str, Any]) -> OpCase:
    """The case of plain data."""
    return OpCase(rebuilt(data["case"]), [unpacked_array(value) for value in data["values"]], data["place"])
