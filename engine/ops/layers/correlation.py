"""Convolutions as arithmetic: fast ones, by matrix products of columns, and exact ones that write out the sum.

All three are one trilinear sum over inputs, weights and outputs, solved for another of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...graph import Shape
from ..linear.linalg import MATMUL
from .windows import Padding, Sizes, meetings, whole, windows

# --- numbers -----------------------------------------------------------------------------------------------------


def _product(xp: Any, left: Any, right: Any, cotangent: int | None) -> Any:
    """The matrix product; a zero of the side that is a cotangent stops whatever stands against it."""
    kernel: Callable[..., Any] = MATMUL.kernel  # type: ignore[assignment]  # the row computes
    return kernel(xp, left, right, cotangent=cotangent)


def _columns(
    xp: Any, x: Any, kernel: Sizes, count: Sizes, stride: Sizes, padding: Padding, dilation: Sizes, groups: int
) -> Any:
    """The windows of each group as columns: (batch, group, entries of a window, windows)."""
    view = windows(xp, x, kernel, stride, padding, dilation)
    # A transposed convolution with output_padding leaves windows over at the end, which nothing came from.
    view = view[(..., *[slice(number) for number in count])]
    entries = x.shape[1] // groups * math.prod(kernel)
    return view.reshape(x.shape[0], groups, entries, math.prod(count))


def _with_bias(y: Any, bias: Sequence[Any]) -> Any:
    return y + bias[0].reshape(-1, *[1] * (y.ndim - 2)) if bias else y


def convolved(
    xp: Any,
    x: Any,
    weight: Any,
    *bias: Any,
    count: Sizes,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    groups: int,
    cotangent: int | None = None,
) -> Any:
    """The convolution of (batch, channel, *size) with (out, channel per group, *kernel), plus a bias."""
    columns = _columns(xp, x, weight.shape[2:], count, stride, padding, dilation, groups)
    out = weight.shape[0]
    rows = weight.reshape(groups, out // groups, columns.shape[2])
    side = None if cotangent is None else 1 - cotangent  # the weight is the left factor
    return _with_bias(_product(xp, rows, columns, side).reshape(x.shape[0], out, *count), bias)


def transposed(
    xp: Any,
    x: Any,
    weight: Any,
    *bias: Any,
    size: Sizes,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    groups: int,
    cotangent: int | None = None,
) -> Any:
    """The transpose of `convolved` in its input: the sum of multiples of the kernel, cut to a size."""
    batch, channels, *count = x.shape
    kernel = weight.shape[2:]
    rows = weight.reshape(groups, channels // groups, weight.shape[1] * math.prod(kernel))
    side = None if cotangent is None else 1 - cotangent
    given = x.reshape(batch, groups, channels // groups, math.prod(count))
    columns = _product(xp, xp.swapaxes(rows, 1, 2), given, side)
    entries = columns.reshape(batch, groups * weight.shape[1], *kernel, *count)
    return _with_bias(whole(xp, entries, size, stride, padding, dilation), bias)


def weight_cotangent(
    xp: Any,
    x: Any,
    g: Any,
    *,
    kernel: Sizes,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    groups: int,
    cotangent: int | None = None,
) -> Any:
    """The transpose of `convolved` in its weight: windows of the input times the cotangent."""
    columns = _columns(xp, x, kernel, g.shape[2:], stride, padding, dilation, groups)
    batch, out = g.shape[:2]
    count = columns.shape[3]
    columns = xp.moveaxis(columns, 0, 2).reshape(groups, columns.shape[2], batch * count)
    rows = xp.moveaxis(g.reshape(batch, groups, out // groups, count), 0, 2).reshape(
        groups, out // groups, batch * count
    )
    side = None if cotangent is None else 1 - cotangent
    return _product(xp, rows, xp.swapaxes(columns, 1, 2), side).reshape(out, x.shape[1] // groups, *kernel)


# --- meaning -----------------------------------------------------------------------------------------------------


def _sums(
    m: Any,
    shape: Shape,
    terms: Sequence[tuple[Shape, Any, Any]],
    bias: Sequence[Any],
    cotangent: int | None,
) -> Any:
    """Products summed into the places that they belong to; a zero of the cotangent stops whatever stands against it."""
    lists: dict[Shape, list[Any]] = {where: [] for where in np.ndindex(*shape)}
    for where, *pair in terms:
        if cotangent is None or not m.boolean(m.equal(pair[cotangent], m.number(0))):
            lists[where].append(pair[0] * pair[1])
    result = np.empty(shape, dtype=object)
    for where, values in lists.items():
        result[where] = m.total([*values, bias[0][where[1]]] if bias else values)
    return result


def _pairs(x: Shape, weight: Any, count: Sizes, groups: int, **geometry: Any) -> Iterator[tuple[Shape, Shape, Shape]]:
    """Every entry that meets every weight: where in the input, in the weight and in the output."""
    inside = weight.shape[1]
    per_group = weight.shape[0] // groups
    triples = list(meetings(x[2:], weight.shape[2:], count, **geometry))
    for n in range(x[0]):
        for o in range(weight.shape[0]):
            for c in range(inside):
                channel = o // per_group * inside + c
                for position, place, window in triples:
                    yield (n, channel, *position), (o, c, *place), (n, o, *window)


def convolved_formula(
    m: Any, x: Any, weight: Any, *bias: Any, count: Sizes, groups: int, cotangent: int | None = None, **geometry: Any
) -> Any:
    """`convolved` over exact numbers."""
    terms = [(out, x[at], weight[by]) for at, by, out in _pairs(x.shape, weight, count, groups, **geometry)]
    return _sums(m, (x.shape[0], weight.shape[0], *count), terms, bias, cotangent)


def transposed_formula(
    m: Any, x: Any, weight: Any, *bias: Any, size: Sizes, groups: int, cotangent: int | None = None, **geometry: Any
) -> Any:
    """`transposed` over exact numbers."""
    shape = (x.shape[0], weight.shape[1] * groups, *size)
    terms = [(at, x[out], weight[by]) for at, by, out in _pairs(shape, weight, x.shape[2:], groups, **geometry)]
    return _sums(m, shape, terms, bias, cotangent)


def weight_formula(
    m: Any, x: Any, g: Any, *, kernel: Sizes, groups: int, cotangent: int | None = None, **geometry: Any
) -> Any:
    """`weight_cotangent` over exact numbers."""
    weight = np.empty((g.shape[1], x.shape[1] // groups, *kernel), dtype=object)
    terms = [(by, x[at], g[out]) for at, by, out in _pairs(x.shape, weight, g.shape[2:], groups, **geometry)]
    return _sums(m, weight.shape, terms, (), cotangent)
