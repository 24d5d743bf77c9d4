"""agrad's own numbers for derivatives of all orders, which closed forms are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..evaluation.evaluate import evaluate
from ..evaluation.outputs import Weight, cotangents
from ..gradient import gradients
from ..graph import Node, leaf
from ..language import Formulas
from ..run.cpu import run
from ..run.plan import make_plan

Place = tuple[str, tuple[int, ...]]
"""An entry of an output or of a leaf: its name and its index."""


def gradient_numbers(
    formulas: Formulas, outputs: Mapping[str, Node], asked: Sequence[tuple[Place, tuple[Place, ...]]]
) -> list[float]:
    """The numbers of some derivatives: of order 1 those that `agrad eval` shows, else gradients of gradients.

    Args:
        formulas: the text.
        outputs: the nodes that are differentiated, by name.
        asked: for each derivative the entry of an output, and the entries that it is differentiated by in turn.
    """
    first: dict[Place, Any] = {}
    for top in dict.fromkeys(top for top, _ in asked):
        name, index = top
        first[top] = evaluate(formulas, {name: outputs[name]}, [Weight(name, _one(outputs[name], index))])
    slopes = _Slopes(formulas.wrt, outputs)
    higher = {(top, by): slopes.of(top, by) for top, by in asked if len(by) > 1}
    nodes = [node for node in higher.values() if node is not None]
    values = run(make_plan(nodes)) if nodes else {}
    numbers = []
    for top, by in asked:
        name, index = by[-1]
        node = higher.get((top, by))
        if len(by) == 1:
            numbers.append(float(np.asarray(first[top].gradient(name))[index]))
        else:
            numbers.append(0.0 if node is None else float(np.asarray(values[node])[index]))
    return numbers


def _one(node: Node, index: tuple[int, ...]) -> Any:
    """A cotangent that picks one entry."""
    weights = np.zeros(node.shape, node.dtype)
    weights[index] = 1
    return weights


class _Slopes:
    """Gradients of gradients as nodes, each made once."""

    def __init__(self, wrt: Mapping[str, Node], outputs: Mapping[str, Node]) -> None:
        self._wrt = wrt
        self._outputs = outputs
        self._known: dict[tuple[Place, tuple[Place, ...]], Mapping[Node, Node]] = {}

    def of(self, top: Place, by: tuple[Place, ...]) -> Node | None:
        """The gradient by the last of some entries of the derivative by those before it; None where it is zero."""
        *before, (name, _) = by
        return self._gradients(top, tuple(before)).get(self._wrt[name])

    def _gradients(self, top: Place, by: tuple[Place, ...]) -> Mapping[Node, Node]:
        key = (top, by)
        if key not in self._known:
            if by:
                node = self.of(top, by)
                index = by[-1][1]
            else:
                name, index = top
                node = self._outputs[name]
                cotangents({name: node}, [Weight(name, _one(node, index))])
            usable = node is not None and node.requires_grad
            self._known[key] = gradients([node], [leaf(_one(node, index)[()])]) if usable and node is not None else {}
        return self._known[key]
