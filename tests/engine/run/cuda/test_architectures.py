"""Every generated kernel of the suite for every architecture: it compiles, spills no registers, and loads by packs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from typing import Final

import numpy as np
import pytest

from agrad.engine.run.cuda.kernels import Kernel, module_text
from agrad.engine.run.cuda.program import device_program
from agrad.engine.run.cuda.scatter import scatter_kernels
from agrad.engine.run.cuda.special import functions_for

from ....gpu.cases import Graph, chain
from .nvrtc import ARCHITECTURES, MISSING, Used, compiled, used
from .rows import row_kernels
from .test_parity import LARGE, large, programs

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

LENGTHS: Final = (30, 60, 120, 300)
ENDS: Final = (ARCHITECTURES[0], ARCHITECTURES[-1])
"""The oldest architecture and the newest: every kernel is compiled for both."""
BETWEEN: Final = ARCHITECTURES[1:-1]
"""The others: what has few registers to spare at the ends is compiled for them, and everything with `-m exhaustive`."""
TOGETHER: Final = 40
"""Kernels that are compiled as one text."""

Taken = dict[str, Used]
"""What kernels take, by name."""


def _more() -> Iterator[Graph]:
    """Graphs whose kernels are compiled, and not run here: large ones."""
    for dtype in ("float64", "float32"):
        yield from (large(name, dtype) for name in LARGE)
        yield from (chain(length, 100_000, dtype) for length in (8, *LENGTHS))
        yield from (chain(length, 100_000, dtype, dearer=True) for length in (8, 60))


@cache
def kernels() -> dict[str, Kernel]:
    """The generated kernels of the suite, equal ones once."""
    found = {kernel.name: kernel for _, program in programs().values() for kernel in program.kernels}
    for dtype in ("float64", "float32", "int64"):
        found |= {kernel.name: kernel for kernel in scatter_kernels(np.dtype(dtype))}
    for graph in _more():
        found |= {kernel.name: kernel for kernel in device_program(graph.targets.values()).kernels}
    return found


def together(some: Iterable[Kernel]) -> list[str]:
    """Kernels, some to a text."""
    whole = sorted(some, key=lambda kernel: len(kernel.text), reverse=True)
    number = max(1, len(whole) // TOGETHER)
    return [module_text(whole[place::number]) for place in range(number)]


@cache
def texts() -> list[str]:
    """Those kernels, and those of the table's rows, with the longest first, so that no process waits."""
    found = together(kernels().values())
    rows = row_kernels()
    for place in range(0, len(rows), TOGETHER):
        text = "".join(row.text for row in rows[place : place + TOGETHER])
        found.append(functions_for(text) + text)
    return found


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """One process for each core: within one, NVRTC compiles one text at a time."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as found:
        yield found


def _taken(processes: ProcessPoolExecutor, texts: Sequence[str], architecture: str) -> Taken:
    """What each kernel of some texts takes on an architecture."""
    found: Taken = {}
    for each in processes.map(used, texts, [architecture] * len(texts)):
        found |= each
    return found


@pytest.fixture(scope="module")
def at_the_ends(processes: ProcessPoolExecutor) -> dict[str, Taken]:
    """What every kernel takes on the oldest architecture and on the newest."""
    return {architecture: _taken(processes, texts(), architecture) for architecture in ENDS}


@pytest.fixture(scope="module")
def between(processes: ProcessPoolExecutor, at_the_ends: dict[str, Taken]) -> dict[str, Taken]:
    """What the kernels that come near their registers there take on the architectures between."""
    near = near_their_registers(at_the_ends)
    assert 0 < len(near) < len(kernels()) / 2
    some = together([kernel for name, kernel in kernels().items() if name in near])
    return {architecture: _taken(processes, some, architecture) for architecture in BETWEEN}


def near_their_registers(taken: Mapping[str, Taken]) -> set[str]:
    """The kernels that take more than three quarters of the registers that they may; the others have room for more."""
    return {
        name
        for of_one in taken.values()
        for name, what in of_one.items()
        if name in kernels() and what.registers > 0.75 * registers_allowed(kernels()[name].text)
    }


def registers_allowed(text: str) -> int:
    """The registers of a thread, of 65,536 for all threads of the blocks that share a multiprocessor; at most 255."""
    threads, blocks = map(int, re.findall(r"__launch_bounds__\((\d+), (\d+)\)", text)[0])
    return min(255, 65_536 // (threads * blocks))


@pytest.mark.parametrize("architecture", ENDS)
def test_every_generated_kernel_compiles_without_spills(architecture: str, at_the_ends: dict[str, Taken]) -> None:
    """Recorded forms and programs, random graphs, rows of the table and chains: no register is put aside in memory."""
    found = at_the_ends[architecture]
    assert set(found) == {*kernels(), *[row.name for row in row_kernels()]}
    assert spilling(found) == {}


@pytest.mark.parametrize("architecture", BETWEEN)
def test_what_comes_near_its_registers_does_not_spill_between(architecture: str, between: dict[str, Taken]) -> None:
    """Kernels that could spill where the assembler orders them otherwise do not, on the architectures between."""
    assert spilling(between[architecture]) == {}


@pytest.mark.exhaustive
@pytest.mark.parametrize("architecture", BETWEEN)
def test_every_kernel_compiles_without_spills_between(architecture: str, processes: ProcessPoolExecutor) -> None:
    """All of them, also those with registers to spare."""
    found = _taken(processes, texts(), architecture)
    assert set(found) == {*kernels(), *[row.name for row in row_kernels()]}
    assert spilling(found) == {}


def spilling(taken: Taken) -> Taken:
    """The kernels that put registers aside."""
    return {name: what for name, what in taken.items() if what.spilled}


def test_a_spill_is_seen() -> None:
    """A kernel that is planted with fewer registers than it holds numbers spills, and is reported."""
    (kernel, _) = device_program(chain(30, 100_000).targets.values()).kernels
    planted = kernel.text.replace("__launch_bounds__(256, 1)", "__launch_bounds__(256, 4)")
    assert planted != kernel.text
    assert used(module_text([replace(kernel, text=planted)]), "sm_90")[kernel.name].spilled > 0


def test_kernels_with_packs_load_and_store_by_packs() -> None:
    """In the assembly each pack that a kernel's text reads or writes is one access to memory."""
    packed = [kernel for kernel in kernels().values() if "Pack<" in kernel.text]
    assert len(packed) > 20
    assembly = compiled(module_text(packed), "compute_75").decode()
    for kernel in packed:
        body = assembly[assembly.index(f".entry {kernel.name}(") :]
        body = body[: body.index("\n}")]
        loads, stores = kernel.text.count("= ((const Pack<"), len(re.findall(r"  \(\(Pack<.*\[g\] = y", kernel.text))
        assert loads + stores > 0
        assert len(re.findall(r"ld\.global\.nc\.v[24]", body)) >= loads, kernel.text
        assert len(re.findall(r"st\.global\.v[24]", body)) >= stores, kernel.text


@pytest.mark.parametrize(
    ("dtype", "launches"), [("float64", (2, 4, 6, 13)), ("float32", (2, 2, 4, 8))], ids=["float64", "float32"]
)
def test_launches_grow_with_the_length_of_a_chain(dtype: str, launches: tuple[int, ...]) -> None:
    """What 30 ops have in registers is one kernel; each part takes about as many, and one more kernel ends the sum."""
    found = [device_program(chain(length, 100_000, dtype).targets.values()).launches for length in LENGTHS]
    assert tuple(found) == launches
