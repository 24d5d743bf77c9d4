"""Rows of plans only: what ops are taken apart into, and what ends a pass over the rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..graph import TABLE, Op
from ..ops.layers.standardize import deviation_kernel, is_in_range
from ..ops.questions import answered


def _row(name: str, doc: str, kernel: Callable[..., Any], **fields: Any) -> Op:
    return Op(name=name, doc=doc, family="plan", call=lambda value: value, kernel=kernel, **fields)


def _first(xp: Any, x: Any, dim: tuple[int, ...]) -> Any:  # noqa: ARG001  # every kernel takes the array module
    return x[tuple(slice(0, 1) if axis in dim else slice(None) for axis in range(x.ndim))]


FIRST: Final = _row(
    "first",
    "The first element along some axes, which are kept with length 1.",
    lambda xp, x, dim: _first(xp, x, dim).copy(),  # no view: x may be written over while it is needed
)


def _means(xp: Any, x: Any, dim: tuple[int, ...]) -> Any:
    """First element and mean distance from it, stacked."""
    first = _first(xp, x, dim)
    apart = x - first
    count = math.prod(x.shape[axis] for axis in dim)
    return xp.stack([first, xp.sum(apart, axis=dim, keepdims=True) / apart.dtype.type(count)])


MEANS: Final = _row("means", "The first element and the mean distance from it.", _means)


def _moments(xp: Any, x: Any, dim: tuple[int, ...]) -> Any:
    """First element, mean distance from it, and sum of squared distances from the mean, stacked."""
    first = _first(xp, x, dim)
    apart = x - first
    count = math.prod(x.shape[axis] for axis in dim)
    mean = xp.sum(apart, axis=dim, keepdims=True) / apart.dtype.type(count)
    squares = xp.sum(xp.square(apart - mean), axis=dim, keepdims=True)
    return xp.stack([first, mean, squares])


MOMENTS: Final = _row(
    "moments", "The first element, the mean distance from it and the sum of squares about the mean.", _moments
)


def _root_in_range(xp: Any, root: Any, x: Any, dim: tuple[int, ...], eps: float, about_mean: bool) -> Any:
    if xp is not np or answered(xp, lambda: xp.all(is_in_range(root * root))):
        return root.copy()
    return deviation_kernel(xp, x, dim, True, eps, about_mean)


ROOT_IN_RANGE: Final = _row(
    "root_in_range",
    "The root of a mean of squares; of the elements again, and scaled, where a square overflowed or vanished.",
    _root_in_range,
)
PART: Final = _row("part", "One of the parts of a stack.", lambda _xp, stack, index: stack[index])


def _place(xp: Any, x: Any, dim: tuple[int, ...]) -> Any:
    return xp.argmax(x, axis=dim[0], keepdims=True)


LARGEST_PLACE: Final = _row("largest_place", "Where the first of the largest elements of a row stands.", _place)


def _placed(xp: Any, rest: Any, value: Any, place: Any, dim: tuple[int, ...]) -> Any:
    result = xp.array(rest)
    xp.put_along_axis(result, place, value, dim[0])
    return result


PLACED: Final = _row("placed", "A copy of the rows with one element of each replaced.", _placed)


def _share(xp: Any, part: Any, whole: Any) -> Any:
    return xp.where(part == 0, part, part / whole)


SHARE: Final = _row(
    "share",
    "A part of a whole: a quotient that is 0 where the part is, whatever the whole.",
    _share,
    c="({0} == 0 ? {0} : {0} / {1})",
    elementwise=True,
)


def _over_whole(xp: Any, number: Any, whole: Any) -> Any:
    return xp.where((number == 0) | (whole != whole), number, number / whole)


OVER_WHOLE: Final = _row(
    "over_whole",
    "A number over the whole of the parts it is to be multiplied by; the number where it is 0 or the whole is NaN.",
    _over_whole,
    c="({0} == 0 || {1} != {1} ? {0} : {0} / {1})",
    elementwise=True,
)


def _added(xp: Any, rest: Any, value: Any, place: Any, dim: tuple[int, ...]) -> Any:
    return _placed(xp, rest, xp.take_along_axis(rest, place, dim[0]) + value, place, dim)


ADDED: Final = _row("added", "A copy of the rows with something added to one element of each.", _added)

TAKEN: Final = _row(
    "taken",
    "One element of each row.",
    lambda xp, x, place, dim: xp.take_along_axis(x, place, dim[0]),
)

CONTRACTED: Final = _row(
    "contracted",
    "The product of a transposed matrix and another: a sum over the rows of both.",
    lambda xp, left, right, **attrs: TABLE["matmul"].kernel(xp, xp.swapaxes(left, 0, 1), right, **attrs),  # type: ignore[misc]  # it has one
)

SLIM: Final = 32
"""Columns of a matrix up to which a product with it costs memory rather than arithmetic."""
