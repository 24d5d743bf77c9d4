"""Postfix instructions to nodes of the graph, with a stack: the meaning of names, operators, calls and indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..errors import AgradError, InputError, ShapeError, Span
from ..graph import FLOAT64, TABLE, DType, Node, apply, leaf
from . import names
from .attributes import attribute
from .calls import Calls
from .forms import Line
from .indexing import Indices
from .listing import Listing, RaggedError, collect, of_run
from .postfix import (
    BINARY,
    CALL,
    CONSTANT,
    FIELD,
    INDEX,
    LIST,
    LOAD,
    METHOD,
    MISSING,
    PATH,
    SLICE,
    TUPLE,
    UNARY,
    Call,
    Instruction,
    NumberRun,
    operand_spans,
)
from .written import NUMBERS, fold


class Poison:
    """The value of a name whose statement failed: what uses it fails too, without a word."""


class PoisonedError(Exception):
    """A statement uses a name whose own statement failed."""


POISON: Final = Poison()
_MISSING: Final = object()
_new = tuple.__new__
_UNFIT: Final = (ArithmeticError, AttributeError, IndexError, TypeError, ValueError)
"""What arguments of kinds that a row does not take make it raise; any other exception is a bug, and shows as one."""
_PLAIN: Final = frozenset(("add", "sub", "mul", "div"))
"""Operators whose result on two tensors alike is like them, so that nothing need be inferred."""


class Lowering:
    """Turns instructions into nodes; `environment` says what each name means so far.

    Args:
        dtype: the dtype of floats.
        unknown: called for a name that has no value; gives its value or raises.
    """

    def __init__(
        self, dtype: DType, unknown: Callable[[str, int, int], Any], warn: Callable[[str, Span], None]
    ) -> None:
        self.dtype = dtype
        self.environment: dict[str, Any] = {}
        self.unknown = unknown
        self.calls = Calls(dtype, warn)
        self.converter = self.calls.converter
        self.indices = Indices(dtype, self.calls.integers, self.calls.reads, self.converter)
        self.floats: dict[float, Node] = {}

    def run(self, instructions: list[Instruction]) -> Any:
        """The value of an expression.

        Raises:
            AgradError: with spans, where it has none.
            PoisonedError: where it uses a name whose statement failed.
        """
        return self.stack_of(instructions)[-1]

    def value_of(self, line: Line) -> Any:
        """The value of a line after the form of another, from nodes.

        Returns:
            None where it must be run instruction by instruction: where a name is no node, or for an error.
        """
        form, texts, places, numbers = line
        environment, functions = self.environment, self.calls.functions
        values = [environment.get(texts[name]) for name in form.names]
        for value in values:
            if type(value) is not Node:
                return None
        values += numbers
        try:
            for called, operator, left_place, right_place, first, last in form.steps:
                left = values[left_place]
                if called >= 0:
                    function = functions.get((texts[called],))
                    if function is None or function.op is None or not function.one_tensor or type(left) is not Node:
                        return None
                    value = function.op.call(left)
                elif right_place < 0:
                    value = self._unary(operator, left)
                else:
                    value = self._of_two(operator, left, values[right_place])
                if type(value) is Node and value.span is None:
                    value.span = _new(Span, (places[first][0], places[last][0]))
                values.append(value)
        except (AgradError, *_UNFIT):
            return None
        return values[-1]

    def stack_of(self, instructions: list[Instruction]) -> list[Any]:
        """What is on the stack after the instructions."""
        stack: list[Any] = []
        environment, functions = self.environment, self.calls.functions
        instruction = instructions[0]
        try:
            for instruction in instructions:
                code, payload, start, end = instruction
                if code == LOAD:
                    value = environment.get(payload)
                    stack.append(value if type(value) is Node else self._load(payload, start, end))
                    continue
                if code == CONSTANT:
                    stack.append(of_run(payload) if type(payload) is NumberRun else payload)
                    continue
                if code == BINARY:
                    right = stack.pop()
                    value = self._of_two(payload, stack.pop(), right)
                elif code == CALL and payload.positional == 1 and not payload.keywords and type(stack[-1]) is Node:
                    found = functions.get(payload.path)
                    if found is not None and found.op is not None and found.one_tensor:
                        value = found.op.call(stack.pop())
                    else:
                        value = self._call(payload, stack, start, end)
                else:
                    value = self._other(code, payload, stack, start, end)
                if type(value) is Node and value.span is None:
                    value.span = _new(Span, (start, end))
                stack.append(value)
        except AgradError as error:
            self._locate(error, instructions, instruction)
            raise
        except _UNFIT as error:
            raise self._unexpected(error, instructions, instruction) from error
        return stack

    def _of_two(self, name: str, left: Any, right: Any) -> Any:
        """The value of an operator on two operands."""
        floats = self.floats
        if type(left) is Node and type(right) is float:
            right = floats.get(right) or self._float(right)
        elif type(right) is Node and type(left) is float:
            left = floats.get(left) or self._float(left)
        if type(left) is not Node or type(right) is not Node:
            return self._binary(name, left, right)
        if left.dtype is right.dtype is FLOAT64 and left.shape == right.shape and name in _PLAIN:
            return apply(TABLE[name], (left, right), like=left)
        return TABLE[name].call(left, right)

    def _locate(self, error: AgradError, instructions: list[Instruction], instruction: Instruction) -> None:
        """Give an error the spans of what it is about, where the raiser did not know them."""
        if error.spans:
            return
        if instruction[0] in (CALL, METHOD):
            self._locate_call(error, instruction)
            if error.spans:
                return
        whole = Span(instruction[2], instruction[3])
        index = next(i for i, other in enumerate(instructions) if other is instruction)
        operands = operand_spans(instructions, index)
        code, payload = instruction[0], instruction[1]
        argument = getattr(error, "argument", None)
        if isinstance(error, RaggedError):
            error.spans = (operands[error.index], operands[0])
        elif argument is not None and code in (CALL, METHOD):
            error.spans = (operands[argument] if 0 <= argument < len(operands) else whole,)
        elif isinstance(error, ShapeError) and code == BINARY:
            error.spans = (operands[0], operands[1])
        elif isinstance(error, ShapeError) and code in (CALL, METHOD) and len(operands) == 2 and not payload.keywords:
            error.spans = (whole, operands[0], operands[1])
        else:
            error.spans = (whole,)

    def _locate_call(self, error: AgradError, instruction: Instruction) -> None:
        """The span of a call's name or of one of its keywords, where the error is about that."""
        call = instruction[1]
        if error.message.startswith(("unknown function", "unknown method", "unknown attribute")):
            error.spans = (call.name_span(instruction[2]),)
        elif " has no parameter " in error.message:
            place = getattr(error, "argument", 0) - call.positional - (instruction[0] == METHOD)
            if 0 <= place < len(call.keyword_spans):
                error.spans = (call.keyword_spans[place],)

    def _unexpected(self, error: Exception, instructions: list[Instruction], instruction: Instruction) -> InputError:
        code, payload = instruction[0], instruction[1]
        name = payload.path[-1] if code in (CALL, METHOD) else payload if isinstance(payload, str) else "this"
        if isinstance(error, MemoryError):
            message = f"{name} needs more memory than there is"
        else:
            message = f"{name} cannot take these arguments: {error}"
        result = InputError(message)
        self._locate(result, instructions, instruction)
        return result

    def _load(self, name: str, start: int, end: int) -> Any:
        value = self.environment.get(name, _MISSING)
        if value is POISON:
            raise PoisonedError(name)
        if value is not _MISSING:
            return value
        return self.unknown(name, start, end)

    def _path(self, path: tuple[str, ...], start: int, end: int) -> Any:
        """A dotted name: an attribute of a value, where the first part is assigned, else a constant or dtype."""
        if path[0] in self.environment:
            value = self._load(path[0], start, end)
            for name in path[1:]:
                value = self._field(value, name)
            return value
        try:
            return names.static(path)
        except KeyError:
            pass
        dotted = ".".join(path)
        if names.function(path) is not None:
            raise InputError(f"{dotted} is a function", hint=f"call it: {dotted}(...)", spans=(Span(start, end),))
        hint = names.FOREIGN_FUNCTIONS.get(path[-1]) or names.nearest(
            path[-1], [*names.CONSTANTS, *names.DTYPES, *names.function_names()]
        )
        raise InputError(f"unknown name {dotted}", hint=hint, spans=(Span(start, end),))

    def _float(self, value: float) -> Node:
        """The leaf of a written float: one for all places where it is written, as nothing distinguishes them."""
        node = leaf(value)
        if value != 0:  # 0.0 and -0.0 are equal and not the same
            self.floats[value] = node
        return node

    def _binary(self, name: str, left: Any, right: Any) -> Any:
        if type(left) in NUMBERS and type(right) in NUMBERS:
            return fold(name, left, right)
        if isinstance(left, np.dtype) and isinstance(right, np.dtype) and name in ("eq", "ne"):
            return (left == right) is (name == "eq")
        if isinstance(left, Listing) and isinstance(right, Listing) and left.is_tuple and name in ("eq", "ne"):
            return (left.plain() == right.plain()) is (name == "eq")
        return TABLE[name].call(self.converter.operand(left), self.converter.operand(right))

    def _unary(self, name: str, value: Any) -> Any:
        if type(value) in NUMBERS:
            return fold(name, value)
        return TABLE[name].call(self.converter.operand(value))

    def _where(self, value: Any, condition: Any, other: Any) -> Any:
        if type(condition) in NUMBERS:
            return value if condition else other
        return TABLE["where"].call(
            self.converter.operand(condition), self.converter.operand(value), self.converter.operand(other)
        )

    def _other(self, code: int, payload: Any, stack: list[Any], start: int, end: int) -> Any:
        if code in (CALL, METHOD):
            return self._call(payload, stack, start, end, method=code == METHOD)
        if code == UNARY:
            return self._unary(payload, stack.pop())
        if code in (LIST, TUPLE):
            values = stack[len(stack) - payload :] if payload else []
            del stack[len(stack) - payload :]
            return collect(values, code == TUPLE, self.dtype)
        if code == INDEX:
            count = abs(payload)
            items = stack[len(stack) - count :]
            del stack[len(stack) - count :]
            return self.indices.apply(stack.pop(), items, payload < 0)
        if code == SLICE:
            parts = stack[-payload:]
            del stack[-payload:]
            return slice(*[None if part is _MISSING else self.indices.bound(part) for part in parts])
        if code == MISSING:
            return _MISSING
        if code == FIELD:
            return self._field(stack.pop(), payload)
        if code == PATH:
            return self._path(payload, start, end)
        other, condition, value = stack.pop(), stack.pop(), stack.pop()
        return self._where(value, condition, other)

    def _field(self, value: Any, name: str) -> Any:
        if isinstance(value, Listing) and not value.is_tuple:
            value = self.converter.tensor(value)
        result = attribute(value, name)
        if name in ("shape", "ndim"):
            self.calls.measured = True
        return result

    def _no_function(self, path: tuple[str, ...]) -> InputError:
        name = path[-1]
        dotted = ".".join(path)
        if len(path) == 1 and name in self.environment:
            return InputError(f"{name} is a value, not a function", hint=f"write {name}*(...) to multiply")
        if name in names.FOREIGN_FUNCTIONS:
            return InputError(f"{dotted}() has no place in an expression file", hint=names.FOREIGN_FUNCTIONS[name])
        hint = names.nearest(name, names.function_names())
        return InputError(f"unknown function {dotted}", hint=hint)

    def _call(self, call: Call, stack: list[Any], start: int, end: int, method: bool = False) -> Any:
        count = call.positional + len(call.keywords) + method
        values = stack[len(stack) - count :] if count else []
        del stack[len(stack) - count :]
        keywords = (
            dict(zip(call.keywords, values[len(values) - len(call.keywords) :], strict=True)) if call.keywords else {}
        )
        positional = values[: call.positional + method]
        self.calls.here = Span(start, end)
        path = call.path
        if not method and len(path) > 1 and path[0] in self.environment:
            receiver = self._path(path[:-1], start, end) if len(path) > 2 else self._load(path[0], start, end)
            positional = [receiver, *positional]
            path, method = path[-1:], True
        if method:
            return self.calls.method(path[0], positional, keywords)
        found = self.calls.function(path)
        if found is None:
            raise self._no_function(path)
        return self.calls.call(found, path[-1], positional, keywords)
