"""Kernels on the host: the text of CUDA through g++ and the shim, called on NumPy arrays."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

SHIM: Final = Path(__file__).parent / "host_shim.h"
COMPILER: Final = shutil.which("g++") or ""
MISSING: Final = "" if COMPILER else "g++ is not installed"
"""Why kernels cannot run on the host here; empty where they can."""

KEPT: Final = 200
"""Libraries that are kept for the next run."""

KERNEL: Final = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(([^)]*)\)')
_SCIPY: Final = {
    "host_erfcx": "__pyx_fuse_1erfcx",
    "host_erfinv": "__pyx_fuse_0erfinv",
    "host_ndtri": "ndtri",
    "host_i0": "i0",
    "host_i1": "i1",
}


class BarrierError(RuntimeError):
    """A barrier or a shuffle that only a part of the threads reaches."""


class HostModule:
    """The kernels of some texts, compiled into one library."""

    def __init__(self, texts: Sequence[str], *, backwards: bool = False) -> None:
        self.backwards = backwards
        self.kernels = {name: parameters for text in texts for name, parameters in KERNEL.findall(text)}
        self.library = _compiled(texts)

    def launch(self, name: str, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any]) -> None:
        """Run one kernel on NumPy arrays and scalars.

        Raises:
            BarrierError: where not all threads reach a barrier.
        """
        parameters = [parameter for parameter in self.kernels[name].split(",") if parameter.strip()]
        assert len(parameters) == len(arguments), f"{name} takes {len(parameters)} arguments, not {len(arguments)}"
        boxes = [_box(argument) for argument in arguments]
        addresses = (ctypes.c_void_p * max(len(boxes), 1))(*[ctypes.addressof(box) for box in boxes])
        fault = getattr(self.library, f"run_{name}")(
            addresses, (ctypes.c_uint * 3)(*_three(grid)), (ctypes.c_uint * 3)(*_three(block)), int(self.backwards)
        )
        if fault:
            raise BarrierError(f"{name}: {'a barrier' if fault == 1 else 'a shuffle'} that not all threads reach")


def _three(sizes: Sequence[int]) -> list[int]:
    return [*sizes, 1, 1, 1][:3]


def _box(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    if isinstance(argument, np.generic):
        return np.ctypeslib.as_ctypes_type(argument.dtype)(argument.item())
    return ctypes.c_longlong(argument) if isinstance(argument, int) else ctypes.c_double(argument)


def _bodies(text: str) -> Mapping[str, str]:
    """The text of each kernel, by name."""
    places = [(found.start(), found.group(1)) for found in KERNEL.finditer(text)]
    ends = [start for start, _ in places[1:]] + [len(text)]
    return {name: text[start:end] for (start, name), end in zip(places, ends, strict=True)}


def _trampoline(name: str, parameters: str, body: str) -> str:
    types = [parameter.rsplit(None, 1)[0].replace("__restrict__", "") for parameter in parameters.split(",")]
    values = ", ".join(f"*({kind}*) a[{index}]" for index, kind in enumerate(types) if parameters.strip())
    fibers = int(any(word in body for word in ("__sync", "__shfl", "block_all", "warp_all")))
    declared = f'extern "C" __attribute__((visibility("default"))) int run_{name}'
    return (
        f"static void body_{name}(void** a) {{ {name}({values}); }}\n"
        f"{declared}(void** a, const unsigned* grid, const unsigned* block, int backwards) "
        f"{{ return host_launch(body_{name}, a, grid, block, {fibers}, backwards); }}\n"
    )


def _compiled(texts: Sequence[str]) -> ctypes.CDLL:
    """The library of some texts; compiled once for each content, and kept for the next run."""
    assert not MISSING, MISSING
    parts = ['#include "host_shim.h"\n']
    for text in texts:
        parts += [text, *[_trampoline(name, KERNEL.search(body)[2], body) for name, body in _bodies(text).items()]]  # type: ignore[index]  # it begins with the match
    source = "\n".join(parts)
    digest = hashlib.sha256((source + SHIM.read_text(encoding="utf-8")).encode()).hexdigest()[:24]
    folder = Path(tempfile.gettempdir()) / f"agrad-host-kernels-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{digest}.so"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            written, built = Path(place, "kernels.cpp"), Path(place, "kernels.so")
            written.write_text(source, encoding="utf-8")
            done = subprocess.run(
                [COMPILER, "-std=c++17", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-fvisibility=hidden", "-w",
                 f"-I{SHIM.parent}", "-o", str(built), str(written)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr[:4000]
            built.replace(path)
        for old in sorted(folder.glob("*.so"), key=lambda each: each.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)
    library = ctypes.CDLL(str(path))
    for name, address in _scipy_functions().items():
        ctypes.c_void_p.in_dll(library, name).value = address
    return library


@cache
def _scipy_functions() -> Mapping[str, int]:
    """The addresses of SciPy's scalar functions."""
    from scipy.special import cython_special

    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsules = cython_special.__pyx_capi__
    return {name: pointer(capsules[theirs], name_of(capsules[theirs])) for name, theirs in _SCIPY.items()}
