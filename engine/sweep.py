"""Values and gradients of a long graph of small values, one node at a time: no graph of the gradients is kept.

The rules are those of the table. What they make of a node is computed at once and dropped: a graph of the gradients
of 10^5 lines, and a plan of it, would take most of the time and of the memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import isfinite
from typing import Any, Final

import numpy as np

from .gradient import along, collect, fitted, passed_on
from .graph import FLOAT64, LEAF, Node, ancestors, leaf
from .ops.cotangent import FLOW, MEET

_NODES: Final = 2_000
"""Nodes up to which nothing is gained."""
NODE_NANOSECONDS: Final = 6_000
"""What a node of a sweep takes, forwards and backwards: what the interpreter takes, as good as nothing else."""
NODE_BYTES: Final = 70
"""What the sweep holds of a node: its value, and the place in a table that it has."""
_ELEMENTS: Final = 2
"""Elements that a node has on the average, at most: of arrays the memory counts that a plan frees, and fusion pays."""
_flow: Final[Any] = FLOW.kernel
_meet: Final[Any] = MEET.kernel


def is_long(order: Sequence[Node]) -> bool:
    """Whether a graph is one of many small values."""
    many = len(order)
    return many > _NODES and sum([node.size for node in order if node.shape]) < _ELEMENTS * many


def values_of(order: Iterable[Node]) -> dict[Node, Any]:
    """The value of each node, in their order, where all that they are computed from stand before them."""
    values: dict[Node, Any] = {}
    with np.errstate(all="ignore"):
        for node in order:
            args = node.args
            kernel: Any = node.op.kernel
            if node.op is LEAF:
                values[node] = node.value
            elif len(args) == 2 and not node.attrs:  # most are of this kind, and the call itself is what costs
                values[node] = kernel(np, values[args[0]], values[args[1]])
            else:
                values[node] = kernel(np, *[values[arg] for arg in args], **node.attrs)
    return values


def gradients_at(
    values: dict[Node, Any], outputs: Sequence[Node], cotangents: Sequence[Node], kept: Collection[Node]
) -> dict[Node, Any]:
    """The numbers for which `gradient.gradients` gives nodes.

    Args:
        values: the value of each node, arguments before results.
        outputs, cotangents: as of `gradients`.
        kept: the nodes whose gradients are wanted.

    Raises:
        NoGradientError: where an op on the path has no derivative.
    """
    sweep = _Sweep(values)
    for output, cotangent in zip(outputs, cotangents, strict=True):
        if output.requires_grad:
            sweep.add(output, cotangent.value)
    with np.errstate(all="ignore"):
        return sweep.back(kept)


class _Sweep:
    """The way back through a graph, and what has arrived at each node that is still to come."""

    def __init__(self, values: dict[Node, Any]) -> None:
        self._values = values
        self._pending: dict[Node, Any] = {}
        self._parts: dict[Node, list[Node | None]] = {}

    def add(self, node: Node, g: Any) -> None:
        """Add a contribution to a node's gradient."""
        have = self._pending.get(node)
        self._pending[node] = g if have is None else have + g

    def back(self, kept: Collection[Node]) -> dict[Node, Any]:
        """Take the nodes from the last to the first; gives the gradients of those that are kept."""
        pending, parts, values = self._pending, self._parts, self._values
        found: dict[Node, Any] = {}
        for node in reversed(values):
            if parts and node in parts:
                self._pass_on(node, parts.pop(node))
                continue
            g = pending.pop(node, None)
            if g is None:
                continue
            if node in kept:
                found[node] = g
            op = node.op
            if op.slopes is None or node.dtype is not FLOAT64 or node.shape:
                if op.name == "output":
                    collect(parts, node, leaf(g))
                elif op is not LEAF:
                    self._pass_on(node, leaf(g))
                continue
            around = (*node.args, node)
            for place, arg in enumerate(node.args):
                if not arg.requires_grad:
                    continue
                slope = op.slopes[place](*around, **node.attrs) if node.attrs else op.slopes[place](*around)
                if arg.dtype is not FLOAT64:
                    self._add_made(arg, along(leaf(g), slope))
                    continue
                if type(slope) is Node:
                    factor = values.get(slope)
                    if factor is None:
                        factor = self._value(slope)
                    part = g * factor
                    if not isfinite(part):
                        part = (_flow if slope.requires_grad else _meet)(np, g, factor)
                elif slope is None:
                    continue
                else:
                    part = g if slope == 1 else _times(g, slope)
                have = pending.get(arg)
                pending[arg] = part if have is None else have + part
        return found

    def _pass_on(self, node: Node, received: Node | list[Node | None]) -> None:
        """Pass on what a node has received, by the rule of its op."""
        for arg, part in passed_on(node, received):
            self._add_made(arg, part)

    def _add_made(self, node: Node, part: Node | None) -> None:
        """Add a contribution that a rule has made."""
        if part is not None:
            part = fitted(part, node)
            self.add(node, node.dtype.type(part.value) if part.is_number else self._value(part))

    def _value(self, made: Node) -> Any:
        """The value of a node that a rule has made, or of one of the graph."""
        values = self._values
        known = values.get(made)
        if known is not None:
            return known
        if made.op is LEAF:
            return made.value
        try:
            args = [values[arg] for arg in made.args]
        except KeyError:  # it is made of others that are new
            return self._value_of_many(made)
        return _computed(made, args)

    def _value_of_many(self, made: Node) -> Any:
        values, fresh = self._values, dict[Node, Any]()
        for node in ancestors([made], beyond=values):
            if node.op is LEAF:
                fresh[node] = node.value
            else:
                fresh[node] = _computed(node, [fresh[arg] if arg in fresh else values[arg] for arg in node.args])
        return fresh[made]


def _times(g: Any, slope: complex) -> Any:
    """A number times a slope that is known beforehand."""
    return -g if slope == -1 else g * slope if slope else np.float64(0)


def _computed(node: Node, args: Iterable[Any]) -> Any:
    assert node.op.kernel is not None, node.op.name
    return node.op.kernel(np, *args, **node.attrs)
