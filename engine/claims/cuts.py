"""Graphs that end where a derivative is given, and is not computed by rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..graph import Node
from ..language.differentials import Derivative


def without_rules(targets: Sequence[Node], derivatives: Mapping[Node, Derivative]) -> list[Node]:
    """What the targets are computed from, where a derivative is not computed but given."""
    seen = set(targets)
    stack = list(seen)
    while stack:
        node = stack.pop()
        for arg in () if node in derivatives else node.args:
            if arg not in seen:
                seen.add(arg)
                stack.append(arg)
    return sorted(seen, key=lambda node: node.serial)


def up_to_derivatives(
    order: Sequence[Node], differentiated: Sequence[Node], derivatives: Mapping[Node, Derivative]
) -> list[Node]:
    """What the sides and what is differentiated in them are computed from, up to the derivatives."""
    found = set(differentiated)
    for node in order:
        if node not in derivatives and all(arg in found for arg in node.args):
            found.add(node)
    return sorted(found, key=lambda node: node.serial)
