"""Graph to graph: many runs of a part of a graph as one, along a batch axis that comes first.

What does not depend on the leaves that vary stays as it is and is computed once. Each op becomes one op on the whole
batch, by the batching rule of its row; a row without one is run for each member of the batch by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..graph import LEAF, Node, ancestors, apply, make
from ..ops.batch import widened


def batched(
    targets: Sequence[Node], leaves: Mapping[Node, Node], fixed: Mapping[Node, Node] | None = None
) -> list[Node]:
    """The targets for a whole batch of values of some leaves.

    Args:
        targets: the nodes of one run.
        leaves: for each leaf that varies, a node of its values, the batch axis first; of one length for all.
        fixed: other nodes in the place of some of those that `arguments_of_all` names.

    Returns:
        For each target a node of its values, the batch axis first.
    """
    fixed = fixed or {}
    count = next(iter(leaves.values())).shape[0]
    found: dict[Node, Node] = dict(leaves)
    each: dict[Node, list[Node]] = {}
    for node in varying(targets, leaves):
        if node in found:
            continue
        if node.op.outputs > 1 or any(arg in each for arg in node.args):
            runs = _runs(node, found, fixed, each, count)
            if node.op.outputs > 1:
                each[node] = runs
            else:
                found[node] = make.stack(runs, 0)
            continue
        flags = [arg in found for arg in node.args]
        args = [found.get(arg) or fixed.get(arg, arg) for arg in node.args]
        result: Node | None = None
        if node.op.elementwise:
            args = [widened(arg, node.ndim) if flag else arg for arg, flag in zip(args, flags, strict=True)]
            result = apply(node.op, args, node.attrs)
        elif node.op.batch is not None:
            result = node.op.batch(node, args, flags)
        if result is None:
            result = make.stack(_runs(node, found, fixed, each, count), 0)
        # Promotion asks whether a tensor has axes, and a batch of numbers has one.
        found[node] = result if result.dtype == node.dtype else make.to(result, node.dtype)
    return [found.get(node) or make.expand(fixed.get(node, node), (count, *node.shape)) for node in targets]


def _runs(
    node: Node,
    found: Mapping[Node, Node],
    fixed: Mapping[Node, Node],
    each: Mapping[Node, list[Node]],
    count: int,
) -> list[Node]:
    """A node for each member of the batch."""
    members = [
        [make.select(found[arg], 0, place) for place in range(count)]
        if arg in found
        else each[arg]
        if arg in each
        else [fixed.get(arg, arg)] * count
        for arg in node.args
    ]
    return [apply(node.op, args, node.attrs, grad_fn=node.grad_fn) for args in zip(*members, strict=True)]


def varying(targets: Sequence[Node], leaves: Mapping[Node, object]) -> list[Node]:
    """The nodes among the targets' ancestors that depend on some leaves, arguments before results."""
    found = set(leaves)
    order = []
    for node in ancestors(targets):
        if node in found or any(arg in found for arg in node.args):
            found.add(node)
            order.append(node)
    return order


def arguments_of_all(targets: Sequence[Node], leaves: Mapping[Node, object]) -> list[Node]:
    """The nodes, leaves excepted, that are the same for all runs and that a run uses or is asked for."""
    order = varying(targets, leaves)
    wanted = dict.fromkeys([*[arg for node in order for arg in node.args], *targets])
    changing = set(order)
    return [node for node in wanted if node not in changing and node.op is not LEAF]


def bytes_of_one_run(targets: Sequence[Node], leaves: Mapping[Node, object]) -> int:
    """How much memory the values that vary take at most at one time, in one run."""
    order = varying(targets, leaves)
    unused = set(order) - set(targets)
    last = {arg: node for node in order for arg in node.args if arg in unused}
    held = most = 0
    for node in order:
        held += node.size * node.dtype.itemsize
        most = max(most, held)
        for arg in set(node.args):
            if last.get(arg) is node:
                held -= arg.size * arg.dtype.itemsize
    return most
