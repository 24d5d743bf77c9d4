"""The calls of a program while it is made: each once, negatives only where needed, NaN tested where it could hide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..graph import BOOL, Attrs, DType, Shape, attrs_key
from .program import Call, Program, Register
from .rows import FIRST

_PASSES_NAN: Final = frozenset(
    {
        np.add,
        np.subtract,
        np.multiply,
        np.divide,
        np.negative,
        np.positive,
        np.absolute,
        np.square,
        np.sqrt,
        np.exp,
        np.expm1,
        np.log,
        np.log1p,
        np.tanh,
        np.sinh,
        np.cosh,
        np.sin,
        np.cos,
        np.maximum,
        np.minimum,
    }
)
"""Functions whose result is NaN wherever an argument is."""

_TAKES_NAN: Final = frozenset({"view", "wide", "fold", "dot"})
"""Kinds of calls whose results are NaN where any element is that they depend on."""

_EVEN: Final = frozenset({np.absolute, np.cosh})
"""Functions that give the same of a number and its negative."""


_TURNED: Final = {
    np.less: np.greater,
    np.greater: np.less,
    np.less_equal: np.greater_equal,
    np.greater_equal: np.less_equal,
}
"""The comparison of a number with 0 that says of its negative what another says of it."""


class Calls:
    """Notes calls and gives the registers of their results.

    Attributes:
        program: what is made.
        registers: what is known of each register.
    """

    def __init__(self) -> None:
        self.program = Program()
        self.registers: list[Register] = []
        self._made: dict[Any, int] = {}
        self._negative_of: dict[int, int] = {}  # those that have no call yet
        self._turned: dict[int, int] = {}  # all of them
        self._undo: list[tuple[dict[Any, Any], Any, Any]] = []  # what to put back, in order, to forget the last calls
        self._soon: list[Call] = []

    def _put(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        """Set an entry (None: take it out), so that it can be undone."""
        self._undo.append((table, key, table.get(key)))
        if value is None:
            del table[key]
        else:
            table[key] = value

    def new(self, rows: bool, shape: Shape, dtype: DType, *, tainted: bool = False) -> int:
        """Another register."""
        self.registers.append(Register(rows, shape, dtype, tainted))
        return len(self.registers) - 1

    def constant(self, number: Any, dtype: DType) -> int:
        """The register of a number."""
        key = ("constant", type(number), repr(number), dtype)
        register = self._made.get(key)
        if register is None:
            register = self.new(False, (), dtype)
            self._put(self._made, key, register)
            self._put(self.program.constants, register, np.asarray(number, dtype=dtype))
        return register

    def note(
        self, kind: str, function: Any, inputs: Sequence[int], shape: Shape, dtype: DType, attrs: Attrs | None = None
    ) -> int:
        """The register of a call, made once."""
        attrs = attrs or {}
        if kind == "call" and function in _EVEN:
            inputs = [self._turned.get(each, each) for each in inputs]
        if self._negative_of:
            found = self._signed(kind, function, inputs, shape, dtype)
            if isinstance(found, int):
                return found
            function, inputs = found
        if function is np.negative and inputs[0] in self._turned:
            return self._turned[inputs[0]]
        if function is np.negative and dtype.kind == "f":
            return self._negative(inputs[0], shape, dtype)
        inputs = tuple(inputs)
        key = (kind, id(function), inputs, shape, dtype, attrs_key(attrs))
        register = self._made.get(key)
        if register is not None:
            return register
        rows = kind in ("view", "wide") or any(self.registers[each].rows for each in inputs)
        tainted = any(self.registers[each].tainted for each in inputs)
        if tainted and not (kind in _TAKES_NAN or function in _PASSES_NAN or function is FIRST.kernel):
            for each in inputs:
                if self.registers[each].tainted:
                    self._check(each)
            tainted = False
        register = self.new(rows, shape, dtype, tainted=tainted)
        self._put(self._made, key, register)
        self.program.calls.append(Call(kind, function, inputs, register, attrs, rows, shape, dtype))
        return register

    # Negatives are made only where they are needed: a product passes the sign on, a sum becomes a difference.

    def _negative(self, register: int, shape: Shape, dtype: DType) -> int:
        """The register of a negative, which has no call yet."""
        key = ("negative", register)
        made = self._made.get(key)
        if made is None:
            known = self.registers[register]
            made = self.new(known.rows, shape, dtype, tainted=known.tainted)
            self._put(self._made, key, made)
            self._put(self._negative_of, made, register)
            self._put(self._turned, made, register)
        return int(made)

    def actual(self, register: int) -> int:
        """A register that has a call: of a negative, the one that makes it."""
        base = self._negative_of.get(register)
        if base is not None:
            self._put(self._negative_of, register, None)
            known = self.registers[register]
            self.program.calls.append(
                Call("call", np.negative, (base,), register, {}, known.rows, known.shape, known.dtype)
            )
        return register

    def _signed(
        self, kind: str, function: Any, inputs: Sequence[int], shape: Shape, dtype: DType
    ) -> int | tuple[Any, list[int]]:
        """A call on negatives as one on what they are the negatives of, to the same bits; or the result's register."""
        bases = [self._negative_of.get(each) for each in inputs]
        if all(base is None for base in bases):
            return function, list(inputs)
        plain = [each if base is None else base for each, base in zip(inputs, bases, strict=True)]
        if kind == "call":
            if function is np.negative:
                return plain[0]
            if function in (np.multiply, np.divide):
                for place, each in enumerate(inputs):
                    if bases[place] is not None and self._is_smaller(each, shape):
                        plain[place], bases[place] = self.actual(each), None
                product = self.note(kind, function, plain, shape, dtype)
                odd = sum(base is not None for base in bases) % 2
                return self.note(kind, np.negative, [product], shape, dtype) if odd else product
            if function is np.add and bases[1] is not None:
                return np.subtract, [self.actual(inputs[0]), plain[1]]
            if function is np.add:
                return np.subtract, [inputs[1], plain[0]]
            if function is np.subtract and bases[1] is not None:
                return (np.subtract, plain[::-1]) if bases[0] is not None else (np.add, plain)
            turned = _TURNED.get(function)
            if turned is not None and bases[0] is not None and self._is_zero(inputs[1]):
                return turned, plain
        return function, [self.actual(each) for each in inputs]

    def _is_smaller(self, register: int, shape: Shape) -> bool:
        """Whether a register is broadcast to the shape of a result: then it is the cheaper one to change a sign of."""
        known = self.registers[register]
        return not known.rows or math.prod(known.shape) < math.prod(shape)

    def _is_zero(self, register: int) -> bool:
        constant = self.program.constants.get(register)
        return constant is not None and bool(constant == 0)

    def taint(self, register: int) -> None:
        """Note that a register holds a product that may have to stop: it, or what it is the negative of, and both."""
        base = self._turned.get(register, register)
        for each in (base, self._made.get(("negative", base), base)):
            self.registers[each] = self.registers[each]._replace(tainted=True)

    def _check(self, register: int) -> None:
        """Test a register for NaN now, since what follows may hide it."""
        key = ("check", register)
        if key not in self._made:
            self._put(self._made, key, register)
            self.program.calls.append(Call("check", None, (register,), -1, {}, False, (), BOOL))

    def soon(self, call: Call) -> None:
        """Have a call made as soon as its arguments are there, while they are still in the cache."""
        self._soon.append(call)

    def finished(self) -> Program:
        """The program, with all calls in place."""
        calls = self.program.calls
        place_of = {call.output: place for place, call in enumerate(calls, 1)}
        after: dict[int, list[Call]] = {}
        for call in reversed(self._soon):
            after.setdefault(max([place_of.get(each, 0) for each in call.inputs], default=0), []).append(call)
        calls[:] = [
            *after.get(0, ()),
            *[each for place, call in enumerate(calls, 1) for each in (call, *after.get(place, ()))],
        ]
        self.program.registers = len(self.registers)
        return self.program

    def mark(self) -> tuple[int, int, int]:
        """Where the calls stand, to come back to."""
        return len(self.program.calls), len(self.registers), len(self._undo)

    def back(self, mark: tuple[int, int, int]) -> None:
        """Forget all calls since a mark."""
        calls, registers, undo = mark
        del self.program.calls[calls:], self.registers[registers:]
        while len(self._undo) > undo:
            table, key, value = self._undo.pop()
            if value is None:
                del table[key]
            else:
                table[key] = value
