"""Lists and tuples as the text writes them: rectangles of numbers become arrays, lists of tensors are stacked."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..errors import InputError, LimitError, ShapeError
from ..graph import BOOL, COMPLEX64, COMPLEX128, FLOAT32, INT64, TABLE, DType, Node, leaf
from .postfix import NumberRun
from .written import NUMBERS

DEEPEST: Final = 32
"""How deep lists may be nested: no array has more axes."""

_RANK: Final[dict[type, int]] = {bool: 0, int: 1, float: 2, complex: 3}
_BOOLEANS: Final = 0
_INTEGERS: Final = 1


class Listing:
    """A written list or tuple.

    Attributes:
        items: its items; a rectangle of numbers holds nested plain lists.
        is_tuple: whether it is written with round brackets.
        shape: of a rectangle of numbers; None where it holds anything else.
        rank: of a rectangle of numbers, the highest kind: 0 booleans, 1 integers, 2 floats, 3 complex numbers.
    """

    __slots__ = ("is_tuple", "items", "rank", "shape")

    def __init__(self, items: list[Any], is_tuple: bool, shape: tuple[int, ...] | None, rank: int) -> None:
        self.items = items
        self.is_tuple = is_tuple
        self.shape = shape
        self.rank = rank

    @property
    def integers(self) -> bool:
        """Whether it is a rectangle of integers."""
        return self.shape is not None and self.rank == _INTEGERS

    def array(self, dtype: DType) -> Any:
        """The array of a rectangle of numbers; `dtype` is that of floats.

        Raises:
            InputError: where it holds anything else.
        """
        if self.shape is None:
            raise InputError("a list of numbers is expected here", hint="write [1.0, 2.0] or [[1, 2], [3, 4]]")
        try:
            return np.array(self.items, dtype=_dtype(self.rank, dtype)).reshape(self.shape)
        except OverflowError:
            raise LimitError("a number is too large for a float", hint="the largest float is 1.8e308") from None

    def integer_array(self) -> Any:
        """The array of a rectangle of integers."""
        try:
            return np.array(self.items, dtype=INT64)
        except OverflowError:
            raise LimitError("an integer is too large", hint="the largest is 2**63 - 1") from None

    def plain(self) -> tuple[Any, ...]:
        """Its items as nested tuples of plain values (at most `DEEPEST` deep)."""
        if self.shape is not None and self.rank == _INTEGERS:
            return _integer_tuples(self.items)
        return tuple([_tuples(item) for item in self.items])


def _dtype(rank: int, floats: DType) -> DType:
    if rank == _BOOLEANS:
        return BOOL
    if rank == 3:
        return COMPLEX64 if floats == FLOAT32 else COMPLEX128
    return floats


def _tuples(item: Any) -> Any:
    if isinstance(item, Listing):
        return item.plain()
    return tuple([_tuples(inner) for inner in item]) if isinstance(item, list) else item


def _integer_tuples(items: list[Any]) -> tuple[Any, ...]:
    if items and isinstance(items[0], list):
        return tuple([_integer_tuples(item) for item in items])
    return tuple([int(item) for item in items])


def of_run(run: NumberRun) -> Listing:
    """The list of a long run of numbers."""
    return Listing(run.values, False, (len(run.values),), _INTEGERS if run.integers else 2)


def collect(values: list[Any], is_tuple: bool, dtype: DType) -> Listing:
    """A list of values that are known; lists of tensors among them are stacked at once.

    Raises:
        ShapeError: where it is ragged; `index` of the error is the place of the odd item.
        LimitError: where it is nested too deep.
    """
    kinds = set(map(type, values))
    if kinds <= NUMBERS:
        return Listing(values, is_tuple, (len(values),), max([_RANK[kind] for kind in kinds], default=2))
    if kinds == {Listing}:
        first = values[0].shape
        if first is not None and all(value.shape == first for value in values):
            if len(first) >= DEEPEST:
                raise LimitError(f"lists nested more than {DEEPEST} deep", hint="no array has more axes")
            items = [value.items for value in values]
            return Listing(items, is_tuple, (len(values), *first), max([value.rank for value in values]))
        if not is_tuple:
            _check_rectangle(values)
    elif Listing in kinds and not is_tuple and kinds - {Listing} <= NUMBERS:
        _check_rectangle(values)
    if any(isinstance(value, Listing) and value.shape is None and has_nodes(value) for value in values):
        values = [stacked(value, dtype) if isinstance(value, Listing) else value for value in values]
    elif any(isinstance(value, Listing) and value.shape is None for value in values):
        values = [value.plain() if isinstance(value, Listing) else value for value in values]
    return Listing(values, is_tuple, None, -1)


class RaggedError(ShapeError):
    """A list whose items differ in shape; `index` is the place of the first odd one."""

    index = 0


def _check_rectangle(values: list[Any]) -> None:
    def length(value: Any) -> str:
        if not isinstance(value, Listing):
            return "a number"
        return f"shape {list(value.shape)}" if value.shape and len(value.shape) > 1 else f"length {len(value.items)}"

    shapes = [value.shape if isinstance(value, Listing) else () for value in values]
    if None in shapes:
        return
    index = next(i for i, shape in enumerate(shapes) if shape != shapes[0])
    error = RaggedError(
        f"ragged list: item 0 is {_of(length(values[0]))}, item {index} {_of(length(values[index]))}",
        hint="all items of a list must have the same length",
    )
    error.index = index
    raise error


def _of(length: str) -> str:
    return length if length.startswith("a ") else f"of {length}"


def has_nodes(listing: Listing) -> bool:
    """Whether a list holds a tensor."""
    return any(isinstance(item, Node) for item in listing.items)


def as_leaf_value(value: Any, dtype: DType) -> Any:
    """The NumPy value of a written number or list, floats of `dtype`.

    Raises:
        InputError: where it is something else.
        LimitError: where a number is too large.
    """
    if isinstance(value, Listing):
        return value.array(dtype)
    try:
        return _dtype(_RANK[type(value)], dtype).type(value)
    except OverflowError:
        raise LimitError("the number is too large for a float", hint="the largest float is 1.8e308") from None


def stacked(listing: Listing, dtype: DType) -> Node:
    """The tensor of a list: a leaf of its numbers, or its tensors stacked.

    Raises:
        InputError: where it holds anything else.
    """
    if listing.shape is not None:
        return leaf(listing.array(dtype))
    nodes: list[Node] = []
    for item in listing.items:
        if isinstance(item, Node):
            nodes.append(item)
        elif isinstance(item, Listing):
            nodes.append(leaf(item.array(dtype)))
        elif type(item) in NUMBERS:
            nodes.append(leaf(as_leaf_value(item, dtype)))
        else:
            raise InputError(
                f"a list of tensors cannot hold {described(item)}", hint="write numbers, names and expressions"
            )
    shape = next((node.shape for node in nodes if node.shape != ()), ())
    if len(shape) >= DEEPEST:
        raise LimitError(f"lists nested more than {DEEPEST} deep", hint="no array has more axes")
    result: Node = TABLE["stack"].call(nodes)
    return result


def described(value: Any) -> str:
    """What a value is, in words."""
    if isinstance(value, Listing):
        return "a tuple" if value.is_tuple else "a list"
    if isinstance(value, Node):
        return f"a tensor of shape {list(value.shape)}"
    if isinstance(value, str):
        return f"the string {value!r}"
    if value is None or value is Ellipsis or isinstance(value, (bool, int, float, complex)):
        return "..." if value is Ellipsis else str(value)
    if isinstance(value, np.dtype):
        return f"the dtype {value}"
    return "a slice" if isinstance(value, slice) else type(value).__name__
