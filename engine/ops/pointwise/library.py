"""Functions of scipy.special on an array module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def library(xp: Any, name: str) -> Callable[..., Any]:
    """A function of scipy.special for an array module; what CuPy lacks runs on the host."""
    import scipy.special

    on_host: Callable[..., Any] = getattr(scipy.special, name)
    if xp is np:
        return on_host
    import cupyx.scipy.special

    on_device = getattr(cupyx.scipy.special, name, None)
    return on_device or (lambda *values: xp.asarray(on_host(*[xp.asnumpy(value) for value in values])))


def from_library(name: str) -> Callable[..., Any]:
    """The kernel that is one function of scipy.special."""
    return lambda xp, *values: library(xp, name)(*values)
