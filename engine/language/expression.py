"""Operator precedence with an explicit stack: tokens of one expression to postfix instructions, nothing recurses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from . import foreign
from . import tokens as t
from .brackets import GROUP, ITEMS, LISTED, Brackets, Frame
from .names import PREFIXES
from .postfix import CONSTANT, FIELD, LOAD, MISSING, PATH, UNARY, Instruction, NumberRun
from .precedence import FRAME, OPERAND, OPERATOR, STOP
from .tokens import BINARY, NAME, NUMBER, SIGN, SPACE

_SIGNS: Final = {"-": "neg", "+": "positive"}

WITHIN: Final = "within"
"""The word before the tolerance of a claim."""


class Expression(Brackets):
    """The state of one expression that is being read; `feed` takes the tokens of a line.

    Attributes:
        claiming: whether it is a claim, in which `~=` compares and `within` says how nearly.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.entries = t.fresh_entries()
        self.claiming = False

    def reset(self) -> None:
        """Begin a new expression."""
        self.out = []
        self.starts.clear()
        self.operators[:] = (FRAME,)
        self.frames.clear()
        self.base_commas = 0
        self.claiming = False
        self.expected = OPERAND
        self.last = -1  # where the last token that counts ended
        self.previous = t.SPACE  # its kind
        self.stopped = -1  # where a semicolon or an assignment sign stopped the reading

    def feed(self, tokens: Iterable[str], position: int) -> int:
        """Take the tokens of a line, up to its end or to what stops an expression.

        Raises:
            LanguageError: where they do not follow the language.
        """
        out, starts, operators, entries = self.out, self.starts, self.operators, self.entries
        expected, last, previous = self.expected, self.last, self.previous
        for lexeme in tokens:
            start = position
            if lexeme == " ":
                position += 1
                continue
            position += len(lexeme)
            entry = entries.get(lexeme)
            if entry is None:
                entry = t.classify(lexeme)
                if len(lexeme) < 40:
                    entries[lexeme] = entry
            kind = entry[0]
            if kind == SPACE:
                continue
            if expected == OPERAND:
                if kind == NAME:
                    out.append((LOAD, lexeme, start, position))
                    starts.append(start)
                    expected = OPERATOR
                elif kind == NUMBER:
                    out.append((CONSTANT, entry[1], start, position))
                    starts.append(start)
                    expected = OPERATOR
                else:
                    self.expected, self.last, self.previous = OPERAND, last, previous
                    expected = self._operand(kind, entry, lexeme, start)
                    if expected == STOP:
                        break
                    if kind == t.RUN:
                        kind = t.CLOSE
            elif kind == BINARY or kind == SIGN:  # noqa: SIM109  # the hot loop: no tuple is built
                floor = entry[1]
                while operators[-1][0] >= floor:
                    _, begin, code, payload = operators.pop()
                    if begin == -1:
                        starts.pop()
                        begin = starts[-1]
                    else:
                        starts[-1] = begin
                    out.append((code, payload, begin, last))
                operators.append(entry[2])
                expected = OPERAND
            else:
                self.expected, self.last, self.previous = OPERATOR, last, previous
                expected = self._operator(kind, entry, lexeme, start)
                if expected == STOP:
                    break
                if kind == t.RUN:
                    kind = t.CLOSE
            last, previous = position, kind
        self.expected, self.last, self.previous = expected, last, previous
        return expected

    def finish(self) -> list[Instruction]:
        """The instructions of the whole expression, after its last token.

        Raises:
            LanguageError: where it ends too early.
        """
        if self.frames:
            raise self.never_closed()
        if self.expected == OPERAND and not (self.base_commas and self.previous == t.COMMA):
            raise self.too_early()
        self.reduce(0)
        if self.base_commas:
            self.take_base_tuple()
        return self.out

    def _operand(self, kind: int, entry: t.Entry, lexeme: str, start: int) -> int:
        """A token where a value is expected."""
        end = start + len(lexeme)
        if kind == t.SIGN:
            self.operators.append((t.PREFIX, start, UNARY, _SIGNS[lexeme]))
            return OPERAND
        if kind == t.INVERT:
            self.operators.append((t.PREFIX, start, UNARY, "bitwise_not"))
            return OPERAND
        if kind == t.OPEN:
            frame = Frame(GROUP if lexeme == "(" else LISTED, start, start, len(self.out))
            self.frames.append(frame)
            self.operators.append(FRAME)
            return OPERAND
        if kind == t.CLOSE:
            return self.close(lexeme, start, empty=True)
        if kind == t.STRING:
            return self.push(CONSTANT, entry[1], start, end)
        if kind == t.ELLIPSIS:
            return self.push(CONSTANT, Ellipsis, start, end)
        if kind == t.RUN:
            run = NumberRun.read(lexeme)
            return self.push(CONSTANT, run, start, end) if run else self._split(lexeme, start)
        if kind == t.COMMA and self.frames and self.frames[-1].colons and self.operators[-1] is FRAME:
            return self.comma(empty=True)
        if kind == t.COLON and self.frames and self.frames[-1].kind == ITEMS:
            self.push(MISSING, None, start, start)
            return self.colon()
        if kind == t.ASSIGN and self.previous == t.COMMA and not self.frames:
            return self.assign(start)
        if kind == t.BACKSLASH:
            raise foreign.stray_backslash(start)
        raise foreign.no_operand(self.text, kind, lexeme, start, self.last, self.previous)

    def _operator(self, kind: int, entry: t.Entry, lexeme: str, start: int) -> int:
        """A token after a value, other than an arithmetic operator."""
        if kind == t.OPEN:
            return self.open_bracket(lexeme, start)
        if kind == t.ATTRIBUTE:
            self._attribute(entry[1], start + len(lexeme))
            return OPERATOR
        if kind == t.CLOSE:
            return self.close(lexeme, start, empty=False)
        if kind == t.COMMA:
            return self.comma(empty=False)
        if kind == t.COMPARE:
            return self.compare(lexeme, start, entry[2])
        if kind == t.COLON and self.frames and self.frames[-1].kind == ITEMS:
            self.reduce(0)
            return self.colon()
        if kind == t.RUN:
            return self._split(lexeme, start)
        if kind == t.KEYWORD and lexeme in ("if", "else"):
            return self.ternary(lexeme, start)
        if kind == t.SEMICOLON and not self.frames:
            self.stopped = start
            return STOP
        if kind == t.ASSIGN:
            return self.assign(start)
        if (kind == t.AUGMENTED and not self.frames) or (kind == t.KEYWORD and lexeme == "in" and not self.frames):
            self.stopped = start
            return STOP
        if self.claiming and not self.frames:
            if kind == t.APPROXIMATE:
                return self.compare(lexeme, start, entry[2])
            if lexeme == WITHIN:
                self.stopped = start
                return STOP
        raise foreign.no_operator(self.text, kind, lexeme, start, self.starts[-1], self.last, self.previous)

    def _split(self, lexeme: str, start: int) -> int:
        """A token that looked like a long list of numbers and is an index or holds other things too."""
        return self.feed(t.split_run(lexeme), start)

    def _attribute(self, name: str, end: int) -> None:
        code, payload, start, _ = self.out[-1]
        if self.previous == t.NAME and code == LOAD and payload in PREFIXES:
            self.out[-1] = (PATH, (payload, name), start, end)
        elif self.previous == t.ATTRIBUTE and code == PATH:
            self.out[-1] = (PATH, (*payload, name), start, end)
        elif self.previous in (t.NUMBER, t.STRING):
            raise foreign.attribute_of_number(self.text, self.starts[-1], end, name)
        else:
            self.out.append((FIELD, name, self.starts[-1], end))
