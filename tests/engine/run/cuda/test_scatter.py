"""Sums at repeated positions: in a fixed order, never by the device's atomic additions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agrad.engine.run.cpu import evaluate
from agrad.engine.run.cuda import scatter
from agrad.engine.run.cuda.executor import Executor
from agrad.engine.run.cuda.scatter import STRETCH, Library

from ....gpu.cases import of_text
from . import fake_cupy
from .host import MISSING

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

PLACES = np.random.default_rng(6).integers(0, 5, (40, 3))
INPUTS: dict[str, Any] = {
    "a": np.random.default_rng(7).normal(size=(5, 3)),
    "b": np.random.default_rng(8).normal(size=(40, 3)),
    "i": PLACES,
    "j": PLACES[:, 0],
}
FORMS = {
    "scatter_add": "z = sum(torch.scatter_add(a, 0, i, b) ** 2)",
    "index_add": "z = sum(torch.index_add(a, 0, j, b) ** 2)",
    "index_put": "z = sum(a.index_put((j,), b, accumulate=True) ** 2)",
    "gradient of gather": "z = sum(torch.gather(a, 0, i) * b)",
    "gradient of take": "z = sum(torch.take(a, i) * b)",
    "gradient of index": "z = sum(a[j] * b)",
    "gradient of index_select": "z = sum(torch.index_select(a, 0, j) * b)",
    "gradient of a column": "z = sum(a[j, 1] * b[:, 0])",
}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[fake_cupy.Machine]:
    """The fake in place of CuPy, in which nothing may add at positions by itself."""

    def refuse(self: Any, *_args: object) -> None:
        raise AssertionError(f"{self.name}.at adds in any order")

    monkeypatch.setenv("AGRAD_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(fake_cupy.Ufunc, "at", refuse)
    with fake_cupy.installed() as found:
        yield found


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("form", FORMS)
def test_the_numbers_are_the_cpus(form: str, dtype: str, machine: fake_cupy.Machine) -> None:
    """Values and gradients, bit by bit and in both orders of warps; CuPy's atomic addition is never called."""
    used = {name: value for name, value in INPUTS.items() if re.search(rf"\b{name}\b", FORMS[form].partition("=")[2])}
    graph = of_text(form, FORMS[form], used, dtype)
    expected = evaluate(graph.targets.values())
    for backwards in (False, True):
        machine.backwards = backwards
        machine.counts.clear()
        found = Executor("cuda").evaluate(graph.targets.values())
        assert machine.counts["waits"] == 1
        total, *grads = graph.targets
        assert np.allclose(found[graph.targets[total]], expected[graph.targets[total]], rtol=1e-6)
        for name in grads:
            node = graph.targets[name]
            assert np.array_equal(found[node], expected[node]), name


def test_one_position_many_times(machine: fake_cupy.Machine) -> None:
    """More numbers for a position than one thread adds up, beside others that have few: all arrive once."""
    places = np.concatenate([np.full(3 * STRETCH + 7, 2), [0, 1, 1], np.full(2 * STRETCH, 4)])
    places = np.random.default_rng(3).permutation(places)
    values = np.arange(1.0, places.size + 1)
    expected = np.full(6, 0.5)
    np.add.at(expected, places, values)
    for backwards in (False, True):
        machine.backwards = backwards
        array = fake_cupy.cupy.asarray(np.full(6, 0.5))
        Library(fake_cupy.cupy).add.at(array, fake_cupy.cupy.asarray(places), fake_cupy.cupy.asarray(values))
        assert np.array_equal(array.get(), expected)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_any_key_and_memory_in_any_order(dtype: str) -> None:
    """Slices beside lists of positions, a number for all of them, and an array whose columns are contiguous."""
    start = np.arange(12).reshape(3, 4).astype(dtype)
    rows = np.array([0, 2, 2, 0])
    for key in ((rows, slice(1, 3)), (slice(None), rows), (rows, rows)):
        for values in (np.asarray(2, dtype), start[0, :1] + 1):
            expected = np.asfortranarray(start)
            np.add.at(expected, key, values)
            array = fake_cupy.ndarray._of(np.asfortranarray(start))
            on_device = tuple(fake_cupy.cupy.asarray(each) if isinstance(each, np.ndarray) else each for each in key)
            Library(fake_cupy.cupy).add.at(array, on_device, fake_cupy.cupy.asarray(values))
            assert np.array_equal(array.get(), expected), key


@pytest.mark.usefixtures("machine")
def test_a_planted_lost_stretch_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the second kernel leaves out what other stretches have, the sum is another."""
    planted = scatter._POSITIONS.replace("sum += part[j]", "sum += 0")
    assert planted != scatter._POSITIONS
    monkeypatch.setattr(scatter, "_POSITIONS", planted)
    array = fake_cupy.cupy.asarray(np.zeros(2))
    places = fake_cupy.cupy.asarray(np.zeros(2 * STRETCH, np.int64))
    Library(fake_cupy.cupy).add.at(array, places, fake_cupy.cupy.asarray(np.ones(2 * STRETCH)))
    assert array.get().tolist() != [2.0 * STRETCH, 0.0]
