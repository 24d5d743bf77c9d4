"""What is missing of CUDA is told in one line, with how to get it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from agrad.engine.errors import DeviceError, LimitError
from agrad.engine.run.cuda import status
from agrad.engine.run.cuda.status import choose, device_faults, require


class CUDARuntimeError(RuntimeError):
    """CuPy's, by its name and attribute."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.status = code


def failing(fault: Exception) -> Callable[..., Any]:
    """A function that only raises."""

    def fail(*_args: object) -> Any:
        raise fault

    return fail


def machine(
    *, count: Callable[[], int] = lambda: 1, driver: int = 13000, nvrtc: Callable[[], Any] = lambda: (13, 0)
) -> ModuleType:
    """A CuPy as it is on some machine."""
    cupy = ModuleType("cupy")
    cupy.__spec__ = ModuleSpec("cupy", None)
    runtime = SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        driverGetVersion=lambda: driver,
        runtimeGetVersion=lambda: 13020,
        getDeviceCount=count,
        getDeviceProperties=lambda _index: {"name": b"Some\x1b GPU", "major": 9, "minor": 0},
        memGetInfo=lambda: (3 * 2**30, 4 * 2**30),
    )
    cuda = SimpleNamespace(
        runtime=runtime, nvrtc=SimpleNamespace(getVersion=nvrtc), Device=lambda _index: nullcontext()
    )
    vars(cupy).update(__version__="14.2.0", cuda=cuda)
    return cupy


MACHINES = {
    "no driver": (machine(count=failing(CUDARuntimeError(35, "insufficient")), driver=0), "no NVIDIA driver"),
    "old driver": (machine(count=failing(CUDARuntimeError(35, "old")), driver=11040), "is for CUDA 11.4"),
    "no device": (machine(count=failing(CUDARuntimeError(100, "none"))), "no CUDA device is visible"),
    "none visible": (machine(count=lambda: 0), "no CUDA device is visible"),
    "broken driver": (machine(count=failing(CUDARuntimeError(999, "unknown error"))), "the driver fails: unknown"),
    "no NVRTC": (machine(nvrtc=failing(RuntimeError("no libnvrtc.so.13\nmore"))), "NVRTC cannot be loaded"),
}


@pytest.mark.parametrize("name", MACHINES)
def test_what_is_missing_is_one_line_that_says_how_to_get_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way that CUDA can be absent is a DeviceError of one line, and `auto` is the CPU, saying why."""
    cupy, words = MACHINES[name]
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with pytest.raises(DeviceError, match=words) as caught:
        require("cuda")
    assert "\n" not in caught.value.message
    assert "; to get it: " in caught.value.message
    device, reason = choose()
    assert device == "cpu"
    assert words in reason


def test_a_machine_without_cupy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where CuPy is not installed, the extra to install is named."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(status, "find_spec", lambda _name: None)
    with pytest.raises(DeviceError, match=r"CuPy is not installed.*agrad\[cuda13\]"):
        require("cuda")


def test_a_cupy_that_cannot_be_imported_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken installation is one line, not a traceback."""
    monkeypatch.setattr(status, "find_spec", lambda _name: ModuleSpec("cupy", None))
    monkeypatch.setattr(status, "import_module", failing(ImportError("libcudart.so: cannot open\nmore")))
    with pytest.raises(DeviceError, match=r"cannot be imported: libcudart\.so: cannot open;"):
        require("cuda")


def test_a_usable_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that is there is described, `auto` is CUDA, and an index too high is refused."""
    monkeypatch.setitem(sys.modules, "cupy", machine(count=lambda: 2))
    assert require("cuda:1")[2:] == ("9.0", 4 * 2**30, 3 * 2**30)
    assert choose()[0] == "cuda"
    with pytest.raises(DeviceError, match="there is no such device, only 2 devices"):
        require("cuda:2")


class OutOfMemoryError(MemoryError):
    """CuPy's, by its name."""


class DynamicLibNotFoundError(RuntimeError):
    """The loader's of CUDA's libraries, by its name."""


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (OutOfMemoryError("allocating 8 bytes"), LimitError, "out of memory: allocating 8 bytes"),
        (DynamicLibNotFoundError("libcublas.so"), DeviceError, "a library of CUDA is missing"),
        (CUDARuntimeError(700, "illegal address"), DeviceError, "illegal address"),
        (ZeroDivisionError("ours"), ZeroDivisionError, "ours"),
    ],
)
def test_faults_of_the_device_are_told(fault: Exception, kind: type[Exception], words: str) -> None:
    """Faults of CUDA become errors for people; a bug of agrad stays what it is."""
    with pytest.raises(kind, match=words), device_faults("cuda"):
        raise fault


@pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is not installed: agrad[cuda-test]")
def test_the_real_cupy_without_a_driver() -> None:
    """With the real CuPy the command says in one line what is missing, or lists the device, and exits 3 or 0."""
    done = subprocess.run(
        [sys.executable, "-m", "agrad.cli", "eval", "-e", "z = x**2", "--at", "x=3", "--device", "cuda", "--no-check"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    usable = status.status().missing is None
    assert done.returncode == (0 if usable else 3)
    assert len(done.stderr.splitlines()) == (0 if usable else 1)


def test_cupy_is_imported_only_when_asked_for() -> None:
    """On the CPU no module of CuPy is imported."""
    code = (
        "import sys, agrad.cli.main, agrad.cli.commands.eval, agrad.cli.evaluation\n"
        "assert not {'cupy', 'cupyx', 'agrad.engine.run.cuda'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
