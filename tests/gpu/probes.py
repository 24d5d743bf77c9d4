"""What the tests' fake of CuPy assumes, asked of the real device: where one of these fails, the fake is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agrad.engine.run.cuda.executor import Executor

from .check import Check


def checks(executor: Executor) -> Iterator[Check]:
    """Each assumption as a check."""
    cupy, cupyx = executor.cupy, executor.cupyx

    def up(*values: float) -> Any:
        return cupy.asarray(np.array(values))

    def indices(*values: int) -> Any:
        return cupy.asarray(np.array(values))

    def is_silent() -> bool:
        return bool(cupy.linalg.inv(cupy.asarray(np.zeros((2, 2)))).shape == (2, 2))

    def raises_in_errstate() -> bool:
        with cupyx.errstate(linalg="raise"):
            return _raises(np.linalg.LinAlgError, lambda: cupy.linalg.inv(cupy.asarray(np.zeros((2, 2)))))

    def written(x: Any) -> list[float]:
        x[indices(4)] = 9.0
        return x.get().tolist()  # type: ignore[no-any-return]  # CuPy has no types

    def added(x: Any) -> list[float]:
        cupy.add.at(x, indices(0, 0, 4), 1.0)
        return x.get().tolist()  # type: ignore[no-any-return]  # as above

    def round_trip() -> bool:
        x = np.arange(12.0).reshape(3, 4)
        device = cupy.empty((96,), np.uint8)
        device.set(x.reshape(-1).view(np.uint8))
        view = cupy.ndarray((2, 2), np.dtype(np.float64), device.data + 32)
        landing = cupyx.empty_pinned((2, 2), np.float64)
        view.get(executor.stream, "C", landing, blocking=False)
        executor.stream.synchronize()
        return bool((landing == [[4.0, 5.0], [6.0, 7.0]]).all())

    single = cupy.ones(2, np.float32)
    table: dict[str, Callable[[], Any]] = {
        "an index outside wraps in reading": lambda: up(0, 1, 2)[indices(3, 4)].get().tolist() == [0.0, 1.0],
        "an index outside wraps in taking": lambda: cupy.take(up(0, 1, 2), indices(5)).get().tolist() == [2.0],
        "an index outside wraps in writing": lambda: written(up(0, 1, 2)) == [0.0, 9.0, 2.0],
        "places are added up, and wrap": lambda: added(up(0, 0, 0)) == [2.0, 1.0, 0.0],
        "a sort of places is stable": lambda: cupy.argsort(indices(1, 0, 1, 0)).get().tolist() == [1, 3, 0, 2],
        "an array of the host beside one of the device": lambda: _raises(TypeError, lambda: up(1, 2) + np.ones(2)),
        "a list beside an array of the device": lambda: _raises(TypeError, lambda: cupy.add(up(1, 2), [1, 2])),
        "ufuncs have no where": lambda: _raises(TypeError, lambda: cupy.exp(up(1), where=True)),
        "max has no initial": lambda: _raises(TypeError, lambda: cupy.max(up(1), initial=0)),
        "no implicit conversion": lambda: _raises(TypeError, lambda: np.asarray(up(1))),
        "a sum is an array": lambda: isinstance(cupy.sum(up(1, 2)), cupy.ndarray),
        "Python's numbers are weak": lambda: (single * 2.0).dtype == np.float32,
        "NumPy's numbers are not": lambda: (single * np.float64(2)).dtype == np.float64,
        "a singular matrix is silent": is_silent,
        "a singular matrix raises in errstate": raises_in_errstate,
        "views into a buffer, and pinned landings": round_trip,
        "memory is aligned": lambda: cupy.empty((3,), np.float32).data.ptr % 256 == 0,
    }
    for name, probe in table.items():
        yield Check(name, lambda probe=probe: (bool(probe()), {}))  # type: ignore[misc]  # mypy cannot infer it


def _raises(kind: type[Exception], call: Callable[[], Any]) -> bool:
    try:
        call()
    except kind:
        return True
    return False
