"""A fused run as a program: kernels taken apart into calls on one block.

Two programs are made of a run in which something may stop (see `flow`): the *plain* one multiplies as it is and tests
what comes out for NaN; only a block that has one is run again, by the *guarded* one. Both give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..graph import BOOL, DType, Shape
from .alignment import alignment, folded_axes
from .allocation import allocate
from .calls import Calls
from .fusion import FusedRun
from .products import products_in_sums, stopped
from .program import Call, Ending, Program
from .rows import ADDED, FIRST, LARGEST_PLACE, OVER_WHOLE, PLACED, ROOT_IN_RANGE, SHARE, TAKEN
from .tracing import StandIn, traced
from .values import Value

GUARDED: Final[dict[str, np.ufunc]] = {
    "flow": np.multiply,
    "meet": np.multiply,
    SHARE.name: np.divide,
    OVER_WHOLE.name: np.divide,
}
"""Ops that stop at zero, and the function that they are where nothing is NaN."""


class Compiler:
    """Makes the program of a run.

    Args:
        run: the run.
        guarded: whether zeros stop everywhere, or products are plain and tested.
    """

    def __init__(self, run: FusedRun, *, guarded: bool) -> None:
        self.run = run
        self.calls = Calls()
        self._guarded = guarded
        self._axes = len(run.lead)
        self._of: dict[tuple[Value, bool], int] = {}
        self._product_in = products_in_sums(run)

    def compiled(self) -> Program:
        """The program."""
        program = self.calls.program
        for operand in self.run.inputs:
            value = operand.value
            shape = value.shape[self._axes :] if operand.rows else without_leading_ones(value.shape)
            register = self.calls.new(operand.rows, shape, value.dtype)
            program.inputs.append(register)
            self._of[value, operand.rows] = register
        merged = frozenset(self._product_in.values())
        for value in self.run.members:
            if value not in merged:
                self._of[value, True] = self._member(value)
        program.outputs = [self.calls.actual(self._full(self._of[value, True], value)) for value in self.run.outputs]
        for register in dict.fromkeys(program.outputs):
            if self.calls.registers[register].tainted:
                self.calls.soon(Call("check", None, (register,), -1, {}, False, (), BOOL))
        for place, value in enumerate(self.run.endings):
            program.endings.append(self._ending(place, value))
        allocate(self.calls.finished(), self.calls.registers)
        return program

    def _ending(self, place: int, value: Value) -> Ending:
        """What is folded away of the arguments of an ending, of which each block gives a part."""
        product = self._product_in.get(value)
        sources = self._sources(value) if product is None else self._factors(product)
        axes = tuple(axis - self._axes + 1 for axis in folded_axes(value) if axis >= self._axes)
        self.calls.soon(Call("part", place, tuple(sources), -1, {}, False, (), value.dtype))
        tainted = any(self.calls.registers[register].tainted for register in sources)
        return Ending((0, *axes), tainted or (product is not None and self._may_stop(product)))

    def _sources(self, value: Value) -> list[int]:
        """The registers of all arguments, whole."""
        return [self.calls.actual(self._full(self._operand(value, place), arg)) for place, arg in enumerate(value.args)]

    def _factors(self, product: Value) -> list[int]:
        """The registers of two factors that are added up without their product."""
        factors = self._sources(product)
        if self._guarded and product.op.name in GUARDED:
            shape = product.shape[self._axes :]
            attrs = {"kernel": product.op.kernel}
            sides = [{**attrs, "side": side} for side in (0, 1)]
            return [self.calls.note("kernel", stopped, factors, shape, product.dtype, each) for each in sides]
        return factors * 2 if len(factors) == 1 else factors

    def _may_stop(self, product: Value) -> bool:
        """Whether a product is made as if nothing stopped, and has to be tested."""
        return product.op.name in GUARDED and not self._guarded

    def _operand(self, value: Value, place: int) -> int:
        """The register of an argument."""
        arg = value.args[place]
        if arg.is_constant:
            return self.calls.constant(arg.known, arg.dtype)
        return self._of[arg, alignment(value).edges[place].rows]

    def _full(self, register: int, value: Value) -> int:
        """A register in the whole shape of a value, where only its broadcast was needed until now."""
        known = self.calls.registers[register]
        shape = value.shape[self._axes :]
        if known.rows and known.shape == shape:
            return register
        return self.calls.note("wide", None, (register,), shape, known.dtype)

    # Members

    def _member(self, value: Value) -> int:
        name = value.op.name
        shape = value.shape[self._axes :]
        if value in self._product_in:
            return self._dot(value, shape)
        registers = [self._operand(value, place) for place in range(len(value.args))]
        if name == "expand":
            return registers[0]  # functions broadcast by themselves
        if name in ("reshape", "squeeze", "unsqueeze"):
            return self.calls.note("view", None, [self._full(registers[0], value.args[0])], shape, value.dtype)
        if name in GUARDED and not self._guarded:
            register = self.calls.note("call", GUARDED[name], self._typed(registers, value), shape, value.dtype)
            self.calls.taint(register)
            return register
        if name == "to" and value.args[0].dtype.kind != "c":
            return self.calls.note("cast", None, registers, shape, value.dtype)
        if value.op.elementwise and name not in GUARDED:
            found = self._traced(value, registers)
            if found is not None:
                return found
        fold = _FOLDS.get(name)
        if fold is not None:
            lanes = folded_axes(value) if name == "sum_to_size" else value.attrs["dim"]
            axes = tuple(axis - self._axes + 1 for axis in lanes if axis >= self._axes)
            attrs = {"axis": axes, "keepdims": value.attrs.get("keepdim", True)}
            return self.calls.note("fold", fold, [self._full(registers[0], value.args[0])], shape, value.dtype, attrs)
        return self._called(value, registers)

    def _dot(self, value: Value, shape: Shape) -> int:
        """The register of a sum over rows of a product."""
        product = self._product_in[value]
        register = self.calls.note("dot", None, self._factors(product), shape, value.dtype)
        if self._may_stop(product):
            self.calls.taint(register)
        return register

    def _typed(self, registers: Sequence[int], value: Value) -> list[int]:
        """Registers with written numbers in the dtype of the result."""
        return [
            self.calls.constant(arg.known, value.dtype)
            if arg.is_constant and not isinstance(arg.known, np.generic)
            else each
            for arg, each in zip(value.args, registers, strict=True)
        ]

    def _traced(self, value: Value, registers: Sequence[int]) -> int | None:
        """The register of an elementwise op, its kernel taken apart; None where that is not possible."""
        assert value.op.kernel is not None
        mark = self.calls.mark()
        arguments: list[Any] = []
        shapes: dict[int, Shape] = {}
        for arg, register in zip(value.args, registers, strict=True):
            if arg.is_constant:
                arguments.append(arg.known)
                continue
            axes = len(value.shape) - self._axes + 1
            sample = np.ones((1,) * axes if arg.shape else (), arg.dtype)
            shapes[register] = self.calls.registers[register].shape
            arguments.append(StandIn(register, sample, self._recorded))
        try:
            result = traced(value.op.kernel, arguments, value.attrs)
        except _Unfit:
            result = None
        if result is not None and result.sample.dtype == value.dtype:
            return int(result.place)
        self.calls.back(mark)
        return None

    def _recorded(self, kind: str, function: Any, inputs: tuple[Any, ...], sample: Any) -> int:
        """Note a call of a traced kernel."""
        if kind == "cast":
            register = inputs[0].place
            return self.calls.note("cast", None, (register,), self.calls.registers[register].shape, function)
        dtypes: list[Any] = [
            each.sample.dtype
            if isinstance(each, StandIn)
            else type(each)
            if type(each) in _WEAK
            else np.asarray(each).dtype
            for each in inputs
        ]
        loop = _loop(function, dtypes) if kind == "call" else (np.dtype(bool), sample.dtype, sample.dtype)
        registers = []
        for each, dtype in zip(inputs, loop, strict=False):
            if isinstance(each, StandIn):
                registers.append(each.place)
            elif np.ndim(each) == 0:
                registers.append(self.calls.constant(each, dtype))
            else:
                raise _Unfit
        shape = np.broadcast_shapes(*[self.calls.registers[register].shape for register in registers])
        return self.calls.note(kind, function, registers, shape, sample.dtype)

    def _called(self, value: Value, registers: Sequence[int]) -> int:
        """The register of a row whose kernel is called as it is."""
        shape = value.shape[self._axes :]
        attrs = dict(value.attrs)
        by = self._axes - 1
        if "dim" in attrs:
            attrs["dim"] = tuple(axis - by for axis in attrs["dim"])
        if "axis" in attrs:
            attrs["axis"] -= by
        full = registers
        if not value.op.elementwise:
            full = [
                self._full(register, arg) if edge.rows else register
                for register, arg, edge in zip(registers, value.args, alignment(value).edges, strict=True)
            ]
        kind = value.op.name if value.op in (PLACED, ADDED) else "fresh" if value.op in _FRESH else "kernel"
        return self.calls.note(kind, value.op.kernel, full, shape, value.dtype, attrs)


class _Unfit(Exception):  # noqa: N818  # no fault: the kernel is called as it is
    """A kernel uses an array of its own."""


_FRESH: Final = (FIRST, TAKEN, LARGEST_PLACE, ROOT_IN_RANGE)
"""Rows whose kernels give arrays of their own, never views of their arguments."""

_WEAK: Final = (bool, int, float, complex)

_FOLDS: Final[dict[str, np.ufunc]] = {"sum": np.add, "sum_to_size": np.add, "amax": np.maximum, "amin": np.minimum}


def _loop(function: np.ufunc, dtypes: Sequence[Any]) -> tuple[DType, ...]:
    """The dtypes that a universal function computes in."""
    plain = tuple(dtype if dtype in (int, float, complex) else np.dtype(dtype) for dtype in dtypes)
    return function.resolve_dtypes((*plain, *[None] * function.nout))


def without_leading_ones(shape: Shape) -> Shape:
    """A shape without first axes of length 1, which broadcasting adds by itself."""
    lead = 0
    while lead < len(shape) and shape[lead] == 1:
        lead += 1
    return shape[lead:]
