"""NumPy's BLAS on one thread while blocks are computed: the workers are the threads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

_PREFIXES: Final = ("scipy_openblas", "openblas")
_SUFFIXES: Final = ("64_", "")


class _Threads(NamedTuple):
    """The functions of an OpenBLAS that get and set its number of threads."""

    get: Callable[[], int]
    set: Callable[[int], object]


@contextmanager
def one_thread() -> Iterator[None]:
    """Let matrix products use the calling thread alone while the block runs; nothing where BLAS is another."""
    threads = _threads()
    before = threads.get() if threads is not None else 1
    if threads is None or before == 1:
        yield
        return
    try:
        threads.set(1)
        yield
    finally:
        threads.set(before)


@cache
def _threads() -> _Threads | None:
    """The OpenBLAS that NumPy has loaded, if it is one and the system says where it is."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
        paths = sorted({line.split(maxsplit=5)[-1] for line in lines if "openblas" in line})
        for path in paths:
            library = ctypes.CDLL(path)
            for prefix in _PREFIXES:
                for suffix in _SUFFIXES:
                    names = [f"{prefix}_{word}_num_threads{suffix}" for word in ("get", "set")]
                    if all(hasattr(library, name) for name in names):
                        return _Threads(*[getattr(library, name) for name in names])
    except OSError:
        pass
    return None
