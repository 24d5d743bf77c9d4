"""The CUDA executor over the fake, with kernels on the host: the same numbers as the CPU's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from agrad.engine.graph import LEAF, ancestors
from agrad.engine.referees.device import device_judgement
from agrad.engine.run.cpu import evaluate
from agrad.engine.run.cuda.executor import Executor
from agrad.engine.run.cuda.kernels import module_text
from agrad.engine.run.cuda.program import DeviceProgram, device_program

from ....gpu.cases import Graph, chain, of_text, random_chain, random_graph, recorded
from . import fake_cupy
from .host import MISSING, HostModule

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)
RANDOM_GRAPHS = 120
RANDOM_CHAINS = 6


@cache
def programs() -> dict[str, tuple[Graph, DeviceProgram]]:
    """All recorded graphs and some random ones, with what the device does for each."""
    graphs = [
        *recorded(),
        *[random_graph(seed) for seed in range(RANDOM_GRAPHS)],
        *[random_chain(seed) for seed in range(RANDOM_CHAINS)],
    ]
    return {graph.name: (graph, device_program(graph.targets.values())) for graph in graphs}


@cache
def library() -> HostModule:
    """The kernels of all of them, compiled at once."""
    return HostModule([module_text([kernel for _, program in programs().values() for kernel in program.kernels])])


@pytest.fixture
def device(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[fake_cupy.Machine]:
    """The fake in place of CuPy, and an empty cache."""
    monkeypatch.setenv("AGRAD_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    with fake_cupy.installed() as machine:
        yield machine


def _assert_same(graph: Graph, found: Any) -> None:
    """What is not bit by bit the CPU's is judged by the CPU."""
    for node in graph.targets.values():
        assert np.shape(found[node]) == node.shape
        assert np.asarray(found[node]).dtype == node.dtype
    expected = evaluate(graph.targets.values())
    if not all(np.array_equal(found[node], expected[node], equal_nan=True) for node in graph.targets.values()):
        judgement = device_judgement(graph.targets, found)
        assert judgement.verdict == "agree", (graph.name, judgement.entry, judgement.reason)


def test_recorded_and_random_graphs_give_the_cpus_numbers(device: fake_cupy.Machine) -> None:
    """Every form and program that PyTorch has answered, and random graphs, entry by entry, in both orders of warps."""
    device.library = library()
    executor = Executor("cuda")
    assert len(programs()) > 900
    for graph, program in programs().values():
        device.backwards = False
        found = executor.run(program)
        _assert_same(graph, found)
        if any("_all(" in kernel.text or "__sync" in kernel.text for kernel in program.kernels):
            device.backwards = True
            again = executor.run(program)
            assert all(np.array_equal(found[node], again[node], equal_nan=True) for node in graph.targets.values())


def test_a_random_graph_waits_once(device: fake_cupy.Machine) -> None:
    """Whatever its ops, reductions and softmaxes among them: for its results, at the end."""
    device.library = library()
    executor = Executor("cuda")
    for seed in range(RANDOM_GRAPHS):
        _, program = programs()[f"random {seed}"]
        device.counts.clear()
        executor.run(program)
        assert device.counts["waits"] == 1, seed


@pytest.mark.parametrize(("right", "wrong"), [("tanh(", "sinh("), ("i < 301", "i < 300"), ("Sum()", "Largest()")])
def test_a_planted_fault_of_a_kernel_is_caught(right: str, wrong: str, device: fake_cupy.Machine) -> None:
    """Another function, a place that is not written, another reduction: the numbers disagree, or are poison."""
    graph = of_text("planted", "z = sum(tanh(x * y))", {"x": np.full(301, 0.5), "y": np.full(301, 0.7)})
    program = device_program(graph.targets.values())
    text = module_text(program.kernels)
    assert right in text
    device.library = HostModule([text.replace(right, wrong)])
    judgement = device_judgement(graph.targets, Executor("cuda").run(program))
    assert judgement.verdict == "disagree"


