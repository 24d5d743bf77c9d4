"""The two stacks of operator precedence: operands waiting for an operator, and operators waiting for operands."""

from __future__ import annotations

from typing import Any, Final

from ..errors import LanguageError, Span
from . import foreign
from . import tokens as t
from .postfix import TUPLE, WHERE, Instruction

# What is expected next.
OPERATOR: Final = 0
OPERAND: Final = 1
STOP: Final = -1

FRAME: Final = (-1, 0, 0, None)
IF: Final = (0, 0, 0, None)
ELSE: Final = (t.TERNARY, -2, WHERE, None)


class Precedence:
    """What has been read of an expression: instructions, where each waiting operand began, and waiting operators."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.out: list[Instruction] = []
        self.starts: list[int] = []
        self.operators: list[tuple[Any, ...]] = [FRAME]
        self.expected = OPERAND
        self.last = -1  # where the last token that counts ended
        self.previous = t.SPACE  # its kind

    def push(self, code: int, payload: Any, start: int, end: int) -> int:
        """An instruction that gives an operand."""
        self.out.append((code, payload, start, end))
        self.starts.append(start)
        return OPERATOR

    def reduce(self, floor: int) -> None:
        """Emit the operators on the stack that bind at least as tightly as `floor`."""
        operators, starts, out = self.operators, self.starts, self.out
        while operators[-1][0] >= floor:
            operator = operators.pop()
            if operator is IF:
                raise LanguageError(
                    "'if' without 'else' inside an expression",
                    spans=(Span(starts[-2], self.last),),
                    hint="write VALUE if CONDITION else OTHER, or where(CONDITION, VALUE, OTHER)",
                )
            _, begin, code, payload = operator
            if begin == -1:
                starts.pop()
                begin = starts[-1]
            elif begin == -2:
                del starts[-2:]
                begin = starts[-1]
            else:
                starts[-1] = begin
            out.append((code, payload, begin, self.last))

    def ternary(self, lexeme: str, start: int) -> int:
        """`if` or `else` after a value."""
        if lexeme == "if":
            self.reduce(t.TERNARY + 1)
            if self.operators[-1] is IF:
                self.reduce(0)
            self.operators.append(IF)
            return OPERAND
        self.reduce(t.TERNARY)
        if self.operators[-1] is not IF:
            raise LanguageError(
                "'else' without 'if'",
                spans=(Span(start, start + 4),),
                hint="write VALUE if CONDITION else OTHER",
            )
        self.operators[-1] = ELSE
        return OPERAND

    def too_early(self) -> LanguageError:
        """The error of an expression that ends where a value is expected."""
        if self.last < 0:
            return LanguageError("an expression is expected here")
        start = self.last - 1
        while start > 0 and self.text[start - 1] in "*/=<>!&|":
            start -= 1
        return LanguageError(
            "the expression ends too early: a value is expected after this",
            spans=(Span(start, self.last),),
            hint="to go on in the next line, put the expression into brackets",
        )

    def take_base_tuple(self) -> None:
        """Values with commas and no brackets between them are a tuple."""
        count = len(self.starts)
        begin = self.starts[0]
        self.out.append((TUPLE, count, begin, self.last))
        self.starts[:] = [begin]

    def compare(self, lexeme: str, start: int, operator: tuple[Any, ...]) -> int:
        """A comparison, which cannot be compared again."""
        self.reduce(t.COMPARISON + 1)
        if self.operators[-1][0] == t.COMPARISON:
            raise foreign.chained(self.starts[-2], start + len(lexeme))
        self.operators.append(operator)
        return OPERAND
