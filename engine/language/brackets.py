"""Brackets: groups, lists, calls, indices and slices, each an open frame until it is closed."""

from __future__ import annotations

from typing import Final

from ..errors import LanguageError, Span
from . import foreign
from . import tokens as t
from .postfix import CALL, FIELD, INDEX, LIST, LOAD, METHOD, MISSING, PATH, SLICE, TUPLE, Call
from .precedence import FRAME, OPERAND, OPERATOR, STOP, Precedence

GROUP: Final = 1
_CALL: Final = 2
_METHOD: Final = 3
LISTED: Final = 4
ITEMS: Final = 5


class Frame:
    """An open bracket: what it is, where it began, and what it holds so far."""

    __slots__ = (
        "begin",
        "colons",
        "commas",
        "count",
        "keywords",
        "kind",
        "mark",
        "name_end",
        "names",
        "path",
        "pending",
        "start",
    )

    def __init__(self, kind: int, start: int, begin: int, mark: int) -> None:
        self.kind = kind
        self.start = start  # of the bracket
        self.begin = begin  # of the whole: the callee's or the bracket's
        self.mark = mark  # how many instructions there were when the present item began
        self.count = 0
        self.colons = 0
        self.commas = 0
        self.path: tuple[str, ...] = ()
        self.name_end = 0
        self.keywords: list[str] = []
        self.names: list[Span] = []
        self.pending = False


