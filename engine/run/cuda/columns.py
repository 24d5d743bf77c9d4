"""Reductions that fold the rows of a run and keep what lies within one: a thread goes down a column."""

from __future__ import annotations

import math
from typing import Final

from ..values import Value
from .first_pass import FirstPass, Unfinished, endings_by_width, in_turn
from .kernels import THREADS, Kernel, Part
from .layout import Layout, domains, fold_of, folded_type, identity
from .scope import Scope

_COLUMN_BLOCKS: Final = 1024


def by_columns(layout: Layout, parts: list[Part], wide: list[Value]) -> tuple[list[Kernel], list[Unfinished]]:
    """A thread stays at one place of the rows and goes down some of them; what is not of this width is done first."""
    run = layout.run
    rest = [ending for ending in run.endings if ending not in wide]
    kernels: list[Kernel] = []
    unfinished: list[Unfinished] = []
    for width, columns in endings_by_width(layout, wide).items():
        alike = [value for value in run.outputs if layout.width(value) == width] if not kernels else []
        others = [value for value in run.outputs if layout.width(value) != width] if not kernels else []
        grown = FirstPass(layout, parts)
        kernels.append(_column_kernel(grown, width, columns, (alike, others, rest if not kernels else [])))
        unfinished += grown.unfinished
    return kernels, unfinished


def _column_kernel(
    grown: FirstPass, width: int, columns: list[Value], more: tuple[list[Value], list[Value], list[Value]]
) -> Kernel:
    layout, index = grown.layout, grown.body.index
    alike, others, rest = more
    across = min(THREADS, 2 ** math.ceil(math.log2(width)))
    down = THREADS // across
    tiles = math.ceil(width / across)
    chunks = max(1, min(math.ceil(_COLUMN_BLOCKS / tiles), math.ceil(layout.rows / (4 * down))))
    height = math.ceil(layout.rows / chunks)
    chunks = math.ceil(layout.rows / height)
    grown.begin_sums(rest)
    if others or any(layout.width(ending.args[0]) != width for ending in rest):
        grown.add(
            f"const {index} thread = (({index}) blockIdx.y * {tiles} + blockIdx.x) * {THREADS}"
            f" + threadIdx.y * {across} + threadIdx.x;"
        )
        outputs, sources = domains(layout, others), endings_by_width(layout, rest)
        for other in sorted({*outputs, *sources} - {width}, reverse=True):
            step = f"{tiles * chunks * THREADS}u"
            grown.flat(other, outputs.get(other, []), sources.get(other, []), "thread", step)
    names = [grown.body.variable() for _ in columns]
    for name, ending in zip(names, columns, strict=True):
        grown.add(f"{folded_type(ending)} {name} = {identity(ending)};")
    scope = Scope(grown.body, None, "r", width=width)
    folded = dict(zip(columns, names, strict=True))
    alongside = [ending for ending in rest if layout.width(ending.args[0]) == width]
    for value in in_turn(alike, [*alongside, *columns]):
        if value in folded:
            line = f"{folded[value]} = {fold_of(value)}({folded[value]}, {grown.of(value, scope, 'e')});"
        elif value in alongside:
            line = grown.added(value, scope, "e")
        else:
            line = f"{grown.output(value)}[({index}) r * {width} + e] = {scope.value(value, True, 'e').text};"
        scope.lines.append(line)
    grown.add(
        f"const {index} e = blockIdx.x * {across} + threadIdx.x, first = blockIdx.y * ({index}) {height};",
        f"const {index} last = first + {height} < {layout.rows} ? first + {height} : {layout.rows};",
        f"if (e < {width}) for ({index} r = first + threadIdx.y; r < last; r += {down}) {{",
        *[f"  {line}" for line in scope.lines],
        "}",
    )
    for name, ending in zip(names, columns, strict=True):
        part = grown.new_part(ending, chunks, width)
        kind, cells = folded_type(ending), grown.body.variable()
        grown.add(
            f"__shared__ {kind} {cells}[{THREADS}];",
            f"{cells}[threadIdx.y * {across} + threadIdx.x] = {name};",
            "__syncthreads();",
            f"if (threadIdx.y == 0 && e < {width}) {{",
            f"  for (int y = 1; y < {down}; ++y)",
            f"    {name} = {fold_of(ending)}({name}, {cells}[y * {across} + threadIdx.x]);",
            f"  {part}[({index}) blockIdx.y * {width} + e] = {name};",
            "}",
        )
    grown.end_sums(tiles * chunks, f"blockIdx.y * {tiles} + blockIdx.x", "threadIdx.x + threadIdx.y")
    return grown.named((tiles, chunks), (across, down))
