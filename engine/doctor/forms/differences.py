"""Differences of nearly equal numbers, in forms that keep their digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...graph import Node, make
from ...patterns.match import argument_of, constant, is_op, is_real, number_of, root_of, same, squared, sum_of
from .parts import difference, rest_of_square, signed, subtracted


def _halves(first: Node, second: Node) -> tuple[Node, Node]:
    """Half of the sum and half of the difference."""
    return make.mul(make.add(first, second), 0.5), make.mul(difference(first, second), 0.5)


def _of_both(node: Node, name: str) -> tuple[Node, Node] | None:
    """x and y of name(x) - name(y)."""
    pair = subtracted(node)
    if pair is None:
        return None
    x, y = (argument_of(part, name) for part in pair)
    return None if x is None or y is None else (x, y)


def roots(node: Node) -> Node | None:
    """sqrt(a) - sqrt(b)."""
    pair = subtracted(node)
    if pair is None:
        return None
    x, y = (root_of(part) for part in pair)
    if x is None or y is None:
        return None
    made: Node = make.div(difference(x, y), make.add(*pair))
    return made


def root_minus(node: Node) -> Node | None:
    """sqrt(b**2 + r) - b as r/(sqrt(b**2 + r) + b); also b - sqrt(...), and b + sqrt(...) where b is below 0."""
    parts = sum_of(node)
    if parts is None:
        return None
    first, second, minus = parts
    for root, other, sign, order in ((first, second, -1 if minus else 1, 1), (second, first, 1, -1 if minus else 1)):
        inner = root_of(root)
        rest = None if inner is None else rest_of_square(inner, other)
        if rest is None:
            continue
        # root + sign*other = (root**2 - other**2)/(root - sign*other), all of it with the sign of the root.
        if order < 0:
            made: Node = make.neg(make.div(rest, make.add(root, other)))
            return made
        below = make.sub(root, other) if sign > 0 else make.add(root, other)
        quotient: Node = make.div(rest, below)
        return quotient
    return None


def squares(node: Node) -> Node | None:
    """a**2 - b**2."""
    pair = subtracted(node)
    if pair is None:
        return None
    a, b = (squared(part) if constant(part) != 1 else part for part in pair)
    if a is None or b is None or (constant(pair[0]) == 1 and constant(pair[1]) == 1):
        return None
    made: Node = make.mul(difference(a, b), make.add(a, b))
    return made


def cosines(node: Node) -> Node | None:
    """cos(a) - cos(b)."""
    pair = _of_both(node, "cos")
    if pair is None:
        return None
    middle, half = _halves(*pair)
    made: Node = make.mul(make.mul(make.sin(middle), make.sin(half)), -2.0)
    return made


def cosine_minus_one(node: Node) -> Node | None:
    """cos(x) - 1."""
    pair = subtracted(node)
    x = argument_of(pair[0], "cos") if pair is not None and constant(pair[1]) == 1 else None
    if x is None:
        return None
    made: Node = make.mul(make.square(make.sin(make.mul(x, 0.5))), -2.0)
    return made


def sines(node: Node) -> Node | None:
    """sin(a) - sin(b)."""
    pair = _of_both(node, "sin")
    if pair is None:
        return None
    middle, half = _halves(*pair)
    made: Node = make.mul(make.mul(make.cos(middle), make.sin(half)), 2.0)
    return made


def exponentials(node: Node) -> Node | None:
    """exp(a) - exp(b)."""
    pair = _of_both(node, "exp")
    if pair is None:
        return None
    first, second = pair
    if is_op(second, "neg") and same(second.args[0], first):
        made: Node = make.mul(make.sinh(first), 2.0)
        return made
    product: Node = make.mul(make.exp(second), make.expm1(difference(first, second)))
    return product


def logarithms(node: Node) -> Node | None:
    """log(a) - log(b)."""
    pair = subtracted(node)
    if pair is None:
        return None
    first, second = (_under_log(part) for part in pair)
    if first is None or second is None:
        return None
    made: Node = make.log1p(make.div(difference(first, second), second))
    return made


def _under_log(node: Node) -> Node | None:
    """x, of log(x), and 1 + x, of log1p(x), which log(1 + x) may have become."""
    shifted = argument_of(node, "log1p")
    return argument_of(node, "log") if shifted is None else make.add(shifted, 1.0)


def reciprocals(node: Node) -> Node | None:
    """1/a - 1/b."""
    pair = subtracted(node)
    if pair is None or not all(is_op(part, "div", "reciprocal") and is_real(part) for part in pair):
        return None
    if any(is_op(part, "div") and constant(part.args[0]) != 1 for part in pair):
        return None
    x, y = (part.args[-1] for part in pair)
    made: Node = make.div(difference(y, x), make.mul(x, y))
    return made


def arctangents(node: Node) -> Node | None:
    """atan(a) - atan(b)."""
    pair = _of_both(node, "atan")
    if pair is None:
        return None
    made: Node = make.atan2(difference(*pair), make.add(make.mul(*pair), 1.0))
    return made


def power_minus_one(node: Node) -> Node | None:
    """(1 + x)**n - 1."""
    pair = subtracted(node)
    if pair is None or constant(pair[1]) != 1 or not is_op(pair[0], "pow", "square"):
        return None
    base = pair[0].args[0]
    parts = sum_of(base)
    if parts is None or 1 not in (constant(parts[0]), constant(parts[1])) or not is_real(base):
        return None
    first, second, minus = parts
    if constant(first) == 1:
        x = signed(second, -1 if minus else 1)
    elif not minus:
        x = first
    else:
        return None
    exponent: Any = pair[0].args[1] if is_op(pair[0], "pow") else 2.0
    if is_op(pair[0], "square") or number_of(exponent) == 2:
        made: Node = make.mul(x, make.add(x, 2.0))
        return made
    growth: Node = make.expm1(make.mul(make.log1p(x), exponent))
    return growth


def variance(node: Node) -> Node | None:
    """mean(x**2) - mean(x)**2."""
    pair = subtracted(node)
    if pair is None or not is_op(pair[0], "mean"):
        return None
    x, middle = squared(pair[0].args[0]), squared(pair[1])
    if x is None or middle is None or not is_op(middle, "mean") or not same(middle.args[0], x):
        return None
    dim = pair[0].attrs["dim"]
    if middle.attrs["dim"] != dim or len(dim) != x.ndim:
        return None
    made: Node = make.mean(make.square(make.sub(x, make.mean(x))))
    return made


def hyperbolic_cosine_minus_one(node: Node) -> Node | None:
    """cosh(x) - 1."""
    pair = subtracted(node)
    if pair is None:
        return None
    x = argument_of(pair[0], "cosh")
    if x is None or constant(pair[1]) != 1:
        return None
    made: Node = make.mul(make.square(make.sinh(make.mul(x, 0.5))), 2.0)
    return made


def complement(name: str, other: Callable[[Node], Node]) -> Callable[[Node], Node | None]:
    """1 - name(x), where another op is the complement."""

    def find(node: Node) -> Node | None:
        pair = subtracted(node)
        x = argument_of(pair[1], name) if pair is not None and constant(pair[0]) == 1 else None
        return None if x is None else other(x)

    return find


def common_part(node: Node) -> Node | None:
    """(a + b) - a."""
    pair = subtracted(node)
    made = None if pair is None else difference(*pair)
    return None if made is None or is_op(made, "sub") else made
