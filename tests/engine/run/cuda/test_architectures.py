"""Every generated kernel of the suite for every architecture: it compiles, spills no registers, and loads by packs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
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
from .nvrtc import ARCHITECTURES, MISSING, compiled, used
from .rows import row_kernels
from .test_parity import LARGE, large, programs

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

LENGTHS: Final = (30, 60, 120, 300)
TOGETHER: Final = 40
"""Kernels that are compiled as one text."""


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


@cache
def texts() -> list[str]:
    """Those kernels, and those of the table's rows, some to a text; the longest first, so that no process waits."""
    whole = sorted(kernels().values(), key=lambda kernel: len(kernel.text), reverse=True)
    found = [module_text(whole[place::number]) for number in [len(whole) // TOGETHER] for place in range(number)]
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


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_generated_kernel_compiles_without_spills(architecture: str, processes: ProcessPoolExecutor) -> None:
    """Recorded forms and programs, random graphs, rows of the table and chains: no register is put aside in memory."""
    found = {}
    for each in processes.map(used, texts(), [architecture] * len(texts())):
        found |= each
    assert set(found) == {*kernels(), *[row.name for row in row_kernels()]}
    assert {name: what for name, what in found.items() if what.spilled} == {}


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
