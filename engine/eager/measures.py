"""What a tensor is and what it holds: sizes, types, and its values as Python's and NumPy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ..printing.tensors import formatted
from . import dispatch, dtypes
from .dtypes import Size
from .modes import warn_once

_TO_SCALAR: Final = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)

_MAPPED_ITEM: Final = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
    "please try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch "
    "internals, please file a bug report."
)
_MAPPED_BRANCH: Final = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)


class Measures:
    """The attributes of a tensor that do not depend on its past.

    Attributes:
        requires_grad: whether gradients are recorded; the conversions to Python and NumPy ask.
    """

    _array: np.ndarray[Any, Any]
    _mapped: bool
    requires_grad: Any

    @property
    def shape(self) -> Size:
        """Its sizes."""
        return Size(self._array.shape)

    def size(self, dim: int | None = None) -> Any:
        """Its sizes, or its size along one dimension."""
        if dim is None:
            return self.shape
        if not -max(self.ndim, 1) <= dim < self.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-max(self.ndim, 1)}, {max(self.ndim, 1) - 1}], "
                f"but got {dim})"
            )
        return self._array.shape[dim]

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return self._array.ndim

    def dim(self) -> int:
        """How many dimensions it has."""
        return self._array.ndim

    ndimension = dim

    def numel(self) -> int:
        """How many elements it has."""
        return self._array.size

    nelement = numel

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of its elements."""
        return dtypes.of_numpy(self._array.dtype)

    @property
    def device(self) -> dtypes.device:
        """Where it lives."""
        return dtypes.CPU

    @property
    def layout(self) -> str:
        """How it is laid out: densely."""
        return "torch.strided"

    is_sparse = False
    is_cuda = False
    is_quantized = False

    def stride(self, dim: int | None = None) -> Any:
        """How far apart neighbours along each dimension lie in memory, in elements."""
        strides = tuple(step // self._array.itemsize for step in self._array.strides)
        return strides if dim is None else strides[dim]

    def data_ptr(self) -> int:
        """The address of its first element."""
        return int(self._array.__array_interface__["data"][0])

    def is_contiguous(self) -> bool:
        """Whether its elements lie in row-major order without gaps."""
        return bool(self._array.flags.c_contiguous)

    def element_size(self) -> int:
        """The bytes of one element."""
        return self._array.itemsize

    def is_floating_point(self) -> bool:
        """Whether its elements are real floats."""
        return bool(self._array.dtype.kind == "f")

    def is_complex(self) -> bool:
        """Whether its elements are complex."""
        return bool(self._array.dtype.kind == "c")

    def item(self) -> Any:
        """Its only element as a Python number."""
        if self._mapped:
            raise RuntimeError(_MAPPED_ITEM)
        if self._array.size != 1:
            raise RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
        return self._array.item()

    def tolist(self) -> Any:
        """Its elements as nested lists of Python numbers."""
        return self._array.tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """Its memory as a NumPy array."""
        if self.requires_grad and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self._array

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        return array if dtype is None and not copy else np.array(array, dtype=dtype)

    def _scalar(self) -> Any:
        if self._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if self.requires_grad and self._array.size == 1:
            warn_once(_TO_SCALAR, stacklevel=4)
        return self.item()

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What a function of NumPy gave, as a tensor."""
        return dispatch.tensor_class._made(np.asarray(array))

    def __float__(self) -> float:
        if self._array.dtype.kind == "c" and self._array.size == 1 and self._array.item().imag:
            raise RuntimeError("value cannot be converted to type double without overflow")
        return float(self._scalar().real)

    def __int__(self) -> int:
        return int(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iub" or self._array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __bool__(self) -> bool:
        if self._mapped:
            raise RuntimeError(_MAPPED_BRANCH)
        if self._array.size != 1:
            count = "no" if self._array.size == 0 else "more than one"
            raise RuntimeError(f"Boolean value of Tensor with {count} value{'s' if count == 'no' else ''} is ambiguous")
        return bool(self._array.item())

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return int(self._array.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if self._array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(dispatch.operate("unbind", self))

    def __contains__(self, element: Any) -> bool:
        return bool((self._array == (element._array if isinstance(element, dispatch.tensor_class) else element)).any())

    def __format__(self, spec: str) -> str:
        return (
            formatted(self._array, spec, self.__repr__)
            if type(self) is dispatch.tensor_class
            else object.__format__(self, spec)
        )
