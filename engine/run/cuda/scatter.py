"""Sums at repeated positions, in the same order every time: CuPy's own adds as the device's threads happen to come.

Positions are sorted, equal ones in the order in which they are given; then each has its numbers next to each other.
A thread adds up a stretch of them, and another what the stretches of one position have. Up to a stretch this is the
order in which NumPy adds.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...graph import FLOAT32, FLOAT64, INT64, DType
from ..values import Value
from . import text
from .compile import loaded
from .kernels import BLOCKS, THREADS, Kernel, named

STRETCH: Final = 1024
"""Numbers that one thread adds up at most."""
_TYPES: Final = (FLOAT64, FLOAT32, INT64)

_STRETCHES: Final = """const long long start = blockIdx.x * {threads}LL + threadIdx.x, step = gridDim.x * {threads}LL;
for (long long i = start; i < n; i += step) {{
  const long long at = place[i];
  const bool first = i == 0 || place[i - 1] != at;
  if (!first && i % {stretch}) continue;
  {kind} sum = first ? target[at] + value[i] : value[i];
  for (long long j = i + 1; j < n && j % {stretch} && place[j] == at; ++j) sum += value[j];
  part[i] = sum;
}}
"""
_POSITIONS: Final = """const long long start = blockIdx.x * {threads}LL + threadIdx.x, step = gridDim.x * {threads}LL;
for (long long i = start; i < n; i += step) {{
  const long long at = place[i];
  if (i && place[i - 1] == at) continue;
  {kind} sum = part[i];
  for (long long j = (i / {stretch} + 1) * {stretch}; j < n && place[j] == at; j += {stretch}) sum += part[j];
  target[at] = sum;
}}
"""


def scatter_kernels(dtype: DType) -> list[Kernel]:
    """The two kernels that add numbers of a dtype, sorted by position, to a flat array; run one after the other."""
    kind = text.c_type(dtype)
    values = {"kind": kind, "threads": THREADS, "stretch": STRETCH}
    places = "const long long* __restrict__ place"
    return [
        named(
            f"{places}, const {kind}* __restrict__ value, {kind}* __restrict__ part, "
            f"const {kind}* __restrict__ target, const long long n",
            _STRETCHES.format(**values), (), (THREADS,), [],
        ),
        named(
            f"{places}, const {kind}* __restrict__ part, {kind}* __restrict__ target, const long long n",
            _POSITIONS.format(**values), (), (THREADS,), [],
        ),
    ]  # fmt: skip


def workspace(value: Value) -> int:
    """Bytes that sums at positions take beside what they read and give: a place and an order for each number."""
    if value.op.name not in ("scatter_add", "index_put"):
        return 0
    return INT64.itemsize * (value.size + 4 * value.args[1].size)


class Library:
    """CuPy as kernels of the table see it: all of it, but sums at positions are these.

    Args:
        cupy: CuPy.
    """

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self.add: Any = _Add(cupy)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cupy, name)


class _Add:
    """The universal function `add` of CuPy."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._functions: dict[tuple[int, DType], list[Any]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Of arrays and single numbers."""
        return self._cupy.add(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cupy.add, name)

    def at(self, array: Any, key: Any, values: Any) -> None:
        """Add values at positions in place, at repeated ones one after another."""
        cupy = self._cupy
        places = cupy.arange(array.size).reshape(array.shape)[key]
        if not places.size:
            return
        given = cupy.broadcast_to(cupy.asarray(values, array.dtype), places.shape).reshape(-1)
        order = cupy.argsort(places.reshape(-1))  # CuPy's sort is stable
        places, given = cupy.take(places.reshape(-1), order), cupy.take(given, order)
        if array.dtype.kind == "c":
            whole = cupy.array(array, None, True, "C").reshape(-1)
            real, imaginary = (cupy.array(part(whole), None, True, "C") for part in (cupy.real, cupy.imag))
            self._add_sorted(real, places, cupy.array(cupy.real(given), None, True, "C"))
            self._add_sorted(imaginary, places, cupy.array(cupy.imag(given), None, True, "C"))
            array[...] = (real + 1j * imaginary).reshape(array.shape)
            return
        assert array.dtype in _TYPES, array.dtype
        if array.flags.c_contiguous:
            self._add_sorted(array.reshape(-1), places, given)
            return
        whole = cupy.array(array, None, True, "C").reshape(-1)
        self._add_sorted(whole, places, given)
        array[...] = whole.reshape(array.shape)

    def _add_sorted(self, target: Any, places: Any, values: Any) -> None:
        """Add values to a flat array; their positions are sorted."""
        stretches, positions = self._functions_of(target.dtype)
        count = np.int64(places.size)
        part = self._cupy.empty((places.size,), target.dtype)
        grid = (min(BLOCKS, math.ceil(places.size / THREADS)),)
        stretches(grid, (THREADS,), (places, values, part, target, count))
        positions(grid, (THREADS,), (places, part, target, count))

    def _functions_of(self, dtype: DType) -> list[Any]:
        """The two functions for a dtype, on the current device."""
        key = (self._cupy.cuda.Device().id, dtype)
        if key not in self._functions:
            kernels = scatter_kernels(dtype)
            found = loaded(self._cupy, kernels).functions
            self._functions[key] = [found[kernel.name] for kernel in kernels]
        return self._functions[key]
