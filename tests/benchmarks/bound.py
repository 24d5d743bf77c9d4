"""What bounds the expression's value and gradients on this machine: its ufuncs in the cache, and one pass of memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from timing import times
from works.expression import EXPRESSION

BLOCK_BYTES: Final = 64 * 1024
BUDGET_S: Final = 0.3


def main() -> None:
    """Print both for a size, a dtype and a number of threads as JSON: seconds, on cores that share the ufuncs' work."""
    size, dtype, threads = int(sys.argv[1]), np.dtype(sys.argv[2]), int(sys.argv[3])
    block = BLOCK_BYTES // dtype.itemsize
    inputs = EXPRESSION.inputs(block, dtype)
    once = median(times(ufuncs(**inputs), BUDGET_S, 10_000).wall)
    with ThreadPoolExecutor(threads) as pool:
        memory = median(times(one_pass(size, dtype, threads, pool), BUDGET_S, 100).wall)
    print(json.dumps({"ufuncs_s": once * size / block / threads, "memory_s": memory}))


def ufuncs(x: NDArray[Any], y: NDArray[Any]) -> Callable[[], list[Any]]:
    """The fewest ufuncs for the value and both gradients of one block, without a new array: what gives all three."""
    t, e, f, u, v = (np.empty_like(x) for _ in range(5))
    two, one = x.dtype.type(2), x.dtype.type(1)
    steps: list[Callable[[], object]] = [
        partial(np.multiply, x, y, out=t),
        partial(np.add, t, one, out=t),
        partial(np.tanh, t, out=t),
        partial(np.multiply, x, x, out=e),
        partial(np.negative, e, out=e),
        partial(np.exp, e, out=e),
        partial(np.multiply, t, e, out=f),  # t*e
        partial(np.multiply, f, t, out=u),  # the value
        partial(np.multiply, t, t, out=t),
        partial(np.subtract, one, t, out=t),
        partial(np.multiply, f, t, out=f),
        partial(np.multiply, f, two, out=f),  # the slope of tanh(...)**2 * e
        partial(np.multiply, f, x, out=v),  # the gradient by y
        partial(np.multiply, u, x, out=u),
        partial(np.multiply, u, two, out=u),
        partial(np.multiply, f, y, out=t),
        partial(np.subtract, t, u, out=t),  # the gradient by x
    ]

    def run() -> list[Any]:
        for step in steps[:8]:
            step()
        value = np.add.reduce(u)
        for step in steps[8:]:
            step()
        return [value, t, v]

    return run


def one_pass(size: int, dtype: np.dtype[Any], threads: int, pool: ThreadPoolExecutor) -> Callable[[], object]:
    """Both inputs read and both gradients written, with nothing computed; each thread has its share."""
    x, y, dx, dy = (np.array_split(np.ones(size, dtype), threads) for _ in range(4))
    return lambda: [*pool.map(np.copyto, dx, x), *pool.map(np.copyto, dy, y)]


if __name__ == "__main__":
    main()
