"""The chain of the speed check by others: CuPy by hand, PyTorch eager and compiled, JAX compiled."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

REPEATS: Final = 7
Inputs = Mapping[str, Any]


class Timing(NamedTuple):
    """Seconds: the median, and the least."""

    median: float
    least: float


def _timed(call: Callable[[], Any], wait: Callable[[], Any]) -> Timing:
    for _ in range(2):
        call()
    wait()
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        call()
        wait()
        seconds.append(time.perf_counter() - begin)
    return Timing(statistics.median(seconds), min(seconds))


def by_hand(inputs: Inputs) -> Timing:
    """CuPy, the derivative written out."""
    import cupy

    x, y = (cupy.asarray(inputs[name]) for name in ("x", "y"))

    def call() -> Any:
        u = cupy.tanh(x * y + 1)
        e = cupy.exp(-(x * x))
        inner = 2 * u * (1 - u * u) * e
        return cupy.sum(u * u * e), inner * y - 2 * x * u * u * e, inner * x

    return _timed(call, cupy.cuda.Device().synchronize)


def _torch_step(inputs: Inputs) -> tuple[Callable[..., Any], Any]:
    import torch

    x, y = (torch.tensor(inputs[name], device="cuda", requires_grad=True) for name in ("x", "y"))

    def value(x: Any, y: Any) -> Any:
        return (torch.tanh(x * y + 1) ** 2 * torch.exp(-(x**2))).sum()

    return value, (x, y)


def torch_eager(inputs: Inputs) -> Timing:
    """PyTorch, eager."""
    import torch

    value, leaves = _torch_step(inputs)
    return _timed(lambda: torch.autograd.grad(value(*leaves), leaves), torch.cuda.synchronize)


def torch_compiled(inputs: Inputs) -> Timing:
    """PyTorch, compiled; the compiling is not counted."""
    import torch

    value, leaves = _torch_step(inputs)
    compiled = torch.compile(value)
    return _timed(lambda: torch.autograd.grad(compiled(*leaves), leaves), torch.cuda.synchronize)


def jax_compiled(inputs: Inputs) -> Timing:
    """JAX, compiled; the compiling is not counted."""
    import jax
    import jax.numpy as jnp

    if inputs["x"].dtype.itemsize == 8:
        jax.config.update("jax_enable_x64", True)
    x, y = (jnp.asarray(inputs[name]) for name in ("x", "y"))
    step = jax.jit(jax.value_and_grad(lambda x, y: jnp.sum(jnp.tanh(x * y + 1) ** 2 * jnp.exp(-(x**2))), (0, 1)))
    return _timed(lambda: jax.block_until_ready(step(x, y)), lambda: None)


PEERS: Final[Mapping[str, tuple[str, Callable[[Inputs], Timing], float]]] = {
    "cupy by hand": ("cupy", by_hand, 1.0),
    "torch eager": ("torch", torch_eager, 0.25),
    "torch.compile": ("torch", torch_compiled, 1.0),
    "jax.jit": ("jax", jax_compiled, 1.0),
}
"""By name: the module that must be installed, how it is timed, and how many times its time agrad may take."""
