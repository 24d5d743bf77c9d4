"""How fast: each work as a share of what a plain copy of its bytes would take, and beside CuPy, PyTorch and JAX."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from agrad.engine.run.cuda.executor import Executor
from agrad.engine.run.cuda.program import DeviceProgram, device_program

from .cases import Graph, chain, of_text
from .check import Check
from .peers import PEERS, Timing

BOUND: Final = 1.25
"""The chain may take this many times what copying its bytes takes."""
REPEATS: Final = 9
ELEMENTS: Final = 100_000_000

WORK: Final = "z = sum(tanh(x * y + 1) ** 2 * exp(-x ** 2))"
OTHERS: Final = {
    "softmax cross-entropy": (
        "z = -mean(sum(log_softmax(x @ w, 1) * t, 1))",
        {"x": (100_000, 64), "w": (64, 1000), "t": (100_000, 1000)},
    ),
    "network": (
        "z = mean((tanh(tanh(x @ u) @ v) @ w - y) ** 2)",
        {"x": (20_000, 512), "u": (512, 1024), "v": (1024, 1024), "w": (1024, 1), "y": (20_000, 1)},
    ),
    "attention": (
        "z = sum(softmax(q @ k.transpose(-2, -1) * 0.125, -1) @ v)",
        {"q": (32, 1024, 64), "k": (32, 1024, 64), "v": (32, 1024, 64)},
    ),
}


def timed(executor: Executor, program: DeviceProgram) -> Timing:
    """Seconds of the device between the copies, the median of several, after one that compiles."""
    cuda = executor.cupy.cuda
    with executor.stream:
        slots = executor.upload(program)
        executor.compute(program, list(slots))
        executor.stream.synchronize()
        seconds = []
        for _ in range(REPEATS):
            start, end = cuda.Event(), cuda.Event()
            start.record(executor.stream)
            executor.compute(program, list(slots))
            end.record(executor.stream)
            end.synchronize()
            seconds.append(cuda.get_elapsed_time(start, end) / 1e3)
    return Timing(statistics.median(seconds), min(seconds))


def copied(executor: Executor, size: int) -> float:
    """Seconds for a byte that a plain copy reads or writes."""
    cupy = executor.cupy
    with executor.stream:
        source, target = cupy.zeros((size,), np.uint8), cupy.empty((size,), np.uint8)
        seconds = []
        for _ in range(REPEATS):
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record(executor.stream)
            cupy.copyto(target, source)
            end.record(executor.stream)
            end.synchronize()
            seconds.append(cupy.cuda.get_elapsed_time(start, end) / 1e3)
    return statistics.median(seconds[2:]) / (2 * size)


def checks(executor: Executor, scale: float) -> Iterator[Check]:
    """The works, the most important first."""
    a_byte: list[float] = []

    def bandwidth() -> tuple[bool, dict[str, Any]]:
        a_byte.append(copied(executor, int(1e9 * scale)))
        return True, {"gigabytes_a_second": round(1e-9 / a_byte[0], 1)}

    yield Check("plain copy", bandwidth)
    for dtype in ("float32", "float64"):
        yield Check(f"chain, {dtype}", lambda dtype=dtype: _chain(executor, dtype, scale, a_byte))  # type: ignore[misc]  # mypy cannot infer it
    yield Check("launches", lambda: _launches(executor))
    yield Check("first call", lambda: _first_call(executor))
    for name in OTHERS:
        yield Check(name, lambda name=name: _other(executor, name, scale))  # type: ignore[misc]  # as above
    yield Check("30 ops", lambda: _long_chain(executor, scale, a_byte))


def _chain(executor: Executor, dtype: str, scale: float, a_byte: list[float]) -> tuple[bool, dict[str, Any]]:
    size = int(ELEMENTS * scale)
    random = np.random.default_rng(0)
    inputs = {name: random.normal(size=size).astype(dtype) for name in ("x", "y")}
    took = timed(executor, device_program(of_text("chain", WORK, inputs, dtype).targets.values()))
    bound = 4 * size * np.dtype(dtype).itemsize * a_byte[0]  # two inputs read, two gradients written
    found: dict[str, Any] = {
        "elements": size,
        "milliseconds": round(took.median * 1e3, 3),
        "bound": round(bound * 1e3, 3),
        "times_bound": round(took.median / bound, 3),
    }
    aims = [took.median <= BOUND * bound]
    for name, (module, peer, most) in PEERS.items():
        if find_spec(module) is None:
            continue
        theirs = peer(inputs)
        found[name] = round(theirs.median * 1e3, 3)
        aims.append(took.median <= most * theirs.median)
    return all(aims), found


def _other(executor: Executor, name: str, scale: float) -> tuple[bool, dict[str, Any]]:
    text, shapes = OTHERS[name]
    random = np.random.default_rng(0)
    rows = {key: tuple([_scaled(size, scale) for size in shape]) for key, shape in shapes.items()}
    inputs = {key: 0.05 * random.normal(size=shape) for key, shape in rows.items()}
    program = device_program(of_text(name, text, inputs, "float32").targets.values())
    took = timed(executor, program)
    return True, {"milliseconds": round(took.median * 1e3, 3), "launches": program.launches}


def _scaled(size: int, scale: float) -> int:
    """A long axis made shorter; equal ones stay equal."""
    return max(4, int(size * scale)) if size >= 1000 else size


def _long_chain(executor: Executor, scale: float, a_byte: list[float]) -> tuple[bool, dict[str, Any]]:
    size = int(ELEMENTS * scale)
    graph = chain(30, size, "float32")
    took = timed(executor, device_program(graph.targets.values()))
    bound = 2 * size * 4 * a_byte[0]
    return True, {"milliseconds": round(took.median * 1e3, 3), "times_bound": round(took.median / bound, 3)}


def _launches(executor: Executor) -> tuple[bool, dict[str, Any]]:
    """The host's time for one small graph, copies and all, and for its launches alone."""
    graph: Graph = of_text("small", "z = sum(tanh(x * y))", {"x": np.ones(100), "y": np.ones(100)})
    program = device_program(graph.targets.values())
    executor.run(program)
    return True, {
        "microseconds_whole": round(_wall(lambda: executor.run(program)) * 1e6, 1),
        "launches": program.launches,
    }


def _wall(call: Callable[[], Any], repeats: int = 100) -> float:
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def _first_call(executor: Executor) -> tuple[bool, dict[str, Any]]:
    """From a graph to its first numbers, with nothing on disk, and with the module there."""
    graph = chain(8, 10_000, "float32")
    before = os.environ.get("AGRAD_CACHE_DIR")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AGRAD_CACHE_DIR"] = folder
        try:
            cold = _wall(lambda: executor.run(device_program(graph.targets.values())), 1)
            warm = _wall(lambda: executor.run(device_program(graph.targets.values())), 1)
        finally:
            os.environ.pop("AGRAD_CACHE_DIR")
            if before is not None:
                os.environ["AGRAD_CACHE_DIR"] = before
    return True, {"milliseconds_compiling": round(cold * 1e3, 1), "milliseconds_cached": round(warm * 1e3, 1)}
