"""Rows that are folded and read again, as a softmax is: a warp takes a row, or a block where it is long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ..values import Value
from . import text
from .first_pass import FirstPass, Unfinished, endings_by_width, in_turn
from .kernels import BLOCKS, THREADS, Kernel, Part
from .layout import PLACE, ROWWISE, Layout, fold_of, folded_type, identity, is_full
from .scope import Scope

_WARP: Final = 32
_WARP_ROWS_TO: Final = 1024
"""Elements of a row up to which a warp takes a whole row; of longer ones a block does."""


def by_rows(layout: Layout, parts: list[Part]) -> tuple[list[Kernel], list[Unfinished]]:
    """A warp, or a block, takes a row: it folds it as often as members ask, and then writes and adds what is wanted."""
    run = layout.run
    grown = FirstPass(layout, parts)
    index = grown.body.index
    widest = max(layout.width(value) for value in (*run.members, *[each.value for each in run.inputs if each.rows]))
    by_warp = widest <= _WARP_ROWS_TO
    group, per_block = (_WARP, THREADS // _WARP) if by_warp else (THREADS, 1)
    wide = [ending for ending in run.endings if not is_full(layout, ending)]
    most = max(1, layout.rows // 8) if wide else BLOCKS
    blocks = max(1, min(BLOCKS, math.ceil(layout.rows / per_block), most))
    full = [ending for ending in run.endings if ending not in wide]
    grown.begin_sums(full)
    number, lane = ("threadIdx.x / 32", "threadIdx.x % 32") if by_warp else ("0", "threadIdx.x")
    grown.add(
        f"const {index} group = blockIdx.x * ({index}) {per_block} + {number};",
        f"const unsigned int lane = {lane};",
        f"for ({index} r = group; r < {layout.rows}; r += {blocks * per_block}u) {{",
    )
    outer = Scope(grown.body, None, "r")
    everyone = f"{'warp' if by_warp else 'block'}_all"
    for values in _levels(layout):
        _fold_rows(grown, outer, values, group, everyone)
    chunks = min(blocks * per_block, layout.rows)
    targets = {ending: grown.new_part(ending, chunks, layout.width(ending.args[0])) for ending in wide}
    widths = {layout.width(value) for value in run.outputs} | {layout.width(value.args[0]) for value in run.endings}
    for width in sorted(widths, reverse=True):
        _write_rows(grown, outer, width, (full, targets), group)
    grown.add(*[f"  {line}" for line in outer.lines], "}")
    grown.end_sums(blocks, "blockIdx.x", "threadIdx.x")
    return [grown.named((blocks,), (THREADS,))], grown.unfinished


def _levels(layout: Layout) -> list[list[Value]]:
    """The members that fold rows, by how many others they wait for."""
    level: dict[Value, int] = {}
    found: list[list[Value]] = []
    for value in layout.run.members:
        before = max([level.get(arg, 0) for arg in value.args], default=0)
        level[value] = before
        if value.op.name in ROWWISE:
            while len(found) <= before:
                found.append([])
            found[before].append(value)
            level[value] = before + 1
    return found


def _fold_rows(grown: FirstPass, outer: Scope, values: Sequence[Value], group: int, everyone: str) -> None:
    layout, index = grown.layout, grown.body.index
    for width, alike in endings_by_width(layout, values).items():
        names = [grown.body.variable() for _ in alike]
        scope = Scope(grown.body, outer, "r", width=width)
        lines = []
        for name, value in zip(names, alike, strict=True):
            element = grown.of(value, scope, "e" if width > 1 else "0") if value.op.name != PLACE else ""
            if value.op.name == PLACE:
                arg, rows = layout.source(value, 0)
                place = "e" if width > 1 else "0"
                element = f"Place{{(double) {scope.value(arg, rows, place).text}, (long long) {place}}}"
            lines.append(f"{name} = {fold_of(value)}({name}, {element});")
        outer.lines += [
            f"{folded_type(value)} {name} = {identity(value)};" for name, value in zip(names, alike, strict=True)
        ]
        outer.lines += [
            f"for ({index} e = lane; e < {width}; e += {group}) {{",
            *[f"  {line}" for line in (*scope.lines, *lines)],
            "}",
        ]
        for name, value in zip(names, alike, strict=True):
            outer.lines.append(f"{name} = {everyone}({name}, {fold_of(value)});")
            outer.keep(
                value,
                outer.declare(
                    value.dtype, f"({text.c_type(value.dtype)}) {name}{'.at' if value.op.name == PLACE else ''}"
                ),
            )


def _write_rows(
    grown: FirstPass, outer: Scope, width: int, endings: tuple[list[Value], dict[Value, str]], group: int
) -> None:
    """What a row gives: outputs, and what is added to reductions over all rows."""
    layout, index = grown.layout, grown.body.index
    full, targets = endings
    scope = Scope(grown.body, outer, "r", width=width) if width > 1 else outer
    place = "e" if width > 1 else "0"
    address = f"({index}) r * {width} + e" if width > 1 else "r"
    outputs = [value for value in layout.run.outputs if layout.width(value) == width]
    alike = [ending for ending in (*full, *targets) if layout.width(ending.args[0]) == width]
    lines: list[str] = [] if width == 1 else scope.lines
    for value in in_turn(outputs, alike):
        if value in outputs:
            line = f"{grown.output(value)}[{address}] = {scope.value(value, True, place).text};"
        elif value in targets:
            cell, new = f"{targets[value]}[group * {width} + e]", grown.of(value, scope, place)
            line = f"{cell} = r == group ? {new} : {fold_of(value)}({cell}, {new});"
        else:
            line = grown.added(value, scope, place)
        lines.append(line)
    if width > 1:
        outer.lines += [
            f"for ({index} e = lane; e < {width}; e += {group}) {{",
            *[f"  {line}" for line in lines],
            "}",
        ]
    else:
        outer.lines += ["if (lane == 0) {", *[f"  {line}" for line in lines], "}"]
