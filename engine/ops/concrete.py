"""The value of a node while the graph is still being built, for the few ops whose shape depends on values (masks)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node, ancestors

_READ: Final[ContextVar[list[Node] | None]] = ContextVar("read", default=None)
"""Where computed nodes are noted whose values are read, if anybody wants to know."""


def value_of(node: Node) -> Any:
    """What a node's kernel chain gives on its leaves' values, on the CPU: what is built by it holds for this value."""
    if node.value is not None:
        return node.value
    noted = _READ.get()
    if noted is not None:
        noted.append(node)
    return value_now(node)


def value_now(node: Node) -> Any:
    """The same for a check, which decides nothing of what is built."""
    if node.value is not None:
        return node.value
    values: dict[Node, Any] = {}
    with np.errstate(all="ignore"):
        for part in ancestors([node]):
            if part.value is not None or part.op is LEAF:
                values[part] = part.value
            else:
                assert part.op.kernel is not None, part.op.name
                values[part] = part.op.kernel(np, *[values[arg] for arg in part.args], **part.attrs)
    return values[node]


@contextmanager
def reading(noted: list[Node]) -> Iterator[None]:
    """Note the computed nodes whose values are read while the block runs."""
    token = _READ.set(noted)
    try:
        yield
    finally:
        _READ.reset(token)
