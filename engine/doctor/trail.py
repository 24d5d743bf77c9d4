"""The whole way back of one gradient: each node's value, what comes in to it, and its slope by the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from ..evaluation.evaluate import Evaluation
from ..files.json_data import json_value
from ..graph import Node
from ..language import Formulas
from .chain import Chain, Edge
from .finding import text_of
from .origin import origin

EACH_END: Final = 10
"""So many nodes at either end of a long way are told."""


class Place(NamedTuple):
    """One node on the way.

    Attributes:
        expression, line, op: what it is; None for the line of what is not of the text.
        value: in float64.
        gradient: what comes in, by the plain chain rule.
        slope: of it by the next node; None at the end, and where the rule is no product.
    """

    expression: str
    line: int | None
    op: str
    value: Any
    gradient: Any
    slope: Any


@dataclass(frozen=True, slots=True)
class Trail:
    """The way from an output back to a leaf.

    Attributes:
        output, leaf: their names.
        places: the nodes, from the output to the leaf: both ends of a long way.
        omitted: how many nodes in the middle are left out, after the first `EACH_END`.
    """

    output: str
    leaf: str
    places: Sequence[Place]
    omitted: int

    def as_json(self, *, full: bool = False) -> dict[str, Any]:
        """The same as data."""
        return {
            "output": self.output,
            "leaf": self.leaf,
            "omitted": self.omitted,
            "steps": [
                {
                    "expression": place.expression,
                    "line": place.line,
                    "op": place.op,
                    "value": _as_json(place.value, full),
                    "gradient": _as_json(place.gradient, full),
                    "slope": _as_json(place.slope, full),
                }
                for place in self.places
            ],
        }


def _as_json(value: Any, full: bool) -> Any:
    return None if value is None else json_value(value, full=full)


def trail_of(formulas: Formulas, evaluation: Evaluation, chain: Chain, name: str, index: tuple[int, ...]) -> Trail:
    """The way on which an entry of a gradient becomes what is not finite.

    Args:
        formulas, evaluation, chain: the run.
        name: of the leaf.
        index: the entry of its gradient.
    """
    found = origin(chain, evaluation.wrt[name], index)
    edges = [step.edge for step in found.steps]
    top = edges[0].consumer if edges else found.node
    above = _above(chain, top, set(evaluation.outputs.values()))
    edges = [*above, *edges]
    nodes = [edge.consumer for edge in edges] + [evaluation.wrt[name]]
    slopes: list[Any] = [*[edge.slope for edge in edges], None]
    places = [_place(formulas, chain, node, slope) for node, slope in zip(nodes, slopes, strict=True)]
    output = next((o for o, node in evaluation.outputs.items() if node is nodes[0]), nodes[0].name or "")
    omitted = max(0, len(places) - 2 * EACH_END)
    if omitted:
        places = [*places[:EACH_END], *places[-EACH_END:]]
    return Trail(output, name, places, omitted)


def _above(chain: Chain, node: Node, outputs: set[Node]) -> list[Edge]:
    """The edges from an output down to a node: each time the one that brings the most."""
    edges: list[Edge] = []
    while node not in outputs:
        brought = chain.edges(node)
        if not brought:
            break
        largest = max(brought, key=_size)
        edges.insert(0, largest)
        node = largest.consumer
    return edges


def _size(edge: Edge) -> float:
    passed = np.abs(np.asarray(edge.passed))
    return float(np.max(passed[np.isfinite(passed)], initial=0.0))


def _place(formulas: Formulas, chain: Chain, node: Node, slope: Any) -> Place:
    line = formulas.source.location(node.span.start).line if node.span is not None else None
    gradient = chain.plain.get(node)
    return Place(text_of(formulas, node), line, node.op.name, chain.values.get(node), gradient, slope)
