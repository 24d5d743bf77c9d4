"""The same entries along more, or longer, dimensions."""

from __future__ import annotations

from typing import Any

from ...errors import ShapeError
from ...graph import Node, apply, as_node
from .. import batch
from ..cotangent import sum_to
from ..move import joining, listed, moving


def _expand(input: Node, *sizes: int, size: Any = None, shape: Any = None) -> Node:
    node = as_node(input)
    wanted = listed(sizes, "sizes", size, shape)
    lead = len(wanted) - node.ndim
    if lead < 0:
        raise ShapeError(
            f"expand(tensor of shape {list(node.shape)}, size={list(wanted)}): the number of sizes provided "
            f"({len(wanted)}) must be greater or equal to the number of dimensions in the tensor ({node.ndim})",
            hint="give a size for every dimension; -1 keeps one as it is",
        )
    result: list[int] = []
    for axis, want in reversed(list(enumerate(wanted))):  # PyTorch compares from the right
        have = node.shape[axis - lead] if axis >= lead else None
        if want == -1 and have is None:
            raise ShapeError(
                f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {axis}",
                hint="-1 keeps a size that the tensor has; new dimensions need a size of their own",
            )
        if want < -1 or (want != -1 and have not in (None, 1, want)):
            raise ShapeError(
                f"The expanded size of the tensor ({want}) must match the existing size ({have}) at non-singleton "
                f"dimension {axis}.  Target sizes: {list(wanted)}.  Tensor sizes: {list(node.shape)}",
                hint="only dimensions of size 1 can be expanded; `repeat` copies longer ones",
            )
        result.append(have if want == -1 and have is not None else want)
    return apply(EXPAND, (node,), {"shape": tuple(reversed(result))})


EXPAND = moving(
    "expand",
    "The tensor repeated along its dimensions of size 1, and along new leading ones, without copying.",
    call=_expand,
    forms=("x.expand(2, 3)", "x.expand(2, -1)", "torch.broadcast_to(x, (2, 3))", "np.broadcast_to(x, (2, 3))"),
    aliases=("broadcast_to",),
    inputs={"x": (3,)},
    batch=batch.repeated,
    kernel=lambda xp, x, shape: xp.broadcast_to(xp.asarray(x), shape)[()],
    rule=lambda node, g: [sum_to(g, node.args[0].shape)],
    grad_fn="ExpandBackward0",
)


def _expand_as(input: Node, other: Node) -> Node:
    return _expand(input, size=as_node(other).shape)


joining(
    "expand_as",
    "The tensor expanded to the shape of another.",
    call=_expand_as,
    forms=("x.expand_as(y)",),
    inputs={"x": (3,), "y": (2, 3)},
    grad_fn="ExpandBackward0",
)
