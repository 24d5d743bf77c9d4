"""What patterns are looked for with: whether a node is some op, and of what."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ..graph import Node, make

_DEPTH: Final = 12
"""So deep two nodes are compared."""


class Found(NamedTuple):
    """A pattern at one node: what to compute in its place, and the nodes that both are functions of."""

    replacement: Node
    variables: tuple[Node, ...]


def is_op(node: Node, *names: str) -> bool:
    """Whether a node is one of some ops."""
    return node.op.name in names


def is_real(node: Node) -> bool:
    """Whether its numbers are real floats."""
    return node.dtype.kind == "f"


def number_of(node: Node) -> float | None:
    """The value of a written number."""
    return float(node.value) if type(node.value) in (int, float) else None


def constant(node: Node) -> float | None:
    """The value of a written number, or of a whole tensor of one number that varies with nothing."""
    if node.is_number:
        return number_of(node)
    if node.requires_grad or node.dtype.kind not in "fi":
        return None
    if node.op.name == "leaf":
        value = node.value if node.size == 1 else node.value.flat[0] if _uniform(node) else None
        return None if value is None else float(np.asarray(value).reshape(-1)[0])
    if is_op(node, "expand", "to", "reshape") and len(node.args) == 1:
        return constant(node.args[0])
    return None


def _uniform(node: Node) -> bool:
    return bool(node.size) and all(stride == 0 for stride in node.value.strides)


def same(first: Node, second: Node, depth: int = _DEPTH) -> bool:
    """Whether two nodes are one, or are the same ops of the same nodes."""
    if first is second:
        return True
    if first.is_number and second.is_number:
        return bool(first.value == second.value)
    if not depth or first.op is not second.op or not first.args or len(first.args) != len(second.args):
        return False
    if first.attrs != second.attrs or first.op.name in ("rand", "randn", "dropout"):
        return False
    return all(same(a, b, depth - 1) for a, b in zip(first.args, second.args, strict=True))


def squared(node: Node) -> Node | None:
    """x, of x**2, x*x or square(x)."""
    if not is_real(node):
        return None
    if is_op(node, "square"):
        return node.args[0]
    if is_op(node, "pow") and number_of(node.args[1]) == 2:
        return node.args[0]
    if is_op(node, "mul") and same(node.args[0], node.args[1]):
        return node.args[0]
    return None


def root_of(node: Node) -> Node | None:
    """x, of sqrt(x) or x**0.5."""
    if not is_real(node):
        return None
    if is_op(node, "sqrt"):
        return node.args[0]
    if is_op(node, "pow") and number_of(node.args[1]) == 0.5:
        return node.args[0]
    return None


def argument_of(node: Node, name: str) -> Node | None:
    """x, of name(x)."""
    return node.args[0] if is_op(node, name) and is_real(node) else None


def sum_of(node: Node) -> tuple[Node, Node, bool] | None:
    """The parts of a + b and of a - b, and whether the second is subtracted."""
    if is_op(node, "add", "sub") and is_real(node) and not node.attrs.get("alpha"):
        return node.args[0], node.args[1], is_op(node, "sub")
    return None


def shaped(made: Node, like: Node) -> Node:
    """Broadcast to the shape of what it replaces: a number beside a tensor of ones has no shape of its own."""
    if made.shape == like.shape:
        return made
    wide: Node = make.expand(made, like.shape)
    return wide
