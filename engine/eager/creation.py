"""Constructors as PyTorch has them: integers stay integers, floats are of the default type."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..errors import AgradError
from ..ops.infer import with_default_dtype
from ..ops.leaves.creation import array_of
from . import dispatch, dtypes
from .exceptions import as_python
from .tensor import Tensor

_COPY: Final = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
)
LARGEST: int = 2**31
"""The most elements that a constructor makes."""


def made(array: Any, requires_grad: bool) -> Tensor:
    """A leaf over an array.

    Raises:
        RuntimeError: where a gradient is wanted of integers or booleans.
    """
    array = np.asarray(array)
    if requires_grad and array.dtype.kind not in "fc":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return Tensor._made(array, requires_grad=requires_grad)


def _plain(data: Any) -> Any:
    if isinstance(data, Tensor):
        return data._array
    if isinstance(data, (list, tuple)):
        return [_plain(entry) for entry in data]
    return data


def _array(data: Any, dtype: Any) -> np.ndarray[Any, Any]:
    if isinstance(data, (np.ndarray, np.generic)):
        return np.array(data, dtype=dtypes.as_numpy(dtype))
    plain = _plain(data)
    if plain is None:
        raise RuntimeError("Could not infer dtype of NoneType")
    if isinstance(plain, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    wanted = dtypes.as_numpy(dtype)
    try:
        with with_default_dtype(dtypes.default_float()):
            array = array_of(plain, wanted)
            if wanted is None and array.dtype.kind == "f" and np.size(array):
                whole = np.asarray(plain)
                if whole.dtype.kind in "iu":
                    return np.array(whole, dtype=np.int64)
                if any(isinstance(entry, np.ndarray) for entry in (plain if isinstance(plain, list) else ())):
                    return np.array(whole)
    except AgradError as error:
        strange = _no_number(plain)
        if strange is not None:
            raise TypeError(f"new(): invalid data type '{strange}'") from None
        raise as_python(error) from None
    return np.asarray(array)


def _no_number(data: Any) -> str | None:
    """The name of the type of the first entry that is no number."""
    if isinstance(data, list):
        return next((found for found in map(_no_number, data) if found is not None), None)
    return None if isinstance(data, (*dispatch.NUMBERS, np.ndarray, np.generic)) else type(data).__name__


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of a number, of nested lists or of an array: a copy, without a past."""
    dtypes.device(device or "cpu")
    if isinstance(data, Tensor):
        warnings.warn(_COPY, stacklevel=2)
        return made(np.array(data._array, dtype=dtypes.as_numpy(dtype)), requires_grad)
    return made(_array(data, dtype), requires_grad)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The tensor itself, the memory of an array, or a tensor of nested lists."""
    dtypes.device(device or "cpu")
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and dtypes.as_numpy(dtype) in (None, data.dtype):
        return from_numpy(data)
    return made(_array(data, dtype), False)


def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """A tensor over an array's memory."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return Tensor._made(ndarray)


def sizes(size: Sequence[Any], function: str = "empty") -> tuple[int, ...]:
    """Sizes given one by one or as one sequence.

    Args:
        size: as a script gives it.
        function: the name of the function, for the messages.

    Raises:
        RuntimeError: where one is negative.
        TypeError: where one is no integer.
        MemoryError: where there would be too many elements.
    """
    nested = len(size) == 1 and isinstance(size[0], (tuple, list))
    listed = tuple(size[0]) if nested else tuple(size)
    for place, entry in enumerate(listed):
        if isinstance(entry, bool) or not isinstance(entry, (int, np.integer, Tensor)):
            raise TypeError(f"{function}(): argument 'size' {_no_size(entry, place, nested=nested)}")
        if int(entry) < 0:
            if function == "zeros":
                raise RuntimeError("zeros: Dimension size must be non-negative.")
            raise RuntimeError(f"Trying to create tensor with negative dimension {int(entry)}: {list(listed)}")
    if math.prod(map(int, listed)) > LARGEST:
        raise MemoryError(f"a tensor of size {list(listed)} is too large")
    return tuple(map(int, listed))


