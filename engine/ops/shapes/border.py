"""Borders around a tensor, and windows into it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Attrs, DType, Node, Op, Shape, apply, as_node, leaf
from .. import batch
from ..indexing.index import indexed
from ..infer import axis_of, integers
from ..layout import is_contiguous, strides_of
from ..move import joining, moving, renamed
from .order import moved_axes, permuted
from .reshape import reshaped

# --- borders -----------------------------------------------------------------------------------------------------


def _pad_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    sizes = zip(args[0].shape, attrs["widths"], strict=True)
    return tuple(size + before + after for size, (before, after) in sizes), args[0].dtype


def _pad_kernel(xp: Any, x: Any, widths: tuple[tuple[int, int], ...], value: float) -> Any:
    x = xp.asarray(x)
    shape = tuple(size + before + after for size, (before, after) in zip(x.shape, widths, strict=True))
    result = xp.full(shape, value, dtype=x.dtype)
    inside = tuple(
        slice(max(before, 0), size - max(after, 0)) for size, (before, after) in zip(shape, widths, strict=True)
    )
    kept = tuple(
        slice(max(-before, 0), size - max(-after, 0)) for size, (before, after) in zip(x.shape, widths, strict=True)
    )
    result[inside] = x[kept]
    return result[()]


Widths = tuple[tuple[int, int], ...]


def _torch_widths(node: Node, pad: Any) -> Widths:
    """PyTorch's flat list of widths, which begins at the last dimension, as pairs from the first dimension on."""
    widths = integers(pad, "pad")
    if len(widths) % 2:
        raise InputError("Padding length must be divisible by 2", hint="give a width before and after each dimension")
    if len(widths) > 2 * node.ndim:
        raise ShapeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(widths)} and input of dimension {node.ndim}",
        )
    pairs = [(widths[at], widths[at + 1]) for at in range(0, len(widths), 2)]
    return ((0, 0),) * (node.ndim - len(pairs)) + tuple(reversed(pairs))


def _numpy_widths(node: Node, pad: Any) -> Widths:
    """NumPy's width, pair of widths, or pair for each dimension."""
    if isinstance(pad, (tuple, list)) and any(isinstance(entry, (tuple, list)) for entry in pad):
        pairs = [integers(entry, "pad_width") for entry in pad]
    else:
        pairs = [integers(pad, "pad_width")]
    wide = [(pair[0], pair[-1]) for pair in pairs]
    if len(wide) not in (1, node.ndim):
        raise ShapeError(
            f"pad_width has {len(wide)} pairs for a tensor of {node.ndim} dimensions", hint="give one pair, or one each"
        )
    return tuple(wide * node.ndim if len(wide) == 1 else wide)


_MODES: Final = {
    "constant": "ConstantPadNdBackward0",
    "reflect": "ReflectionPad{}DBackward0",
    "replicate": "ReplicationPad{}DBackward0",
    "circular": "CopySlices",
}
_NUMPY_MODES: Final = {"edge": "replicate", "wrap": "circular"}


def _border(mode: str, size: int, before: int, after: int, axis: int, shape: Shape) -> Any:
    """Which entries stand along a padded dimension."""
    limit = {"reflect": size - 1, "circular": size}.get(mode)
    if limit is not None and max(before, after) > limit:
        raise ShapeError(
            "Padding size should be less than the corresponding input dimension, but got: padding "
            f"({before}, {after}) at dimension {axis} of input {list(shape)}",
            hint=f"at most {limit} on each side in mode {mode!r}",
        )
    places = np.arange(-before, size + after)
    if mode == "replicate":
        return np.clip(places, 0, size - 1)
    if mode == "circular":
        return places % size
    return size - 1 - np.abs(size - 1 - np.abs(places))


def _pad(
    input: Node,
    pad: Any = None,
    mode: str = "constant",
    value: float | None = None,
    *,
    pad_width: Any = None,
    constant_values: float | None = None,
    numpy: bool = False,
) -> Node:
    node = as_node(input)
    mode = _NUMPY_MODES.get(mode, mode)
    if mode not in _MODES:
        raise InputError(f"Unrecognised padding mode {mode}", hint="the modes are " + ", ".join(_MODES))
    given = pad_width if pad is None else pad
    widths = _numpy_widths(node, given) if numpy or pad is None else _torch_widths(node, given)
    for axis, (size, (before, after)) in enumerate(zip(node.shape, widths, strict=True)):
        if size + before + after < 0 or size + min(before, 0) + min(after, 0) < 0:
            raise ShapeError(
                f"The input size {size}, plus negative padding {before} and {after}, resulted in a negative output "
                f"size, which is invalid. Check dimension {axis} of your input.",
            )
    if mode == "constant":
        filling = value if value is not None else constant_values
        return apply(PAD, (node,), {"widths": widths, "value": 0 if filling is None else filling})
    padded = node
    for axis, (before, after) in enumerate(widths):
        if before or after:
            places = _border(mode, node.shape[axis], before, after, axis, node.shape)
            padded = indexed(padded, (axis,), (leaf(places),))
    count = len(integers(given, "pad")) // 2 if not numpy and pad is not None else node.ndim
    return padded if padded is node else renamed(padded, _MODES[mode].format(count))


