"""Postfix instructions, the form in which a statement goes from the parser to the graph."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..errors import Span

LOAD: Final = 0
"""Push the value of a name; the payload is the name."""
CONSTANT: Final = 1
"""Push the payload: a number, a string, an ellipsis, or a long list of numbers (`NumberRun`)."""
BINARY: Final = 2
"""Two operands; the payload is the row's name."""
UNARY: Final = 3
"""One operand; the payload is the row's name."""
CALL: Final = 4
"""A function: arguments; the payload is a `Call`."""
METHOD: Final = 5
"""A method: the receiver, then arguments; the payload is a `Call`."""
LIST: Final = 6
"""A list; the payload is its length."""
TUPLE: Final = 7
"""A tuple; the payload is its length."""
INDEX: Final = 8
"""What is indexed, then items; the payload is how many, negative where a comma makes it a tuple of them."""
SLICE: Final = 9
"""The parts of a slice; the payload is how many."""
WHERE: Final = 10
"""Value, condition, other value."""
FIELD: Final = 11
"""One operand; the payload is the attribute's name."""
PATH: Final = 12
"""Push a dotted name under a known prefix; the payload is the parts."""
MISSING: Final = 13
"""Push the part of a slice that is not written."""

Instruction = tuple[int, Any, int, int]
"""Code, payload, and the span of the whole sub-expression: start and end."""


class Call(NamedTuple):
    """What a call instruction says beside its arguments.

    Attributes:
        path: the function's name, dotted parts under a known prefix first; for a method only its name.
        positional: how many arguments are positional; those given by keyword follow them.
        keywords: the keywords.
        keyword_spans: where they stand.
        name_end: where a method's name ends; 0 for a function, whose name begins the call.
    """

    path: tuple[str, ...]
    positional: int
    keywords: tuple[str, ...] = ()
    keyword_spans: tuple[Span, ...] = ()
    name_end: int = 0

    def name_span(self, start: int) -> Span:
        """Where the function's name stands in a call that begins at `start`."""
        if self.name_end:
            return Span(self.name_end - len(self.path[-1]), self.name_end)
        return Span(start, start + sum(map(len, self.path)) + len(self.path) - 1)


class NumberRun(NamedTuple):
    """The numbers of a long flat list.

    Attributes:
        values: the numbers.
        integers: whether all are written as integers.
    """

    values: list[float]
    integers: bool

    @classmethod
    def read(cls, text: str) -> NumberRun | None:
        """The numbers of a list from its text, brackets included; None where it holds anything else."""
        parts = text[1:-1].split(",")
        if not parts[-1].strip():
            parts.pop()
        try:
            values = list(map(float, parts))
        except ValueError:
            return None
        return cls(values, not any(mark in text for mark in ".eE"))


def arity(instruction: Instruction) -> int:
    """How many operands an instruction takes from the stack."""
    code, payload = instruction[0], instruction[1]
    if code in (LOAD, CONSTANT, PATH, MISSING):
        return 0
    if code in (UNARY, FIELD):
        return 1
    if code == BINARY:
        return 2
    if code == WHERE:
        return 3
    if code in (CALL, METHOD):
        return int(payload.positional) + len(payload.keywords) + (code == METHOD)
    return abs(int(payload)) + (code == INDEX)


def operand_spans(instructions: list[Instruction], index: int) -> list[Span]:
    """The spans of the operands of one instruction; found again only where an error needs them."""
    stack: list[Span] = []
    for instruction in instructions[:index]:
        count = arity(instruction)
        if count:
            del stack[len(stack) - count :]
        stack.append(Span(instruction[2], instruction[3]))
    count = arity(instructions[index])
    return stack[len(stack) - count :] if count else []


def operands(instructions: list[Instruction]) -> list[list[Instruction]]:
    """The instructions of each operand of the last instruction."""
    found: list[list[Instruction]] = []
    end = len(instructions) - 1
    for _ in range(arity(instructions[-1])):
        begin, missing = end, 1
        while missing:
            begin -= 1
            missing += arity(instructions[begin]) - 1
        found.append(instructions[begin:end])
        end = begin
    return found[::-1]
