"""A quick test in float64: whether anything at this point needs a closer look than the chain rule.

It costs a comparison for each op that has a kink, and is made for small graphs only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from .graph import Node, ancestors

_NODES: Final = 2_000
_ELEMENTS: Final = 20_000


def watched(outputs: Sequence[Node]) -> list[Node]:
    """The nodes whose values the test needs; none where the graph is too large for a closer look."""
    if _are_many(outputs):
        return []
    order = ancestors(outputs)
    if sum(node.size for node in order) > _ELEMENTS:
        return []
    return [node for node in order if node.op.outputs == 1]


def _are_many(outputs: Sequence[Node]) -> bool:
    """Whether the outputs are computed from more nodes than are watched; no more than these are walked over."""
    found = list(dict.fromkeys(outputs))
    seen = set(found)
    for node in found:  # it grows on the way
        for arg in node.args:
            if arg not in seen:
                seen.add(arg)
                found.append(arg)
        if len(found) > _NODES:
            return True
    return False


def overflows(nodes: Iterable[Node], values: Mapping[Node, Any]) -> bool:
    """Whether a value that varies is not finite."""
    return any(node.requires_grad and not np.all(np.isfinite(values[node])) for node in nodes)


def at_kink(nodes: Iterable[Node], values: Mapping[Node, Any]) -> bool:
    """Whether an op whose arguments vary stands exactly on a kink."""
    with np.errstate(all="ignore"):
        for node in nodes:
            test = node.op.at_kink
            if test is None or not any(arg.requires_grad for arg in node.args):
                continue
            if np.any(test(np, *[values[arg] for arg in node.args], **node.attrs)):
                return True
    return False
