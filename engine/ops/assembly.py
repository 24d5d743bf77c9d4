"""The op that puts together a matrix most of whose entries are zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph import Attrs, DType, Node, Op, Shape, add_row, apply, leaf, make


def _infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    return attrs["shape"], args[0].dtype


def _kernel(xp: Any, x: Any, positions: Any, places: Any, shape: Shape) -> Any:
    result = xp.zeros(shape, dtype=x.dtype)
    result.reshape(-1)[places] = x.reshape(-1)[positions]
    return result


def _formula(m: Any, x: Any, positions: Any, places: Any, shape: Shape) -> Any:
    result = np.full(shape, m.number(0), dtype=object)
    result.reshape(-1)[np.asarray(places, dtype=np.int64)] = np.ravel(x)[np.asarray(positions, dtype=np.int64)]
    return result


def _rule(node: Node, g: Node) -> list[Node | None]:
    x, positions, places = node.args
    return [apply(ASSEMBLE, (g, places, positions), {"shape": x.shape}), None, None]


def _batch(node: Node, args: Sequence[Node], batched: Sequence[bool]) -> Node | None:
    if list(batched) != [True, False, False]:
        return None
    x, positions, places = args
    count, size = x.shape[0], node.args[0].size
    steps = leaf(np.arange(count).reshape(count, 1))
    positions, places = (
        make.reshape(each + steps * leaf(length), (count * each.size,))
        for each, length in ((positions, size), (places, node.size))
    )
    return apply(ASSEMBLE, (x, positions, places), {"shape": (count, *node.shape)})


ASSEMBLE: Op = add_row(
    Op(
        name="assemble",
        doc="Zeros, but for entries of another tensor at some places, each at another one.",
        family="cotangent",
        call=lambda x, positions, places, shape: apply(ASSEMBLE, (x, positions, places), {"shape": tuple(shape)}),
        method=False,
        infer=_infer,
        batch=_batch,
        kernel=_kernel,
        formula=_formula,
        rule=_rule,
        grad_fn="IndexPutBackward0",
    )
)
