"""Writing into a view: which entries of its base it shows, and the two ops that PyTorch records for it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..graph import Node, Op, apply, leaf, make

Array = np.ndarray[Any, Any]


def positions(view: Array, base: Array) -> Array:
    """The place among the base's entries, in row-major order, of each entry that a view of it shows."""
    size = base.itemsize
    offset = (view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // size
    numbers = np.arange(base.size).reshape(base.shape)
    strides = [stride // size for stride in base.strides]
    extent = 1 + sum((length - 1) * abs(stride) for length, stride in zip(base.shape, strides, strict=True))
    places = np.zeros(max(extent, 1), dtype=np.int64)
    where = np.zeros(base.shape, dtype=np.int64)
    for axis, stride in enumerate(strides):
        index = np.arange(base.shape[axis]) * stride
        where = where + index.reshape((-1, *(1,) * (base.ndim - axis - 1)))
    places[where.ravel()] = numbers.ravel()
    shown = np.full(view.shape, offset, dtype=np.int64)
    for axis, stride in enumerate(view.strides):
        index = np.arange(view.shape[axis]) * (stride // size)
        shown = shown + index.reshape((-1, *(1,) * (view.ndim - axis - 1)))
    return places[shown]


def overlaps(array: Array) -> bool:
    """Whether several entries share one place in memory, so that nothing can be written there."""
    return any(stride == 0 and length > 1 for stride, length in zip(array.strides, array.shape, strict=True))


def _written(_xp: Any, base: Any, part: Any, places: Any) -> Any:
    result = np.array(base)
    result.reshape(-1)[places] = part
    return result


def _zeros_like(node: Node) -> Node:
    return make.zeros_like(node)  # type: ignore[no-any-return]  # a row's call is of any type


COPY_SLICES: Final[Op] = Op(
    name="copy_slices",
    doc="A tensor after a view of it was written to.",
    family="index",
    call=lambda base, part, places: apply(COPY_SLICES, (base, part, places)),
    method=False,
    infer=lambda args, attrs: (args[0].shape, args[0].dtype),  # noqa: ARG005  # every `infer` takes attrs
    kernel=_written,
    rule=lambda node, g: [
        apply(COPY_SLICES, (g, _zeros_like(node.args[1]), node.args[2])),
        apply(SEEN, (g, node.args[2])),
        None,
    ],
    grad_fn="CopySlices",
)

SEEN: Final[Op] = Op(
    name="as_strided",
    doc="The entries of a tensor that a view of it shows.",
    family="index",
    call=lambda base, places: apply(SEEN, (base, places)),
    method=False,
    infer=lambda args, attrs: (args[1].shape, args[0].dtype),  # noqa: ARG005  # every `infer` takes attrs
    kernel=lambda _xp, base, places: np.asarray(base).reshape(-1)[places],
    rule=lambda node, g: [apply(COPY_SLICES, (_zeros_like(node.args[0]), g, node.args[1])), None],
    grad_fn="AsStridedBackward0",
)
# A view may show an entry twice (expand): then nothing can be written through it, so places never repeat here.

REPLACE: Final[Op] = Op(
    name="replace",
    doc="A tensor after all of it was overwritten.",
    family="index",
    call=lambda input, value: apply(REPLACE, (input, value)),
    method=False,
    infer=lambda args, attrs: (args[0].shape, args[0].dtype),  # noqa: ARG005  # every `infer` takes attrs
    kernel=lambda _xp, x, value: np.broadcast_to(np.asarray(value), np.shape(x)).astype(np.asarray(x).dtype),
    rule=lambda _node, g: [_zeros_like(g), g],
    grad_fn="CopyBackwards",
)


ANCHOR: Final[Op] = Op(
    name="anchor",
    doc="A gradient that depends on an input only at kinks: the same numbers, tied to the input.",
    family="cotangent",
    call=lambda g, input: apply(ANCHOR, (g, input)),
    method=False,
    infer=lambda args, attrs: (args[0].shape, args[0].dtype),  # noqa: ARG005  # every `infer` takes attrs
    kernel=lambda _xp, g, _input: np.array(g),
    rule=lambda node, g: [g, _zeros_like(node.args[1])],
)


def written_base(base: Node, part: Node, places: Array) -> Node:
    """The node of a base after a view of it became another node."""
    return apply(COPY_SLICES, (base, part, leaf(places)))


def seen(base: Node, places: Array) -> Node:
    """The node of a view whose base was written to."""
    return apply(SEEN, (base, leaf(places)))


def replaced(node: Node, value: Node, grad_fn: str) -> Node:
    """The node of a tensor that another value was copied into."""
    return apply(REPLACE, (node, value), grad_fn=grad_fn)
