"""Every recorded form and program, and random graphs: the device's numbers judged by the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from agrad.engine.referees.device import device_judgement
from agrad.engine.run.cuda.compile import loaded
from agrad.engine.run.cuda.executor import Executor
from agrad.engine.run.cuda.kernels import Kernel
from agrad.engine.run.cuda.program import DeviceProgram, device_program

from .cases import Graph, random_graph, recorded
from .check import Check

MODULES: Final = 16
"""Modules that are compiled at the same time."""
RANDOM_GRAPHS: Final = 400


def recorded_checks(executor: Executor) -> Iterator[Check]:
    """The forms and programs that PyTorch has answered."""
    yield from _checks(executor, list(recorded()))


def random_checks(executor: Executor) -> Iterator[Check]:
    """Random graphs."""
    yield from _checks(executor, [random_graph(seed) for seed in range(RANDOM_GRAPHS)])


def _checks(executor: Executor, graphs: Sequence[Graph]) -> Iterator[Check]:
    programs = [device_program(graph.targets.values()) for graph in graphs]
    functions: dict[str, Any] = {}

    def compile_all() -> tuple[bool, dict[str, Any]]:
        kernels = {kernel.name: kernel for program in programs for kernel in program.kernels}
        functions.update(loaded_at_once(executor, list(kernels.values())))
        return True, {"kernels": len(kernels)}

    yield Check(f"{len(graphs)} graphs compiled", compile_all)
    for graph, program in zip(graphs, programs, strict=True):
        yield Check(graph.name, lambda graph=graph, program=program: _judged(executor, graph, program, functions))  # type: ignore[misc]  # mypy cannot infer it


def loaded_at_once(executor: Executor, kernels: list[Kernel]) -> dict[str, Any]:
    """The functions of many kernels, compiled in several modules at once."""

    def of(part: list[Kernel]) -> dict[str, Any]:
        with executor.cupy.cuda.Device(0):
            return loaded(executor.cupy, part).functions

    parts = [part for part in (kernels[start::MODULES] for start in range(MODULES)) if part]
    with ThreadPoolExecutor(MODULES) as pool:
        return {name: function for found in pool.map(of, parts) for name, function in found.items()}


def _judged(
    executor: Executor, graph: Graph, program: DeviceProgram, functions: dict[str, Any]
) -> tuple[bool, dict[str, Any]]:
    if functions:
        program.loaded[0] = functions
    judgement = device_judgement(graph.targets, executor.run(program))
    told = {} if judgement.verdict == "agree" else {"entry": judgement.entry, "reason": judgement.reason}
    return judgement.verdict == "agree", {"digits": judgement.digits, **told}
