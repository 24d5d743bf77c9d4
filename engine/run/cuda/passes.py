"""The kernels of a run: which thread computes what, and how reductions are ended in a second pass."""

from __future__ import annotations

import math
from typing import Final

from ..fusion import FusedRun
from ..values import Value
from .columns import by_columns
from .first_pass import PACKS_FROM, FirstPass, Unfinished, endings_by_width
from .kernels import BLOCKS, THREADS, Kernel, Part, RunKernels
from .layout import ROWWISE, Layout, domains, is_full
from .rows import by_rows
from .second_pass import second_pass

_EACH: Final = 16
"""Elements that a thread adds up at least, where there are enough."""


def kernels_of(run: FusedRun, numbers: frozenset[Value] = frozenset()) -> RunKernels:
    """The kernels that compute a run.

    Args:
        run: the run, see `layout.supported`.
        numbers: inputs without axes that the kernels are given by value.
    """
    layout = Layout(run, numbers)
    parts: list[Part] = []
    if any(value.op.name in ROWWISE for value in run.members):
        kernels, unfinished = by_rows(layout, parts)
    else:
        wide = [ending for ending in run.endings if not is_full(layout, ending)]
        kernels, unfinished = by_columns(layout, parts, wide) if wide else _flat(layout, parts)
    if unfinished:
        kernels.append(second_pass(layout, parts, unfinished))
    # Where all arrays are empty a kernel has nothing to do, and no arguments.
    return RunKernels(tuple([kernel for kernel in kernels if kernel.arguments]), tuple(parts))


def _flat(layout: Layout, parts: list[Part]) -> tuple[list[Kernel], list[Unfinished]]:
    """One loop over all elements for each number of elements that a row has."""
    grown = FirstPass(layout, parts)
    run = layout.run
    outputs = domains(layout, run.outputs)
    sources = endings_by_width(layout, run.endings)
    widths = sorted({*outputs, *sources}, reverse=True)
    each = _EACH if run.endings else 1
    blocks = _blocks(max(layout.rows * width for width in widths), each)
    grown.begin_sums(run.endings)
    index = grown.body.index
    grown.add(f"const {index} thread = blockIdx.x * (({index}) {THREADS}) + threadIdx.x;")
    for width in widths:
        grown.flat(width, outputs.get(width, []), sources.get(width, []), "thread", f"{blocks * THREADS}u")
    grown.end_sums(blocks, "blockIdx.x", "threadIdx.x")
    return [grown.named((blocks,), (THREADS,))], grown.unfinished


def _blocks(elements: int, each: int) -> int:
    lanes = 4 if elements >= PACKS_FROM else 1
    return max(1, min(BLOCKS, math.ceil(elements / (THREADS * max(each, lanes)))))
