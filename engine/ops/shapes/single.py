"""Dimensions of size 1, taken away and put in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ...graph import Attrs, DType, Node, Outputs, Shape, apply, as_node
from .. import batch
from ..infer import axes_of, axis_of
from ..move import joining, moving, several
from .reshape import reshaped


def _squeeze_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    axes = attrs["axes"]
    return tuple(size for axis, size in enumerate(args[0].shape) if axis not in axes), args[0].dtype


def _squeeze(input: Node, dim: int | tuple[int, ...] | None = None) -> Node:
    node = as_node(input)
    axes = axes_of(dim, node.ndim) if dim != () else ()
    number = 0 if dim is None else 1 if isinstance(dim, int) else 2
    kept = tuple(axis for axis in axes if node.ndim and node.shape[axis] == 1)
    return apply(SQUEEZE, (node,), {"axes": kept}, grad_fn=f"SqueezeBackward{number}")


SQUEEZE = moving(
    "squeeze",
    "The tensor without its dimensions of size 1, or without the named ones that have size 1.",
    call=_squeeze,
    forms=("torch.squeeze(A)", "A.squeeze()", "A.squeeze(0)", "np.squeeze(A)"),
    inputs={"A": (1, 3)},
    infer=_squeeze_infer,
    batch=batch.along_axes,
    kernel=lambda xp, x, axes: xp.squeeze(xp.asarray(x), axis=axes)[()],
    rule=lambda node, g: [reshaped(g, node.args[0].shape)],
    grad_fn="SqueezeBackward0",
)


def _unsqueeze_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape, axis = args[0].shape, attrs["axis"]
    return (*shape[:axis], 1, *shape[axis:]), args[0].dtype


def unsqueezed(node: Node, axis: int) -> Node:
    """A node with a dimension of size 1 put in, counted from the front."""
    return apply(UNSQUEEZE, (node,), {"axis": axis})


def _new_axis(dim: Any, ndim: int) -> int:
    """Where a new dimension goes, counted from either end of the dimensions with it."""
    if isinstance(dim, int) and not isinstance(dim, bool) and not -ndim - 1 <= dim <= ndim:
        raise InputError(
            f"Dimension out of range (expected to be in range of [{-ndim - 1}, {ndim}], but got {dim})",
            hint=f"the tensor has {ndim} dimension{'s' if ndim != 1 else ''}, and a new one can go before, between and "
            "after them",
            code="index",
        )
    return axis_of(dim, ndim + 1)


def _unsqueeze(input: Node, dim: int) -> Node:
    node = as_node(input)
    return unsqueezed(node, _new_axis(dim, node.ndim))


UNSQUEEZE = moving(
    "unsqueeze",
    "The tensor with a dimension of size 1 put in.",
    call=_unsqueeze,
    forms=("x.unsqueeze(0)", "torch.unsqueeze(x, -1)", "x[None]", "np.expand_dims(x, 0)"),
    aliases=("expand_dims",),
    inputs={"x": (3,)},
    infer=_unsqueeze_infer,
    batch=batch.along_axes,
    kernel=lambda xp, x, axis: xp.expand_dims(xp.asarray(x), axis),
    rule=lambda node, g: [reshaped(g, node.args[0].shape)],
    grad_fn="UnsqueezeBackward0",
)


def at_least(node: Node, ndim: int) -> Node:
    """A node with at least so many dimensions, new ones put in as NumPy does."""
    if node.ndim >= ndim:
        return node
    if node.ndim == 0:
        return reshaped(node, (1,) * ndim)
    if ndim == 3:
        node = unsqueezed(node, 0) if node.ndim == 1 else node
        return unsqueezed(node, 2)
    return unsqueezed(node, 0)


def _add_at_least(ndim: int, words: str) -> None:
    def call(*tensors: Node) -> Node | Outputs:
        given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
        results = [at_least(as_node(tensor), ndim) for tensor in given]
        return results[0] if given is tensors and len(results) == 1 else several(results)

    name = f"atleast_{ndim}d"
    joining(
        name,
        f"The tensor with at least {words}, new ones of size 1 put in.",
        call=call,
        forms=(f"torch.{name}(x)", f"np.{name}(x)"),
        method=False,
        inputs={"x": ()},
        grad_fn="ViewBackward0",
    )


_add_at_least(1, "one dimension")
_add_at_least(2, "two dimensions")
_add_at_least(3, "three dimensions")
