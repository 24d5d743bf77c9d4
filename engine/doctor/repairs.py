"""What to write or do instead where an operation gives no finite number or no finite slope: one sentence an op."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from ..graph import Node
from ..text.expressions import INFIX, PREFIX
from .finding import Number
from .operation import Made

_RANGES: Final[Mapping[str, tuple[str, str]]] = {
    "exp": ("709.78", "work with its logarithm (logsumexp, log_softmax, softplus)"),
    "exp2": ("1024", "work with its logarithm"),
    "expm1": ("709.78", "work with its logarithm"),
    "cosh": ("710.47", "use log(cosh(x)) = logaddexp(x, -x) - log(2)"),
    "sinh": ("710.47", "work with its logarithm"),
    "gamma": ("171.62", "use lgamma(x), its logarithm"),
}
"""For an op that overflows: up to where its argument has a value in float64, and what to do beyond."""

_SAFE: Final[Mapping[str, str]] = {"acosh": "2.0", "arccosh": "2.0"}
_USUAL: Final = "0.5"
"""A number inside the domain of nearly every op, and one for the others."""


def of_value(made: Made, limit: float | None, text: Callable[[Node], str]) -> str:
    """What to do about a value that is not finite.

    Args:
        made: where it is made.
        limit: what the output tends to there from both sides, where the operation is the output and that is known.
        text: what the text calls a node.
    """
    node = made.node
    name = node.op.name
    if not node.args:
        return "give a finite number, or select the others with where or isfinite"
    if name in _RANGES and made.result in (float("inf"), float("-inf")) and made.entries:
        most, instead = _RANGES[name]
        return f"keep {text(node.args[0])} below {most}, or {instead}"
    if name == "div" and made.entries:
        divisor = text(node.args[1])
        if limit is not None:
            quotient = f"{_operand(node.args[0], text)}/{_operand(node.args[1], text)}"
            return f"write where({divisor} == 0, {limit!r}, {quotient})"
        return f"restrict to {divisor} != 0"
    if name in ("sub", "add") and made.result != made.result:
        return "two infinities have no difference: keep both finite, or subtract before they overflow"
    if name == "mul" and made.result != made.result and not all(np.isfinite(entry) for entry in made.entries):
        return "zero times infinity is nothing: take the limit of the product, or select with where instead of a factor"
    if made.entries and all(abs(entry) < float("inf") for entry in made.entries) and not _is_limited(node):
        return "scale the numbers down, or work with their logarithms"
    return _restriction(node, text)


def of_gradient(node: Node, at: Number | None, text: Callable[[Node], str]) -> str:
    """What to do about a slope that is not finite.

    Args:
        node: the operation whose slope it is.
        at: where, for an operation on one number.
        text: what the text calls a node.
    """
    name = node.op.name
    inside = text(node.args[0]) if node.args else ""
    if name == "div":
        return f"restrict to {text(node.args[1])} != 0"
    if at == 0 and name in ("sqrt", "pow") and not isinstance(at, complex):
        return f"restrict to {inside} > 0, or smooth it with a small constant: {_smoothed(node, inside)}"
    if name == "norm" or name.startswith("linalg.vector_norm") or name == "hypot":
        return "use the square, which is smooth at 0, or add a small constant under the root"
    return _restriction(node, text)


def inside_where(node: Node, condition: str, chosen: bool, text: Callable[[Node], str]) -> str:
    """An operation in a branch with a `where` on the inside too: there the plain chain rule is finite as well.

    Args:
        node: the operation.
        condition: of the where that drops it, as the text has it.
        chosen: whether the operation stands in the branch for which the condition holds.
        text: what the text calls a node.
    """
    argument = node.args[-1] if node.op.name == "div" and node.args[-1].requires_grad else node.args[0]
    inner = text(argument)
    safe = _SAFE.get(node.op.name, _USUAL)
    instead = f"where({condition}, {inner}, {safe})" if chosen else f"where({condition}, {safe}, {inner})"
    if node.op.name == "div":
        above, below = (_operand(arg, text) for arg in node.args)
        return f"{above}/{instead}" if argument is node.args[-1] else f"{instead}/{below}"
    if node.op.name == "pow":
        return f"{instead}**{_operand(node.args[1], text)}"
    return f"{node.op.name}({instead})"


def _operand(node: Node, text: Callable[[Node], str]) -> str:
    """What the text calls a node, in brackets where it is made by an operator."""
    words = text(node)
    operator = node.op.name in INFIX or node.op.name in PREFIX or node.op.name == "pow"
    return f"({words})" if operator and not words.isidentifier() else words


def _smoothed(node: Node, inside: str) -> str:
    return f"sqrt({inside} + 1e-12)" if node.op.name == "sqrt" else f"({inside} + 1e-12)**..."


def _is_limited(node: Node) -> bool:
    return bool(node.op.domain) and not node.op.domain.startswith("all ")


def _restriction(node: Node, text: Callable[[Node], str]) -> str:
    if not _is_limited(node) or any(arg.dtype.kind == "c" for arg in node.args) or not node.args:
        return ""
    return f"restrict {text(node.args[0])}: {node.op.name} has a value and a slope for {_where_smooth(node.op.domain)}"


def _where_smooth(domain: str) -> str:
    """The part of a domain in words that has a slope too."""
    first, *rest = domain.split("; ")
    smooth = next((part for part in rest if part.startswith("differentiable ")), None)
    if smooth is None:
        return first
    where = smooth.removeprefix("differentiable ")
    return f"{first}, {where}" if where == "inside" else where.removeprefix("for ")
