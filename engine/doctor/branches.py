"""Branches that are not taken: which `where` drops a node, and what must be written where zero stops nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..graph import Node, ancestors
from . import repairs
from .chain import Chain
from .origin import Origin, Step

_ELSEWHERE = "where zero does not stop the chain rule"


def remedy(chain: Chain, found: Origin, text: Callable[[Node], str]) -> str:
    """What must be written where zero does not stop the chain rule, so that it gives the right number as well.

    Args:
        chain: the numbers.
        found: where the gradient begins not to be finite.
        text: what the text calls a node.
    """
    if found.first is None:
        return ""
    node = found.first.edge.consumer
    chooser = _chooser(chain, found.first)
    if chooser is None:
        return f"{_ELSEWHERE}, leave out what is not used before it is computed"
    condition = chooser.args[0]
    if node in ancestors([condition]):
        return f"{_ELSEWHERE}, keep the argument of {node.op.name} inside of its domain with a where on the inside too"
    inner = repairs.inside_where(node, text(condition), node in ancestors([chooser.args[1]]), text)
    return f"{_ELSEWHERE}, write {inner}, with a where on the inside too"


def _chooser(chain: Chain, step: Step) -> Node | None:
    """The `where` that drops an entry: a gradient comes in to it, and none to its branch."""
    seen = {step.edge.consumer}
    waiting = [step.edge.consumer]
    while waiting:
        here = waiting.pop(0)
        for consumer in chain.consumers.get(here, ()):
            if consumer in seen or consumer not in chain.plain:
                continue
            if consumer.op.name == "where" and np.any(chain.plain[consumer]) and _has_zero(chain, here):
                return consumer
            seen.add(consumer)
            waiting.append(consumer)
    return None


def _has_zero(chain: Chain, node: Node) -> bool:
    gradient = chain.plain.get(node)
    return gradient is not None and bool(np.any(np.asarray(gradient) == 0))
