"""The same entries in another shape, and a copy where that needs one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import InputError, ShapeError
from ...graph import Attrs, Node, Shape, apply, as_node
from .. import batch
from ..infer import axis_of, integers
from ..layout import is_contiguous, is_viewable
from ..move import joining, listed, moving, shape_kept


def _target(shape: Shape, wanted: Shape) -> Shape:
    """The shape that a reshape means: -1 stands for what is left."""
    fault = f"shape '{list(wanted)}' is invalid for input of size {math.prod(shape)}"
    hint = f"the tensor's shape is {list(shape)}; the sizes must multiply to {math.prod(shape)}, and one may be -1"
    for index, size in enumerate(wanted):
        if size < -1:
            raise ShapeError(f"invalid shape dimension {size} at index {index} of shape {list(wanted)}", hint=hint)
    if wanted.count(-1) > 1:
        raise ShapeError("only one dimension can be inferred", hint=hint)
    if -1 not in wanted:
        if math.prod(wanted) != math.prod(shape):
            raise ShapeError(fault, hint=hint)
        return wanted
    rest = -math.prod(wanted)
    if rest == 0:
        raise ShapeError(
            f"cannot reshape tensor of 0 elements into shape {list(wanted)} because the unspecified dimension size -1 "
            "can be any value and is ambiguous",
            hint=hint,
        )
    if math.prod(shape) % rest:
        raise ShapeError(fault, hint=hint)
    return tuple(math.prod(shape) // rest if size == -1 else size for size in wanted)


def _reshape_grad_fn(args: Sequence[Node], attrs: Attrs) -> str:
    if is_contiguous(args[0]):
        return "ViewBackward0"
    return "ReshapeAliasBackward0" if is_viewable(args[0], attrs["shape"]) else "UnsafeViewBackward0"


def reshaped(node: Node, shape: Shape, *, grad_fn: str | None = None) -> Node:
    """A node's entries in another shape, which is known to fit."""
    return apply(RESHAPE, (node,), {"shape": shape}, grad_fn=grad_fn)


def _reshape(input: Node, *sizes: int, shape: Any = None, size: Any = None) -> Node:
    node = as_node(input)
    return reshaped(node, _target(node.shape, listed(sizes, "sizes", shape, size)))


RESHAPE = moving(
    "reshape",
    "The same entries, in row-major order, in another shape; one size may be -1.",
    call=_reshape,
    forms=("A.reshape(9)", "torch.reshape(A, (9,))", "A.reshape(-1, 1)", "np.reshape(A, (9,))"),
    inputs={"A": (3, 3)},
    batch=batch.to_shape,
    kernel=lambda xp, x, shape: xp.reshape(xp.asarray(x), shape)[()],
    rule=lambda node, g: [reshaped(g, node.args[0].shape)],
    grad_fn=_reshape_grad_fn,
)


def _reshape_as(input: Node, other: Node) -> Node:
    return _reshape(input, shape=as_node(other).shape)


joining(
    "reshape_as",
    "The tensor in the shape of another of as many entries.",
    call=_reshape_as,
    forms=("A.reshape_as(x)",),
    inputs={"A": (3, 3), "x": (9,)},
    grad_fn="ViewBackward0",
)


def _view(input: Node, *sizes: int, size: Any = None) -> Node:
    node = as_node(input)
    shape = _target(node.shape, listed(sizes, "sizes", size))
    if not is_viewable(node, shape):
        raise ShapeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead.",
            hint=f"shape {list(node.shape)} to {list(shape)}: the tensor was transposed or expanded before",
        )
    return reshaped(node, shape, grad_fn="ViewBackward0")


joining(
    "view",
    "The same entries in another shape, where no copy is needed; one size may be -1.",
    call=_view,
    forms=("A.view(9)", "A.view(-1)"),
    inputs={"A": (3, 3)},
    grad_fn="ViewBackward0",
)


def _view_as(input: Node, other: Node) -> Node:
    return _view(input, size=as_node(other).shape)


joining(
    "view_as",
    "The tensor seen in the shape of another of as many entries.",
    call=_view_as,
    forms=("A.view_as(x)",),
    inputs={"A": (3, 3), "x": (9,)},
    grad_fn="ViewBackward0",
)


def _flatten(input: Node, start_dim: int = 0, end_dim: int = -1) -> Node:
    node = as_node(input)
    if node.ndim == 0:
        return reshaped(node, (1,))
    start, end = axis_of(start_dim, node.ndim), axis_of(end_dim, node.ndim)
    if start > end:
        raise InputError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return node  # as PyTorch, which gives the tensor itself
    shape = node.shape
    return reshaped(node, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


joining(
    "flatten",
    "A run of dimensions as one; all of them where none are named.",
    call=_flatten,
    forms=("torch.flatten(A)", "A.flatten()", "torch.flatten(A, 0, 1)"),
    inputs={"A": (2, 3)},
    grad_fn="ViewBackward0",
)


def _ravel(input: Node) -> Node:
    node = as_node(input)
    return reshaped(node, (node.size,), grad_fn="ViewBackward0")


joining(
    "ravel",
    "All entries in row-major order as one dimension.",
    call=_ravel,
    forms=("A.ravel()", "torch.ravel(A)", "np.ravel(A)"),
    inputs={"A": (2, 3)},
    grad_fn="ViewBackward0",
)


def _unflatten(input: Node, dim: int, sizes: Any) -> Node:
    node = as_node(input)
    axis = axis_of(dim, node.ndim)
    wanted = integers(sizes, "sizes")
    size = node.shape[axis] if node.ndim else 1
    known = -math.prod(wanted) if wanted.count(-1) == 1 else 0
    if known and size % known == 0:
        wanted = tuple(size // known if entry == -1 else entry for entry in wanted)
    if math.prod(wanted) != size or min(wanted, default=0) < 0:
        raise ShapeError(
            f"unflatten: Provided sizes {list(wanted)} don't multiply up to the size of dim {axis} ({size}) "
            "in the input tensor",
            hint="the sizes must multiply to the size of the dimension, and one may be -1",
        )
    return reshaped(node, (*node.shape[:axis], *wanted, *node.shape[axis + 1 :]), grad_fn="ViewBackward0")


joining(
    "unflatten",
    "One dimension as several.",
    call=_unflatten,
    forms=("x.unflatten(0, (3, 1))", "torch.unflatten(x, 0, (-1, 1))"),
    inputs={"x": (3,)},
    grad_fn="ViewBackward0",
)


def _contiguous(input: Node) -> Node:
    node = as_node(input)
    return node if is_contiguous(node) else apply(CONTIGUOUS, (node,))


CONTIGUOUS = moving(
    "contiguous",
    "The tensor itself where it is kept in row-major order, else a copy that is.",
    call=_contiguous,
    forms=("A.t().contiguous()", "A.contiguous()"),
    inputs={"A": (2, 3)},
    infer=shape_kept,
    batch=batch.trailing,
    kernel=lambda xp, x: xp.ascontiguousarray(x),
    rule=lambda _node, g: [g],
    grad_fn="CloneBackward0",
)
