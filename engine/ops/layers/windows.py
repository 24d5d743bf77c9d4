"""Windows that slide over the last axes of a batch: how many there are, their entries, and their sum put back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...errors import InputError
from ...graph import require_room
from ..infer import integers

Sizes = tuple[int, ...]
Padding = tuple[tuple[int, int], ...]


def per_axis(value: Any, count: int, what: str, fault: str) -> Sizes:
    """One integer for every spatial axis, given as one for all of them or one for each.

    Args:
        value: what the call says.
        count: how many spatial axes there are.
        what: the parameter's name.
        fault: the whole message where the number of integers is wrong; `{}` stands for them.

    Raises:
        InputError: where one is no integer, or there are too few or too many.
    """
    values = integers(value, what)
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise InputError(fault.format(list(values)))
    return values


def window_count(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool = False) -> int:
    """How many windows fit along an axis; never negative.

    Args:
        size: the axis' size without padding.
        kernel, stride, dilation: of the window.
        padding: before and after together.
        ceil: whether a last window may stick out behind, as long as it begins inside.
    """
    room = size + padding - (dilation * (kernel - 1) + 1)
    if not ceil:
        return max(0, room // stride + 1)
    count = -(-room // stride) + 1
    if (count - 1) * stride >= size + padding // 2:
        count -= 1
    return max(0, count)


def windows(xp: Any, x: Any, kernel: Sizes, stride: Sizes, padding: Padding, dilation: Sizes) -> Any:
    """The entries under each window, zeros where it reaches into the padding: a view as far as possible.

    Args:
        xp: the array module.
        x: (batch, channel, *size).
        kernel, stride, padding, dilation: one entry for each spatial axis, padding before and after.

    Returns:
        (batch, channel, *kernel, *count).
    """
    if any(before or after for before, after in padding):
        wide = xp.zeros(_padded(x.shape[:2], x.shape[2:], padding), dtype=x.dtype)
        wide[(..., *_inside(x.shape[2:], padding))] = x
        x = wide
    axes = range(2, x.ndim)
    spans = tuple(step * (length - 1) + 1 for length, step in zip(kernel, dilation, strict=True))
    view = xp.lib.stride_tricks.sliding_window_view(x, spans, axis=tuple(axes))
    steps = [slice(None, None, step) for step in (*stride, *dilation)]
    return xp.moveaxis(view[(slice(None), slice(None), *steps)], axes, [axis + len(kernel) for axis in axes])


def whole(xp: Any, entries: Any, size: Sizes, stride: Sizes, padding: Padding, dilation: Sizes) -> Any:
    """The transpose of `windows`: each entry added where it was taken from; what lies in the padding is dropped.

    Args:
        xp: the array module.
        entries: (batch, channel, *kernel, *count).
        size: the spatial size of the result.
        stride, padding, dilation: as in `windows`.
    """
    rank = len(size)
    kernel, count = entries.shape[2 : 2 + rank], entries.shape[2 + rank :]
    result = xp.zeros(_padded(entries.shape[:2], size, padding), dtype=entries.dtype)
    for place in np.ndindex(*kernel):
        region = [
            slice(at * gap, at * gap + (number - 1) * step + 1, step)
            for at, gap, number, step in zip(place, dilation, count, stride, strict=True)
        ]
        result[(..., *region)] += entries[(slice(None), slice(None), *place)]
    return result[(..., *_inside(size, padding))]


def _padded(outer: Sizes, size: Sizes, padding: Padding) -> Sizes:
    """The shape with its padding.

    Raises:
        LimitError: where it would be too large.
    """
    shape = (*outer, *[length + before + after for length, (before, after) in zip(size, padding, strict=True)])
    require_room("the padding", shape)
    return shape


def _inside(size: Sequence[int], padding: Padding) -> list[slice]:
    return [slice(before, before + length) for length, (before, _) in zip(size, padding, strict=True)]


def meetings(
    size: Sizes, kernel: Sizes, count: Sizes, stride: Sizes, padding: Padding, dilation: Sizes
) -> Iterator[tuple[Sizes, Sizes, Sizes]]:
    """Which entry meets which part of which window: (position, place in the kernel, window), for formulas."""
    for window in np.ndindex(*count):
        for place in np.ndindex(*kernel):
            position = tuple(
                at * step + inside * gap - before
                for at, step, inside, gap, (before, _) in zip(window, stride, place, dilation, padding, strict=True)
            )
            if all(0 <= at < length for at, length in zip(position, size, strict=True)):
                yield position, place, window
