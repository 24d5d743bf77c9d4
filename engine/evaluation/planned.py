"""How a text would be evaluated: the plan of its values and gradients, without running it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..conditions import memory_limit
from ..gradient import gradients
from ..graph import LEAF, Node, ancestors
from ..rewrite import rewritten
from ..run.listing import listed
from ..run.plan import make_plan
from ..sweep import NODE_BYTES, NODE_NANOSECONDS
from .evaluate import is_swept, rewritten_gradients
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
    order = ancestors([*named])
    if is_swept(order, list(outputs.values())):
        return _sweep(order, len(outputs))
    rewriting = rewritten([*named], order)
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


def _sweep(order: Sequence[Node], outputs: int) -> dict[str, Any]:
    """The listing of a text that takes one sweep: how often each op is computed, there and back."""
    counts = Counter(node.op.name for node in order if node.op is not LEAF)
    leaves = sum(node.size * node.dtype.itemsize for node in order if node.op is LEAF)
    moved = sum(node.size * node.dtype.itemsize for node in order)
    held = NODE_BYTES * len(order)
    seconds = NODE_NANOSECONDS * 1e-9 * len(order)
    step = {
        "kind": "sweep",
        "nodes": len(order),
        "outputs": outputs,
        "ops": [{"op": name, "count": count} for name, count in counts.most_common()],
        "bytes_read": moved,
        "bytes_written": moved,
        "bytes_peak": held,
        "seconds": round(seconds, 9),
    }
    return {
        "steps": [step],
        "workers": 1,
        "bytes_inputs": leaves,
        "bytes_results": moved - leaves,
        "bytes_moved": 2 * moved,
        "bytes_peak": held,
        "bytes_allowed": memory_limit(),
        "seconds": round(seconds, 6),
    }
