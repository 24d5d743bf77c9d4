"""The values of a fused run as variables of C text.

Values are asked for by those that need them, down to the inputs: each becomes one variable for each place at which it
is read. Shapes are numbers in the text.
"""

from __future__ import annotations

import math

from ...graph import DType, Shape
from ..values import Value
from . import text
from .kernels import Argument, Part
from .layout import FIRST, PLACED, ROWWISE, TAKEN, VIEWS, Layout


def moved(index: str, wide: Shape, narrow: Shape) -> str:
    """The place in a broadcast argument that belongs to a place in the shape that it is broadcast to.

    Args:
        index: the place, a number from 0 in row-major order.
        wide: the shape.
        narrow: the argument's shape, aligned from the right.
    """
    narrow = (1,) * (len(wide) - len(narrow)) + tuple(narrow)
    if math.prod(narrow) == math.prod(wide):
        return index
    terms: list[str] = []
    below_wide = below_narrow = 1
    axis = len(wide) - 1
    while axis >= 0:
        if narrow[axis] == 1:
            below_wide *= wide[axis]
            axis -= 1
            continue
        size = 1
        first = axis
        while first >= 0 and narrow[first] != 1:
            size *= wide[first]
            first -= 1
        term = f"{index} / {below_wide}" if below_wide > 1 else index
        if first >= 0 and any(side != 1 for side in wide[: first + 1]):
            term = f"({term}) % {size}"
        terms.append(f"({term}) * {below_narrow}" if below_narrow > 1 else term)
        below_wide *= size
        below_narrow *= size
        axis = first
    return " + ".join(f"({term})" if len(terms) > 1 else term for term in terms) or "0"


class Scope:
    """Lines of a kernel in which variables are declared: a loop's body, or what stands before it.

    Args:
        body: the kernel.
        outer: the scope around it.
        row: the text of the row's number.
        width: how many elements of a row the loop goes over.
        linear: where a loop goes over all rows, the text of its index.
        packed: inputs that are read through packs, which the loop fills: it is added to; None where nothing is packed.
    """

    def __init__(
        self,
        body: Body,
        outer: Scope | None,
        row: str,
        *,
        width: int = 0,
        linear: str = "",
        packed: dict[int, str] | None = None,
    ) -> None:
        self.body = body
        self.outer = outer
        self.row = row
        self.width = width
        self.linear = linear
        self.packed = packed
        self.lines: list[str] = []
        self._made: dict[tuple[Value, bool, str], text.Value] = {}

    def declare(self, kind: DType, value: str) -> str:
        """Add a variable; gives its name."""
        name = self.body.variable()
        self.lines.append(f"const {text.c_type(kind)} {name} = {value};")
        return name

    def value(self, value: Value, rows: bool, index: str) -> text.Value:
        """A value at a place within its row (or, where `rows` is false, within all of it)."""
        if value.is_constant:
            weak = type(value.known) in (bool, int, float)
            return text.Value(text.literal(value.known, value.dtype), value.dtype, value.known if weak else None)
        if rows and self.body.layout.width(value) == 1:
            index = "0"
        if self.outer is not None and index == "0":  # the same at all places of the row: computed before the loop
            return self.outer.value(value, rows, index)
        key = (value, rows, index)
        found = self._find(key)
        if found is None and self._prepared(value, index):
            found = self._find(key)
        if found is None:
            found = self._made[key] = text.Value(
                self.declare(value.dtype, self._computed(value, rows, index)), value.dtype
            )
        return found

    def _prepared(self, value: Value, index: str) -> bool:
        """Make what a member is computed from, first things first: nothing calls itself as deep as a chain is long."""
        body = self.body
        if body.preparing or not body.layout.is_member(value):
            return False
        body.preparing = True
        width = body.layout.width(value)
        for each in body.layout.cone(value):
            own = body.layout.width(each)
            if own in (1, width):
                self.value(each, True, "0" if own == 1 else index)
        body.preparing = False
        return True

    def _find(self, key: tuple[Value, bool, str]) -> text.Value | None:
        found = self._made.get(key)
        return found if found is not None or self.outer is None else self.outer._find(key)

    def keep(self, value: Value, name: str) -> None:
        """Note that a variable holds a value that is one number a row."""
        self._made[value, True, "0"] = text.Value(name, value.dtype)

    def _computed(self, value: Value, rows: bool, index: str) -> str:
        layout = self.body.layout
        if not layout.is_member(value):
            return self._loaded(value, rows, index)
        name = value.op.name
        if name in VIEWS:
            return self._argument(value, 0, index).text
        if name == FIRST:
            return self._argument(value, 0, "0").text
        if name == TAKEN:
            return self._argument(value, 0, self._argument(value, 1, "0").text).text
        if name == PLACED:
            rest, single, place = (self._argument(value, at, index if at == 0 else "0").text for at in range(3))
            return f"(long long) ({index}) == {place} ? {single} : {rest}"
        assert name not in ROWWISE, f"{name} is folded before it is read"
        args = [self._aligned(value, place, index) for place in range(len(value.args))]
        return args[0].text if name == "expand" else text.expression(value.op, value.attrs, args, value.dtype)

    def _argument(self, value: Value, place: int, index: str) -> text.Value:
        arg, rows = self.body.layout.source(value, place)
        return self.value(arg, rows, index)

    def _aligned(self, value: Value, place: int, index: str) -> text.Value:
        """An argument that is broadcast to the value's shape."""
        layout = self.body.layout
        arg, rows = layout.source(value, place)
        if arg.is_constant:
            return self.value(arg, rows, "0")
        own = layout.rest(arg) if rows else _without_leading_ones(arg.shape)
        return self.value(arg, rows, moved(index, layout.rest(value), own))

    def _loaded(self, value: Value, rows: bool, index: str) -> str:
        number = self.body.layout.input_of(value, rows)
        if value in self.body.layout.numbers:
            return self.body.argument("number", number)
        pointer = self.body.argument("input", number)
        width = self.body.layout.width(value)
        if not rows or self.body.layout.axes == 0:
            return f"{pointer}[{index}]"
        if self.linear and width == self.width and index == ("e" if width > 1 else "0"):
            if self.packed is None:
                return f"{pointer}[{self.linear}]"
            self.packed[number] = pointer
            return f"x{number}.at[l]"
        if width == 1:
            return f"{pointer}[{self.row}]"
        return f"{pointer}[({self.body.index}) {self.row} * {width} + {index}]"


