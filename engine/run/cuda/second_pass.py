"""The second pass: what the blocks of the first have left of each reduction becomes one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ..alignment import folded_axes
from . import text
from .first_pass import Unfinished
from .kernels import BLOCKS, THREADS, Kernel, Part, named
from .layout import Layout, fold_of, folded_type, identity, kept_shape
from .scope import Body

_WARP: Final = 32


def second_pass(layout: Layout, parts: list[Part], unfinished: Sequence[Unfinished]) -> Kernel:
    """The parts of every ending folded: a warp for each number of the result, or a thread where there are few parts."""
    most = max(each.chunks * each.width for each in unfinished)
    body = Body(layout, most + BLOCKS * THREADS)
    body.parts = parts
    work = 1
    for each in unfinished:
        work = max(work, _finish_one(body, layout, each))
    blocks = max(1, min(BLOCKS, math.ceil(work / THREADS)))
    return named(body.parameters, body.text(), (blocks,), (THREADS,), body.arguments)


def _finish_one(body: Body, layout: Layout, each: Unfinished) -> int:
    """Add the loops of one ending; gives how many threads it could use."""
    ending, index = each.ending, body.index
    kept = kept_shape(layout, ending) if each.width > 1 else ()
    results = math.prod(kept)
    folded = each.chunks * each.width // results
    part = body.argument("part", each.part)
    output = body.argument("output", layout.run.results.index(ending))
    warp = folded >= _WARP
    start, step, begin, by = (
        ("(blockIdx.x * blockDim.x + threadIdx.x) / 32", "gridDim.x * blockDim.x / 32", "threadIdx.x % 32", "32")
        if warp
        else ("blockIdx.x * blockDim.x + threadIdx.x", "gridDim.x * blockDim.x", "0", "1")
    )
    name = body.variable()
    body.lines += [
        f"for ({index} k = {start}; k < {results}; k += {step}) {{",
        f"  {folded_type(ending)} {name} = {identity(ending)};",
        f"  for ({index} f = {begin}; f < {folded}; f += {by})",
        f"    {name} = {fold_of(ending)}({name}, {part}[{_part_place(layout, each, results)}]);",
    ]
    if warp:
        body.lines.append(f"  {name} = warp_all({name}, {fold_of(ending)});")
    guard = "if (threadIdx.x % 32 == 0) " if warp else ""
    body.lines += [f"  {guard}{output}[k] = ({text.c_type(ending.dtype)}) {name};", "}"]
    return results * (_WARP if warp else 1)


def _part_place(layout: Layout, each: Unfinished, results: int) -> str:
    """Where in the parts stands the f-th number that result k folds: chunk after chunk, in each the folded axes."""
    if each.width == 1:
        return "f"
    if results == each.width:
        return f"f * {each.width} + k"
    shape = layout.rest(each.ending.args[0])
    folded = {axis - layout.axes for axis in folded_axes(each.ending)}
    inner = each.width // results
    terms = [f"f / {inner} * {each.width}"]
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    for source, axes in (
        ("k", [a for a in range(len(shape)) if a not in folded]),
        (f"f % {inner}", sorted(folded & set(range(len(shape))))),
    ):
        below = 1
        for axis in reversed(axes):
            terms.append(f"({source}) / {below} % {shape[axis]} * {strides[axis]}")
            below *= shape[axis]
    return " + ".join(terms)
