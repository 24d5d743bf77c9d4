"""Ops that put entries into another order, repeat them, or set zeros between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Attrs, DType, Node, Op, Shape, apply, as_node, leaf, make
from .. import batch
from ..concrete import value_of
from ..indexing.index import indexed
from ..infer import axes_of, axis_of, integers
from ..move import joining, listed, moving, shape_kept
from ..positions import positions_of
from .expand import EXPAND
from .reshape import reshaped
from .single import unsqueezed

# --- order -------------------------------------------------------------------------------------------------------


def _flip(input: Node, *axes: int, dims: Any = None, dim: Any = None) -> Node:
    node = as_node(input)
    named = dims if dims is not None else dim
    if named is None and not axes:
        flipped = tuple(range(node.ndim))  # NumPy's flip without an axis
    else:
        chosen = listed(axes, "dims", named)
        flipped = axes_of(chosen, node.ndim) if chosen else ()
    return apply(FLIP, (node,), {"dims": flipped})


FLIP: Op = moving(
    "flip",
    "The tensor with some dimensions backwards; all of them where none are named.",
    call=_flip,
    forms=("torch.flip(x, [0])", "x.flip(0)", "A.flip(0, 1)", "np.flip(x)"),
    inputs={"x": (3,)},
    infer=shape_kept,
    batch=batch.along_axes,
    kernel=lambda xp, x, dims: xp.asarray(xp.flip(xp.asarray(x), dims), dtype=xp.asarray(x).dtype)[()],
    rule=lambda node, g: [apply(FLIP, (g,), node.attrs)],
    grad_fn="FlipBackward0",
)


def _flipping(name: str, doc: str, axis: int) -> None:
    def call(input: Node) -> Node:
        node = as_node(input)
        if node.ndim <= axis:
            raise ShapeError(f"Input must be >= {axis + 1}-d.", hint=f"the tensor has shape {list(node.shape)}")
        return apply(FLIP, (node,), {"dims": (axis,)})

    joining(
        name,
        doc,
        call=call,
        forms=(f"torch.{name}(A)", f"A.{name}()", f"np.{name}(A)"),
        inputs={"A": (2, 3)},
        grad_fn="FlipBackward0",
    )


_flipping("fliplr", "A matrix with its columns backwards.", 1)
_flipping("flipud", "A tensor with its first dimension backwards.", 0)


def _roll(input: Node, shifts: Any, dims: Any = None, dim: Any = None, shift: Any = None) -> Node:
    node = as_node(input)
    steps = integers(shifts if shift is None else shift, "shifts")
    named = dims if dims is not None else dim
    axes = () if named is None else integers(named, "dims")
    if named is not None and node.ndim == 0:
        raise InputError(f"Dimension specified as {axes[0]} but tensor has no dimensions")
    if len(steps) != (len(axes) or 1):
        raise InputError(
            f"shifts and dimensions must align. shifts: {len(steps)}, dims:{len(axes)}",
            hint="give one shift for each dimension",
        )
    return apply(ROLL, (node,), {"shifts": steps, "dims": tuple(axis_of(axis, node.ndim) for axis in axes)})


def _roll_kernel(xp: Any, x: Any, shifts: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    x = xp.asarray(x)
    return (xp.roll(x, shifts, dims) if dims else xp.roll(x, shifts[0]))[()]


ROLL: Op = moving(
    "roll",
    "The tensor with its entries moved along dimensions, those that fall out coming in again on the other side.",
    call=_roll,
    forms=("torch.roll(x, 1)", "x.roll(1)", "torch.roll(A, (1, 2), (0, 1))", "np.roll(x, 1)"),
    inputs={"x": (3,)},
    infer=shape_kept,
    batch=batch.rolled,
    kernel=_roll_kernel,
    rule=lambda node, g: [
        apply(ROLL, (g,), {"shifts": tuple(-step for step in node.attrs["shifts"]), "dims": node.attrs["dims"]})
    ],
    grad_fn="RollBackward0",
)


def _rot90_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape = list(args[0].shape)
    if attrs["k"] % 2:
        first, second = attrs["dims"]
        shape[first], shape[second] = shape[second], shape[first]
    return tuple(shape), args[0].dtype


def _rot90(input: Node, k: int = 1, dims: Any = (0, 1), *, axes: Any = None) -> Node:
    node = as_node(input)
    plane = integers(dims if axes is None else axes, "dims")
    if len(plane) != 2:
        raise InputError(f"expected total rotation dims == 2, but got dims = {len(plane)}")
    if node.ndim < 2:
        raise ShapeError(f"expected total dims >= 2, but got total dims = {node.ndim}")
    first, second = (axis_of(axis, node.ndim) for axis in plane)
    if first == second:
        raise InputError(
            f"expected rotation dims to be different, but got dim0 = {plane[0]} and dim1 = {plane[1]}",
        )
    return apply(ROT90, (node,), {"k": integers(k, "k")[0], "dims": (first, second)})


ROT90: Op = moving(
    "rot90",
    "The tensor turned by k quarters in the plane of two dimensions, from the first towards the second.",
    call=_rot90,
    forms=("torch.rot90(A)", "A.rot90()", "torch.rot90(A, 2)", "np.rot90(A)"),
    inputs={"A": (2, 3)},
    infer=_rot90_infer,
    batch=batch.along_axes,
    kernel=lambda xp, x, k, dims: xp.rot90(x, k, dims),
    rule=lambda node, g: [apply(ROT90, (g,), {"k": -node.attrs["k"], "dims": node.attrs["dims"]})],
    grad_fn="Rot90Backward0",
)

# --- copies ------------------------------------------------------------------------------------------------------


def _repeat_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    times = attrs["times"]
    shape = (1,) * (len(times) - args[0].ndim) + args[0].shape
    return tuple(size * count for size, count in zip(shape, times, strict=True)), args[0].dtype


def _repeat_rule(node: Node, g: Node) -> list[Node | None]:
    x, times = node.args[0], node.attrs["times"]
    shape = (1,) * (len(times) - x.ndim) + x.shape
    pairs = [size for pair in zip(times, shape, strict=True) for size in pair]
    total = make.sum(reshaped(g, tuple(pairs)), dim=tuple(range(0, len(pairs), 2)))
    return [reshaped(total, x.shape)]


def _repeat(input: Node, *repeats: int, size: Any = None, dim: int | None = None, each: bool = False) -> Node:
    node = as_node(input)
    if each:  # NumPy's repeat is PyTorch's repeat_interleave
        return _repeat_interleave(node, size if size is not None else repeats[0], repeats[1] if repeats[1:] else dim)
    times = listed(repeats, "repeats", size)
    if not repeats and size is None:
        raise InputError('repeat() missing 1 required positional arguments: "repeats"', hint="write x.repeat(2)")
    if len(times) < node.ndim:
        raise ShapeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
            hint=f"give {node.ndim} counts for shape {list(node.shape)}, or write torch.tile",
        )
    return _repeated(node, times)


def _repeated(node: Node, times: tuple[int, ...]) -> Node:
    if min(times, default=0) < 0:
        raise InputError(f"Trying to create tensor with negative dimension: repeats are {list(times)}")
    return apply(REPEAT, (node,), {"times": times})


REPEAT = moving(
    "repeat",
    "The tensor copied so many times along each dimension; NumPy's `repeat` repeats each entry.",
    call=_repeat,
    forms=("x.repeat(2)", "x.repeat(2, 2)", "np.repeat(x, 2)"),
    numpy={"each": True},
    inputs={"x": (3,)},
    infer=_repeat_infer,
    kernel=lambda xp, x, times: xp.tile(xp.asarray(x), times)[()] if times else xp.asarray(x)[()],
    rule=_repeat_rule,
    grad_fn="RepeatBackward0",
)


def _tile(input: Node, *dims: int, reps: Any = None) -> Node:
    node = as_node(input)
    times = listed(dims, "dims", reps)
    return _repeated(node, (1,) * (node.ndim - len(times)) + times)


joining(
    "tile",
    "The tensor copied so many times along its last dimensions, or along new ones too.",
    call=_tile,
    forms=("torch.tile(x, (2,))", "x.tile(2)", "np.tile(x, 2)"),
    inputs={"x": (3,)},
    grad_fn="RepeatBackward0",
)


def _repeat_interleave(input: Node, repeats: Node | int, dim: int | None = None) -> Node:
    node = as_node(input)
    if dim is None:
        node = reshaped(node, (node.size,))
        dim = 0
    axis = axis_of(dim, node.ndim)
    counts = np.asarray(value_of(positions_of(repeats)))
    if np.any(counts < 0):
        raise InputError("repeats can not be negative")
    if counts.size == 1:
        (count,) = counts.ravel()
        wide = unsqueezed(node, axis + 1)
        shape = (*node.shape[: axis + 1], int(count), *node.shape[axis + 1 :])
        target = (*node.shape[:axis], node.shape[axis] * int(count), *node.shape[axis + 1 :])
        return reshaped(apply(EXPAND, (wide,), {"shape": shape}), target, grad_fn="ViewBackward0")
    if counts.ndim != 1 or counts.size != node.shape[axis]:
        raise ShapeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.size} and input.size({axis}) = {node.shape[axis]}",
        )
    places = leaf(np.repeat(np.arange(counts.size), counts))
    return indexed(node, (axis,), (places,), grad_fn="IndexSelectBackward0")


joining(
    "repeat_interleave",
    "Each entry so many times, one behind the other along a dimension; flattened without a dim.",
    call=_repeat_interleave,
    forms=("x.repeat_interleave(2)", "torch.repeat_interleave(A, 2, dim=0)", "x.repeat_interleave([1, 0, 2])"),
    inputs={"x": (3,)},
    grad_fn="ViewBackward0",
)