class Brackets(Precedence):
    """An expression with the brackets that are open in it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.frames: list[Frame] = []
        self.calls: dict[tuple[tuple[str, ...], int], Call] = {}
        self.base_commas = 0
        self.stopped = -1  # where a semicolon or an assignment sign stopped the reading

    @property
    def takes_keyword(self) -> bool:
        """Whether the innermost bracket is a call's and an argument may begin here."""
        return self.frames[-1].kind in (_CALL, _METHOD) and self.expected == OPERAND

    def never_closed(self) -> LanguageError:
        """The error of the innermost open bracket."""
        start = self.frames[-1].start
        bracket = self.text[start]
        return LanguageError(
            f"'{bracket}' is never closed",
            spans=(Span(start, start + 1),),
            hint=f"add '{')' if bracket == '(' else ']'}'",
        )

    def open_bracket(self, lexeme: str, start: int) -> int:
        """A bracket after a value: a call or an index."""
        out, starts = self.out, self.starts
        begin = starts[-1]
        if lexeme == "[":
            if self.previous in (t.NUMBER, t.STRING):
                raise foreign.no_operator(self.text, t.OPEN, lexeme, start, begin, self.last, self.previous)
            self.frames.append(Frame(ITEMS, start, begin, len(out)))
            self.operators.append(FRAME)
            return OPERAND
        code, payload, _, name_end = out[-1]
        if self.previous == t.NAME and code == LOAD:
            out.pop()
            starts.pop()
            frame = Frame(_CALL, start, begin, len(out))
            frame.path = (payload,)
        elif self.previous == t.ATTRIBUTE and code == PATH:
            out.pop()
            starts.pop()
            frame = Frame(_CALL, start, begin, len(out))
            frame.path = payload
        elif self.previous == t.ATTRIBUTE and code == FIELD:
            out.pop()
            frame = Frame(_METHOD, start, begin, len(out))
            frame.path = (payload,)
            frame.name_end = name_end
        else:
            raise foreign.no_operator(self.text, t.OPEN, lexeme, start, begin, self.last, self.previous)
        self.frames.append(frame)
        self.operators.append(FRAME)
        return OPERAND

    def assign(self, start: int) -> int:
        """An assignment sign: after a keyword of a call, or after a statement's target."""
        if not self.frames:
            self.stopped = start
            return STOP
        frame = self.frames[-1]
        if frame.kind in (_CALL, _METHOD) and not frame.pending and len(self.out) == frame.mark + 1:
            code, name, begin, end = self.out[-1]
            if code == LOAD and self.previous == t.NAME:
                self.out.pop()
                self.starts.pop()
                if name in frame.keywords:
                    raise LanguageError(f"{name} is given twice", spans=(Span(begin, end),))
                frame.keywords.append(name)
                frame.names.append(Span(begin, end))
                frame.pending = True
                return OPERAND
        raise LanguageError(
            "'=' inside an expression",
            spans=(Span(start, start + 1),),
            hint="write == to compare; an assignment is a line of its own: NAME = EXPRESSION",
        )

    def _end_item(self, frame: Frame, empty: bool) -> None:
        """One item of a bracket is complete."""
        if frame.colons:
            if empty:
                self.push(MISSING, None, self.last, self.last)
            count = frame.colons + 1
            begin = self.starts[-count]
            del self.starts[-count:]
            self.push(SLICE, count, begin, self.last)
            frame.colons = 0
        elif empty:
            return
        elif frame.kind in (_CALL, _METHOD):
            if not frame.pending:
                if frame.keywords:
                    raise LanguageError(
                        "a positional argument after a keyword argument",
                        spans=(Span(self.starts[-1], self.last),),
                        hint="put positional arguments first",
                    )
                frame.count += 1
            frame.pending = False
            return
        frame.count += 1

    def comma(self, *, empty: bool) -> int:
        """A comma after a value, or (empty) after a colon."""
        self.reduce(0)
        if not self.frames:
            self.base_commas += 1
            return OPERAND
        frame = self.frames[-1]
        self._end_item(frame, empty)
        frame.commas += 1
        frame.mark = len(self.out)
        return OPERAND

    def colon(self) -> int:
        """A colon in an index."""
        frame = self.frames[-1]
        frame.colons += 1
        if frame.colons > 2:
            raise LanguageError(
                "a slice has at most three parts",
                spans=(Span(self.starts[-3], self.last + 1),),
                hint="write START:STOP:STEP",
            )
        return OPERAND

    def close(self, lexeme: str, start: int, *, empty: bool) -> int:
        """A closing bracket, after a value or (empty) where one could stand."""
        if not self.frames:
            raise LanguageError(f"'{lexeme}' without an opening bracket", spans=(Span(start, start + 1),))
        frame = self.frames[-1]
        if (self.text[frame.start] == "(") != (lexeme == ")"):
            raise LanguageError(
                f"'{self.text[frame.start]}' is closed by '{lexeme}'",
                spans=(Span(frame.start, frame.start + 1), Span(start, start + 1)),
                hint=f"write '{')' if lexeme == ']' else ']'}'",
            )
        if empty and (
            self.operators[-1] is not FRAME
            or frame.pending
            or not (self.previous == t.COMMA or frame.colons or (self.previous == t.OPEN and frame.kind != ITEMS))
        ):
            raise foreign.no_operand(self.text, t.CLOSE, lexeme, start, self.last, self.previous)
        self.reduce(0)
        self._end_item(frame, empty)
        self.frames.pop()
        self.operators.pop()
        self._emit(frame, start + 1)
        return OPERATOR

    def _emit(self, frame: Frame, end: int) -> None:
        kind, starts, out = frame.kind, self.starts, self.out
        if kind == GROUP:
            if frame.commas or not frame.count:
                self._collect(frame, TUPLE, end)
            else:
                starts[-1] = frame.begin
            return
        if kind == LISTED:
            self._collect(frame, LIST, end)
            return
        if kind == ITEMS:
            del starts[len(starts) - frame.count :]
            out.append((INDEX, -frame.count if frame.commas else frame.count, frame.begin, end))
            return
        count = frame.count + len(frame.keywords)
        if count:
            del starts[len(starts) - count :]
        if kind == _METHOD:
            call = Call(frame.path, frame.count, tuple(frame.keywords), tuple(frame.names), frame.name_end)
            out.append((METHOD, call, frame.begin, end))
            return
        key = (frame.path, frame.count)
        known = None if frame.keywords else self.calls.get(key)
        if known is None:
            known = Call(frame.path, frame.count, tuple(frame.keywords), tuple(frame.names))
            if not frame.keywords:
                self.calls[key] = known
        out.append((CALL, known, frame.begin, end))
        starts.append(frame.begin)

    def _collect(self, frame: Frame, code: int, end: int) -> None:
        if frame.count:
            del self.starts[len(self.starts) - frame.count :]
        self.push(code, frame.count, frame.begin, end)
