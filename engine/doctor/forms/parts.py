"""What the forms are read by: the two sides of a difference, what both have, and what is left of a square."""

from __future__ import annotations

from ...graph import Node, make
from ...patterns.match import constant, is_op, same, squared, sum_of


def difference(first: Node, second: Node) -> Node:
    """first - second, without the part that both have: of `x + 1` and `x` it is 1."""
    for whole, part, sign in ((first, second, 1), (second, first, -1)):
        parts = sum_of(whole)
        if parts is None:
            continue
        a, b, minus = parts
        if same(a, part):
            return signed(b, -sign if minus else sign)
        if same(b, part) and not minus:
            return signed(a, sign)
    made: Node = make.sub(first, second)
    return made


def signed(node: Node, sign: int) -> Node:
    """The node, or its negative where the sign is one."""
    made: Node = node if sign > 0 else make.neg(node)
    return made


def subtracted(node: Node) -> tuple[Node, Node] | None:
    """a and b of a - b, also of -b + a."""
    parts = sum_of(node)
    if parts is None:
        return None
    first, second, minus = parts
    if minus:
        return first, second
    for one, other in ((first, second), (second, first)):
        if is_op(one, "neg"):
            return other, one.args[0]
    return None


def rest_of_square(inner: Node, other: Node) -> Node | None:
    """r, of b**2 + r, r + b**2 and b**2 - s, where `other` is b or -b; and x, of 1 + x where it is 1."""
    parts = sum_of(inner)
    if parts is None:
        return None
    first, second, minus = parts
    bare = other.args[0] if is_op(other, "neg") else other
    one = constant(bare) == 1

    def is_square(node: Node) -> bool:
        base = squared(node)
        return (base is not None and same(base, bare)) or (one and constant(node) == 1)

    if is_square(first):
        return signed(second, -1 if minus else 1)
    return first if is_square(second) and not minus else None
