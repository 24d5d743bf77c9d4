"""Removable singularities: a quotient whose value at one point is written beside it."""

from __future__ import annotations

import math

from ..graph import Node, make
from .match import Found, constant, is_op, is_real, same


def sinc(node: Node) -> Found | None:
    """where(x == 0, 1, sin(x)/x), or the other way around with x != 0."""
    if not is_op(node, "where") or not is_real(node):
        return None
    condition, at_zero, elsewhere = node.args
    if is_op(condition, "ne"):
        at_zero, elsewhere = elsewhere, at_zero
    elif not is_op(condition, "eq"):
        return None
    if constant(at_zero) != 1 or not is_op(elsewhere, "div") or not is_op(elsewhere.args[0], "sin"):
        return None
    x = elsewhere.args[1]
    tested = [arg for arg in condition.args if constant(arg) != 0]
    if len(tested) != 1 or not same(elsewhere.args[0].args[0], x) or not same(tested[0], x):
        return None
    # Near 0 only: further out x/pi would be rounded before its sine is taken.
    near = make.lt(make.abs(x), 1.0)
    return Found(make.where(near, make.sinc(x * (1 / math.pi)), node), (x,))
