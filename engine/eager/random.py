"""Random numbers: PyTorch's own streams on the processor, for the seeds that notes set."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from . import dtypes
from .creation import made, sizes
from .tensor import Tensor

_CHUNK: Final = 16


class Stream:
    """The Mersenne twister that PyTorch draws from, with the second of each pair of normal numbers kept."""

    def __init__(self) -> None:
        self.initial = 67280421310721
        self._twister: Any = None  # made when it is first drawn from: NumPy's random numbers take long to import
        self._kept: float | None = None

    def seed(self, seed: int) -> None:
        """Begin again."""
        self.initial = seed
        self._twister = None
        self._kept = None

    def words(self, count: int) -> np.ndarray[Any, Any]:
        """So many 32-bit words."""
        if self._twister is None:
            # NumPy's older form of the generator seeds as PyTorch does.
            self._twister = np.random.RandomState(self.initial & 0xFFFFFFFF)
        return np.asarray(self._twister.randint(0, 2**32, size=count, dtype=np.uint64))

    def longs(self, count: int) -> np.ndarray[Any, Any]:
        """So many 64-bit words, the high half drawn first."""
        words = self.words(2 * count).reshape(count, 2)
        return np.asarray((words[:, 0] << np.uint64(32)) | words[:, 1])

    def uniform(self, count: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """Numbers from 0 up to but without 1."""
        if dtype == np.float64:
            return (self.longs(count) & np.uint64(2**53 - 1)).astype(np.float64) / 2.0**53
        bits = 24 if dtype == np.float32 else 11
        return ((self.words(count) & np.uint64(2**bits - 1)).astype(np.float32) / np.float32(2**bits)).astype(dtype)

    def normal(self, count: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """Standard normal numbers, by the method that PyTorch chooses for their count."""
        if count < _CHUNK:
            return np.array([self._one() for _ in range(count)]).astype(dtype)
        kind = np.dtype(np.float64) if dtype == np.float64 else np.dtype(np.float32)
        values = self.uniform(count, kind)
        whole = count - count % _CHUNK
        values[:whole] = _pairs(values[:whole])
        if whole < count:
            values[-_CHUNK:] = _pairs(self.uniform(_CHUNK, kind))
        return values.astype(dtype)

    def _one(self) -> float:
        if self._kept is not None:
            value, self._kept = self._kept, None
            return value
        first, second = self.uniform(2, np.dtype(np.float64))
        radius = float(np.sqrt(-2.0 * np.log1p(-second)))
        self._kept = radius * float(np.sin(2.0 * np.pi * first))
        return radius * float(np.cos(2.0 * np.pi * first))


def _pairs(uniform: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Box and Muller's transform on chunks of sixteen: the first eight with the second eight."""
    chunks = uniform.reshape(-1, 2, _CHUNK // 2)
    radius = np.sqrt(-2 * np.log(1 - chunks[:, 0]))
    theta = (2 * np.pi * chunks[:, 1]).astype(uniform.dtype)
    return np.stack([radius * np.cos(theta), radius * np.sin(theta)], axis=1).reshape(-1)


_STREAM: Final = Stream()


def manual_seed(seed: int) -> Stream:
    """Begin the stream of random numbers again."""
    _STREAM.seed(int(seed))
    return _STREAM


def initial_seed() -> int:
    """The seed that the stream began with."""
    return _STREAM.initial


def _kind(dtype: Any) -> np.dtype[Any]:
    return dtypes.as_numpy(dtype) or dtypes.default_float()


def _shape(size: tuple[Any, ...], keywords: dict[str, Any], function: str) -> tuple[int, ...]:
    return sizes((keywords["size"],) if "size" in keywords else size, function)


def rand(*size: Any, dtype: Any = None, requires_grad: bool = False, **keywords: Any) -> Tensor:
    """Numbers evenly distributed between 0 and 1."""
    shape = _shape(size, keywords, "rand")
    return made(_STREAM.uniform(int(np.prod(shape)), _kind(dtype)).reshape(shape), requires_grad)


def randn(*size: Any, dtype: Any = None, requires_grad: bool = False, **keywords: Any) -> Tensor:
    """Standard normal numbers."""
    shape = _shape(size, keywords, "randn")
    return made(_STREAM.normal(int(np.prod(shape)), _kind(dtype)).reshape(shape), requires_grad)


def rand_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Numbers between 0 and 1, in the size of a tensor."""
    return rand(*input.shape, dtype=dtype or input.dtype, requires_grad=requires_grad)


def randn_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Standard normal numbers, in the size of a tensor."""
    return randn(*input.shape, dtype=dtype or input.dtype, requires_grad=requires_grad)


def randint(low: int, high: Any = None, size: Any = None, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Integers from low, 0 if not given, up to but without high."""
    if size is None:
        low, high, size = 0, low, high
    shape = sizes((size,))
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    words = _STREAM.words(int(np.prod(shape)))
    values = (words % np.uint64(high - low)).astype(np.int64) + low
    return made(values.reshape(shape).astype(dtypes.as_numpy(dtype) or np.int64), requires_grad)


def uniform(like: Tensor, low: float, high: float) -> Tensor:
    """Numbers evenly distributed between two, in the size and the type of a tensor."""
    drawn = _STREAM.uniform(like._array.size, like._array.dtype).reshape(like._array.shape)
    return made((drawn * (high - low) + low).astype(like._array.dtype), False)


def bernoulli(input: Tensor, p: Any = None) -> Tensor:
    """Ones with the probabilities that a tensor holds, zeros otherwise."""
    chances = input._array if p is None else np.full(input._array.shape, p)
    drawn = _STREAM.uniform(chances.size, np.dtype(np.float64)).reshape(chances.shape)
    return made((drawn < chances).astype(input._array.dtype), False)


def randperm(n: int, **_: Any) -> Tensor:
    """The integers below n, shuffled."""
    (count,) = sizes((n,))
    order = np.arange(count)
    for place in range(count - 1):
        other = place + int(_STREAM.words(1)[0] % np.uint64(count - place))
        order[place], order[other] = order[other], order[place]
    return made(order, False)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, **keywords: Any) -> Tensor:
    """Normal numbers of a mean and a deviation, each a number or a tensor."""
    if size is None:
        size = np.broadcast_shapes(*(part.shape for part in (mean, std) if isinstance(part, Tensor)))
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    found = randn(*size, **keywords)
    return found * std + mean  # type: ignore[no-any-return]  # a tensor
