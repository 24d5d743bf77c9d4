"""A question about two formulas, as nodes and as text for the process that answers it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph import Node, ancestors
from ..language.differentials import Derivative
from ..language.domains import REALS, Domain
from ..referees.case import Case
from ..referees.description import described, rebuilt


@dataclass(frozen=True, slots=True)
class Question:
    """Whether two formulas compare as claimed, wherever their leaves lie.

    Attributes:
        operator: "eq", "ne", "lt", "le", "gt", "ge", or "approximate".
        left, right: the formulas; one of them may be a single number.
        leaves: what varies, by name: the leaves that share the name's value.
        domains: where the leaves lie; all real numbers where a name is absent.
        derivatives: the nodes that are derivatives, and of what.
        tolerance: how far the sides may differ, as part of the larger or of 1; None: equal as mathematics.
        reads: nodes whose values decided what the formulas are, as a mask does: they are right for these values.
    """

    operator: str
    left: Node
    right: Node
    leaves: Mapping[str, tuple[Node, ...]]
    domains: Mapping[str, Domain]
    derivatives: Mapping[Node, Derivative]
    tolerance: float | None = None
    reads: tuple[Node, ...] = ()

    def domain(self, name: str) -> Domain:
        """Where a leaf lies."""
        return self.domains.get(name, REALS)

    def shape(self) -> tuple[int, ...]:
        """The shape of the comparison."""
        return self.left.shape or self.right.shape


def asked(
    operator: str,
    sides: tuple[Node, Node],
    leaves: Mapping[str, tuple[Node, ...]],
    domains: Mapping[str, Domain],
    derivatives: Mapping[Node, Derivative],
    tolerance: float | None = None,
    reads: Mapping[Node, Sequence[Node]] | None = None,
) -> Question:
    """A question with no more leaves, derivatives and reads than its sides depend on."""
    reached = set(ancestors(sides))
    known: dict[Node, Derivative] = {}
    read: dict[Node, None] = {}
    while True:
        new = {node: of for node, of in derivatives.items() if node in reached and node not in known}
        newly = [
            node for built, nodes in (reads or {}).items() if built in reached for node in nodes if node not in read
        ]
        if not new and not newly:
            break
        known |= new
        read |= dict.fromkeys(newly)
        reached |= set(ancestors([*newly, *[each for of in new.values() for each in (of.output, *of.by)]]))
    used = {name: tuple(node for node in nodes if node in reached) for name, nodes in leaves.items()}
    used = {name: nodes for name, nodes in used.items() if nodes}
    fitting = {name: domain for name, domain in domains.items() if name in used}
    varying = {node for nodes in used.values() for node in nodes}
    deciding = tuple(node for node in read if varying.intersection(ancestors([node])))
    by_serial = dict(sorted(known.items(), key=lambda each: each[0].serial))
    return Question(operator, *sides, used, fitting, by_serial, tolerance, deciding)


def written(question: Question) -> str:
    """The text of a question: plain data, never code.

    Raises:
        CannotJudge: where an op has a parameter that is no plain data.
    """
    nodes: list[Node] = []

    def place(node: Node) -> int:
        nodes.append(node)
        return len(nodes) - 1

    plain: dict[str, Any] = {
        "operator": question.operator,
        "sides": [place(question.left), place(question.right)],
        "leaves": {name: [place(node) for node in same] for name, same in question.leaves.items()},
        "domains": {name: [d.low, d.high, d.brackets, d.values] for name, d in question.domains.items()},
        "derivatives": [
            [place(node), place(of.output), [place(by) for by in of.by], of.weights and place(of.weights)]
            for node, of in question.derivatives.items()
        ],
        "tolerance": question.tolerance,
        "reads": [place(node) for node in question.reads],
    }
    plain["nodes"] = described(Case(nodes, [np.float64(0)] * len(nodes), {}, {}))
    return json.dumps(plain)


def read(text: str) -> Question:
    """The question of a text."""
    plain = json.loads(text)
    nodes = rebuilt(plain["nodes"]).outputs
    left, right = plain["sides"]
    return Question(
        plain["operator"],
        nodes[left],
        nodes[right],
        {name: tuple(nodes[place] for place in places) for name, places in plain["leaves"].items()},
        {
            name: Domain(low, high, brackets, tuple(values))
            for name, (low, high, brackets, values) in plain["domains"].items()
        },
        {
            nodes[node]: Derivative(
                nodes[output], tuple(nodes[place] for place in by), None if weights is None else nodes[weights]
            )
            for node, output, by, weights in plain["derivatives"]
        },
        plain["tolerance"],
        tuple(nodes[place] for place in plain["reads"]),
    )