PAD: Op = moving(
    "pad",
    "The tensor with a border: constant, or its own entries reflected, replicated or going round.",
    call=_pad,
    forms=(
        "F.pad(x, (1, 1))",
        "F.pad(x, (1, 1), value=2.0)",
        "F.pad(x, (1, 1), mode='reflect')",
        "F.pad(x, (1, 1), mode='replicate')",
        "F.pad(x, (1, 1), mode='circular')",
        "np.pad(x, 1)",
        "np.pad(x, ((1, 2),), mode='edge')",
    ),
    method=False,
    numpy={"numpy": True},
    inputs={"x": (3,)},
    infer=_pad_infer,
    batch=batch.padded,
    kernel=_pad_kernel,
    rule=lambda node, g: [
        apply(PAD, (g,), {"widths": tuple((-one, -other) for one, other in node.attrs["widths"]), "value": 0})
    ],
    grad_fn="ConstantPadNdBackward0",
)

# --- windows -----------------------------------------------------------------------------------------------------


def _unfold(input: Node, dimension: int, size: int, step: int) -> Node:
    node = as_node(input)
    axis = axis_of(dimension, node.ndim)
    wide = node if node.ndim else reshaped(node, (1,))
    if step <= 0:
        raise InputError(f"step is {step} but must be > 0")
    if not 0 <= size <= wide.shape[axis]:
        raise ShapeError(f"maximum size for tensor at dimension {axis} is {wide.shape[axis]} but size is {size}")
    starts = np.arange(0, wide.shape[axis] - size + 1, step)
    places = starts[:, None] + np.arange(size)
    windows = indexed(wide, (axis,), (leaf(places),))
    if not node.ndim:
        return reshaped(windows, (size,), grad_fn="UnfoldBackward0")
    return permuted(windows, moved_axes(windows.ndim, (axis + 1,), (windows.ndim - 1,)), "UnfoldBackward0")


joining(
    "unfold",
    "All windows of a size along a dimension, so many steps apart, as a new last dimension.",
    call=_unfold,
    forms=("x.unfold(0, 2, 1)",),
    inputs={"x": (4,)},
    grad_fn="UnfoldBackward0",
)


def _as_strided(input: Node, size: Any, stride: Any, storage_offset: int = 0) -> Node:
    node = as_node(input)
    shape, strides = integers(size, "size"), integers(stride, "stride")
    if len(shape) != len(strides):
        raise InputError("mismatch in length of strides and shape", hint="give one stride for each size")
    if not is_contiguous(node):
        raise InputError(
            f"as_strided of a tensor whose strides are {list(strides_of(node))}: agrad knows contiguous memory only",
            hint="write x.contiguous().as_strided(...)",
        )
    reach = storage_offset + sum((length - 1) * step for length, step in zip(shape, strides, strict=True))
    if math.prod(shape) and (reach >= node.size or min((*strides, storage_offset), default=0) < 0):
        raise ShapeError(
            f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset {storage_offset} reach element "
            f"{reach} and are out of bounds for storage of {node.size} elements",
            hint="strides and offset count elements and must stay inside of the tensor",
        )
    places = np.full(shape, storage_offset)
    for axis, (length, step) in enumerate(zip(shape, strides, strict=True)):
        places += (np.arange(length) * step).reshape((-1,) + (1,) * (len(shape) - axis - 1))
    flat = reshaped(node, (node.size,))
    return indexed(flat, (0,), (leaf(places),), grad_fn="AsStridedBackward0")


joining(
    "as_strided",
    "A view of the tensor's memory with any sizes and strides, counted in elements; entries may be seen repeatedly.",
    call=_as_strided,
    forms=("x.as_strided((2,), (1,))", "torch.as_strided(x, (2, 2), (1, 1))"),
    inputs={"x": (3,)},
    grad_fn="AsStridedBackward0",
)
