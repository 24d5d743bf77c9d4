"""The fake of CuPy: it has what the real one has, and no more."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from . import fake_cupy
from .fake_cupy import cupy, cupyx

ROOT = Path(__file__).parents[4]
REAL = pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is not installed: agrad[cuda-test]")


@REAL
def test_the_names_are_those_of_the_real_cupy() -> None:
    """What was recorded is what the installed CuPy of the same version offers."""
    from .record_cupy import recorded

    found = json.loads(json.dumps(recorded()))
    if found["cupy"] != fake_cupy.NAMES["cupy"]:
        pytest.skip(f"CuPy {found['cupy']} is installed, and {fake_cupy.NAMES['cupy']} was recorded")
    assert found == fake_cupy.NAMES


def test_every_function_that_a_kernel_calls_exists() -> None:
    """Each `xp.name` in the engine is a name of CuPy: none is NumPy's alone."""
    missing = []
    for path in sorted(ROOT.glob("engine/**/*.py")):
        for name in re.findall(
            r"\bxp\.((?:linalg\.|fft\.|lib\.stride_tricks\.)?\w+)", path.read_text(encoding="utf-8")
        ):
            module, _, last = f"cupy.{name}".rpartition(".")
            if last not in fake_cupy.NAMES["modules"].get(module, {}) and last not in ("lib", "linalg", "fft"):
                missing.append(f"{path.name}: xp.{name}")
    assert not missing, missing


@pytest.mark.parametrize(
    "call",
    [
        lambda x: cupy.exp(x, where=x > 1),
        lambda x: cupy.max(x, initial=0),
        lambda x: cupy.add(x, [1, 2, 3]),
        lambda x: x + np.ones(3),
        lambda x: np.asarray(x),
        lambda x: cupy.sort(x, stable=True),
        lambda x: cupy.take(x, 1, mode="clip"),
        lambda x: cupy.zeros(3, like=x),
    ],
)
def test_what_cupy_refuses_is_a_type_error(call: Any) -> None:
    """Keywords and operands that only NumPy takes."""
    with pytest.raises(TypeError):
        call(cupy.asarray(np.arange(3.0)))


def test_names_that_only_numpy_has_are_not_there() -> None:
    """Neither functions nor methods."""
    for name in ("vecdot", "matvec", "unstack", "insert"):
        assert hasattr(np, name)
        assert not hasattr(cupy, name)
    assert not hasattr(cupy.linalg, "svdvals")
    assert not hasattr(cupy.asarray(np.ones(2)), "setflags")


def test_an_index_outside_wraps_around() -> None:
    """As on the device: in reading, writing and taking."""
    x = cupy.asarray(np.arange(3.0))
    assert x[cupy.asarray(np.array([3, 4]))].get().tolist() == [0.0, 1.0]
    assert cupy.take(x, cupy.asarray(np.array([5]))).get().tolist() == [2.0]
    x[cupy.asarray(np.array([4]))] = 9.0
    assert x.get().tolist() == [0.0, 9.0, 2.0]


def test_singular_matrices_are_silent_unless_told() -> None:
    """Without errstate the result is rubbish; with it, an error."""
    singular = cupy.asarray(np.zeros((2, 2)))
    assert np.isnan(cupy.linalg.inv(singular).get()).all()
    with cupyx.errstate(linalg="raise"), pytest.raises(np.linalg.LinAlgError):
        cupy.linalg.inv(singular)


def test_memory_is_poisoned_and_waits_are_counted() -> None:
    """What is not written is NaN, a sum has no axes, and reading it on the host is a wait."""
    with fake_cupy.installed() as machine:
        assert np.isnan(cupy.empty(3).get()).all()
        total = cupy.sum(cupy.asarray(np.ones(3)))
        assert isinstance(total, cupy.ndarray)
        machine.counts.clear()
        assert float(total) == 3.0
        assert bool(total > 2)
        assert machine.counts["waits"] == 2


def test_scalars_promote_as_in_numpy_2() -> None:
    """Python's numbers are weak, NumPy's are not."""
    x = cupy.asarray(np.ones(2, np.float32))
    assert (x * 2.0).dtype == np.float32
    assert (x * np.float64(2)).dtype == np.float64
    assert (np.float64(2) * x).dtype == np.float64


def test_accumulating_at_places_has_cupys_dtypes() -> None:
    """`add.at` exists for floats, not for complex numbers."""
    x = cupy.zeros(3)
    cupy.add.at(x, cupy.asarray(np.array([0, 0, 4])), 1.0)
    assert x.get().tolist() == [2.0, 1.0, 0.0]
    with pytest.raises(TypeError):
        cupy.add.at(cupy.zeros(3, complex), cupy.asarray(np.array([0])), 1.0)
    with pytest.raises(NotImplementedError):
        cupy.maximum.reduce(x)
