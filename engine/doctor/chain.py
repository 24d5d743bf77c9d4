"""The text's own graph at its point, forwards and backwards, by the plain chain rule: zero does not stop it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from ..evaluation.evaluate import Evaluation
from ..gradient import gradients, passed_on
from ..graph import LEAF, TABLE, Node, ancestors, apply, leaf, make
from ..ops.cotangent import FLOW, MEET
from ..run.cpu import evaluate

LARGEST: Final = 2_000_000
"""Of a graph with more elements only what is named is looked at."""
_GUARDED: Final = (FLOW, MEET)


class Edge(NamedTuple):
    """What one node passes back to one of its arguments.

    Attributes:
        consumer, argument: the nodes.
        passed: the product, in the argument's shape.
        incoming, slope: its two factors, in the consumer's shape; the slope is None where the rule is no product.
    """

    consumer: Node
    argument: Node
    passed: Any
    incoming: Any
    slope: Any


@dataclass(frozen=True, slots=True)
class Chain:
    """A graph with the numbers of the chain rule.

    Attributes:
        nodes: all nodes, arguments before results.
        values: their values in float64.
        plain: the gradient of each node on the way by the plain chain rule, where 0 * inf is NaN.
        guarded: the same where zero means stop, as agrad has it.
        consumers: the nodes that each node is an argument of.
    """

    nodes: Sequence[Node]
    values: Mapping[Node, Any]
    plain: Mapping[Node, Any]
    guarded: Mapping[Node, Any]
    consumers: Mapping[Node, Sequence[Node]]

    def edges(self, argument: Node) -> list[Edge]:
        """What flows back into a node, by the plain chain rule, from the last of its consumers to the first."""
        found: list[Edge] = []
        for consumer in reversed(self.consumers.get(argument, ())):
            found += self._edges_of(consumer, argument)
        return found

    def _edges_of(self, consumer: Node, argument: Node) -> list[Edge]:
        if not argument.requires_grad:
            return []
        incoming = self.plain.get(consumer)
        if consumer.op.name == "output" and incoming is not None:
            return [Edge(consumer, argument, incoming, incoming, None)]
        g = self._received(consumer)
        if g is None:
            return []
        if incoming is None:
            incoming = next(node.value for node in g if node is not None)
        return self._passed(consumer, argument, g, incoming)

    def _received(self, consumer: Node) -> Any:
        """The cotangent of a node as a leaf; of an op with several results, one for each that has one."""
        if consumer.op.outputs == 1:
            incoming = self.plain.get(consumer)
            return None if incoming is None else _as_leaf(incoming, consumer)
        received: list[Node | None] = [None] * consumer.op.outputs
        for result in self.consumers.get(consumer, ()):
            if result in self.plain:
                received[result.attrs["index"]] = _as_leaf(self.plain[result], result)
        return received if any(node is not None for node in received) else None

    def inside(self, edge: Edge) -> tuple[list[Node], dict[Node, Any]]:
        """The operations inside of a rule, and their values: what it makes of what came in."""
        alone = self._alone(edge.consumer)
        g = self._received(edge.consumer)
        wanted = alone.args[edge.consumer.args.index(edge.argument)]
        parts = [part for arg, part in passed_on(alone, g) if arg is wanted]
        bare = unguarded(parts)
        nodes = [node for node in ancestors([bare.get(part, part) for part in parts]) if node.op.outputs == 1]
        return nodes, evaluate(nodes)

    def _passed(self, consumer: Node, argument: Node, g: Any, incoming: Any) -> list[Edge]:
        alone = self._alone(consumer)
        wanted = alone.args[consumer.args.index(argument)]
        parts = [part for arg, part in passed_on(alone, g) if arg is wanted]
        products = [part.args if part.op in _GUARDED and part.args[0] is g else () for part in parts]
        bare = unguarded([*parts, *[factor for factors in products for factor in factors]])
        found = evaluate([bare.get(node, node) for node in [*parts, *[f for factors in products for f in factors]]])
        edges = []
        for part, factors in zip(parts, products, strict=True):
            first, second = [found[bare.get(factor, factor)] for factor in factors] or (incoming, None)
            edges.append(Edge(consumer, argument, found[bare.get(part, part)], first, second))
        return edges

    def _alone(self, consumer: Node) -> Node:
        """A copy of a node over leaves, so that nothing before it is computed again."""
        stand_ins: dict[Node, Node] = {}
        for arg in consumer.args:
            if arg.op is LEAF:
                stand_ins[arg] = arg
            elif arg not in stand_ins:
                # Through a copy: some rules tell what is given from what has overflowed.
                stand_ins[arg] = make.clone(_as_leaf(self.values[arg], arg, requires_grad=arg.requires_grad))
        return apply(consumer.op, [stand_ins[arg] for arg in consumer.args], consumer.attrs, like=consumer)


def _as_leaf(value: Any, like: Node, *, requires_grad: bool = False) -> Node:
    return leaf(np.asarray(value, like.dtype)[()], requires_grad=requires_grad)


def chain_of(evaluation: Evaluation) -> Chain | None:
    """The chain of the outputs of a run; None where there is none.

    There is none of a graph that is too large, and where nothing is differentiated.
    """
    outputs = list(evaluation.outputs.values())
    nodes = ancestors(outputs)
    if not evaluation.cotangents or sum(node.size for node in nodes) > LARGEST:
        return None
    weights = [_as_leaf(weight, output) for weight, output in zip(evaluation.cotangents, outputs, strict=True)]
    flowing = gradients(outputs, weights)
    bare = unguarded(flowing.values())
    single = [node for node in nodes if node.op.outputs == 1]
    found = evaluate([*single, *flowing.values(), *[bare.get(node, node) for node in flowing.values()]])
    consumers: dict[Node, list[Node]] = {}
    for node in nodes:
        for arg in dict.fromkeys(node.args):
            consumers.setdefault(arg, []).append(node)
    return Chain(
        nodes=nodes,
        values={node: found[node] for node in single},
        plain={node: found[bare.get(gradient, gradient)] for node, gradient in flowing.items()},
        guarded={node: found[gradient] for node, gradient in flowing.items()},
        consumers=consumers,
    )


def unguarded(nodes: Iterable[Node]) -> dict[Node, Node]:
    """For some nodes and those before them, the new node of each that a plain product makes another."""
    product = TABLE["mul"]
    new: dict[Node, Node] = {}
    for node in ancestors(nodes):
        if node.op in _GUARDED or any(arg in new for arg in node.args):
            op = product if node.op in _GUARDED else node.op
            args = [new.get(arg, arg) for arg in node.args]
            new[node] = apply(op, args, node.attrs, grad_fn=node.grad_fn, like=node)
    return new


def is_finite(value: Any) -> bool:
    """Whether all numbers of a value are finite."""
    array = np.asarray(value)
    return array.dtype.kind not in "fc" or bool(np.all(np.isfinite(array)))


def first_broken(value: Any) -> tuple[int, ...]:
    """The index of the first number that is not finite."""
    array = np.asarray(value)
    return (
        tuple(int(i) for i in np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)) if array.shape else ()
    )
