"""What a row's kernel does, seen by calling it: the universal functions that it applies, one after another.

A kernel is called once, with stand-ins for its arguments; NumPy hands every function that meets a stand-in to it. What
cannot be seen this way (a kernel that looks at the numbers) is called as it is, block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

Recorder = Callable[[str, Any, tuple[Any, ...], Any], Any]
"""`record(kind, function, arguments, sample)` notes one call and gives its result's stand-in."""


class Untraceable(Exception):  # noqa: N818  # no fault: the kernel is called as it is
    """The kernel does something that is no plain sequence of universal functions."""


class StandIn(NDArrayOperatorsMixin):
    """Stands for an array while a kernel is traced.

    Attributes:
        place: what the recorder knows it by.
        sample: an array of one element of the same dtype and number of axes.
    """

    __slots__ = ("_record", "place", "sample")

    def __init__(self, place: Any, sample: Any, record: Recorder) -> None:
        self.place = place
        self.sample = sample
        self._record = record

    @property
    def dtype(self) -> Any:
        """Its dtype."""
        return self.sample.dtype

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return int(self.sample.ndim)

    def astype(self, dtype: Any) -> StandIn:
        """The same numbers in another dtype."""
        return self._note("cast", np.dtype(dtype), (self,), self.sample.astype(dtype))

    def __getitem__(self, key: Any) -> StandIn:
        if key != ():
            raise Untraceable
        return self

    def __bool__(self) -> bool:
        raise Untraceable

    def __getattr__(self, name: str) -> Any:
        raise Untraceable(name)

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or function.nout != 1:
            raise Untraceable
        return self._note("call", function, inputs, function(*_samples(inputs)))

    def __array_function__(self, function: Any, types: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        if function is np.where and len(args) == 3 and not options:
            return self._note("where", np.where, args, np.where(*_samples(args)))
        if function is np.iscomplexobj:
            return self.sample.dtype.kind == "c"
        raise Untraceable(function)

    def _note(self, kind: str, function: Any, inputs: Sequence[Any], sample: Any) -> StandIn:
        return StandIn(self._record(kind, function, tuple(inputs), sample), sample, self._record)


def _samples(inputs: Sequence[Any]) -> list[Any]:
    return [value.sample if isinstance(value, StandIn) else value for value in inputs]


_TRACEABLE_CONSTANTS: Final = (bool, int, float, complex, np.generic)


def traced(kernel: Callable[..., Any], arguments: Sequence[Any], attrs: Mapping[str, Any]) -> StandIn | None:
    """The stand-in for a kernel's result on stand-ins, or None where it cannot be traced."""
    try:
        with np.errstate(all="ignore"):
            result = kernel(np, *arguments, **attrs)
    except (Untraceable, TypeError, ValueError, AttributeError):
        return None
    return result if isinstance(result, StandIn) else None
