"""Kernels as they are generated: their text, how they are launched, and the device functions that all of them share."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final, NamedTuple

from ...graph import DType
from .special import functions_for

THREADS: Final = 256
"""Threads of a block."""
RESIDENT: Final = 2
"""Blocks that fit a multiprocessor at least: a compiler that is told nothing spills registers for the sake of more."""
ALONE: Final = 1
"""The same where registers are scarce: a block has a multiprocessor of its own, and a thread 255 of them."""
BLOCKS: Final = 2048
"""Blocks of a grid at most: the same on every device, so that sums are added in the same order everywhere."""

SHARED_FUNCTIONS: Final = """
template <class T, int N> struct alignas(sizeof(T) * N) Pack { T at[N]; };
struct Place { double value; long long at; };
struct Sum { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };
struct Largest { template <class T> __device__ T operator()(T a, T b) const { return a != a || b < a ? a : b; } };
struct Smallest { template <class T> __device__ T operator()(T a, T b) const { return a != a || b > a ? a : b; } };
struct Earliest {
  __device__ Place operator()(Place a, Place b) const {
    bool nan_a = a.value != a.value, nan_b = b.value != b.value;
    bool first = nan_a != nan_b ? nan_a : nan_a || a.value == b.value ? a.at < b.at : a.value > b.value;
    return first ? a : b;
  }
};
template <class T> __device__ T across(T value, unsigned mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
__device__ Place across(Place value, unsigned mask) { return Place{across(value.value, mask), across(value.at, mask)}; }
template <class T, class F> __device__ T warp_all(T value, F fold) {
  for (unsigned mask = 16; mask; mask >>= 1) value = fold(value, across(value, mask));
  return value;
}
template <class T, class F> __device__ T block_all(T value, F fold) {
  __shared__ T of_warp[32];
  unsigned thread = threadIdx.x + threadIdx.y * blockDim.x, warps = blockDim.x * blockDim.y / 32;
  value = warp_all(value, fold);
  if (thread % 32 == 0) of_warp[thread / 32] = value;
  __syncthreads();
  value = of_warp[0];
  #pragma unroll 1
  for (unsigned i = 1; i < warps; ++i) value = fold(value, of_warp[i]);
  __syncthreads();
  return value;
}
"""
"""`warp_all` and `block_all` fold a value of each thread and give the result to all of them, in a fixed order."""


class Argument(NamedTuple):
    """What a kernel is given at one place.

    Attributes:
        kind: "input" (a pointer), "number" (an input by value), "output" or "part" (what a first pass leaves).
        number: which one of the run.
    """

    kind: str
    number: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel of a run.

    Attributes:
        name: made from its text, so that equal kernels have one name.
        text: the whole function.
        grid, block: of its launch.
        arguments: what it is given.
    """

    name: str
    text: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[Argument, ...]


class Part(NamedTuple):
    """Memory between the two passes of a reduction."""

    size: int
    dtype: DType


@dataclass(frozen=True, slots=True)
class RunKernels:
    """What a run became: kernels to launch in order, and the memory between them."""

    kernels: tuple[Kernel, ...]
    parts: tuple[Part, ...]


def named(
    parameters: str,
    body: str,
    grid: tuple[int, ...],
    block: tuple[int, ...],
    arguments: list[Argument],
    resident: int = RESIDENT,
) -> Kernel:
    """A kernel of its parameters and body."""
    threads = block[0] * (block[1] if len(block) > 1 else 1)
    bounds = f"__launch_bounds__({threads}, {resident})"
    name = f"agrad_{hashlib.sha256(f'{bounds}{parameters}{body}'.encode()).hexdigest()[:16]}"
    text = f'extern "C" __global__ void {bounds} {name}({parameters}) {{\n{body}}}\n'
    return Kernel(name, text, grid, block, tuple(arguments))


def module_text(kernels: list[Kernel]) -> str:
    """The text of a module with some kernels, each once, and the functions that they call in front of them."""
    texts = {kernel.name: kernel.text for kernel in kernels}
    whole = "".join(texts[name] for name in sorted(texts))
    return SHARED_FUNCTIONS + functions_for(whole) + whole
