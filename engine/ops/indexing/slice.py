"""Parts of a tensor along a dimension: one position, or a range of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Attrs, DType, Node, Op, Shape, apply, as_node, leaf, make
from .. import batch
from ..cotangent import zeros
from ..infer import axis_of
from ..move import joining, moving, shape_kept
from ..positions import integer_of, place_of

_FAMILY: Final = "index"


def typed(value: Any, dtype: DType) -> Node:
    """A node or a number as a node of a dtype."""
    node = as_node(value)
    if node.dtype == dtype and not node.is_number:
        return node
    if node.is_number:
        return leaf(np.asarray(node.value).astype(dtype)[()])
    return make.to(node, dtype)  # type: ignore[no-any-return]  # a row's call is of any type


def nothing(node: Node) -> Node:
    """Zeros in the shape of a node."""
    return zeros(node.shape, node.dtype)


# --- one position along a dimension ------------------------------------------------------------------------------


def _at(axis: int, entry: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, entry)


def _select_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape, axis = args[0].shape, attrs["axis"]
    return shape[:axis] + shape[axis + 1 :], args[0].dtype


def selected(node: Node, axis: int, index: int) -> Node:
    """The part of a node at one position of a dimension, both counted from the front."""
    return apply(SELECT, (node,), {"axis": axis, "index": index})


def _select_place(node: Node, dim: int, index: Any) -> tuple[int, int]:
    if node.ndim == 0:
        raise InputError(
            "select() cannot be applied to a 0-dim tensor.", hint="it has one value and no dimensions", code="index"
        )
    axis = axis_of(dim, node.ndim)
    size = node.shape[axis]
    fault = f"select(): index {{}} out of range for tensor of size {list(node.shape)} at dimension {axis}"
    return axis, place_of(index, size, fault)


def _select(input: Node, dim: int, index: int) -> Node:
    node = as_node(input)
    return selected(node, *_select_place(node, dim, index))


SELECT = moving(
    "select",
    "The part of a tensor at one position of a dimension, which goes away.",
    family=_FAMILY,
    call=_select,
    forms=("x[0]", "x.select(0, 1)", "A[1]", "torch.select(A, 1, 0)"),
    inputs={"x": (3,)},
    infer=_select_infer,
    batch=batch.along_axes,
    kernel=lambda xp, x, axis, index: xp.asarray(x)[_at(axis, index)],
    rule=lambda node, g: [apply(SELECT_SCATTER, (nothing(node.args[0]), g), node.attrs)],
    grad_fn="SelectBackward0",
)


def _put_kernel(xp: Any, x: Any, source: Any, key: Any) -> Any:
    result = xp.array(x)
    result[key] = source
    return result


def _fits(node: Node, source: Node, shape: Shape) -> Node:
    if source.shape != shape:
        raise ShapeError(
            f"expected src to have a size equal to the slice of self. src size = {list(source.shape)}, "
            f"slice size = {list(shape)}",
            hint=f"the tensor that it is put into has shape {list(node.shape)}",
        )
    return typed(source, node.dtype)


def _select_scatter(input: Node, src: Node, dim: int, index: int) -> Node:
    node = as_node(input)
    axis, place = _select_place(node, dim, index)
    attrs = {"axis": axis, "index": place}
    return apply(SELECT_SCATTER, (node, _fits(node, as_node(src), _select_infer([node], attrs)[0])), attrs)


SELECT_SCATTER: Op = moving(
    "select_scatter",
    "A copy of a tensor with another put in at one position of a dimension.",
    family=_FAMILY,
    call=_select_scatter,
    forms=("torch.select_scatter(A, x, 0, 1)", "A.select_scatter(x, 0, 1)"),
    inputs={"A": (2, 3), "x": (3,)},
    infer=shape_kept,
    batch=batch.along_axes,
    kernel=lambda xp, x, source, axis, index: _put_kernel(xp, x, source, _at(axis, index)),
    rule=lambda node, g: [
        apply(SELECT_SCATTER, (g, nothing(node.args[1])), node.attrs),
        apply(SELECT, (g,), node.attrs),
    ],
    grad_fn="SelectScatterBackward0",
)

# --- a range of positions along a dimension ----------------------------------------------------------------------


def _slice_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape, axis = args[0].shape, attrs["axis"]
    count = len(range(attrs["start"], attrs["stop"], attrs["step"]))
    return (*shape[:axis], count, *shape[axis + 1 :]), args[0].dtype


def sliced(node: Node, axis: int, start: int, stop: int, step: int = 1, *, grad_fn: str | None = None) -> Node:
    """The part of a node in a range of positions of a dimension, which is known to lie inside of it."""
    return apply(SLICE, (node,), {"axis": axis, "start": start, "stop": stop, "step": step}, grad_fn=grad_fn)


def range_of(size: int, start: Any, stop: Any, step: Any) -> tuple[int, int, int]:
    """A slice's ends and step, counted from the front and inside of the dimension.

    Raises:
        InputError: where the step is not positive.
    """
    # Python's own integers may be beyond every position.
    ends = [end if end is None or type(end) is int else integer_of(end, "indices") for end in (start, stop)]
    stride = 1 if step is None else step if type(step) is int else integer_of(step, "indices")
    if stride == 0:
        raise InputError("slice step cannot be zero")
    if stride < 0:
        raise InputError("step must be greater than zero", hint="write x.flip(0) to go backwards")
    begin, end, stride = slice(ends[0], ends[1], stride).indices(size)
    return begin, max(begin, end), stride


def _slice(input: Node, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Node:
    node = as_node(input)
    axis = axis_of(dim, node.ndim)
    return sliced(node, axis, *range_of(node.shape[axis], start, end, step))


SLICE = moving(
    "slice",
    "The part of a tensor in a range of positions of a dimension: start, stop (not in it) and step.",
    family=_FAMILY,
    call=_slice,
    forms=("x[0:2]", "x[::2]", "A[:, 1:]"),
    method=False,
    inputs={"x": (3,)},
    infer=_slice_infer,
    batch=batch.along_axes,
    kernel=lambda xp, x, axis, start, stop, step: xp.asarray(x)[_at(axis, slice(start, stop, step))],
    rule=lambda node, g: [apply(SLICE_SCATTER, (nothing(node.args[0]), g), node.attrs)],
    grad_fn="SliceBackward0",
)


def _slice_scatter(
    input: Node, src: Node, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Node:
    node = as_node(input)
    axis = axis_of(dim, node.ndim)
    begin, stop, stride = range_of(node.shape[axis], start, end, step)
    attrs = {"axis": axis, "start": begin, "stop": stop, "step": stride}
    return apply(SLICE_SCATTER, (node, _fits(node, as_node(src), _slice_infer([node], attrs)[0])), attrs)


SLICE_SCATTER: Op = moving(
    "slice_scatter",
    "A copy of a tensor with another put into a range of positions of a dimension.",
    family=_FAMILY,
    call=_slice_scatter,
    forms=("torch.slice_scatter(x, y, 0, 0, 2)", "x.slice_scatter(y, end=2)"),
    inputs={"x": (3,), "y": (2,)},
    infer=shape_kept,
    batch=batch.along_axes,
    kernel=lambda xp, x, source, axis, start, stop, step: _put_kernel(
        xp, x, source, _at(axis, slice(start, stop, step))
    ),
    rule=lambda node, g: [
        apply(SLICE_SCATTER, (g, nothing(node.args[1])), node.attrs),
        apply(SLICE, (g,), node.attrs),
    ],
    grad_fn="SliceScatterBackward0",
)


def _narrow(input: Node, dim: int, start: int, length: int) -> Node:
    node = as_node(input)
    if node.ndim == 0:
        raise InputError("narrow() cannot be applied to a 0-dim tensor.", hint="it has one value and no dimensions")
    if length < 0:
        raise InputError("narrow(): length must be non-negative.")
    axis = axis_of(dim, node.ndim)
    size = node.shape[axis]
    begin = integer_of(start, "indices")
    if not -size <= begin <= size:
        raise InputError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {begin})", code="index"
        )
    begin += size if begin < 0 else 0
    if begin + length > size:
        raise InputError(
            f"start ({begin}) + length ({length}) exceeds dimension size ({size}).",
            hint=f"dimension {axis} of shape {list(node.shape)}",
        )
    return sliced(node, axis, begin, begin + length)


joining(
    "narrow",
    "So many positions of a dimension, from a first one on.",
    family=_FAMILY,
    call=_narrow,
    forms=("x.narrow(0, 0, 2)", "torch.narrow(A, 1, 0, 2)"),
    inputs={"x": (3,)},
    grad_fn="SliceBackward0",
)
