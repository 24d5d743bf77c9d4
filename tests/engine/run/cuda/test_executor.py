"""The executor on the fake: copies, memory, singular matrices, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agrad.engine.conditions import Conditions, under
from agrad.engine.derivatives.jacobian import rows_of
from agrad.engine.derivatives.nodes import by_entries
from agrad.engine.errors import DeviceError, InputError, LimitError
from agrad.engine.graph import leaf, make
from agrad.engine.run.cpu import evaluate
from agrad.engine.run.cuda import transfers
from agrad.engine.run.cuda.executor import Executor
from agrad.engine.run.cuda.program import device_program
from agrad.engine.run.device import compute_on, computing, way_on

from ....gpu.cases import of_text
from . import fake_cupy
from .host import MISSING

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[fake_cupy.Machine]:
    """The fake in place of CuPy, with a cache of its own."""
    monkeypatch.setenv("AGRAD_CACHE_DIR", str(tmp_path))
    with fake_cupy.installed() as found:
        yield found


def test_small_inputs_go_up_in_one_copy_and_results_are_waited_for_once(machine: fake_cupy.Machine) -> None:
    """However many leaves there are, of whatever dtypes."""
    inputs = {"a": np.ones((3, 4)), "b": np.arange(4.0), "i": np.array([1, 0, 2])}
    graph = of_text("copies", "z = sum(a[i] * b)", inputs)
    found = Executor("cuda").evaluate(graph.targets.values())
    assert machine.counts["uploads"] == 1
    assert machine.counts["waits"] == 1
    expected = evaluate(graph.targets.values())
    assert all(np.array_equal(found[node], expected[node]) for node in graph.targets.values())


def test_large_inputs_go_up_in_pieces(machine: fake_cupy.Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece is put into pinned memory while the one before is copied: only a buffer that is in use is waited for."""
    monkeypatch.setattr(transfers, "SMALL", 100)
    monkeypatch.setattr(transfers, "PIECE", 800)
    x = np.random.default_rng(2).normal(size=(10, 45))
    graph = of_text("pieces", "z = sum(x * x)", {"x": np.asfortranarray(x)})
    found = Executor("cuda").evaluate(graph.targets.values())
    assert machine.counts["uploads"] == 5
    assert machine.counts["event waits"] == 3
    assert np.array_equal(found[graph.targets["dx"]], 2 * x)


