"""What stands between the square brackets of an index, as the rows take it."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..graph import INTEGERS, TABLE, DType, Node, Outputs, leaf
from .binding import Converter
from .integers import Integers
from .listing import Listing, collect, described
from .reads import Reads


class Indices:
    """Reads the items of indices and applies them."""

    def __init__(self, dtype: DType, integers: Integers, reads: Reads, converter: Converter) -> None:
        self.dtype = dtype
        self.integers = integers
        self.reads = reads
        self.converter = converter

    def bound(self, value: Any) -> Any:
        """A part of a slice.

        Raises:
            InputError: where it is no integer.
        """
        if value is None:
            return value
        if type(value) is int:
            return max(-INTEGERS, min(value, INTEGERS - 1))  # beyond the end is the end
        integer = self.integers.plain(value) if type(value) is Node else None
        if type(integer) is int:
            return integer
        raise InputError(f"a slice has integers, not {described(value)}", hint="write x[0:2]")

    def items(self, items: list[Any], several: bool) -> tuple[Any, ...]:
        """The items of an index as the row takes them.

        Raises:
            InputError: where one is no index.
        """
        if not several and len(items) == 1 and isinstance(items[0], Listing) and items[0].is_tuple:
            items = items[0].items
        result: list[Any] = []
        for item in items:
            if type(item) is Node:
                result.append(self.integers.index(item))
            elif isinstance(item, Listing):
                if item.integers:
                    result.append(item.integer_array().tolist())
                elif item.shape is not None and item.rank == 0:
                    result.append(leaf(item.array(self.dtype)))
                elif item.shape == (0,):
                    result.append([])
                else:
                    raise InputError(f"an index of integers is expected, not {described(item)}", hint="write x[[0, 2]]")
            elif type(item) in (float, complex):
                raise InputError(
                    f"an index must be an integer, not {item}",
                    hint=f"write {int(item.real)}" if abs(item) < 1e15 else "",
                )
            elif type(item) is int and not -INTEGERS <= item < INTEGERS:
                raise InputError("an index is too large", hint="the largest integer is 2**63 - 1")
            elif item is None or item is Ellipsis or isinstance(item, (bool, int, slice)):
                result.append(item)
            else:
                raise InputError(f"{described(item)} is no index", hint="write integers, slices, lists or masks")
        return tuple(result)

    def apply(self, value: Any, items: list[Any], several: bool) -> Any:
        """What an index chooses; `several` says that a comma stands in it.

        Raises:
            InputError: where the value cannot be indexed so.
        """
        if isinstance(value, Listing) and value.shape is not None and not value.is_tuple:
            value = self.converter.tensor(value)
        if type(value) is Node:
            self.reads.begin()
            chosen = TABLE["getitem"].call(value, self.items(items, several))
            self.reads.end(chosen)
            return chosen
        sequence = value.nodes if isinstance(value, Outputs) else value.items if isinstance(value, Listing) else None
        if sequence is None:
            raise InputError(f"{described(value)} cannot be indexed")
        index = self.items(items, several)
        if len(index) != 1 or not isinstance(index[0], (int, slice)):
            raise InputError("one integer is expected here", hint="write [0] or [1]")
        if isinstance(index[0], slice):
            return collect(list(sequence[index[0]]), True, self.dtype)
        if not -len(sequence) <= index[0] < len(sequence):
            raise InputError(f"there are {len(sequence)} items, and no item {index[0]}")
        return sequence[index[0]]
