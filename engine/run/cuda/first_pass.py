"""The first pass over a run: loops over all elements, by packs where that pays, and what each thread adds up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ..fusion import FusedRun
from ..values import Value
from . import text
from .kernels import ALONE, BLOCKS, RESIDENT, THREADS, Kernel, Part, named
from .layout import Layout, fold_of, folded_dtype, folded_type, identity
from .registers import AMPLE, pressure_of
from .scope import Body, Scope

PACK_BYTES: Final = 16
"""What one thread loads at once."""
PACKS_FROM: Final = 4096
"""Elements from which packs are worth a loop of their own."""
_PACKED_MEMBERS: Final = 60
"""Members up to which packs are loaded: a longer run computes more than it waits, and its registers are for that."""
_PACKED_ARRAYS: Final = 12
"""Arrays up to which packs are loaded and stored: each is 4 registers."""


class Unfinished(NamedTuple):
    """An ending of which a first pass has left parts.

    Attributes:
        ending: which.
        part: where the parts are.
        chunks: how many there are.
        width: how many elements each has: 1, or those of a row.
    """

    ending: Value
    part: int
    chunks: int
    width: int


class FirstPass:
    """The text of a first pass, while it grows."""

    def __init__(self, layout: Layout, parts: list[Part]) -> None:
        self.layout = layout
        largest = max(
            [layout.rows * max(layout.width(each), 1) for each in (*layout.run.members, *_sources(layout))]
            + [operand.value.size for operand in layout.run.inputs]
        )
        self.body = Body(layout, largest + 2 * BLOCKS * THREADS * PACK_BYTES)
        self.body.parts = parts
        self.unfinished: list[Unfinished] = []
        self._sums: dict[Value, str] = {}

    def add(self, *lines: str) -> None:
        """Add lines to the kernel."""
        self.body.lines += lines

    def output(self, value: Value) -> str:
        """The parameter for one of the run's results."""
        return self.body.argument("output", self.layout.run.results.index(value))

    def begin_sums(self, endings: Sequence[Value]) -> None:
        """Declare what each thread adds up."""
        for ending in endings:
            name = self._sums[ending] = self.body.variable()
            self.add(f"{folded_type(ending)} {name} = {identity(ending)};")

    def added(self, ending: Value, scope: Scope, index: str) -> str:
        """A line that adds one element."""
        name = self._sums[ending]
        value = self.of(ending, scope, index)
        return f"{name} = {fold_of(ending)}({name}, {value});"

    def of(self, ending: Value, scope: Scope, index: str) -> str:
        """An element of what an ending folds, in the type in which it adds up."""
        arg, rows = self.layout.source(ending, 0)
        return f"({folded_type(ending)}) {scope.value(arg, rows, index).text}"

    def new_part(self, ending: Value, chunks: int, width: int) -> str:
        """The parameter for the parts of an ending."""
        self.body.parts.append(Part(chunks * width, folded_dtype(ending)))
        number = len(self.body.parts) - 1
        self.unfinished.append(Unfinished(ending, number, chunks, width))
        return self.body.argument("part", number)

    def end_sums(self, blocks: int, block: str, thread: str) -> None:
        """Fold what the threads of a block have, and write it: as the result where there is one block only."""
        for ending, name in self._sums.items():
            self.add(f"{name} = block_all({name}, {fold_of(ending)});")
            if blocks == 1:
                target = f"{self.output(ending)}[0] = ({text.c_type(ending.dtype)}) {name}"
            else:
                target = f"{self.new_part(ending, blocks, 1)}[{block}] = {name}"
            self.add(f"if ({thread} == 0) {target};")

    # Loops over all elements

    def flat(self, width: int, outputs: Sequence[Value], endings: Sequence[Value], thread: str, step: str) -> None:
        """A loop over all rows and their elements, by packs where that pays."""
        count = self.layout.rows * width
        lanes = self._lanes(count, width, outputs)
        if lanes > 1:
            self._packed_loop(width, count, lanes, (outputs, endings), thread, step)
        start = count // lanes * lanes if lanes > 1 else 0
        if start == count:
            return
        scope = Scope(self.body, None, "r" if width > 1 else "i", width=width, linear="i")
        for value in in_turn(outputs, endings):
            if value in outputs:
                scope.lines.append(f"{self.output(value)}[i] = {self._element(scope, value, width)};")
            else:
                scope.lines.append(self.added(value, scope, "e" if width > 1 else "0"))
        index = self.body.index
        begin = f"{start} + {thread}" if start else thread
        self.add(f"for ({index} i = {begin}; i < {count}; i += {step}) {{")
        self.add(*self._place(width), *[f"  {line}" for line in scope.lines], "}")

    def _place(self, width: int) -> list[str]:
        index = self.body.index
        return [f"  const {index} r = i / {width}, e = i % {width};"] if width > 1 else []

    def _element(self, scope: Scope, value: Value, width: int) -> str:
        return scope.value(value, True, "e" if width > 1 else "0").text

    def _lanes(self, count: int, width: int, outputs: Sequence[Value]) -> int:
        """How many elements a pack has: 16 bytes of the widest type that is read or written in order."""
        inputs = [each.value for each in self.layout.run.inputs if each.rows and self.layout.width(each.value) == width]
        sizes = [value.dtype.itemsize for value in (*inputs, *outputs)]
        members = len(self.layout.run.members)
        if not 0 < len(sizes) <= _PACKED_ARRAYS or count < PACKS_FROM or members > _PACKED_MEMBERS:
            return 1
        return PACK_BYTES // max(sizes)

    def _packed_loop(
        self,
        width: int,
        count: int,
        lanes: int,
        results: tuple[Sequence[Value], Sequence[Value]],
        thread: str,
        step: str,
    ) -> None:
        outputs, endings = results
        packed: dict[int, str] = {}
        scope = Scope(self.body, None, "r" if width > 1 else "i", width=width, linear="i", packed=packed)
        for value in in_turn(outputs, endings):
            if value in outputs:
                scope.lines.append(f"y{outputs.index(value)}.at[l] = {self._element(scope, value, width)};")
            else:
                scope.lines.append(self.added(value, scope, "e" if width > 1 else "0"))
        index, run = self.body.index, self.layout.run
        self.add(f"for ({index} g = {thread}; g < {count // lanes}; g += {step}) {{")
        for number, pointer in packed.items():
            kind = f"Pack<{text.c_type(run.inputs[number].value.dtype)}, {lanes}>"
            self.add(f"  const {kind} x{number} = ((const {kind}*) {pointer})[g];")
        for place, value in enumerate(outputs):
            self.add(f"  Pack<{text.c_type(value.dtype)}, {lanes}> y{place};")
        self.add("  #pragma unroll", f"  for (int l = 0; l < {lanes}; ++l) {{")
        self.add(f"    const {index} i = g * {lanes} + l;", *[f"  {line}" for line in self._place(width)])
        self.add(*[f"    {line}" for line in scope.lines], "  }")
        for place, value in enumerate(outputs):
            self.add(f"  ((Pack<{text.c_type(value.dtype)}, {lanes}>*) {self.output(value)})[g] = y{place};")
        self.add("}")

    def named(self, grid: tuple[int, ...], block: tuple[int, ...]) -> Kernel:
        """The kernel, grown."""
        return named(
            self.body.parameters, self.body.text(), grid, block, self.body.arguments, _resident(self.layout.run)
        )


def _resident(run: FusedRun) -> int:
    """How many blocks are to share a multiprocessor, so that a thread has the registers that it needs."""
    return RESIDENT if pressure_of(run) <= AMPLE else ALONE


def in_turn(outputs: Sequence[Value], endings: Sequence[Value]) -> list[Value]:
    """Results in the order in which they can be computed: each is written before the next is begun."""
    return sorted((*outputs, *endings), key=lambda value: value.index)


def _sources(layout: Layout) -> list[Value]:
    return [ending.args[0] for ending in layout.run.endings]


def endings_by_width(layout: Layout, endings: Sequence[Value]) -> dict[int, list[Value]]:
    """Reductions by how many elements of a row their arguments have."""
    found: dict[int, list[Value]] = {}
    for ending in endings:
        found.setdefault(layout.width(ending.args[0]), []).append(ending)
    return found
