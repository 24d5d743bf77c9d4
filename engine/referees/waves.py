"""Ops that repeat, leap or have poles again and again: how far a step carries their arguments along that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph import Node
from .arithmetic import PreciseArithmetic

Along = Callable[[Any, Mapping[str, Any], Sequence[Any]], Any]
"""Where an op's arguments stand, in numbers of which some units are one wave, one leap or the way to the next pole."""


def _first(_m: Any, _attrs: Mapping[str, Any], args: Sequence[Any]) -> Any:
    return args[0]


def _second(_m: Any, _attrs: Mapping[str, Any], args: Sequence[Any]) -> Any:
    return args[1]


def _below_zero(_m: Any, _attrs: Mapping[str, Any], args: Sequence[Any]) -> Any:
    return args[0] if args[0] < 0 else 0


def _decimals(m: Any, attrs: Mapping[str, Any], args: Sequence[Any]) -> Any:
    return args[0] * m.number(10) ** attrs["decimals"]


def _quotient(m: Any, _attrs: Mapping[str, Any], args: Sequence[Any]) -> Any:
    return m.divide(args[0], args[1])


def _turns(m: Any, _attrs: Mapping[str, Any], args: Sequence[Any]) -> Any:
    return args[1] * m.log(args[0]) if args[0] else m.undefined()


QUOTIENTS: Final = frozenset({"remainder", "fmod", "div_floor", "div_trunc", "floor_divide"})
"""Ops that take the whole part of a quotient."""
_REAL: Final[Mapping[str, Along]] = {
    **dict.fromkeys(("sin", "cos", "tan", "sinc", "sinc_derivative"), _first),
    **dict.fromkeys(("floor", "ceil", "trunc", "round", "frac", "long"), _first),
    **dict.fromkeys(("lgamma", "gamma", "digamma", "polygamma"), _below_zero),
    **dict.fromkeys(QUOTIENTS, _quotient),
    "round.decimals": _decimals,
    "polar": _second,
}
_COMPLEX: Final[Mapping[str, Along]] = {
    **dict.fromkeys(("sin", "cos", "tan", "sinh", "cosh", "tanh"), _first),
    **dict.fromkeys(("exp", "exp2", "expm1", "sigmoid", "silu"), _first),
    "pow": _turns,
}


def has_waves(node: Node) -> bool:
    """Whether a node repeats, leaps or has poles again and again."""
    return _along(node) is not None


def travel(m: PreciseArithmetic, node: Node, before: Sequence[Any], after: Sequence[Any]) -> Any:
    """How far apart two places of a node's arguments are, along its waves; the farthest of its entries.

    Args:
        m: the arithmetic of the arguments.
        node: an elementwise node with waves.
        before, after: its arguments at both places.
    """
    along = _along(node)
    if along is None:
        return m.number(0)
    farthest = m.number(0)
    start, end = (zip(*_entries(node, args), strict=True) for args in (before, after))
    for here, there in zip(start, end, strict=True):
        if all(a is b for a, b in zip(here, there, strict=True)):
            continue
        way = abs(along(m, node.attrs, there) - along(m, node.attrs, here))
        if m.finite(way):
            farthest = max(farthest, way)
    return farthest


def _along(node: Node) -> Along | None:
    if not node.args:
        return None
    kinds = {arg.dtype.kind for arg in node.args}
    return (_COMPLEX if "c" in kinds else _REAL).get(node.op.name)


def _entries(node: Node, args: Sequence[Any]) -> list[list[Any]]:
    return [np.broadcast_to(arg, node.shape).ravel().tolist() for arg in args]
