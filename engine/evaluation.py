"""A text evaluated: which nodes are differentiated and with what weights, their values and their gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError
from .gradient import gradients
from .graph import Node
from .language.names import nearest
from .outputs import Weight, cotangents
from .run.cpu import run
from .run.plan import make_plan

if TYPE_CHECKING:
    from .language import Formulas

_LISTED = 8


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a run has computed.

    Attributes:
        outputs: the nodes that were differentiated, by name.
        cotangents: the weight of each output.
        wrt: the nodes that gradients were asked for, by name.
        values: the value of every named node.
        grads: the gradient of every node that keeps one: leaves, the nodes of `wrt`, or all named ones.
    """

    outputs: dict[str, Node]
    cotangents: list[Any]
    wrt: dict[str, Node]
    values: Mapping[Node, Any]
    grads: Mapping[Node, Any]

    @property
    def unused(self) -> list[str]:
        """The names of `wrt` that the outputs do not depend on."""
        return [name for name, node in self.wrt.items() if node not in self.grads]

    def gradient(self, name: str) -> Any:
        """The gradient for a name of `wrt`: zeros where the outputs do not depend on it."""
        node = self.wrt[name]
        return self.grads[node] if node in self.grads else np.zeros(node.shape, node.dtype)[()]


def chosen_outputs(formulas: Formulas, names: Sequence[str]) -> dict[str, Node]:
    """The nodes of the names, or of the last assignment where no name is given.

    Raises:
        InputError: where a name is not of the text.
    """
    outputs = {}
    for name in names or (formulas.last,):
        if name not in formulas.names:
            raise unknown_name("--output", name, formulas)
        outputs[name] = formulas.names[name]
    return outputs


def unknown_name(where: str, name: str, formulas: Formulas) -> InputError:
    """The error for a name, given outside of the text, that the text does not have."""
    hint = nearest(name, formulas.names) or f"its names are {', '.join(list(formulas.names)[:_LISTED])}"
    return InputError(f"{where}: {formulas.source.name} has no name {name}", hint=hint, code="name")


def evaluate(
    formulas: Formulas, outputs: dict[str, Node], weights: Sequence[Weight] = (), *, retain_grad: bool = False
) -> Evaluation:
    """Run a text and its gradients.

    Args:
        formulas: the text, read.
        outputs: the nodes to differentiate, by name.
        weights: a cotangent for each; none for scalars.
        retain_grad: whether every named node keeps its gradient, not only leaves and the nodes of `wrt`.

    Raises:
        NoGradientError, InputError: as `outputs.cotangents` and `gradient.gradients` say.
    """
    cotangent_nodes = cotangents(outputs, weights)
    flowing = gradients(list(outputs.values()), cotangent_nodes)
    named = dict.fromkeys([binding.node for binding in formulas.bindings])
    asked = set(formulas.wrt.values())
    keeping = {
        node: flowing[node]
        for node in named
        if node in flowing and (retain_grad or node in asked or (node.is_leaf and node.requires_grad))
    }
    del flowing  # of a large graph it holds as many nodes again
    found = run(make_plan([*named, *keeping.values()]))
    return Evaluation(
        outputs=outputs,
        cotangents=[node.value for node in cotangent_nodes],
        wrt=formulas.wrt,
        values=found,
        grads={node: found[gradient] for node, gradient in keeping.items()},
    )
