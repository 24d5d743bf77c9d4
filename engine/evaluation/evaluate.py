"""A text evaluated: which nodes are differentiated and with what weights, their values and their gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..conditions import limit_on
from ..errors import InputError
from ..gradient import gradients
from ..graph import LEAF, Node, ancestors
from ..language.names import nearest
from ..referees.case import Case
from ..rewrite import Rewriting, changes, differs, rewritten
from ..run.cpu import evaluate as evaluate_nodes
from ..run.device import Compute
from ..singular import at_kink, overflows, watched
from ..sweep import NODE_BYTES, gradients_at, is_long, values_of
from .outputs import Weight, cotangents

if TYPE_CHECKING:
    from ..language import Formulas
    from ..limits import Kink

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
        kinks: the entries of gradients that have another slope on each side.
        warnings: what a person should know of how the numbers were found.
        closer: what was computed on the way, of a graph that is small enough for a closer look.
        suspect: whether something on the way is not finite, stands on a kink, or is right only in another form.
        rules: the gradients as the chain rule over the rewritten graph has them, before a closer look.
    """

    outputs: dict[str, Node]
    cotangents: list[Any]
    wrt: dict[str, Node]
    values: Mapping[Node, Any]
    grads: Mapping[Node, Any]
    kinks: Sequence[Kink] = ()
    warnings: Sequence[str] = ()
    closer: Closer | None = None
    suspect: bool = False
    rules: Mapping[Node, Any] = field(default_factory=dict)

    @property
    def is_suspect(self) -> bool:
        """Whether something stands on a kink or is not finite; of a large graph only what is shown is looked at."""
        if self.closer is not None:
            return self.suspect
        shown = [self.values[node] for node in self.outputs.values()]
        return not all(_is_finite(value) for value in [*shown, *self.grads.values()])

    @property
    def unused(self) -> list[str]:
        """The names of `wrt` that the outputs do not depend on."""
        return [name for name, node in self.wrt.items() if node not in self.grads]

    def gradient(self, name: str) -> Any:
        """The gradient for a name of `wrt`: zeros where the outputs do not depend on it."""
        node = self.wrt[name]
        return self.grads[node] if node in self.grads else np.zeros(node.shape, node.dtype)[()]


def _is_finite(value: Any) -> bool:
    return isfinite(value) if isinstance(value, float) else bool(np.all(np.isfinite(value)))


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
    formulas: Formulas,
    outputs: dict[str, Node],
    weights: Sequence[Weight] = (),
    *,
    retain_grad: bool = False,
    compute: Compute = evaluate_nodes,
) -> Evaluation:
    """Run a text and its gradients.

    Args:
        formulas: the text, read.
        outputs: the nodes to differentiate, by name.
        weights: a cotangent for each; none for scalars.
        retain_grad: whether every named node keeps its gradient, not only leaves and the nodes of `wrt`.
        compute: gives the values of nodes: on the CPU, or on another device.

    Raises:
        NoGradientError, InputError: as `outputs.cotangents` and `gradient.gradients` say.
        LimitError: where it takes more memory than there may be.
    """
    cotangent_nodes = cotangents(outputs, weights)
    named = dict.fromkeys([binding.node for binding in formulas.bindings])
    asked = set(formulas.wrt.values())
    order = ancestors(named)
    rewriting = rewritten(named, order)
    if compute is evaluate_nodes and is_swept(order, list(outputs.values())):
        kept = [node for node in named if node.requires_grad and (retain_grad or node in asked or node.op is LEAF)]
        _require_memory(order)
        values, grads = _swept(order, rewriting, list(outputs.values()), cotangent_nodes, kept)
        return Evaluation(outputs, [node.value for node in cotangent_nodes], formulas.wrt, values, grads)
    plain = gradients(list(outputs.values()), cotangent_nodes)
    kept = [
        node
        for node in named
        if node in plain and (retain_grad or node in asked or (node.is_leaf and node.requires_grad))
    ]
    keeping = {node: plain[node] for node in kept}
    del plain  # of a large graph it holds as many nodes again
    seen = _seen(outputs, kept, rewriting)
    watching = watched(seen)
    compared: list[Node] = []
    if rewriting.fired:
        compared = [*named, *keeping.values()] if watching else []
        keeping = rewritten_gradients(outputs, cotangent_nodes, keeping, rewriting)
    results = [rewriting[node] for node in named]
    variables = [node for fired in rewriting.fired for node in fired.variables] if watching else []
    found = compute([*results, *keeping.values(), *watching, *compared, *variables])
    told = _told(formulas, rewriting, found, list(zip(compared, [*results, *keeping.values()], strict=False)))
    evaluation = Evaluation(
        outputs=outputs,
        cotangents=[node.value for node in cotangent_nodes],
        wrt=formulas.wrt,
        values=found if not rewriting.fired else {node: found[rewriting[node]] for node in named},
        grads={node: found[gradient] for node, gradient in keeping.items()},
        warnings=told,
        suspect=bool(told),
    )
    if not watching:
        return evaluation
    shown = {rewriting[node]: node for node in named}
    return _looked_at(formulas, replace(evaluation, closer=Closer(seen, watching, shown, found)))


def _require_memory(order: Sequence[Node]) -> None:
    """Refuse a sweep over some nodes that takes more memory than there may be."""
    needed = NODE_BYTES * len(order)
    if limit_on(needed) is not None:
        from ..run.cost import require  # imports what only fused runs need

        require(needed)


