"""From text to modules: NVRTC's binaries, made once for each text, device and version, and kept on disk.

CuPy's own compiling adds -ftz=true, which makes zeros of float32's subnormal numbers; so NVRTC is called here.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Any, Final, NamedTuple

from .kernels import Kernel, module_text

# Without these CUDA C++ has neither macro; a compiler of the host brings its own.
PREAMBLE: Final = """#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
"""

OPTIONS: Final = ("--std=c++17", "--fmad=false")
"""A product and a sum are rounded one after the other, as NumPy's are; float32 keeps its subnormal numbers."""

CACHE_BYTES: Final = 256 * 2**20
"""How much the cache on disk may hold; the modules that were used longest ago go first."""
_LARGEST: Final = 64 * 2**20
"""No module is larger: a file that is was not written here."""


def cache_folder() -> Path:
    """Where modules are kept: $AGRAD_CACHE_DIR, or the user's folder for caches."""
    named = os.environ.get("AGRAD_CACHE_DIR")
    if named:
        return Path(named) / "kernels"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "agrad" / "kernels"


class Loaded(NamedTuple):
    """A module on a device.

    Attributes:
        functions: its functions, by name.
        compiled: whether NVRTC ran; False where the module was found on disk.
    """

    functions: dict[str, Any]
    compiled: bool


def loaded(cupy: Any, kernels: list[Kernel]) -> Loaded:
    """The module of some kernels, on the current device."""
    text = PREAMBLE + module_text(kernels)
    target = _target(cupy)
    version = ".".join(str(part) for part in cupy.cuda.nvrtc.getVersion())
    key = hashlib.sha256("\0".join((target, version, *OPTIONS, text)).encode()).hexdigest()
    binary = read_cached(key)
    compiled = binary is None
    if binary is None:
        binary = _compiled(cupy, text, target)
        write_cached(key, binary)
    return Loaded(_functions(cupy, binary, target, [kernel.name for kernel in kernels]), compiled)


def _target(cupy: Any) -> str:
    """The architecture of the current device; where NVRTC is older than it, the newest that it knows, as assembly."""
    wanted = int(cupy.cuda.Device().compute_capability)
    known = [int(each) for each in cupy.cuda.nvrtc.getSupportedArchs()]
    return f"sm_{wanted}" if wanted in known else f"compute_{max(each for each in known if each < wanted)}"


def _compiled(cupy: Any, text: str, target: str) -> bytes:
    nvrtc = cupy.cuda.nvrtc
    program = nvrtc.createProgram(text, "agrad.cu", (), ())
    try:
        nvrtc.compileProgram(program, (f"-arch={target}", *OPTIONS))
        if target.startswith("sm_"):
            return bytes(nvrtc.getCUBIN(program))
        assembly = nvrtc.getPTX(program)
        return assembly.encode() if isinstance(assembly, str) else bytes(assembly)
    finally:
        nvrtc.destroyProgram(program)


def _functions(cupy: Any, binary: bytes, target: str, names: list[str]) -> dict[str, Any]:
    """The functions of a binary. CuPy loads from a file: one that nobody else can write."""
    with tempfile.TemporaryDirectory(prefix="agrad-") as folder:
        path = Path(folder) / f"kernels.{'cubin' if target.startswith('sm_') else 'ptx'}"
        path.write_bytes(binary)
        module = cupy.RawModule(path=str(path))
        return {name: module.get_function(name) for name in dict.fromkeys(names)}


# The cache. A file is called by its key and the digest of what it holds: what is broken or foreign is not loaded.


def read_cached(key: str) -> bytes | None:
    """The module of a key; None where there is none, or it is not what was written."""
    folder = cache_folder()
    try:
        if not _is_ours(folder):
            return None
        for path in folder.glob(f"{key}-*"):
            content = _content(path)
            if content is not None and path.name == f"{key}-{hashlib.sha256(content).hexdigest()}":
                with contextlib.suppress(OSError):
                    os.utime(path)  # it was used
                return content
    except OSError:
        return None
    return None


def _is_ours(folder: Path) -> bool:
    """Whether only this user can have written into a folder."""
    if not hasattr(os, "getuid"):
        return folder.is_dir()
    found = folder.stat(follow_symlinks=False)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def _content(path: Path) -> bytes | None:
    """The bytes of a plain file that is not too large."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(stream.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            return None
        return stream.read(_LARGEST + 1)


def write_cached(key: str, binary: bytes) -> None:
    """Keep a module; a disk that cannot be written only costs compiling again."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(folder):
            return
        descriptor, name = tempfile.mkstemp(dir=folder, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(binary)
            os.replace(name, folder / f"{key}-{hashlib.sha256(binary).hexdigest()}")  # noqa: PTH105  # atomic, by name
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
        _shrink(folder)


def _shrink(folder: Path) -> None:
    """Drop what was used longest ago until the rest fits."""
    found = []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            status = path.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                found.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= CACHE_BYTES:
            return
        with contextlib.suppress(OSError):
            path.unlink()
            total -= size
