"""Shape and dtype rules that families share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import numpy as np

from ..errors import InputError, ShapeError
from ..graph import BOOL, COMPLEX64, FLOAT32, FLOAT64, INTEGERS, Attrs, DType, Node, Shape

_default: Final[ContextVar[DType]] = ContextVar("default_dtype", default=FLOAT64)


def default_dtype() -> DType:
    """The dtype that floats have where nothing else is said: float64, unless inside of `with_default_dtype`."""
    return _default.get()


@contextmanager
def with_default_dtype(dtype: DType) -> Iterator[None]:
    """Let constructors make floats of another dtype while the block runs."""
    token = _default.set(np.dtype(dtype))
    try:
        yield
    finally:
        _default.reset(token)


_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def broadcast(*shapes: Shape) -> Shape:
    """The shape that several shapes broadcast to.

    Raises:
        ShapeError: with PyTorch's wording, where they do not.
    """
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    ndim = max(len(shape) for shape in shapes)
    result = [1] * ndim
    for shape in shapes:
        for axis, size in reversed(list(enumerate(shape, ndim - len(shape)))):
            have = result[axis]
            if size in (1, have):
                continue
            if have != 1:
                raise ShapeError(
                    f"The size of tensor a ({have}) must match the size of tensor b ({size}) "
                    f"at non-singleton dimension {axis}",
                    hint="the shapes are "
                    + " and ".join(str(list(s)) for s in dict.fromkeys(shapes))
                    + ": sizes are compared from the right; each pair must be equal or one of them 1",
                )
            result[axis] = size
    return tuple(result)


def promote(args: Sequence[Node]) -> DType:
    """The dtype of a result, as PyTorch promotes: tensors with axes over tensors without over written numbers."""
    first = args[0].dtype
    if all(arg.dtype is first for arg in args):
        return first
    levels: tuple[list[DType], ...] = ([], [], [])
    for arg in args:
        levels[2 if arg.is_number else 0 if arg.shape else 1].append(arg.dtype)
    result: DType | None = None
    for level, dtypes in enumerate(levels):
        if not dtypes:
            continue
        dtype = _widest(dtypes)
        if result is None:
            result = dtype
        elif _RANK[dtype.kind] > _RANK[result.kind]:
            if dtype.kind == "c":
                result = COMPLEX64 if result == FLOAT32 and level == 2 else np.result_type(dtype, result)
            elif dtype.kind == "f" and level == 2:
                result = default_dtype()
            else:
                result = dtype
    assert result is not None
    return result


def _widest(dtypes: Sequence[DType]) -> DType:
    """The widest dtype of the highest kind: an integer never widens a float, as in PyTorch."""
    rank = max(_RANK[dtype.kind] for dtype in dtypes)
    least = 2 if rank == 3 else rank  # a float64 does widen a complex64
    return np.result_type(*[dtype for dtype in dtypes if _RANK[dtype.kind] >= least])


def same(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    """The shape of all arguments broadcast, the dtype of all promoted."""
    first = args[0]
    shape, dtype = first.shape, first.dtype
    for arg in args:
        if arg.shape != shape or arg.dtype is not dtype:
            break
    else:
        return shape, dtype
    return broadcast(*[arg.shape for arg in args]), promote(args)


def floating(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    """As `same`, but integers and booleans become floats."""
    shape, dtype = same(args, attrs)
    return shape, dtype if dtype.kind in "fc" else default_dtype()


def numeric(name: str) -> Callable[[Sequence[Node], Attrs], tuple[Shape, DType]]:
    """As `same`, but booleans alone are refused: the op has no meaning for them."""

    def infer_numeric(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
        shape, dtype = same(args, attrs)
        if dtype.kind == "b":
            raise InputError(f"\"{name}\" not implemented for 'Bool'", hint="multiply the mask by 1.0", code="dtype")
        return shape, dtype

    return infer_numeric


def boolean(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    """The shape of all arguments broadcast; booleans."""
    return broadcast(*[arg.shape for arg in args]), BOOL


def real_part_of(dtype: DType) -> DType:
    """The dtype of the real part of numbers of a dtype."""
    if dtype.kind != "c":
        return dtype
    return FLOAT32 if dtype == COMPLEX64 else FLOAT64


def axis_of(dim: Any, ndim: int, what: str = "dim") -> int:
    """A dim counted from either end as an axis from the front; a tensor without axes takes 0 and -1, as in PyTorch.

    Raises:
        InputError: with PyTorch's wording, where it is out of range or no integer.
    """
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise InputError(f"{what} must be an integer, not {dim!r}")
    extent = max(ndim, 1)
    if not -extent <= dim < extent:
        raise InputError(
            f"Dimension out of range (expected to be in range of [{-extent}, {extent - 1}], but got {dim})",
            hint=f"the tensor has {ndim} dimension{'s' if ndim != 1 else ''}",
            code="index",
        )
    return dim % extent


def axes_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """One dim, several or None (all) as sorted axes without repeats.

    Raises:
        InputError: where one is out of range or stands twice.
    """
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(ndim))
    dims = dim if isinstance(dim, (tuple, list)) else (dim,)
    axes = [axis_of(d, ndim) for d in dims]
    if len(set(axes)) != len(axes):
        raise InputError(f"dim {max(set(axes), key=axes.count)} appears multiple times in the list of dims")
    return tuple(sorted(axes)) if ndim else ()


def reduced(shape: Shape, axes: Sequence[int], keepdim: bool) -> Shape:
    """A shape after the axes are reduced away, or kept with length 1."""
    if keepdim:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def integers(value: Any, what: str) -> tuple[int, ...]:
    """One integer or a sequence of them as a tuple.

    Raises:
        InputError: where one is no integer, or too large for any size.
    """
    values = value if isinstance(value, (tuple, list)) else (value,)
    for entry in values:
        if isinstance(entry, bool) or not isinstance(entry, int):
            raise InputError(f"{what} must be integers, not {entry!r}")
        if not -INTEGERS <= entry < INTEGERS:
            raise InputError(f"{what}: an integer is too large", hint="the largest integer is 2**63 - 1")
    return tuple(values)


_HIGHEST_ORDER: Final = 100
"""Of the rows that are the derivatives of another one: their factors still are floats."""


def checked_order(order: int, what: str) -> int:
    """The order of a derivative.

    Raises:
        InputError: where there is none of that order, or it is too high.
    """
    if not 0 <= order <= _HIGHEST_ORDER:
        raise InputError(f"the order of {what} must lie between 0 and {_HIGHEST_ORDER}, not {order}")
    return order