def _no_size(entry: Any, place: int, *, nested: bool) -> str:
    """PyTorch's words for something else than an integer among sizes."""
    kind = type(entry).__name__
    if place:
        return f'failed to unpack the object at pos {place + 1} with error "type must be tuple of ints,but got {kind}"'
    if nested:
        return f"(position 1) must be tuple of ints, but found element of type {kind} at pos 0"
    return f"(position 1) must be tuple of ints, not {kind}"


def _filled(name: str, fill: Any) -> Callable[..., Tensor]:
    def constructor(
        *size: Any, dtype: Any = None, requires_grad: bool = False, device: Any = None, out: Any = None, **_: Any
    ) -> Tensor:
        """A tensor of one number."""
        del out
        dtypes.device(device or "cpu")
        if "size" in _:
            size = (_["size"],)
        if not size:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        return made(
            np.full(sizes(size, name), fill, dtype=dtypes.as_numpy(dtype) or dtypes.default_float()), requires_grad
        )

    return constructor


zeros = _filled("zeros", 0)
ones = _filled("ones", 1)
empty = _filled("empty", 0)


def full(size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """A tensor of one number, of the number's type."""
    if isinstance(fill_value, (str, list, tuple)) or fill_value is None:
        raise TypeError(f"full(): argument 'fill_value' (position 2) must be Number, not {type(fill_value).__name__}")
    value = _array(fill_value, dtype)
    return made(np.full(sizes((size,), "full"), value, dtype=value.dtype), requires_grad)


def _like(name: str, fill: Any) -> Callable[..., Tensor]:
    def constructor(input: Tensor, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
        """A tensor of one number, of the size and the type of another."""
        _check(input, f"{name}_like")
        kind = dtypes.as_numpy(dtype) or input._array.dtype
        return made(np.full(input._array.shape, fill, dtype=kind), requires_grad)

    return constructor


def _check(value: Any, function: str) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not {type(value).__name__}")


zeros_like = _like("zeros", 0)
ones_like = _like("ones", 1)
empty_like = _like("empty", 0)


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of one number, of the size and the type of another."""
    kind = dtypes.as_numpy(dtype) or input._array.dtype
    return made(np.full(input._array.shape, fill_value, dtype=kind), requires_grad)


def eye(n: int, m: int | None = None, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """A matrix with ones on its diagonal."""
    for place, (name, count) in enumerate((("n", n), ("m", n if m is None else m)), start=1):
        if isinstance(count, bool) or not isinstance(count, (int, np.integer, Tensor)):
            raise TypeError(f"eye(): argument '{name}' (position {place}) must be int, not {type(count).__name__}")
        if count < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {count}")
    rows, columns = sizes((n, n if m is None else m))
    return made(np.eye(rows, columns, dtype=dtypes.as_numpy(dtype) or dtypes.default_float()), requires_grad)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, (Tensor, np.generic)) else value


def arange(
    start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """Numbers from start, 0 if not given, by step, up to but without end; integers where all three are."""
    start, end, step = _number(start), _number(end), _number(step)
    if end is None:
        start, end = 0, start
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) / step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(number, int) for number in (start, end, step))
    count = -(-(end - start) // step) if whole else math.ceil((end - start) / step)
    (count,) = sizes((int(count),))
    kind = dtypes.as_numpy(dtype) or (np.dtype(np.int64) if whole else dtypes.default_float())
    return made((start + step * np.arange(count)).astype(kind), requires_grad)


def _steps(steps: Any) -> tuple[int, ...]:
    if isinstance(steps, int) and steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return sizes((steps,))


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """Evenly spaced numbers, both ends among them."""
    (count,) = _steps(steps)
    values = np.linspace(_number(start), _number(end), count)
    return made(values.astype(dtypes.as_numpy(dtype) or dtypes.default_float()), requires_grad)


def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """Powers of a base whose exponents are evenly spaced."""
    (count,) = _steps(steps)
    values = np.float64(base) ** np.linspace(_number(start), _number(end), count)
    return made(values.astype(dtypes.as_numpy(dtype) or dtypes.default_float()), requires_grad)


def complex(real: Tensor, imag: Tensor) -> Tensor:
    """The complex numbers of two tensors."""
    return dispatch.operate("complex", real, imag)  # type: ignore[no-any-return]  # a tensor


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Integers that are one at the place of each label, and zero elsewhere."""
    found = dispatch.operate("one_hot", tensor, num_classes)
    return found.long()  # type: ignore[no-any-return]  # a tensor
