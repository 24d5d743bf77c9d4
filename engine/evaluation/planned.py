"""How a text would be evaluated: the plan of its values and gradients, without running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..gradient import gradients
from ..graph import Node
from ..rewrite import rewritten
from ..run.listing import listed
from ..run.plan import make_plan
from .evaluate import rewritten_gradients
from .outputs import Weight, cotangents

if TYPE_CHECKING:
    from ..language import Formulas


def planned(
    formulas: Formulas, outputs: Mapping[str, Node], weights: Sequence[Weight] = (), *, retain_grad: bool = False
) -> dict[str, Any]:
    """The plan of a text's values and gradients, as plain data.

    Args:
        formulas: the text, read.
        outputs: the nodes to differentiate, by name.
        weights: a cotangent for each; none for scalars.
        retain_grad: whether every named node keeps its gradient.

    Raises:
        NoGradientError, InputError: as `evaluation.evaluate` does.
    """
    named = {binding.node: binding.name for binding in formulas.bindings}
    rewriting = rewritten([*named])
    weight_nodes = cotangents(dict(outputs), weights)
    asked = set(formulas.wrt.values())
    plain = gradients(list(outputs.values()), weight_nodes)
    keeping = {
        node: plain[node]
        for node in named
        if node in plain and (retain_grad or node in asked or (node.is_leaf and node.requires_grad))
    }
    if rewriting.fired:
        keeping = rewritten_gradients(outputs, weight_nodes, keeping, rewriting)
    names = {rewriting[node]: name for node, name in named.items()}
    plan = make_plan([*names, *keeping.values()])
    return listed(plan, {gradient: f"grad {named[node]}" for node, gradient in keeping.items()} | names)
