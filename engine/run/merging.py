"""Parts of reductions, one a block, combined in pairs in a fixed order, whichever worker finishes first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np

from .products import sum_of_products
from .rows import CONTRACTED, MEANS, MOMENTS
from .values import Value

_Merge = Callable[[Any, Any], Any]


class Moments(NamedTuple):
    """What is known of some rows.

    Attributes:
        rows: their number.
        first: the first of them.
        base: what distances are measured from: the first, or 0 where that is not finite.
        mean: the mean distance from it.
        squares: the sum of squares about the mean, where it is asked for.
    """

    rows: int
    first: Any
    base: Any
    mean: Any
    squares: Any | None


def _merge_moments(one: Moments, two: Moments) -> Moments:
    """The moments of all rows of two neighbouring parts (Chan, Golub, LeVeque 1983)."""
    count = one.rows + two.rows
    apart = (two.base - one.base) + (two.mean - one.mean)
    mean = one.mean + apart * one.mean.dtype.type(two.rows / count)
    if not np.isfinite(mean).all():  # an infinite mean stays one, whichever part it comes from
        mean = np.where(np.isfinite(one.mean) & np.isfinite(two.mean), mean, one.mean + two.mean)
    squares = None
    if one.squares is not None:
        between = apart * apart * one.mean.dtype.type(one.rows * two.rows / count)
        squares = one.squares + two.squares + between
    return Moments(count, one.first, one.base, mean, squares)


_MERGES: Final[dict[str, _Merge]] = {
    "sum": np.add,
    "sum_to_size": np.add,
    "amax": np.maximum,
    "amin": np.minimum,
    CONTRACTED.name: np.add,
    MEANS.name: _merge_moments,
    MOMENTS.name: _merge_moments,
}

_FOLDS: Final[dict[str, np.ufunc]] = {
    "sum": np.add,
    "sum_to_size": np.add,
    "amax": np.maximum,
    "amin": np.minimum,
}


def part_of(value: Value, blocks: Sequence[Any], axes: tuple[int, ...], spare: dict[int, Any] | None = None) -> Any:
    """What one block contributes to an ending.

    Args:
        value: the ending.
        blocks: the rows of its arguments; of a sum, also two blocks whose product is to be added up.
        axes: the axes of the block that are folded away.
        spare: arrays of the caller's to compute in, by the number of their rows; kept there for the next block.
    """
    if value.op is CONTRACTED:
        return CONTRACTED.kernel(np, *blocks, **value.attrs)  # type: ignore[misc]  # it has one
    if len(blocks) > 1:
        left, right = blocks
        return sum_of_products(left, right, axes)
    (block,) = blocks
    fold = _FOLDS.get(value.op.name)
    if fold is not None:
        return fold.reduce(block, axis=axes, dtype=value.dtype)
    first = block[tuple(slice(0, 1) if axis in axes else slice(None) for axis in range(block.ndim))]
    spare = {} if spare is None else spare
    base = np.where(np.isfinite(first), first, first.dtype.type(0))
    apart = np.subtract(block, base, out=spare.get(len(block)))
    spare[len(block)] = apart
    count = math.prod(block.shape[axis] for axis in axes)
    mean = np.add.reduce(apart, axis=axes, keepdims=True) / apart.dtype.type(count)
    if value.op is MEANS:
        return Moments(count, first.copy(), base, mean, None)
    apart -= mean
    if apart.ndim == 2 and axes == (0,):
        squares = sum_of_products(apart, apart, axes)[None]
    else:
        squares = np.add.reduce(np.square(apart, out=apart), axis=axes, keepdims=True)
    return Moments(count, first.copy(), base, mean, squares)


class Merging:
    """Combines the parts of one ending.

    Neighbours are combined two by two, then their results two by two, and so on: what is added to what depends on the
    number of parts only. A pair is combined as soon as both are there, so that few parts are held at a time.
    """

    def __init__(self, value: Value, parts: int) -> None:
        self._value = value
        self._merge = _MERGES[value.op.name]
        self._counts = [parts]
        while self._counts[-1] > 1:
            self._counts.append(-(-self._counts[-1] // 2))
        self._waiting: dict[tuple[int, int], Any] = {}
        self._lock = Lock()
        self._whole: Any = None

    def add(self, index: int, part: Any) -> None:
        """Take the part of one block."""
        level = 0
        while self._counts[level] > 1:
            other = index ^ 1
            if other < self._counts[level]:
                with self._lock:
                    if (level, other) not in self._waiting:
                        self._waiting[level, index] = part
                        return
                    neighbour = self._waiting.pop((level, other))
                part = self._merge(part, neighbour) if index < other else self._merge(neighbour, part)
            level += 1
            index >>= 1
        self._whole = part

    def result(self) -> Any:
        """The whole, once all parts are there."""
        value = self._value
        if isinstance(self._whole, Moments):
            _, first, base, *figures = self._whole
            # From a first row that is not finite there is no distance.
            parts = [np.where(first == base, part, np.nan) for part in figures if part is not None]
            return np.stack([first, *parts], dtype=value.dtype).reshape(value.shape)
        return np.asarray(self._whole).reshape(value.shape)[()]


def is_nan(part: Any) -> bool:
    """Whether a part of a reduction has come out NaN, as a sum does of which one term is."""
    return any(
        bool(np.isnan(each).any()) for each in ((part.first, part.mean) if isinstance(part, Moments) else (part,))
    )
