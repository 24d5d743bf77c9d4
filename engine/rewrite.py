"""Named algebraic rewrites, graph to graph: the same function where float64 would overflow, cancel or lose its slope.

A rewrite replaces a small pattern (`log(1 + exp(x))`) by an op that computes the same function (`softplus(x)`). Nodes
with names keep their own op, expression and grad_fn: only their values and gradients come from the rewritten graph.
The patterns themselves stand in `patterns/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .gradient import gradients
from .graph import LEAF, Node, ancestors, apply, leaf, make
from .patterns import BY_ROOT, Found, Rewrite, same
from .run.cpu import evaluate

CHANGED: Final = 1e-9
"""How far a plain result must be off, relative to the new one, for a person to be told."""
_COMPARED: Final = 100_000
"""Larger arrays are not computed a second time only to be compared."""


@dataclass(frozen=True, slots=True)
class Fired:
    """One rewrite at one place.

    Attributes:
        rewrite: which one.
        original: the node of the text's graph that is computed in another way.
        plain: the same node over rewritten arguments.
        replacement: what it is computed as.
        variables: what the pattern is a function of.
    """

    rewrite: Rewrite
    original: Node
    plain: Node
    replacement: Node
    variables: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A graph and what it is computed as.

    Attributes:
        nodes: the new node of each node that has one; all others stay themselves.
        fired: the rewrites, in the order of the graph.
        bypassed: nodes inside of patterns: what flows through them in the text's graph goes another way in the new one.
    """

    nodes: Mapping[Node, Node]
    fired: Sequence[Fired]
    bypassed: frozenset[Node]

    def __getitem__(self, node: Node) -> Node:
        return self.nodes.get(node, node)


def rewritten(targets: Iterable[Node], order: Sequence[Node] | None = None) -> Rewriting:
    """The graph of some nodes with every pattern in it replaced.

    Args:
        targets: the nodes.
        order: their ancestors, where these are known.
    """
    order = ancestors(targets) if order is None else order
    nodes: dict[Node, Node] = {}
    fired: list[Fired] = []
    inside: set[Node] = set()
    for node in order:
        plain = _over(node, nodes) if nodes else node
        if plain is not node:
            nodes[node] = plain
        by_argument = BY_ROOT.get(node.op.name)
        if by_argument is not None:
            rewrite, found = _found(plain, by_argument)
            if rewrite is not None and found is not None:
                replacement = nodes[node] = _fresh(found, plain)
                fired.append(Fired(rewrite, node, plain, replacement, found.variables))
                inside |= _interior(plain, found.variables)
    bypassed = frozenset(node for node in order if nodes.get(node, node) in inside) if inside else frozenset()
    return Rewriting(nodes, fired, bypassed)


def _found(node: Node, by_argument: Mapping[str, Sequence[Rewrite]]) -> tuple[Rewrite | None, Found | None]:
    """The first rewrite that fits a node, of those by the op of an argument, and what it makes of the node."""
    for arg in node.args:
        for rewrite in by_argument.get(arg.op.name, ()):
            found = rewrite.find(node)
            if found is not None:
                return rewrite, found
    return None, None


def _over(node: Node, nodes: Mapping[Node, Node]) -> Node:
    """A node over the new nodes of its arguments: itself where these are the old ones."""
    if not any(arg in nodes for arg in node.args):
        return node
    args = tuple([nodes.get(arg, arg) for arg in node.args])
    made = apply(node.op, args, node.attrs, grad_fn=node.grad_fn, like=node)
    made.span = node.span
    return made


def _fresh(found: Found, plain: Node) -> Node:
    """A node of its own, of the dtype of the old one: a leaf in its place would get its cotangent too."""
    made = found.replacement
    if made in found.variables or made.op is LEAF:
        made = make.clone(made)
    return made if made.dtype == plain.dtype else make.to(made, plain.dtype)


def _interior(plain: Node, variables: Sequence[Node]) -> set[Node]:
    """The nodes between the root of a pattern and its variables, without both; copies of variables are among them."""
    found: set[Node] = set()
    stack = list(plain.args)
    while stack:
        node = stack.pop()
        if node in variables or node in found or node.is_number:
            continue
        found.add(node)
        if not any(same(node, variable) for variable in variables):
            stack += node.args
    return found


def changes(fired: Fired, values: Mapping[Node, Any]) -> bool:
    """Whether a rewrite made anything right at this point that the plain graph has not finite or not right.

    Args:
        fired: the rewrite.
        values: the values of its variables.
    """
    if max(node.size for node in (fired.plain, *fired.variables)) > _COMPARED:
        return False
    leaves = {
        node: leaf(values[node], requires_grad=node.requires_grad and node.dtype.kind in "fc")
        for node in fired.variables
    }
    sides = [_replayed(node, leaves) for node in (fired.plain, fired.replacement)]
    results = [
        list(side) for side in zip(*[_with_gradients(side, list(leaves.values())) for side in sides], strict=True)
    ]
    found = evaluate([node for pair in results for node in pair])
    return any(differs(found[plain], found[new]) for plain, new in results)


def _replayed(root: Node, leaves: Mapping[Node, Node]) -> Node:
    """A copy of a node over leaves in the place of some of the nodes that it is computed from."""
    nodes = dict(leaves)
    stack = [root]
    while stack:
        node = stack[-1]
        missing = [arg for arg in node.args if arg not in nodes]
        if missing:
            stack += missing
            continue
        stack.pop()
        if node not in nodes:
            same = not node.args
            nodes[node] = node if same else apply(node.op, [nodes[arg] for arg in node.args], node.attrs)
    return nodes[root]


def _with_gradients(root: Node, leaves: Sequence[Node]) -> list[Node]:
    """A node and its gradient by each leaf that requires one."""
    wanted = [node for node in leaves if node.requires_grad]
    if not root.requires_grad:
        return [root, *wanted]
    found = gradients([root], [leaf(np.ones(root.shape, root.dtype)[()])])
    return [root, *[found.get(node, node) for node in wanted]]


def differs(plain: Any, new: Any) -> bool:
    """Whether a plain result is not finite where the new one is, or is off by more than rounding."""
    if np.asarray(new).dtype.kind == "b":
        return bool(np.any(plain != new))
    with np.errstate(all="ignore"):
        right = np.isfinite(new)
        off = ~(np.abs(plain - new) <= CHANGED * np.abs(new))
    return bool(np.any(right & off))
