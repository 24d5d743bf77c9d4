"""The shapes of a fused run, as kernels see them: rows, what lies within one, and what may become one kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ...graph import FLOAT32, FLOAT64, DType, Shape
from ..alignment import alignment, folded_axes
from ..fusion import FusedRun
from ..values import Value
from . import text

MOST_ARGUMENTS: Final = 200
"""Inputs and results of a kernel at most: CUDA takes 4 KiB of parameters, parts among them."""
FOLDS: Final = {"sum": "Sum", "sum_to_size": "Sum", "amax": "Largest", "amin": "Smallest"}
VIEWS: Final = frozenset({"reshape", "squeeze", "unsqueeze", "root_in_range"})
"""Members that are their first argument."""
FIRST, PLACE, TAKEN, PLACED = "first", "largest_place", "taken", "placed"
ROWWISE: Final = frozenset({*FOLDS, PLACE})
"""Members that fold a whole row into one number."""


def folded_dtype(value: Value) -> DType:
    """The dtype in which a reduction adds up: float32 is added in float64."""
    source = value.args[0].dtype
    if FOLDS.get(value.op.name) == "Sum":
        return FLOAT64 if source == FLOAT32 else value.dtype
    return source


def folded_type(value: Value) -> str:
    """The C type of that dtype; of the place of the largest element, that of a number and its place."""
    return "Place" if value.op.name == PLACE else text.c_type(folded_dtype(value))


def identity(value: Value) -> str:
    """What a reduction begins with: it changes nothing."""
    if value.op.name == PLACE:
        return "Place{-INFINITY, 9223372036854775807LL}"
    kind, name = folded_dtype(value), FOLDS[value.op.name]
    if name == "Sum":
        return f"({folded_type(value)}) 0"
    if kind.kind == "f":
        return f"({text.c_type(kind)}) {'-' if name == 'Largest' else ''}INFINITY"
    low, high = ("0", "1") if kind.kind == "b" else ("(-9223372036854775807LL - 1)", "9223372036854775807LL")
    return f"({folded_type(value)}) {low if name == 'Largest' else high}"


def fold_of(value: Value) -> str:
    """The function object that folds two numbers into one."""
    return "Earliest()" if value.op.name == PLACE else f"{FOLDS[value.op.name]}()"


class Layout:
    """The shapes of a run: what lies within one row.

    Args:
        run: the run.
        numbers: inputs without axes that the kernels are given by value.
    """

    def __init__(self, run: FusedRun, numbers: frozenset[Value] = frozenset()) -> None:
        self.run = run
        self.numbers = numbers
        self.axes = len(run.lead)
        self.rows = run.rows
        self._inputs = {(operand.value, operand.rows): index for index, operand in enumerate(run.inputs)}
        self._members = frozenset(run.members)

    def rest(self, value: Value) -> Shape:
        """A value's shape within a row."""
        return value.shape[self.axes :]

    def width(self, value: Value) -> int:
        """How many elements of a value a row has."""
        return math.prod(self.rest(value))

    def source(self, value: Value, place: int) -> tuple[Value, bool]:
        """The argument at a place, and whether a row sees its own row of it only."""
        arg = value.args[place]
        if arg in self._members:
            return arg, True
        rows = self.axes > 0 and alignment(value).edges[place].rows
        return arg, rows

    def cone(self, value: Value) -> list[Value]:
        """The members that a member is computed from, arguments before results; none behind one that folds rows."""
        seen: set[Value] = set()
        stack = [value]
        while stack:
            for arg in stack.pop().args:
                if arg in self._members and arg not in seen and arg.op.name not in ROWWISE:
                    seen.add(arg)
                    stack.append(arg)
        return sorted(seen, key=lambda each: each.index)

    def input_of(self, value: Value, rows: bool) -> int:
        """Which input a value is."""
        return self._inputs[value, rows]

    def is_member(self, value: Value) -> bool:
        """Whether the run computes a value."""
        return value in self._members


def supported(run: FusedRun) -> bool:
    """Whether a run can be one kernel; else its members are run one by one."""
    layout = Layout(run)
    return all(_member_fits(layout, value) for value in run.members) and all(
        value.op.name in FOLDS and _typed(value) for value in run.endings
    )


def fusible(value: Value) -> bool:
    """Whether a value may be a member of a run that becomes a kernel."""
    if not _typed(value):
        return False
    if value.op.elementwise:
        return value.op.c is not None and _computed_in_floats(value)
    return value.op.name in (*FOLDS, *VIEWS, "expand", FIRST, PLACE, TAKEN, PLACED)


def _typed(value: Value) -> bool:
    return all(each.dtype.name in text.TYPES for each in (value, *value.args))


_OF_WHOLE_NUMBERS: Final = frozenset(
    {"add", "sub", "mul", "neg", "abs", "where", "to", "lt", "le", "gt", "ge", "eq", "ne", "logical_and", "logical_or",
     "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "maximum", "minimum",
     "square", "same_value"}
)  # fmt: skip
"""Elementwise ops whose C text is right for integers too: the others compute in floating point there."""


def _computed_in_floats(value: Value) -> bool:
    if value.op.name in _OF_WHOLE_NUMBERS and value.op.name != "abs":
        return True
    return any(each.dtype.kind == "f" for each in (value, *value.args)) or value.dtype.kind == "b"


def _member_fits(layout: Layout, value: Value) -> bool:
    if not fusible(value):
        return False
    name = value.op.name
    if name in FOLDS or name in (FIRST, PLACE, TAKEN, PLACED):
        shape = value.args[0].shape
        folded = {axis for axis in folded_axes(value) if shape[axis] != 1}
        return folded == {axis for axis in range(layout.axes, len(shape)) if shape[axis] != 1}
    return True


def domains(layout: Layout, values: Sequence[Value]) -> dict[int, list[Value]]:
    """Values by how many elements of them a row has, the widest first."""
    found: dict[int, list[Value]] = {}
    for value in sorted(values, key=layout.width, reverse=True):
        found.setdefault(layout.width(value), []).append(value)
    return found


def kept_shape(layout: Layout, ending: Value) -> Shape:
    """An ending's result within a row: the axes of the row that it does not fold."""
    source = ending.args[0]
    folded = folded_axes(ending)
    return tuple(1 if axis in folded else size for axis, size in enumerate(source.shape))[layout.axes :]


def is_full(layout: Layout, ending: Value) -> bool:
    """Whether an ending folds all of a row."""
    return math.prod(kept_shape(layout, ending)) == 1
