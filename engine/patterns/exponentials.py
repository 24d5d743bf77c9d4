"""Exponentials, logarithms and sigmoids: what overflows or vanishes inside of them."""

from __future__ import annotations

import math
from typing import Any, Final

from ..graph import Node, make
from .match import Found, argument_of, constant, is_op, is_real, same, shaped

_STEEP: Final = {8: 300.0, 4: 40.0}
"""From here on exponentials are near the ends of their dtype, by its bytes; within, plain sums are exact enough."""
_LEAST: Final = {8: 1e-290, 4: 1e-30}
"""A sum of exponentials that is smaller may have lost some of them."""
_MOST_TERMS: Final = 12


def _terms(node: Node) -> list[Node]:
    """The terms of a sum of several."""
    terms: list[Node] = []
    stack = [node]
    while stack:
        part = stack.pop()
        if is_op(part, "add") and not part.attrs and len(terms) + len(stack) < _MOST_TERMS:
            stack += reversed(part.args)
        else:
            terms.append(part)
    return terms


def softplus(node: Node) -> Found | None:
    """log(1 + exp(x)), also by log1p."""
    x = one_and_exponential(argument_of(node, "log"))
    if x is None:
        inner = argument_of(node, "log1p")
        x = None if inner is None else argument_of(inner, "exp")
    return None if x is None else Found(shaped(make.softplus(x), node), (x,))


def one_and_exponential(total: Node | None) -> Node | None:
    """x, of 1 + exp(x)."""
    if total is None or not is_op(total, "add") or not is_real(total):
        return None
    for one, other in (total.args, total.args[::-1]):
        if constant(one) == 1 and is_op(other, "exp"):
            return other.args[0]
    return None


def logaddexp(node: Node) -> Found | None:
    """log(exp(a) + exp(b) + ...), positive numbers among the terms."""
    total = argument_of(node, "log")
    if total is None or not is_op(total, "add"):
        return None
    exponents: list[Node | float] = []
    for term in _terms(total):
        number = constant(term)
        if is_op(term, "exp") and is_real(term):
            exponents.append(term.args[0])
        elif number is not None and number > 0:
            exponents.append(math.log(number))
        else:
            return None
    variables = tuple(dict.fromkeys(part for part in exponents if isinstance(part, Node)))
    if len(variables) < 1 or len(exponents) < 2:
        return None
    joined: Any = exponents[0]
    steep: Any = None
    for part in exponents[1:]:
        joined = make.logaddexp(joined, part) if isinstance(joined, Node) else make.logaddexp(part, joined)
    for part in variables:
        beyond = make.gt(make.abs(part), _STEEP[node.dtype.itemsize])
        steep = beyond if steep is None else make.logical_or(steep, beyond)
    return Found(make.where(steep, joined, node), variables)


def logsumexp(node: Node) -> Found | None:
    """log(sum(exp(x)))."""
    total = argument_of(node, "log")
    if total is None or not is_op(total, "sum") or not is_op(total.args[0], "exp") or not is_real(total.args[0]):
        return None
    x = total.args[0].args[0]
    if not x.size:
        return None
    dim, keep = total.attrs["dim"], total.attrs["keepdim"]
    steep = make.gt(make.abs(make.amax(x, dim, keep)), _STEEP[node.dtype.itemsize])
    return Found(make.where(steep, make.logsumexp(x, dim, keep), node), (x,))


def log_softmax(node: Node) -> Found | None:
    """log(softmax(x))."""
    inner = argument_of(node, "log")
    if inner is None or not is_op(inner, "softmax"):
        return None
    (dim,) = inner.attrs["dim"] if len(inner.attrs.get("dim", ())) == 1 else (None,)
    return None if dim is None else Found(make.log_softmax(inner.args[0], dim), (inner.args[0],))


def exponential_over_sum(node: Node) -> Found | None:
    """exp(x) / sum(exp(x)): by hand it is inf/inf for large and 0/0 for very negative numbers."""
    if not is_op(node, "div") or not is_op(node.args[0], "exp") or not is_op(node.args[1], "sum") or not is_real(node):
        return None
    top, total = node.args
    x, (dim, keep) = top.args[0], (total.attrs["dim"], total.attrs["keepdim"])
    if not same(total.args[0], top) or len(dim) != 1 or not (keep or x.ndim == 1):
        return None
    within = make.logical_and(make.gt(total, _LEAST[node.dtype.itemsize]), make.lt(total, math.inf))
    return Found(make.where(within, node, make.softmax(x, dim[0])), (x,))


def logsigmoid(node: Node) -> Found | None:
    """log(sigmoid(x))."""
    inner = argument_of(node, "log")
    x = None if inner is None else argument_of(inner, "sigmoid")
    return None if x is None else Found(make.logsigmoid(x), (x,))


def sigmoid(node: Node) -> Found | None:
    """1/(1 + exp(x))."""
    if is_op(node, "reciprocal"):
        total = node.args[0]
    elif is_op(node, "div") and constant(node.args[0]) == 1:
        total = node.args[1]
    else:
        return None
    x = one_and_exponential(total)
    if x is None:
        return None
    # The exponent of 1/(1 + exp(-z)) is a negation: the sigmoid's argument is then z itself.
    argument = x.args[0] if is_op(x, "neg") and is_real(x) else make.neg(x)
    variable = x.args[0] if is_op(x, "neg") and is_real(x) else x
    return Found(shaped(make.sigmoid(argument), node), (variable,))


def sigmoid_of_ratio(node: Node) -> Found | None:
    """exp(x) / (1 + exp(x)): by hand it is inf/inf from 710 on."""
    if not is_op(node, "div") or not is_op(node.args[0], "exp") or not is_real(node):
        return None
    x = node.args[0].args[0]
    other = one_and_exponential(node.args[1])
    return Found(shaped(make.sigmoid(x), node), (x,)) if other is not None and same(x, other) else None


def log_of_exponential(node: Node) -> Found | None:
    """log(exp(x))."""
    inner = argument_of(node, "log")
    x = None if inner is None else argument_of(inner, "exp")
    return None if x is None else Found(x, (x,))


def exponential_of_log(node: Node) -> Found | None:
    """exp(log(x))."""
    inner = argument_of(node, "exp")
    x = None if inner is None else argument_of(inner, "log")
    return None if x is None else Found(make.where(make.ge(x, 0.0), x, node), (x,))


def weighted_log(node: Node) -> Found | None:
    """p * log(p), whose limit at 0 is 0."""
    if not is_op(node, "mul") or not is_real(node):
        return None
    for p, other in (node.args, node.args[::-1]):
        if is_op(other, "log") and same(other.args[0], p):
            return Found(make.where(make.ge(p, 0.0), 0.0 - make.entr(p), node), (p,))
    return None
