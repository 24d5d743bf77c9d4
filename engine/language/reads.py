"""Which nodes are built from the values of others: a mask picks, an index chooses, a label counts."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from ..graph import Node, Outputs
from ..ops.concrete import reading


class Reads:
    """Remembers for the result of a call the computed nodes whose values decided what the call built.

    Attributes:
        of: these nodes, by result. The result is right for other values of the leaves where these are the same.
    """

    def __init__(self) -> None:
        self.of: dict[Node, list[Node]] = {}
        self._now: list[Node] = []

    def collect(self) -> AbstractContextManager[None]:
        """Take note of what is read while the block runs; else nothing is."""
        return reading(self._now)

    def begin(self) -> None:
        """A call begins: what was read before is no part of it."""
        self._now.clear()

    def end(self, result: Any) -> None:
        """A call has ended with a result."""
        if self._now:
            for node in _nodes(result):
                self.of.setdefault(node, []).extend(self._now)


def _nodes(result: Any) -> Iterable[Node]:
    if isinstance(result, Node):
        return [result]
    parts = result.nodes if isinstance(result, Outputs) else result if isinstance(result, (list, tuple)) else []
    return [node for part in parts for node in _nodes(part)]
