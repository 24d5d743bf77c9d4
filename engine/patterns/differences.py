"""Differences from 1 that lose their digits: of exponentials, cosines and sigmoids."""

from __future__ import annotations

import math

from ..graph import Node, make
from .match import Found, argument_of, constant, is_op, is_real, shaped, squared, sum_of


def one_minus_sigmoid(node: Node) -> Found | None:
    """1 - sigmoid(x)."""
    parts = sum_of(node)
    if parts is None or not parts[2] or constant(parts[0]) != 1:
        return None
    x = argument_of(parts[1], "sigmoid")
    return None if x is None else Found(shaped(make.sigmoid(make.neg(x)), node), (x,))


def expm1(node: Node) -> Found | None:
    """exp(x) - 1."""
    parts = sum_of(node)
    if parts is None:
        return None
    first, second, minus = parts
    if is_op(second, "exp") and not minus:
        first, second = second, first
    number = constant(second)
    if not is_op(first, "exp") or number is None or (number if minus else -number) != 1:
        return None
    return Found(shaped(make.expm1(first.args[0]), node), (first.args[0],))


def one_minus_exponential(node: Node) -> Found | None:
    """1 - exp(x)."""
    parts = sum_of(node)
    if parts is None or not parts[2] or constant(parts[0]) != 1 or not is_op(parts[1], "exp") or not is_real(parts[1]):
        return None
    x = parts[1].args[0]
    return Found(shaped(make.neg(make.expm1(x)), node), (x,))


def log_one_minus_exponential(node: Node) -> Found | None:
    """log(1 - exp(x)), whose inner part is rewritten already."""
    inner = argument_of(node, "log")
    inner = None if inner is None else argument_of(inner, "neg")
    x = None if inner is None else argument_of(inner, "expm1")
    if x is None:
        return None
    far = make.lt(x, -math.log(2))
    return Found(make.where(far, make.log1p(make.neg(make.exp(x))), node), (x,))


def one_minus_cosine(node: Node) -> Found | None:
    """1 - cos(x)."""
    parts = sum_of(node)
    if parts is None or not parts[2] or constant(parts[0]) != 1 or not is_op(parts[1], "cos") or not is_real(parts[1]):
        return None
    x = parts[1].args[0]
    near = make.lt(make.abs(x), 1.0)
    return Found(make.where(near, make.square(make.sin(x * 0.5)) * 2.0, node), (x,))


def one_minus_tanh(node: Node) -> Found | None:
    """1 - tanh(x) and 1 + tanh(x)."""
    parts = sum_of(node)
    if parts is None:
        return None
    first, second, minus = parts
    if not minus and constant(second) == 1:
        first, second = second, first
    if constant(first) != 1 or not is_op(second, "tanh") or not is_real(second):
        return None
    x = second.args[0]
    sign = -2.0 if minus else 2.0
    far = make.gt(make.abs(x), 1.0)
    return Found(make.where(far, make.sigmoid(x * sign) * 2.0, node), (x,))


def one_minus_tanh_squared(node: Node) -> Found | None:
    """1 - tanh(x)**2."""
    parts = sum_of(node)
    square = None if parts is None or not parts[2] or constant(parts[0]) != 1 else squared(parts[1])
    x = None if square is None else argument_of(square, "tanh")
    if x is None:
        return None
    far = make.gt(make.abs(x), 1.0)
    halves = make.sigmoid(x * 2.0) * make.sigmoid(x * -2.0)
    return Found(make.where(far, halves * 4.0, node), (x,))


def log1p(node: Node) -> Found | None:
    """log(1 + x) and log(1 - x)."""
    inner = argument_of(node, "log")
    parts = None if inner is None else sum_of(inner)
    if parts is None:
        return None
    first, second, minus = parts
    if constant(first) == 1:
        x = make.neg(second) if minus else second
        return Found(shaped(make.log1p(x), node), (second,)) if is_real(second) else None
    if constant(second) == 1 and not minus and is_real(first):
        return Found(shaped(make.log1p(first), node), (first,))
    return None