def _swept(
    order: Sequence[Node], rewriting: Rewriting, outputs: list[Node], weights: list[Node], kept: Sequence[Node]
) -> tuple[Mapping[Node, Any], Mapping[Node, Any]]:
    """Values and gradients of a long graph: of all nodes, and of those that are kept.

    Args:
        order: the text's nodes, arguments before results.
        rewriting: what they are computed as.
        outputs, weights: as of `gradient.gradients`.
        kept: the nodes that keep a gradient.
    """
    values = values_of(order)
    grads = gradients_at(values, outputs, weights, set(kept))
    if rewriting.fired:
        new_values = values_of(ancestors([rewriting[node] for node in order]))
        new_kept = {rewriting[node] for node in kept}
        new = gradients_at(new_values, [rewriting[output] for output in outputs], weights, new_kept)
        for node in grads.keys() - rewriting.bypassed:
            grads[node] = new.get(rewriting[node], grads[node])
        values = {node: new_values[rewriting[node]] for node in order}
    return values, {node: grads[node] for node in kept if node in grads}


def is_swept(order: Sequence[Node], outputs: Sequence[Node]) -> bool:
    """Whether a text is evaluated one node at a time, without a graph of its gradients.

    Args:
        order: the text's nodes, arguments before results.
        outputs: those that are differentiated.
    """
    return is_long(order) and not watched(outputs)


def rewritten_gradients(
    outputs: Mapping[str, Node], weights: list[Node], plain: Mapping[Node, Node], rewriting: Rewriting
) -> dict[Node, Node]:
    """The gradients of some nodes by way of the rewritten graph; of nodes inside of a pattern, by way of the text's."""
    new = gradients([rewriting[output] for output in outputs.values()], weights)
    return {
        node: gradient if node in rewriting.bypassed else new.get(rewriting[node], gradient)
        for node, gradient in plain.items()
    }


def _told(
    formulas: Formulas, rewriting: Rewriting, found: Mapping[Node, Any], pairs: Sequence[tuple[Node, Node]]
) -> list[str]:
    """What is to be said of rewrites: of those that made right what the plain graph has wrong.

    Args:
        formulas: the text.
        rewriting: what was done.
        found: all values.
        pairs: results of the plain graph, each beside that of the new one.
    """
    if not any(differs(found[plain], found[new]) for plain, new in pairs):
        return []
    return [
        f"{_place(formulas, fired.original)}: {fired.rewrite.plain} is computed as {fired.rewrite.new}: "
        f"{fired.rewrite.why}"
        for fired in rewriting.fired
        if changes(fired, found)
    ]


class Closer(NamedTuple):
    """What a closer look is taken at.

    Attributes:
        outputs: the nodes that are differentiated, rewritten where that changes nothing else.
        watching: the nodes on the way to them.
        shown: the named node of each node that is computed in its place.
        found: the values of all of them.
    """

    outputs: list[Node]
    watching: list[Node]
    shown: Mapping[Node, Node]
    found: Mapping[Node, Any]


def _seen(outputs: Mapping[str, Node], kept: Sequence[Node], rewriting: Rewriting) -> list[Node]:
    """The outputs of the rewritten graph, or the text's own where one differentiates by a node inside of a pattern."""
    inside = any(node in rewriting.bypassed or rewriting[node] is not node for node in kept)
    return [output if inside else rewriting[output] for output in outputs.values()]


def _looked_at(formulas: Formulas, evaluation: Evaluation) -> Evaluation:
    """The same, with right numbers where float64 or the chain rule have none."""
    closer = evaluation.closer
    if closer is None:
        return evaluation
    watching, found = closer.watching, closer.found
    beyond = overflows(watching, found)
    broken = beyond or not all(np.all(np.isfinite(gradient)) for gradient in evaluation.grads.values())
    if not broken and not at_kink(watching, found):
        return evaluation
    from ..limits import repaired, repaired_values, suspects  # imports mpmath, which takes longer than all else

    names = {node: name for name, node in evaluation.wrt.items()}
    wrt = {names.get(node) or node.name or "": node for node in evaluation.grads if node.dtype.kind in "fc"}
    given = {name: evaluation.grads[node] for name, node in wrt.items()}
    repairs = repaired(Case(closer.outputs, evaluation.cotangents, wrt, given), ", ".join(evaluation.outputs))
    values = repaired_values(found, suspects(closer.shown, found)) if beyond else {}
    told = [
        f"{_place(formulas, closer.shown[node])}: float64 gives {_brief(found[node])} here; the value is "
        f"{_brief(value)}, from 50 digits"
        for node, value in values.items()
    ]
    return replace(
        evaluation,
        values={**evaluation.values, **{closer.shown[node]: value for node, value in values.items()}},
        grads={**evaluation.grads, **{node: repairs.gradients[name] for name, node in wrt.items()}},
        kinks=repairs.kinks,
        warnings=[*evaluation.warnings, *told, *repairs.warnings],
        suspect=True,
        rules=evaluation.grads,
    )


def _place(formulas: Formulas, node: Node) -> str:
    """Where a node stands: the name of its statement and the line."""
    start = node.span.start if node.span is not None else -1
    for binding in formulas.bindings:
        if binding.node is node or binding.expression.start <= start < binding.expression.end:
            return f"{binding.name}, line {formulas.source.location(binding.expression.start).line}"
    return node.name or node.op.name


def _brief(value: Any) -> str:
    """A value in a sentence."""
    array = np.asarray(value)
    return repr(float(array)) if not array.shape else f"{array.ravel()[:3].tolist()}{'...' if array.size > 3 else ''}"
