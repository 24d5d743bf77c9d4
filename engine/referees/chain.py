"""The chain rule once more, without the engine's graph of gradients: op by op, each rule at its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

from ..errors import AgradError
from ..graph import LEAF, Node, ancestors
from .alone import Alone, parts_in, values_of, zeros
from .case import Case
from .digits import given

_APART: Final = {"float64": 1e-10, "complex128": 1e-10}
_APART_SHORT: Final = 1e-4
"""How far sums of the same numbers in another order may be apart, as a part of the sum of their sizes."""


class _Received:
    """What has arrived at a node: the sum, and the sum of the sizes."""

    def __init__(self, first: Any) -> None:
        self.sum = first
        self.size = np.abs(first)

    def add(self, more: Any) -> None:
        self.sum = self.sum + more
        self.size = self.size + np.abs(more)


def follows_rules(case: Case) -> bool:
    """Whether the gradients of a case are what the rules of its ops give by the chain rule.

    Where each op is right by itself, they are right then but for rounding.
    """
    nodes = ancestors(case.outputs)
    values = values_of(nodes)
    if values is None:
        return False
    received: dict[Node, _Received] = {}
    for output, cotangent in zip(case.outputs, case.cotangents, strict=True):
        _add(received, output, cotangent)
    parts = parts_in(nodes)
    with suppress(AgradError), np.errstate(all="ignore"):
        for node in reversed(nodes):
            if node.op is not LEAF and node.op.name != "output" and node.requires_grad:
                _pass_on(node, parts.get(node, []), values, received)
        return all(_is_near(case, name, node, received.get(node)) for name, node in case.wrt.items())
    return False


def _add(received: dict[Node, _Received], node: Node, more: Any) -> None:
    if node in received:
        received[node].add(more)
    else:
        received[node] = _Received(more)


def _pass_on(node: Node, parts: Sequence[Node], values: dict[Node, Any], received: dict[Node, _Received]) -> None:
    """Give what has arrived at a node, or at its results, on to its arguments by its rule."""
    results = parts if node.op.outputs > 1 else [node]
    if not any(result in received for result in results):
        return
    alone = Alone.of(node, parts, values)
    slopes = alone.by_rule([received[result].sum if result in received else zeros(result) for result in results])
    for arg, slope in zip(node.args, slopes, strict=True):
        if slope is not None:
            _add(received, arg, slope)


def _is_near(case: Case, name: str, node: Node, received: _Received | None) -> bool:
    got = given(case, name)
    if received is None:
        return not np.any(got)
    room = received.size * _APART.get(node.dtype.name, _APART_SHORT)
    with np.errstate(all="ignore"):
        near = np.isfinite(received.sum) & (np.abs(got - received.sum) <= room)
    return bool(np.all(near | (got == received.sum) | (np.isnan(got) & np.isnan(received.sum))))
