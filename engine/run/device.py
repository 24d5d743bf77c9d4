"""Where a graph is computed: on the CPU, or on a device by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..graph import Node
from . import cpu

Compute = Callable[[Iterable[Node]], Mapping[Node, Any]]
"""Gives the values of some nodes."""


def compute_on(device: str) -> Compute:
    """The way to compute on a device; CuPy is imported only where it is CUDA.

    Args:
        device: `cpu`, `cuda` or `cuda:N`.

    Raises:
        DeviceError: where the device cannot be used.
    """
    if device == "cpu":
        return cpu.evaluate
    from .cuda.executor import Executor

    return Executor(device).evaluate
