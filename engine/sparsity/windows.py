"""Rows that look through windows: convolutions, their transposes, and averages over windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..graph import Node
from ..ops.layers.resampling import window_positions
from .meeting import Known, Size, numbers, of
from .pattern import FullError, Pattern, added, picked

_MOST_PAIRS: Final = 2**22
"""Of an entry and a window that it stands in; more are not looked at."""

Pairs = tuple[Any, Any]
"""Of places along an axis: of windows, and of entries in them."""


def convolved(node: Node, known: Known, size: Size) -> Pattern | None:
    """A convolution of an input that varies by a weight that does not, or a transposed one."""
    x, weight, *_ = node.args
    if any(arg in known for arg in node.args[1:]):
        return None
    groups = node.attrs["groups"]
    transposed = "size" in node.attrs
    counts, sizes = (x.shape[2:], node.shape[2:]) if transposed else (node.shape[2:], x.shape[2:])
    geometry = zip(node.attrs["stride"], node.attrs["padding"], node.attrs["dilation"], strict=True)
    pairs = [
        _sliding(count, entries, kernel, *each)
        for count, entries, kernel, each in zip(counts, sizes, weight.shape[2:], geometry, strict=True)
    ]
    lead = (x.shape[0], groups)
    channels = numbers((*lead, 1, *x.shape[2:]))
    whole = (*lead, x.shape[1] // groups, *x.shape[2:])
    sums = added(of(known, x), np.broadcast_to(channels, whole).ravel(), channels.size, size.seeds)
    seen = _looked(sums, math.prod(lead), pairs, counts, sizes, transposed, size)
    channels = numbers((*lead, 1, *node.shape[2:]))
    whole = (*lead, node.shape[1] // groups, *node.shape[2:])
    return picked(seen, np.broadcast_to(channels, whole).ravel(), size.most)


def averaged(node: Node, known: Known, size: Size) -> Pattern | None:
    """Averages over windows along the last axes, or the transpose of that map."""
    axes = node.attrs["axes"]
    if any(axis[0] not in ("window", "adaptive") for axis in axes):
        return None
    pairs = []
    for axis in axes:
        positions, inside = window_positions(axis)
        windows, taps = np.nonzero(inside)
        pairs.append((windows, positions[windows, taps]))
    (x,) = node.args
    lead = math.prod(x.shape[: x.ndim - len(axes)])
    counts, sizes = [axis[2] for axis in axes], [axis[1] for axis in axes]
    return _looked(of(known, x), lead, pairs, counts, sizes, node.attrs["transposed"], size)


def _sliding(count: int, size: int, kernel: int, stride: int, padding: tuple[int, int], dilation: int) -> Pairs:
    """The pairs of windows and entries along an axis."""
    entries = (np.arange(count) * stride - padding[0])[:, None] + dilation * np.arange(kernel)
    windows, taps = np.nonzero((entries >= 0) & (entries < size))
    return windows, entries[windows, taps]


def _looked(
    pattern: Pattern,
    lead: int,
    pairs: Sequence[Pairs],
    counts: Sequence[int],
    sizes: Sequence[int],
    transposed: bool,
    size: Size,
) -> Pattern:
    """Through the pairs of all axes together, for each of so many items by itself."""
    if lead * math.prod(len(windows) for windows, _ in pairs) > _MOST_PAIRS:
        raise FullError
    windows, entries = np.arange(lead), np.arange(lead)
    for (these, those), count, length in zip(pairs, counts, sizes, strict=True):
        windows = (windows[:, None] * count + these).ravel()
        entries = (entries[:, None] * length + those).ravel()
    sources, targets = (windows, entries) if transposed else (entries, windows)
    through = picked(pattern, sources, size.most * 8)
    return added(through, targets, lead * math.prod(sizes if transposed else counts), size.seeds)
