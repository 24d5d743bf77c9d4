"""Graph to graph: the gradient of weighted outputs with respect to every node that requires one."""

from __future__ import annotations

from collections.abc import Sequence

from .errors import NoGradientError
from .graph import LEAF, Node, ancestors, make
from .ops.cotangent import flow, sum_to


def gradients(outputs: Sequence[Node], cotangents: Sequence[Node]) -> dict[Node, Node]:
    """The gradient of the sum of outputs times cotangents, for each node on the path, as nodes.

    Args:
        outputs: the nodes that are differentiated.
        cotangents: a weight for each output, of its shape.

    Returns:
        For every node that requires a gradient and that something flows to: its gradient, of the node's shape and
        dtype. A node that nothing flows to is absent (PyTorch's None).

    Raises:
        NoGradientError: where an op on the path has no derivative.
    """
    pending: dict[Node, Node] = {}
    parts: dict[Node, list[Node | None]] = {}
    for output, cotangent in zip(outputs, cotangents, strict=True):
        if output.requires_grad:
            add(pending, output, cotangent)
    for node in reversed(ancestors(outputs)):
        if node.op is LEAF or not node.requires_grad:
            continue
        if node.op.outputs > 1:
            received = parts.pop(node, None)
            if received is not None:
                for arg, part in passed_on(node, received):
                    add(pending, arg, part)
            continue
        g = pending.get(node)
        if g is None:
            continue
        if node.op.name == "output":
            collect(parts, node, g)
            continue
        for arg, part in passed_on(node, g):
            add(pending, arg, part)
    return pending


def passed_on(node: Node, g: Node | list[Node | None]) -> list[tuple[Node, Node]]:
    """What a node passes on to each of its arguments that requires a gradient, given what it received.

    Args:
        node: a node that is no leaf.
        g: its cotangent; a list of them where its op has several results.
    """
    slopes = node.op.slopes
    found: list[tuple[Node, Node]] = []
    if slopes is None or isinstance(g, list):
        for arg, part in zip(node.args, _rule(node, g), strict=True):
            if part is not None and arg.requires_grad:
                found.append((arg, part))
        return found
    for arg, slope_of in zip(node.args, slopes, strict=True):
        if arg.requires_grad:
            part = along(g, slope_of(*node.args, node, **node.attrs))
            if part is not None:
                found.append((arg, part))
    return found


def along(g: Node, slope: Node | complex | None) -> Node | None:
    """What an elementwise op passes on to an argument by which it has a slope (conjugate, in PyTorch's convention)."""
    if isinstance(slope, Node) and slope.dtype.kind == "c":
        slope = make.conj(slope)
    return flow(g, slope)


def collect(parts: dict[Node, list[Node | None]], node: Node, g: Node) -> None:
    """Keep the cotangent of one of several results for the rule of their source, which wants all together."""
    source = node.args[0]
    slots = parts.setdefault(source, [None] * source.op.outputs)
    index = node.attrs["index"]
    have = slots[index]
    slots[index] = g if have is None else have + g


def _rule(node: Node, g: Node | list[Node | None]) -> Sequence[Node | None]:
    rule = node.op.rule
    if rule is None:
        raise NoGradientError(
            f"derivative for {node.op.name} is not implemented: it has none",
            spans=(node.span,) if node.span else (),
            hint="take the value out of the gradient, or use a smooth function instead",
        )
    return rule(node, g)


def add(pending: dict[Node, Node], node: Node, g: Node) -> None:
    """Add a contribution to a node's gradient."""
    g = fitted(g, node)
    have = pending.get(node)
    pending[node] = g if have is None else have + g


def fitted(g: Node, node: Node) -> Node:
    """A contribution to a node's gradient in its shape and dtype: the one place that undoes broadcasting."""
    if g.shape != node.shape:
        g = sum_to(g, node.shape)
    if g.dtype is not node.dtype:
        if g.dtype.kind == "c" and node.dtype.kind != "c":
            g = make.real(g)
        if g.dtype != node.dtype:
            g = make.to(g, node.dtype)
    return g
