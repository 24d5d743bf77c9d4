"""Positions, counts and questions about tensors: functions whose results carry no gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from . import dispatch, dtypes
from .tensor import Tensor


def _made(array: Any) -> Tensor:
    return Tensor._made(np.array(array))


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The positions of all entries that are not zero: a row each, or a tensor a dimension."""
    places = np.nonzero(np.atleast_1d(input._array))
    if as_tuple:
        return tuple(_made(place) for place in places)
    return _made(np.stack(places, axis=1).reshape(-1, input._array.ndim))


def argwhere(input: Tensor) -> Any:
    """The positions of all entries that are not zero, a row each."""
    return nonzero(input)


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """The different entries, ascending; with their places and their counts if asked."""
    del sorted
    values, inverse, counts = np.unique(input._array, return_inverse=True, return_counts=True)
    found = [_made(values)]
    if return_inverse:
        found.append(_made(inverse.reshape(input._array.shape)))
    if return_counts:
        found.append(_made(counts))
    return found[0] if len(found) == 1 else tuple(found)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each integer from 0 occurs."""
    return _made(np.bincount(input._array, None if weights is None else weights._array, minlength))


def searchsorted(sorted_sequence: Tensor, input: Any, *, right: bool = False) -> Tensor:
    """Where entries would have to stand in an ascending sequence."""
    values = input._array if isinstance(input, Tensor) else input
    return _made(np.searchsorted(sorted_sequence._array, values, side="right" if right else "left"))


def is_nonzero(input: Tensor) -> bool:
    """Whether the only entry is not zero."""
    if input.numel() != 1:
        count = "more than one value" if input.numel() else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {count} is ambiguous")
    return bool(input.item())


def isreal(input: Tensor) -> Tensor:
    """Whether each entry has no imaginary part."""
    return _made(np.isreal(input._array))


def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The type that the sum of two tensors or numbers has."""
    found = dispatch.operate("add", tensor1, tensor2)
    return found.dtype  # type: ignore[no-any-return]  # a tensor's


def broadcast_shapes(*shapes: Any) -> dtypes.Size:
    """The shape that several shapes broadcast to."""
    return dtypes.Size(np.broadcast_shapes(*[(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]))


def broadcast_tensors(*tensors: Tensor) -> tuple[Any, ...]:
    """Several tensors, each expanded to their common shape."""
    shape = broadcast_shapes(*(tensor.shape for tensor in tensors))
    return tuple(tensor.expand(shape) for tensor in tensors)


def tril_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """The positions of a matrix on and below a diagonal."""
    return _made(np.stack(np.tril_indices(row, offset, col)))


def triu_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """The positions of a matrix on and above a diagonal."""
    return _made(np.stack(np.triu_indices(row, offset, col)))


class finfo:  # noqa: N801  # PyTorch's name
    """The limits of a type of floats."""

    def __init__(self, type: dtypes.dtype | None = None) -> None:
        kind = dtypes.get_default_dtype() if type is None else type
        limits = np.finfo(kind.numpy)
        self.dtype = kind.name
        self.bits = limits.bits
        self.eps = float(limits.eps)
        self.max = float(limits.max)
        self.min = float(limits.min)
        self.tiny = self.smallest_normal = float(limits.tiny)


class iinfo:  # noqa: N801  # PyTorch's name
    """The limits of a type of integers."""

    def __init__(self, type: dtypes.dtype) -> None:
        limits = np.iinfo(type.numpy)
        self.dtype = type.name
        self.bits = limits.bits
        self.max = int(limits.max)
        self.min = int(limits.min)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    each.__name__: each
    for each in (
        nonzero,
        argwhere,
        unique,
        bincount,
        searchsorted,
        is_nonzero,
        isreal,
        result_type,
        broadcast_shapes,
        broadcast_tensors,
        tril_indices,
        triu_indices,
        finfo,
        iinfo,
    )
}
"""The functions that `torch` has of this module."""
METHODS: Final = ("nonzero", "argwhere", "unique", "bincount", "is_nonzero", "isreal")
"""Those that are methods of tensors too."""
for _name in METHODS:
    setattr(Tensor, _name, FUNCTIONS[_name])