def test_the_chain_takes_four_launches_and_one_wait(device: fake_cupy.Machine) -> None:
    """Thirty elementwise ops and a sum, value and gradient: few kernels, one copy up, one wait."""
    graph = chain(30, 10_000)
    program = device_program(graph.targets.values())
    executor = Executor("cuda")
    executor.run(program)
    device.counts.clear()
    _assert_same(graph, executor.run(program))
    assert program.launches <= 4
    assert device.counts["kernels"] == program.launches
    assert device.counts["waits"] == 1
    assert device.counts["event waits"] == 0
    assert device.counts["uploads"] == 1
    assert device.counts["compilations"] == 0


@pytest.mark.parametrize(("length", "dtype"), [(60, "float64"), (120, "float32"), (300, "float64")])
def test_a_chain_in_parts_gives_the_cpus_numbers(length: int, dtype: str, device: fake_cupy.Machine) -> None:
    """What is computed again, and what is read of earlier parts, is what one kernel would have had; all waits once."""
    graph = chain(length, 300, dtype)
    program = device_program(graph.targets.values())
    assert program.launches > 2
    _assert_same(graph, Executor("cuda").run(program))
    assert device.counts["waits"] == 1


LARGE = {
    "softmax cross-entropy": (
        "p = log_softmax(x @ w + b, 1)\nz = -mean(p * t)",
        {"x": (700, 5), "w": (5, 40), "b": (40,), "t": (700, 40)},
    ),
    "rows longer than a warp takes": (
        "z = sum(softmax(a * w, 1) * b)",
        {"a": (12, 2000), "w": (2000,), "b": (12, 2000)},
    ),
    "columns": ("z = sum((a * w + b) ** 2)", {"a": (5001, 7), "w": (7,), "b": (7,)}),
    "wide columns": ("z = sum(tanh(a * w))", {"a": (9, 4099), "w": (4099,)}),
    "channels": ("z = sum(exp(0.1 * x * c.reshape(1, -1, 1, 1)))", {"x": (16, 5, 12, 13), "c": (5,)}),
    "largest of rows": ("z = sum(a.amax(1) * b)", {"a": (700, 9), "b": (700,)}),
    "normalised": (
        "z = sum(((a - a.mean(1, keepdim=True)) / a.std(1, keepdim=True)) ** 3 * b)",
        {"a": (300, 70), "b": (70,)},
    ),
    "two sums": ("z = sum(a * b) / sum(a ** 2)", {"a": (30011,), "b": (30011,)}),
}


def large(name: str, dtype: str) -> Graph:
    """One of the graphs above."""
    text, shapes = LARGE[name]
    random = np.random.default_rng(11)
    return of_text(name, text, {key: random.normal(size=shape) for key, shape in shapes.items()}, dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", LARGE)
def test_large_reductions(name: str, dtype: str, device: fake_cupy.Machine) -> None:
    """Full, row and column reductions of more than one block, with packs and tails, in both orders of warps."""
    graph = large(name, dtype)
    executor, program = Executor("cuda"), device_program(graph.targets.values())
    first = executor.run(program)
    _assert_same(graph, first)
    device.backwards = True
    again = executor.run(program)
    assert all(np.array_equal(first[node], again[node], equal_nan=True) for node in graph.targets.values())


def test_scalars_are_computed_on_the_host(device: fake_cupy.Machine) -> None:
    """Where all is single numbers, nothing is launched and nothing is copied."""
    graph = of_text("scalars", "z = x ** 2 + sin(y)", {"x": 3.0, "y": 2.0})
    found = Executor("cuda").evaluate(graph.targets.values())
    assert found == evaluate(graph.targets.values())
    assert not device.counts["kernels"] + device.counts["uploads"] + device.counts["waits"]


@pytest.mark.usefixtures("device")
def test_other_values_for_leaves() -> None:
    """A leaf may be given another value for one run."""
    graph = of_text("other values", "z = sum(x * y)", {"x": np.arange(4.0), "y": np.ones(4)})
    (x,) = [node for node in _leaves(graph) if node.name == "x"]
    found = Executor("cuda").evaluate(graph.targets.values(), {x: np.full(4, 2.0)})
    assert found[graph.targets["value"]] == 8.0


def _leaves(graph: Graph) -> list[Any]:
    return [node for node in ancestors(graph.targets.values()) if node.op is LEAF]
