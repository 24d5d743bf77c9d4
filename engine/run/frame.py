"""The registers of one worker, and the calls that a block makes on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .merging import is_nan, part_of
from .products import row_sums
from .program import WRITTEN, Program

if TYPE_CHECKING:
    from .blocks import Job


class Frame:
    """The registers of one worker for one program."""

    def __init__(self, job: Job, program: Program) -> None:
        self._job = job
        self._program = program
        rows = job.block_rows
        self._buffers = [
            np.empty((rows, *shape) if by_rows else shape, dtype) for by_rows, shape, dtype in program.buffers
        ]
        # What is written over an input is made beside it first: until the block is done, its rows may be read again.
        self._beside = {
            place: np.empty((rows, *job.written[place].shape[1:]), job.written[place].dtype) for place in job.over
        }
        self._by_rows = [by_rows for by_rows, _, _ in program.buffers]
        made = {call.output for call in program.calls if call.kind in WRITTEN}
        places = {register: place for place, register in reversed([*enumerate(program.outputs)]) if register in made}
        self._owners = places | {register: places[root] for register, root in program.shared.items()}
        self._registers = self._registers_for(rows)
        self._length = rows
        self._spare: dict[int, dict[int, Any]] = {}

    def _registers_for(self, rows: int) -> list[Any]:
        program = self._program
        registers: list[Any] = [None] * program.registers
        for register, constant in program.constants.items():
            registers[register] = constant
        for register, array in zip(program.inputs, self._job.whole, strict=True):
            registers[register] = array
        buffers = [
            buffer[:rows] if by_rows else buffer for buffer, by_rows in zip(self._buffers, self._by_rows, strict=True)
        ]
        for register, place in program.place_of.items():
            registers[register] = buffers[place]
        return registers

    def done(self, index: int, start: int, stop: int) -> bool:
        """Compute one block; False where something came out NaN that may have to stop."""
        job, program = self._job, self._program
        if stop - start != self._length:
            self._length = stop - start
            self._registers = self._registers_for(self._length)
        registers = self._registers
        for register, slices in zip(program.inputs, job.slices, strict=True):
            if slices is not None:
                registers[register] = slices(start, stop)
        targets = [written[start:stop] for written in job.written]
        made = [
            self._beside[place][: self._length] if place in job.over else target for place, target in enumerate(targets)
        ]
        for register, place in self._owners.items():
            registers[register] = made[place]
        parts: list[Any] = [None] * len(program.endings)
        if not self._called(parts):
            return False
        # A result may be a view of an input: all are out of the inputs' way before one of these is written over.
        for place, register in enumerate(program.outputs):
            result = registers[register]
            if result is made[place]:
                continue
            if place in job.over and result.flags.owndata:
                made[place] = result
            else:
                np.copyto(made[place], result)
        for place in job.over:
            np.copyto(targets[place], made[place])
        for merging, part in zip(job.merging, parts, strict=True):
            merging.add(index, part)
        return True

    def _called(self, parts: list[Any]) -> bool:
        """Make all calls, and put the parts of endings into a list; False where a test for NaN has found one."""
        registers = self._registers
        endings = self._job.programs.run.endings
        length = self._length
        for kind, function, inputs, output, attrs, rows, shape, dtype in self._program.calls:
            if kind == "call":
                if len(inputs) == 2:
                    function(registers[inputs[0]], registers[inputs[1]], out=registers[output])
                else:
                    function(*[registers[each] for each in inputs], out=registers[output])
            elif kind == "check":
                if _has_nan(registers[inputs[0]]):
                    return False
            elif kind == "part":
                axes, tested = self._program.endings[function]
                values = [registers[each] for each in inputs]
                parts[function] = part_of(endings[function], values, axes, self._spare.setdefault(function, {}))
                if tested and is_nan(parts[function]):
                    return False
            else:
                values = [registers[each] for each in inputs]
                whole = (length, *shape) if rows else shape
                registers[output] = _OTHER_CALLS[kind](function, values, registers[output], attrs, whole, dtype)
        return True


def _has_nan(array: Any) -> bool:
    if not array.size:
        return False
    if array.dtype.kind == "f":
        largest = np.maximum.reduce(array, axis=None)
        return bool(largest != largest)
    return bool(np.isnan(array).any())


def _fold(function: Any, values: Sequence[Any], out: Any, attrs: Mapping[str, Any], _shape: Any, _dtype: Any) -> Any:
    return function.reduce(values[0], out=out, **attrs)


def _cast(_function: Any, values: Sequence[Any], out: Any, _attrs: Any, _shape: Any, _dtype: Any) -> Any:
    np.copyto(out, values[0], casting="unsafe")
    return out


def _where(_function: Any, values: Sequence[Any], _out: Any, _attrs: Any, shape: Any, _dtype: Any) -> Any:
    found = np.where(*values)
    return found if found.shape == shape else np.broadcast_to(found, shape)


def _kernel(function: Any, values: Sequence[Any], _out: Any, attrs: Mapping[str, Any], shape: Any, _dtype: Any) -> Any:
    found = function(np, *values, **attrs)
    return found if found.shape == shape else np.broadcast_to(found, shape)


def _in_place(rest: Any, place: Any, out: Any) -> tuple[Any, Any]:
    """A copy of rows, or the rows themselves, flat, and where in it one element of each row stands."""
    if rest is not out:
        np.copyto(out, rest)
    return out.reshape(-1), place.reshape(-1) + _starts(place.size, out.shape[-1])


@lru_cache(maxsize=32)
def _starts(rows: int, width: int) -> Any:
    """Where each row of a block begins."""
    return np.arange(0, rows * width, width)


def _placed(_function: Any, values: Sequence[Any], out: Any, _attrs: Any, _shape: Any, _dtype: Any) -> Any:
    rest, single, place = values
    flat, places = _in_place(rest, place, out)
    flat[places] = (single if np.shape(single) == place.shape else np.broadcast_to(single, place.shape)).reshape(-1)
    return out


def _added(_function: Any, values: Sequence[Any], out: Any, _attrs: Any, _shape: Any, _dtype: Any) -> Any:
    rest, single, place = values
    flat, places = _in_place(rest, place, out)
    flat[places] += single.reshape(-1)
    return out


_OTHER_CALLS: Final[dict[str, Callable[..., Any]]] = {
    "fold": _fold,
    "dot": lambda _function, values, out, _attrs, _shape, _dtype: row_sums(values[0], values[1], out),
    "cast": _cast,
    "where": _where,
    "kernel": _kernel,
    "fresh": _kernel,
    "placed": _placed,
    "added": _added,
    "view": lambda _function, values, _out, _attrs, shape, _dtype: values[0].reshape(shape),
    "wide": lambda _function, values, _out, _attrs, shape, _dtype: np.broadcast_to(values[0], shape),
}
