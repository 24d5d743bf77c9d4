"""The methods of a tensor that are no rows of the table: filling, changes of dtype, tensors of its own type."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..graph import TABLE
from . import dispatch, dtypes, writing


class Methods:
    """What tensors can do besides what the table says."""

    def fill_(self: Any, value: Any) -> Any:
        """Overwrite all entries with one number."""
        name = "FillBackward3" if isinstance(value, dispatch.tensor_class) else "FillBackward2"
        return writing.replace(self, value, name)

    def zero_(self: Any) -> Any:
        """Overwrite all entries with zero."""
        return writing.replace(self, 0, "ZeroBackward0")

    def copy_(self: Any, src: Any, non_blocking: Any = False) -> Any:  # noqa: ARG002  # PyTorch's parameter
        """Overwrite all entries with those of a tensor, broadcast."""
        return writing.replace(self, src, "CopyBackwards")

    def resize_(self: Any, *sizes: Any) -> Any:
        """Give it other sizes, keeping as many of its first entries as have room; the others are zero."""
        if self.requires_grad:
            raise RuntimeError("cannot resize variables that require grad")
        shape = tuple(sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes)
        entries = self._array.ravel()
        kept = np.zeros(math.prod(shape), dtype=entries.dtype)
        kept[: entries.size] = entries[: kept.size]
        self.data = dispatch.tensor_class._made(kept.reshape(shape))
        return self

    def to(self: Any, *args: Any, **keywords: Any) -> Any:
        """The same numbers as another dtype; the tensor itself where it has that already."""
        kept = {name: value for name, value in keywords.items() if name not in ("device", "non_blocking")}
        for value in args:
            if isinstance(value, dtypes.dtype | type):
                kept["dtype"] = value
            elif isinstance(value, dispatch.tensor_class):
                kept["dtype"] = value.dtype
        if "dtype" not in kept and not kept.get("copy"):
            return self
        return dispatch.call(TABLE["to"], (self,), kept)

    def type(self: Any, dtype: Any = None) -> Any:
        """The name of its type, or the same numbers as another dtype."""
        if dtype is None:
            return f"torch.{self.dtype.word}Tensor"
        return self.to(dtype)

    def _as(self: Any, name: str) -> Any:
        return self.to(dtypes.DTYPES[name])

    def float(self: Any) -> Any:
        """The same numbers in 32 bits."""
        return self._as("float32")

    def double(self: Any) -> Any:
        """The same numbers in 64 bits."""
        return self._as("float64")

    def half(self: Any) -> Any:
        """The same numbers in 16 bits."""
        return self._as("float16")

    def int(self: Any) -> Any:
        """The integer parts, in 32 bits."""
        return self._as("int32")

    def long(self: Any) -> Any:
        """The integer parts, in 64 bits."""
        return self._as("int64")

    def bool(self: Any) -> Any:
        """Whether each entry is not zero."""
        return self._as("bool")

    def type_as(self: Any, other: Any) -> Any:
        """The same numbers in the dtype of another tensor."""
        return self.to(other.dtype)

    def cpu(self: Any) -> Any:
        """The tensor itself: it lives there."""
        return self

    def contiguous(self: Any) -> Any:
        """The tensor itself where it lies in row-major order, otherwise a copy that does."""
        return dispatch.operate("contiguous", self)

    def equal(self: Any, other: Any) -> Any:
        """Whether two tensors have the same size and the same entries."""
        return bool(np.array_equal(self._array, other._array))

    def allclose(self: Any, other: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: Any = False) -> Any:
        """Whether all entries of two tensors are close to each other."""
        first, second = self._array, other._array
        return bool(np.allclose(first, second, rtol=rtol, atol=atol, equal_nan=equal_nan))

    def new_tensor(self: Any, data: Any, *, dtype: Any = None, requires_grad: Any = False) -> Any:
        """A tensor of the same type as this one."""
        array = data._array if isinstance(data, dispatch.tensor_class) else data
        return dispatch.tensor_class._made(
            np.array(array, dtype=dtypes.as_numpy(dtype) or self._array.dtype), requires_grad=requires_grad
        )

    def new_full(self: Any, size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: Any = False) -> Any:
        """A tensor of one number, of the same type as this one."""
        kind = dtypes.as_numpy(dtype) or self._array.dtype
        return dispatch.tensor_class._made(np.full(size, fill_value, dtype=kind), requires_grad=requires_grad)

    def new_zeros(self: Any, *size: Any, **options: Any) -> Any:
        """A tensor of zeros, of the same type as this one."""
        return self.new_full(size[0] if len(size) == 1 else size, 0, **options)

    def new_ones(self: Any, *size: Any, **options: Any) -> Any:
        """A tensor of ones, of the same type as this one."""
        return self.new_full(size[0] if len(size) == 1 else size, 1, **options)

    new_empty = new_zeros

    def uniform_(self: Any, from_: Any = 0.0, to: Any = 1.0) -> Any:
        """Overwrite all entries with numbers evenly distributed between two."""
        from .random import uniform  # it makes tensors

        return writing.replace(self, uniform(self, from_, to), "UniformBackward0")

    def normal_(self: Any, mean: Any = 0.0, std: Any = 1.0) -> Any:
        """Overwrite all entries with normal numbers."""
        from .random import randn_like  # it makes tensors

        return writing.replace(self, randn_like(self) * std + mean, "NormalBackward0")
