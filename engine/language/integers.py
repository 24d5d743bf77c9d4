"""Numbers that are written as integers: floats, unless they turn out to be an index, an axis, a size or a label."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import AgradError, InputError, LimitError
from ..graph import INT64, INTEGERS, LEAF, Node, ancestors, leaf
from ..ops.concrete import value_of


class Integers:
    """Remembers which leaves are written as integers, and the leaf of integers that stands for each.

    A leaf `idx = [0, 2]` holds floats. Where it is used as an index, its twin of dtype int64 is used instead, and if
    nothing else uses the floats, the name means the twin.
    """

    def __init__(self) -> None:
        self._written: set[Node] = set()
        self.twins: dict[Node, Node] = {}
        self.constants: set[Node] = set()

    def add(self, node: Node) -> None:
        """A leaf of floats is written as integers."""
        self._written.add(node)

    def written(self, node: Node) -> bool:
        """Whether a leaf of floats is written as integers."""
        return node in self._written

    def twin(self, node: Node) -> Node:
        """The leaf of integers that a leaf is written as; any other node itself."""
        if node not in self._written:
            return node
        twin = self.twins.get(node)
        if twin is None:
            value = np.asarray(node.value)
            if not fits(value):
                raise LimitError("an integer is too large", hint="the largest is 2**63 - 1")
            with np.errstate(all="ignore"):
                value = value.astype(INT64)
            twin = self.twins[node] = leaf(value[()])
            twin.span = node.span
        return twin

    def index(self, node: Node) -> Any:
        """A node as an item of an index: a plain integer where it is one, else a tensor of integers or booleans."""
        value = self.plain(node) if node.shape == () else None
        if value is not None:
            return value
        chosen = self.twin(node)
        if chosen.dtype.kind not in "biu":
            raise InputError(
                "an index holds integers or a mask, not floats",
                hint="write integers without a point, or compare: x > 0",
            )
        return chosen

    def plain(self, node: Node) -> Any:
        """The integers that a node stands for as a plain value: an int or nested tuples; None where it is none."""
        if node.dtype.kind == "b" and node.shape == ():
            return None
        parts = ancestors([node])
        for part in parts:
            known = part.op is not LEAF or part in self._written or part.dtype.kind in "iu"
            if not known and not (type(part.value) is float and part.value.is_integer()):
                return None
        try:
            value = np.asarray(value_of(node))
        except (AgradError, ArithmeticError, ValueError, TypeError):
            return None
        if value.dtype.kind not in "iuf" or not np.all(np.isfinite(value)) or np.any(value != np.trunc(value)):
            return None
        if not fits(value):
            raise LimitError("an integer is too large", hint="the largest is 2**63 - 1")
        for part in parts:
            self.twin(part)
        return _tuples(value.astype(INT64).tolist())

    def constant(self, node: Node) -> Any:
        """The number that a node without axes stands for as a plain value; None where it has axes."""
        if node.shape != ():
            return None
        self.constants.update([part for part in ancestors([node]) if part.op is LEAF])
        value = value_of(node)
        return value.item() if isinstance(value, (np.generic, np.ndarray)) else value


def fits(value: Any) -> bool:
    """Whether integers can hold the numbers of an array; where some are NaN, they are not asked."""
    if value.dtype.kind not in "uf":
        return True
    with np.errstate(invalid="ignore"):
        return not bool(np.any(value >= INTEGERS) or np.any(value < -INTEGERS))


def _tuples(value: Any) -> Any:
    return tuple([_tuples(item) for item in value]) if isinstance(value, list) else value
