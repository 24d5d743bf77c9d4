"""Where a graph is computed: on the CPU, or on a device by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, NamedTuple

from ..graph import Node
from . import cpu
from .plan import make_plan

Compute = Callable[[Iterable[Node]], Mapping[Node, Any]]
"""Gives the values of some nodes."""
Prepared = Callable[[Mapping[Node, Any]], Mapping[Node, Any]]
"""Gives the values of some nodes for other values of some leaves."""


class Way(NamedTuple):
    """How to compute.

    Attributes:
        evaluate: gives the values of some nodes.
        prepare: plans some nodes for values of some leaves, to be computed time and again.
    """

    evaluate: Compute
    prepare: Callable[[Sequence[Node], Sequence[Node]], Prepared]


def _prepared_on_cpu(nodes: Sequence[Node], _varying: Sequence[Node]) -> Prepared:
    return partial(cpu.run, make_plan(nodes))


ON_CPU: Final = Way(cpu.evaluate, _prepared_on_cpu)
_current: Final[ContextVar[Way]] = ContextVar("way", default=ON_CPU)


def way_on(device: str) -> Way:
    """The way to compute on a device; CuPy is imported only where it is CUDA.

    Args:
        device: `cpu`, `cuda` or `cuda:N`.

    Raises:
        DeviceError: where the device cannot be used.
    """
    if device == "cpu":
        return ON_CPU
    from .cuda.executor import Executor
    from .cuda.program import device_program

    executor = Executor(device)
    return Way(executor.evaluate, lambda nodes, varying: partial(executor.run, device_program(nodes, varying=varying)))


def compute_on(device: str) -> Compute:
    """How a device gives the values of nodes, as `way_on`."""
    return way_on(device).evaluate


def current_way() -> Way:
    """The way in which matrices of derivatives are computed."""
    return _current.get()


@contextmanager
def computing(way: Way) -> Iterator[None]:
    """Let matrices of derivatives be computed in a way while the block runs."""
    token = _current.set(way)
    try:
        yield
    finally:
        _current.reset(token)