def test_a_large_input_goes_up_when_it_is_read(machine: fake_cupy.Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the second is put into pinned memory and copied, the device computes with the first."""
    monkeypatch.setattr(transfers, "SMALL", 100)
    graph = of_text("two", "z = sum(x * x) + sum(y * y)", {"x": np.ones(5001), "y": np.ones(7001)})
    found = Executor("cuda").evaluate(graph.targets.values())
    assert machine.order[:2] == ["upload", "kernel"]
    assert machine.order.count("upload") == 2
    assert machine.counts["waits"] == 1
    assert found[graph.targets["value"]] == 12002.0


def test_a_graph_that_does_not_fit_is_refused_before_it_starts(machine: fake_cupy.Machine) -> None:
    """The estimate and what is free are told, and nothing is copied."""
    machine.free = 1000
    graph = of_text("large", "z = sum(x * x)", {"x": np.ones(1000)})
    with pytest.raises(LimitError, match=r"needs about 16 kB, and the device has 1 kB free"):
        Executor("cuda").evaluate(graph.targets.values())
    assert not machine.counts["uploads"]


def test_more_memory_than_allowed_is_refused_before_it_starts(machine: fake_cupy.Machine) -> None:
    """--max-memory holds on the device too, beside the inputs as on the CPU; nothing is copied or compiled."""
    graph = of_text("allowed", "z = sum(x * x)", {"x": np.ones(1000)})
    program = device_program(graph.targets.values())
    assert program.peak - program.beside == 8000
    with under(Conditions(memory=program.beside)):
        Executor("cuda").run(program)
    machine.counts.clear()
    refused = r"needs about 8.01 kB of the device's memory beside its inputs, and --max-memory is 1 kB"
    with under(Conditions(memory=1000)), pytest.raises(LimitError, match=refused):
        Executor("cuda").run(program)
    assert not machine.counts["uploads"] + machine.counts["compilations"] + machine.counts["kernels"]


def test_the_estimate_counts_what_is_alive() -> None:
    """A chain keeps its input, its gradient and the parts of its sum, not what is between."""
    graph = of_text("chain", "z = sum(tanh(sin(exp(x))))", {"x": np.ones(100_000)})
    program = device_program(graph.targets.values())
    assert 2 * 800_000 <= program.peak < 2.1 * 800_000


def test_memory_that_runs_out_on_the_way_is_told(machine: fake_cupy.Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """An allocation that fails is a limit, not a traceback."""

    def fail(*_args: object, **_kwargs: object) -> Any:
        raise fake_cupy.OutOfMemoryError("Out of memory allocating 8 bytes")

    graph = of_text("full", "z = sum(x * x)", {"x": np.ones(1000)})
    executor = Executor("cuda")
    monkeypatch.setattr(executor.cupy, "empty", fail)
    with pytest.raises(LimitError, match="out of memory: Out of memory allocating 8 bytes"):
        executor.evaluate(graph.targets.values())
    assert not machine.counts["kernels"]


def test_a_singular_matrix_is_an_error_on_the_device_too(machine: fake_cupy.Machine) -> None:
    """CuPy would give rubbish in silence: it is told to raise, and the error is the CPU's."""
    graph = of_text("singular", "z = sum(cholesky(a))", {"a": np.array([[1.0, 2.0], [2.0, 1.0]])})
    with pytest.raises(InputError) as on_cpu:
        evaluate(graph.targets.values())
    with pytest.raises(InputError) as on_device:
        Executor("cuda").evaluate(graph.targets.values())
    assert on_device.value.message == on_cpu.value.message
    assert machine.linalg == "ignore"


@pytest.mark.usefixtures("machine")
def test_an_index_outside_is_refused_before_anything_runs() -> None:
    """The device would wrap it around in silence; the graph cannot even be built."""
    with pytest.raises(InputError):
        of_text("outside", "z = sum(gather(a, 0, i))", {"a": np.ones((3, 2)), "i": np.array([[3, 0]])})


@pytest.mark.usefixtures("machine")
def test_views_of_the_host_are_copied_as_they_are_read() -> None:
    """A transposed, a strided and a reversed input give what the CPU gives: a kernel reads memory in order."""
    whole = np.arange(24.0).reshape(4, 6)
    inputs = {"a": whole.T, "b": whole[::2, ::3].T, "c": whole[::-1, 0]}
    graph = of_text("views", "z = sum(a * c) + sum(b)", inputs)
    found, expected = Executor("cuda").evaluate(graph.targets.values()), evaluate(graph.targets.values())
    assert all(np.array_equal(found[node], expected[node]) for node in graph.targets.values())


def test_products_of_cotangents_wait_once(machine: fake_cupy.Machine) -> None:
    """Whether a zero would have stopped something is asked at the end, together with the results."""
    random = np.random.default_rng(3)
    inputs = {name: random.normal(size=(4, 4)) for name in ("a", "b", "c")}
    graph = of_text("network", "z = sum(tanh(tanh(a @ b) @ c))", inputs)
    executor, program = Executor("cuda"), device_program(graph.targets.values())
    found, expected = executor.run(program), evaluate(graph.targets.values())
    assert machine.counts["waits"] == 1
    assert all(np.allclose(found[node], expected[node], rtol=1e-13) for node in graph.targets.values())


def test_a_zero_stops_in_a_product_of_matrices(machine: fake_cupy.Machine) -> None:
    """Where the plain product is not finite, the graph is run again with care: the numbers are the CPU's."""
    inputs = {"a": np.array([[1.0, 2.0], [3.0, 4.0]]), "b": np.array([[np.inf, 1.0], [1.0, 1.0]])}
    graph = of_text("stopped", "y = a @ b\nz = sum(where(y < 100, y, 0))", inputs)
    found, expected = Executor("cuda").evaluate(graph.targets.values()), evaluate(graph.targets.values())
    assert np.isfinite(expected[graph.targets["da"]]).all()
    assert all(np.array_equal(found[node], expected[node], equal_nan=True) for node in graph.targets.values())
    assert machine.counts["uploads"] == 2


@pytest.mark.usefixtures("machine")
def test_empty_arrays() -> None:
    """Of nothing, values and gradients are nothing, and a sum is zero."""
    graph = of_text("empty", "y = tanh(x * 2.0)\nz = sum(y)", {"x": np.ones((0, 3))})
    found, expected = Executor("cuda").evaluate(graph.targets.values()), evaluate(graph.targets.values())
    assert all(np.array_equal(found[node], expected[node]) for node in graph.targets.values())


def test_subnormal_numbers_are_kept(machine: fake_cupy.Machine) -> None:
    """They go through NVRTC without the option that makes zeros of them."""
    graph = of_text("subnormal", "z = x * 0.5", {"x": np.full(5, 1e-40)}, "float32")
    found = Executor("cuda").evaluate([graph.targets["value"]])
    assert (found[graph.targets["value"]] == np.float32(1e-40) * np.float32(0.5)).all()
    assert machine.counts["compilations"] == 1


def test_where_to_compute(machine: fake_cupy.Machine) -> None:
    """A name gives the way; a device that is not there is refused, never replaced by the CPU."""
    assert compute_on("cpu") is evaluate
    graph = of_text("named", "z = sum(x)", {"x": np.ones(3)})
    assert compute_on("cuda:0")([graph.targets["value"]])[graph.targets["value"]] == 3.0
    assert machine.counts["kernels"] == 1
    with pytest.raises(DeviceError, match="there is no such device"):
        compute_on("cuda:1")


def test_rows_of_a_matrix_in_parts(machine: fake_cupy.Machine) -> None:
    """A dense Jacobian is one graph for a batch of rows, planned once and run for each batch, as on the CPU."""
    random = np.random.default_rng(5)
    x = leaf(random.normal(size=7), requires_grad=True)
    output = make.tanh(make.matmul(leaf(random.normal(size=(9, 7))), make.sin(x)))
    expected = rows_of(by_entries(output, [x]))[0]
    machine.counts.clear()
    with computing(way_on("cuda")):
        found = rows_of(by_entries(output, [x]), megabytes=0.0005)[0]
    assert found.shape == (9, 7)
    assert np.allclose(found, expected, rtol=1e-13, atol=1e-15)
    assert machine.counts["waits"] > 3
    assert machine.counts["compilations"] <= 2
