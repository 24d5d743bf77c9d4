"""Patches of images as columns, and their sum put back: the linear maps that a convolution is a product with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...errors import ShapeError
from ...graph import Attrs, DType, Example, Node, Op, Shape, add_row, apply, as_node
from .. import batch
from .windows import Sizes, meetings, per_axis, whole, window_count, windows

_FAMILY: Final = "nn.functional"


def _pair(value: Any, what: str) -> Sizes:
    return per_axis(value, 2, what, f"It is expected {what} equals to 2, but got size {{}}")


def _pads(padding: Sizes) -> tuple[tuple[int, int], ...]:
    return tuple((pad, pad) for pad in padding)


def _counts(size: Sizes, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Sizes:
    return tuple(
        window_count(length, k, step, 2 * pad, gap)
        for length, k, gap, pad, step in zip(size, kernel, dilation, padding, stride, strict=True)
    )


def _unfold_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape = args[0].shape
    entries = shape[-3] * math.prod(attrs["kernel"])
    return (*shape[:-3], entries, math.prod(_counts(shape[-2:], **attrs))), args[0].dtype


def _unfold_kernel(xp: Any, x: Any, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    batched = x if x.ndim == 4 else x[None]
    view = windows(xp, batched, kernel, stride, _pads(padding), dilation)
    return view.reshape(*x.shape[:-3], x.shape[-3] * math.prod(kernel), math.prod(view.shape[4:]))


def _unfold_formula(
    m: Any,
    x: Any,
    kernel: Sizes,
    dilation: Sizes,
    padding: Sizes,
    stride: Sizes,
) -> Any:
    count = _counts(x.shape[-2:], kernel, dilation, padding, stride)
    result: Any = np.full((*x.shape[:-2], *kernel, *count), m.number(0), dtype=object)
    for position, place, window in meetings(x.shape[-2:], kernel, count, stride, _pads(padding), dilation):
        result[(..., *place, *window)] = x[(..., *position)]
    return result.reshape(*x.shape[:-3], x.shape[-3] * math.prod(kernel), math.prod(count))


def _unfold_rule(node: Node, g: Node) -> list[Node | None]:
    return [apply(FOLD, (g,), {"size": node.args[0].shape[-2:], **node.attrs})]


def _check_blocks(size: Sizes, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Sizes:
    """How many blocks there are along each axis.

    Raises:
        ShapeError: where there is none, or a parameter is out of its range.
    """
    for what, values, least in (("kernel_size", kernel, 1), ("dilation", dilation, 1), ("stride", stride, 1)):
        if min(values) < least:
            raise ShapeError(f"{what} should be greater than zero, but got {list(values)}")
    if min(padding) < 0:
        raise ShapeError(f"padding should be non-negative, but got {list(padding)}")
    count = _counts(size, kernel, dilation, padding, stride)
    if min(count) < 1:
        raise ShapeError(
            f"Given input with spatial size {size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, "
            f"calculated shape of the array of sliding blocks as {count}, but its components must be at least one."
        )
    return count


def _unfold(input: Node, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Node:
    x = as_node(input)
    if x.ndim not in (3, 4):
        raise ShapeError(
            f"Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
            f"input, but got: {list(x.shape)}",
            hint="the axes are (batch, channels, height, width)",
        )
    attrs = {
        "kernel": _pair(kernel_size, "kernel_size"),
        "dilation": _pair(dilation, "dilation"),
        "padding": _pair(padding, "padding"),
        "stride": _pair(stride, "stride"),
    }
    _check_blocks(x.shape[-2:], **attrs)
    return apply(UNFOLD, (x,), attrs)


UNFOLD: Final[Op] = add_row(
    Op(
        name="nn.unfold",
        doc="The patches of an image as columns: (batch, channels times entries of a patch, patches).",
        family=_FAMILY,
        call=_unfold,
        forms=("F.unfold(x, 3)", "F.unfold(x, (2, 3), padding=1, stride=2)", "im2col(x, 3)"),
        aliases=("im2col",),
        method=False,
        infer=_unfold_infer,
        batch=batch.items(4),
        kernel=_unfold_kernel,
        formula=_unfold_formula,
        rule=_unfold_rule,
        examples=(Example("F.unfold(x, 2, padding=1, stride=2)", {"x": (1, 2, 3, 3)}),),
        domain="all numbers: linear",
        kink="none: linear",
        grad_fn="Im2ColBackward0",
    )
)


def _fold_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape = args[0].shape
    return (*shape[:-2], shape[-2] // math.prod(attrs["kernel"]), *attrs["size"]), args[0].dtype


def _fold_kernel(xp: Any, x: Any, size: Sizes, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    count = _counts(size, kernel, dilation, padding, stride)
    channels = x.shape[-2] // math.prod(kernel)
    entries = x.reshape(math.prod(x.shape[:-2]), channels, *kernel, *count)
    result = whole(xp, entries, size, stride, _pads(padding), dilation)
    return result.reshape(*x.shape[:-2], channels, *size)


def _fold_formula(m: Any, x: Any, size: Sizes, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    count = _counts(size, kernel, dilation, padding, stride)
    channels = x.shape[-2] // math.prod(kernel)
    entries = x.reshape(math.prod(x.shape[:-2]) * channels, *kernel, *count)
    result = np.empty((len(entries), *size), dtype=object)
    sums: dict[Shape, list[Any]] = {where: [] for where in np.ndindex(*result.shape)}
    for position, place, window in meetings(size, kernel, count, stride, _pads(padding), dilation):
        for channel, own in enumerate(entries):
            sums[(channel, *position)].append(own[(*place, *window)])
    for where, values in sums.items():
        result[where] = m.total(values)
    return result.reshape(*x.shape[:-2], channels, *size)


def _fold_rule(node: Node, g: Node) -> list[Node | None]:
    return [apply(UNFOLD, (g,), {name: value for name, value in node.attrs.items() if name != "size"})]


def _fold(
    input: Node, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Node:
    x = as_node(input)
    if x.ndim not in (2, 3):
        raise ShapeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {list(x.shape)}",
            hint="the axes are (batch, channels times entries of a patch, patches)",
        )
    size, kernel = _pair(output_size, "output_size"), _pair(kernel_size, "kernel_size")
    attrs = {
        "kernel": kernel,
        "dilation": _pair(dilation, "dilation"),
        "padding": _pair(padding, "padding"),
        "stride": _pair(stride, "stride"),
    }
    count = _check_blocks(size, **attrs)
    axis = x.ndim - 2
    if x.shape[-2] % math.prod(kernel):
        raise ShapeError(
            f"Expected size of input's dimension {axis} to be divisible by the product of kernel_size, but got "
            f"input.size({axis})={x.shape[-2]} and kernel_size={kernel}."
        )
    if x.shape[-1] != math.prod(count):
        raise ShapeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={attrs['dilation']}, "
            f"padding={attrs['padding']}, stride={attrs['stride']}, expected size of input's dimension {axis + 1} to "
            f"match the calculated number of sliding blocks {count[0]} * {count[1]} = {math.prod(count)}, but got "
            f"input.size({axis + 1})={x.shape[-1]}."
        )
    return apply(FOLD, (x,), {"size": size, **attrs})


FOLD: Final[Op] = add_row(
    Op(
        name="fold",
        doc="An image from its patches as columns: each entry is the sum of those that overlap there.",
        family=_FAMILY,
        call=_fold,
        forms=("F.fold(x, (4, 4), 2)", "F.fold(x, (3, 3), 2, padding=1, stride=2)"),
        aliases=("col2im",),
        method=False,
        infer=_fold_infer,
        batch=batch.items(3),
        kernel=_fold_kernel,
        formula=_fold_formula,
        rule=_fold_rule,
        examples=(Example("F.fold(x, (3, 3), 2)", {"x": (1, 4, 4)}),),
        domain="all numbers: linear",
        kink="none: linear",
        grad_fn="Col2ImBackward0",
    )
)
