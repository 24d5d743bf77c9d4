"""Logarithms, and products and quotients of exponentials, in forms that keep digits and stay in range."""

from __future__ import annotations

import math

from ...graph import Node, make
from ...patterns.match import argument_of, constant, is_op, is_real, number_of, root_of, same, sum_of
from .parts import difference, rest_of_square, signed


def of_quotient(node: Node) -> Node | None:
    """log(a/b)."""
    inner = argument_of(node, "log")
    if inner is None or not is_op(inner, "div"):
        return None
    above, below = inner.args
    made: Node = make.log1p(make.div(_difference_of_ones(above, below), below))
    return made


def _difference_of_ones(above: Node, below: Node) -> Node:
    """above - below; of 1 + x and 1 - x it is 2*x."""
    parts, others = sum_of(above), sum_of(below)
    if parts is None or others is None:
        return difference(above, below)
    (one, x, minus), (other_one, other_x, other_minus) = parts, others
    if constant(one) == 1 and constant(other_one) == 1 and same(x, other_x) and minus != other_minus:
        made: Node = make.mul(signed(x, -1 if minus else 1), 2.0)
        return made
    return difference(above, below)


def inverse_hyperbolic_sine(node: Node) -> Node | None:
    """log(x + sqrt(x**2 + 1))."""
    inner = argument_of(node, "log")
    parts = None if inner is None else sum_of(inner)
    if parts is None or parts[2]:
        return None
    for x, root in (parts[:2], parts[1::-1]):
        below = root_of(root)
        rest = None if below is None else rest_of_square(below, x)
        if rest is not None and constant(rest) == 1 and constant(x) != 1:
            made: Node = make.asinh(x)
            return made
    return None


def of_cosh(node: Node) -> Node | None:
    """log(cosh(x))."""
    inner = argument_of(node, "log")
    x = None if inner is None else argument_of(inner, "cosh")
    if x is None:
        return None
    made: Node = make.sub(make.logaddexp(x, make.neg(x)), math.log(2))
    return made


def of_cosh_near_zero(node: Node) -> Node | None:
    """log(cosh(x))."""
    inner = argument_of(node, "log")
    x = None if inner is None else argument_of(inner, "cosh")
    if x is None:
        return None
    made: Node = make.log1p(make.mul(make.square(make.sinh(make.mul(x, 0.5))), 2.0))
    return made


def of_product(node: Node) -> Node | None:
    """log(a*b)."""
    inner = argument_of(node, "log")
    if inner is None or not is_op(inner, "prod", "mul"):
        return None
    if is_op(inner, "mul"):
        made: Node = make.add(*[make.log(arg) for arg in inner.args])
        return made
    if len(inner.attrs["dim"]) != inner.args[0].ndim:
        return None
    total: Node = make.sum(make.log(inner.args[0]))
    return total


def of_power(node: Node) -> Node | None:
    """log(x**n)."""
    inner = argument_of(node, "log")
    if inner is None or not is_op(inner, "pow") or not is_real(inner.args[0]):
        return None
    exponent = number_of(inner.args[1])
    base = inner.args[0]
    even = exponent is not None and exponent % 2 == 0
    made: Node = make.mul(make.log(make.abs(base) if even else base), inner.args[1])
    return made


def of_gamma(node: Node) -> Node | None:
    """log(gamma(x))."""
    inner = argument_of(node, "log")
    x = None if inner is None else argument_of(inner, "gamma")
    return None if x is None else make.lgamma(x)


def log1p_of_expm1(node: Node) -> Node | None:
    """log(x) where x is 1 + y: what the automatic rewrites leave, a sum in another order."""
    inner = argument_of(node, "log")
    parts = None if inner is None else sum_of(inner)
    if parts is None:
        return None
    first, second, minus = parts
    outer = sum_of(first)
    if outer is None or constant(outer[0]) != 1:
        return None
    rest = signed(outer[1], -1 if outer[2] else 1)
    made: Node = make.log1p(make.sub(rest, second) if minus else make.add(rest, second))
    return made


def quotient_of_exponentials(node: Node) -> Node | None:
    """exp(a)/exp(b)."""
    if not is_op(node, "div") or not all(is_op(arg, "exp") for arg in node.args):
        return None
    made: Node = make.exp(difference(*[arg.args[0] for arg in node.args]))
    return made


def product_of_exponentials(node: Node) -> Node | None:
    """exp(a)*exp(b)."""
    if not is_op(node, "mul") or not all(is_op(arg, "exp") for arg in node.args):
        return None
    made: Node = make.exp(make.add(*[arg.args[0] for arg in node.args]))
    return made
