"""NVRTC of NVIDIA's wheel, through ctypes: it compiles without a device, and without CuPy."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from agrad.engine.run.cuda.compile import OPTIONS, PREAMBLE

ARCHITECTURES: Final = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")


def _library() -> Path | None:
    spec = find_spec("nvidia") if find_spec("nvidia") else None
    for folder in spec.submodule_search_locations or () if spec else ():
        for path in sorted(Path(folder).glob("cu*/lib/libnvrtc.so.*")) + sorted(
            Path(folder).glob("*/lib/libnvrtc.so.*")
        ):
            if "alt" not in path.name:
                return path
    return None


MISSING: Final = "" if _library() else "NVRTC's wheel is not installed: agrad[cuda-test]"
"""Why nothing can be compiled here; empty where it can."""


@cache
def _nvrtc() -> Any:
    path = _library()
    assert path is not None
    for builtins in path.parent.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(path))
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return library


def _check(code: int) -> None:
    assert code == 0, _nvrtc().nvrtcGetErrorString(code).decode()


def compiled(text: str, architecture: str, options: Sequence[str] = OPTIONS) -> bytes:
    """The binary of a text for sm_XX, or its assembly for compute_XX."""
    return _compiled(text, architecture, options)[0]


class Used(NamedTuple):
    """What a kernel takes of a multiprocessor.

    Attributes:
        registers: of a thread.
        spilled: bytes that a thread puts aside for want of registers, and takes back.
    """

    registers: int
    spilled: int


_USED: Final = re.compile(
    r"Compiling entry function '(\w+)'.*\n.*Function properties for \1\n"
    r".*?(\d+) bytes spill stores, (\d+) bytes spill loads\n.*Used (\d+) registers"
)


def used(text: str, architecture: str) -> dict[str, Used]:
    """What each kernel of a text takes, by name, as the assembler says it."""
    said = _compiled(text, architecture, (*OPTIONS, "--ptxas-options=-v"))[1]
    found = {
        name: Used(int(registers), int(stores) + int(loads)) for name, stores, loads, registers in _USED.findall(said)
    }
    assert said.count("Compiling entry function") == len(found), said[:2000]
    return found


def _compiled(text: str, architecture: str, options: Sequence[str]) -> tuple[bytes, str]:
    nvrtc, program = _nvrtc(), ctypes.c_void_p()
    source = (PREAMBLE + text).encode()
    _check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernels.cu", 0, None, None))
    given = [f"-arch={architecture}".encode(), *[option.encode() for option in options]]
    failed = nvrtc.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
    size = ctypes.c_size_t()
    _check(nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
    log = ctypes.create_string_buffer(size.value)
    _check(nvrtc.nvrtcGetProgramLog(program, log))
    assert not failed, log.value.decode()[:4000]
    kind = "CUBIN" if architecture.startswith("sm_") else "PTX"
    _check(getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)))
    binary = ctypes.create_string_buffer(size.value)
    _check(getattr(nvrtc, f"nvrtcGet{kind}")(program, binary))
    _check(nvrtc.nvrtcDestroyProgram(ctypes.byref(program)))
    return binary.raw, log.value.decode()
