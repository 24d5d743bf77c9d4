"""The value of a node while the graph is still being built, for the few ops whose shape depends on values (masks)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import LEAF, Node, ancestors


def value_of(node: Node) -> Any:
    """What a node's kernel chain gives on its leaves' values, on the CPU."""
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
