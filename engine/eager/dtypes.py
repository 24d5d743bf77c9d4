"""What a script sees of a tensor's type: `torch.float32`, `torch.Size([2, 3])`, `cpu`."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ..graph import FLOAT32


class dtype:  # noqa: N801  # PyTorch's name, which scripts print
    """A type of elements.

    Attributes:
        name: PyTorch's name for it, without `torch.`.
        numpy: the same type in NumPy.
        word: how PyTorch's messages call it: Float, Double, Long.
    """

    __slots__ = ("name", "numpy", "word")

    def __init__(self, name: str, word: str) -> None:
        self.name = name
        self.numpy: np.dtype[Any] = np.dtype(name)
        self.word = word

    @property
    def is_floating_point(self) -> bool:
        """Whether its elements are real floats."""
        return self.numpy.kind == "f"

    @property
    def is_complex(self) -> bool:
        """Whether its elements are complex."""
        return self.numpy.kind == "c"

    @property
    def is_signed(self) -> bool:
        """Whether its elements may be negative."""
        return self.numpy.kind in "ifc"

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.numpy.itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"


dtype.__module__ = "torch"

_ALL: Final = (
    dtype("float16", "Half"),
    dtype("float32", "Float"),
    dtype("float64", "Double"),
    dtype("complex64", "ComplexFloat"),
    dtype("complex128", "ComplexDouble"),
    dtype("uint8", "Byte"),
    dtype("int8", "Char"),
    dtype("int16", "Short"),
    dtype("int32", "Int"),
    dtype("int64", "Long"),
    dtype("bool", "Bool"),
)
_BY_NUMPY: Final = {each.numpy: each for each in _ALL}
_SHORT: Final = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "short": "int16",
    "int": "int32",
    "long": "int64",
}
DTYPES: Final[dict[str, dtype]] = {each.name: each for each in _ALL}
"""Every type under the names that the namespace gives it."""
DTYPES.update({short: DTYPES[name] for short, name in _SHORT.items()})


def of_numpy(numpy: np.dtype[Any]) -> dtype:
    """PyTorch's type of a NumPy type."""
    return _BY_NUMPY[np.dtype(numpy)]


def as_numpy(given: Any) -> np.dtype[Any] | None:
    """The NumPy type of what stands where a type is wanted; None stays None.

    Raises:
        TypeError: where it is no type.
    """
    if given is None:
        return None
    if isinstance(given, dtype):
        return given.numpy
    if given in (float, int, bool, complex):
        return {float: default_float(), int: np.dtype("int64"), bool: np.dtype("bool"), complex: complex_default()}[
            given
        ]
    if isinstance(given, np.dtype) or (isinstance(given, type) and issubclass(given, np.generic)):
        return np.dtype(given)
    raise TypeError(f"dtype must be torch.dtype, not {type(given).__name__}")


class _Default:
    """The type of floats where nothing is said."""

    numpy: np.dtype[Any] = FLOAT32


def default_float() -> np.dtype[Any]:
    """The type of new floats: float32, unless `set_default_dtype` says otherwise."""
    return _Default.numpy


def complex_default() -> np.dtype[Any]:
    """The type of new complex numbers."""
    return np.dtype("complex128" if _Default.numpy == np.float64 else "complex64")


def get_default_dtype() -> dtype:
    """The type of new floats."""
    return of_numpy(_Default.numpy)


def set_default_dtype(d: dtype) -> None:
    """Choose the type of new floats.

    Raises:
        TypeError: where it is no type of floats.
    """
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _Default.numpy = d.numpy


class Size(tuple[int, ...]):
    """The sizes of a tensor along its dimensions."""

    __slots__ = ()

    def numel(self) -> int:
        """How many elements a tensor of this size has."""
        return math.prod(self)

    def __getitem__(self, index: Any) -> Any:
        part = tuple.__getitem__(self, index)
        return Size(part) if isinstance(index, slice) else part

    def __add__(self, other: Any) -> Any:
        return Size(tuple.__add__(self, tuple(other)))

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"


Size.__module__ = "torch"


class device:  # noqa: N801  # PyTorch's name, which scripts print
    """Where a tensor lives: always the processor that runs the script."""

    __slots__ = ("index", "type")

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:  # noqa: ARG002  # PyTorch's parameter
        if str(type).partition(":")[0] != "cpu":
            raise RuntimeError(f"device {type} is not there: tensors of this library live on cpu")
        self.type = "cpu"
        self.index: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) or other == "cpu"

    def __hash__(self) -> int:
        return hash("cpu")

    def __str__(self) -> str:
        return "cpu"

    def __repr__(self) -> str:
        return "device(type='cpu')"


device.__module__ = "torch"
CPU: Final = device()
