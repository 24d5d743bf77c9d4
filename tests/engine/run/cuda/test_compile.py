"""The cache of compiled modules: found again, bounded, and hostile files harmless."""

from __future__ import annotations

import hashlib
import os
import stat
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from agrad.engine.errors import DeviceError
from agrad.engine.run.cuda import compile as compiling
from agrad.engine.run.cuda.compile import cache_folder, read_cached, write_cached
from agrad.engine.run.cuda.executor import Executor
from agrad.engine.run.cuda.kernels import module_text
from agrad.engine.run.cuda.program import device_program
from agrad.engine.run.cuda.status import device_faults

from ....gpu.cases import of_text
from . import fake_cupy
from .host import MISSING

KEY = "a" * 64


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGRAD_CACHE_DIR", str(tmp_path / "cache"))


def test_what_is_written_is_read() -> None:
    """A module is found by its key, in a folder that only its user can enter; another key has none."""
    write_cached(KEY, b"binary")
    assert read_cached(KEY) == b"binary"
    assert read_cached("b" * 64) is None
    assert stat.S_IMODE(cache_folder().stat().st_mode) == 0o700
    assert [path.name for path in cache_folder().iterdir()] == [f"{KEY}-{hashlib.sha256(b'binary').hexdigest()}"]


def test_the_folders_of_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own folder for caches is taken where nothing else is said."""
    monkeypatch.delenv("AGRAD_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/agrad/kernels")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache/agrad/kernels"


def test_a_broken_file_is_not_read() -> None:
    """One that was cut short, changed or made by hand under a key is as if it were not there."""
    write_cached(KEY, b"binary")
    (path,) = cache_folder().iterdir()
    path.write_bytes(b"bin")
    assert read_cached(KEY) is None
    (cache_folder() / f"{KEY}-nothing").write_bytes(b"other")
    assert read_cached(KEY) is None


def test_links_and_pipes_are_not_read(tmp_path: Path) -> None:
    """Neither a link to a file, a pipe nor a folder in the place of a module is opened, and none is waited for."""
    write_cached(KEY, b"binary")
    (path,) = cache_folder().iterdir()
    path.unlink()
    (tmp_path / "foreign").write_bytes(b"binary")
    path.symlink_to(tmp_path / "foreign")
    assert read_cached(KEY) is None
    path.unlink()
    os.mkfifo(path)
    assert read_cached(KEY) is None
    path.unlink()
    path.mkdir()
    assert read_cached(KEY) is None


def test_a_folder_that_others_can_write_is_not_trusted() -> None:
    """Nothing is read from it, and nothing written."""
    cache_folder().mkdir(parents=True)
    cache_folder().chmod(0o777)
    write_cached(KEY, b"binary")
    assert not list(cache_folder().iterdir())
    (cache_folder() / f"{KEY}-{hashlib.sha256(b'x').hexdigest()}").write_bytes(b"x")
    assert read_cached(KEY) is None


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was used longest ago goes first."""
    monkeypatch.setattr(compiling, "CACHE_BYTES", 25)
    for number in range(4):
        write_cached(str(number) * 64, bytes(10))
        for path in cache_folder().iterdir():
            os.utime(path, (int(path.name[0]), int(path.name[0])))
    assert [read_cached(str(number) * 64) is not None for number in range(4)] == [False, False, True, True]


def test_a_cache_that_cannot_be_written_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file in the place of the folder only costs compiling again."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AGRAD_CACHE_DIR", str(tmp_path / "file"))
    write_cached(KEY, b"binary")
    assert read_cached(KEY) is None


@pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is not installed: agrad[cuda-test]")
def test_the_real_nvrtc_through_cupy() -> None:
    """Without a device, CuPy's NVRTC makes a binary and an assembly of a graph's kernels, and tells what is wrong."""
    import cupy

    graph = of_text("compiled", "z = sum(tanh(x) ** 2)", {"x": np.ones(5000, np.float32)}, "float32")
    text = compiling.PREAMBLE + module_text(device_program(graph.targets.values()).kernels)
    assert compiling._compiled(cupy, text, "sm_90").startswith(b"\x7fELF")
    assert b".target sm_90" in compiling._compiled(cupy, text, "compute_90")
    assert 90 in cupy.cuda.nvrtc.getSupportedArchs()
    with pytest.raises(DeviceError, match="a kernel does not compile"), device_faults("cuda"):
        compiling._compiled(cupy, text + "wrong", "sm_90")


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_a_second_run_compiles_nothing() -> None:
    """The module of the same graph is found on disk; a broken one is compiled again."""
    graph = of_text("cached", "z = sum(x * x)", {"x": np.ones(50)})
    with fake_cupy.installed() as machine:
        for broken, compilations in ((False, 1), (False, 1), (True, 2)):
            if broken:
                for path in cache_folder().iterdir():
                    path.write_bytes(b"broken")
            Executor("cuda").evaluate(graph.targets.values())
            assert machine.counts["compilations"] == compilations