def _without_leading_ones(shape: Shape) -> Shape:
    lead = 0
    while lead < len(shape) and shape[lead] == 1:
        lead += 1
    return shape[lead:]


class Body:
    """The text of one kernel, while it grows.

    Args:
        layout: the shapes of the run.
        largest: the largest number that an index takes.
    """

    def __init__(self, layout: Layout, largest: int) -> None:
        self.layout = layout
        self.index = "unsigned int" if largest < 2**31 else "unsigned long long"
        self.lines: list[str] = []
        self.arguments: list[Argument] = []
        self._parameters: list[str] = []
        self._names: dict[Argument, str] = {}
        self._variables = 0
        self.parts: list[Part] = []
        self.preparing = False

    def variable(self) -> str:
        """A name that no other variable has."""
        self._variables += 1
        return f"v{self._variables}"

    def argument(self, kind: str, index: int) -> str:
        """The name of a parameter, which is added where it is not there yet."""
        key = Argument(kind, index)
        name = self._names.get(key)
        if name is None:
            run = self.layout.run
            name = self._names[key] = f"{kind[0]}{index}"
            if kind == "part":
                declared = f"{_part_type(self.parts[index])}* __restrict__ {name}"
            elif kind == "output":
                declared = f"{text.c_type(run.results[index].dtype)}* __restrict__ {name}"
            elif kind == "number":
                declared = f"const {text.c_type(run.inputs[index].value.dtype)} {name}"
            else:
                declared = f"const {text.c_type(run.inputs[index].value.dtype)}* __restrict__ {name}"
            self._parameters.append(declared)
            self.arguments.append(key)
        return name

    @property
    def parameters(self) -> str:
        """The text of all parameters."""
        return ", ".join(self._parameters)

    def text(self) -> str:
        """The text of all lines."""
        return "".join(f"  {line}\n" for line in self.lines)


def _part_type(part: Part) -> str:
    return text.c_type(part.dtype)
