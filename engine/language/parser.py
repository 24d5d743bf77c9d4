"""Statements: from the text of an expression file to postfix instructions with spans, many errors in one run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ..errors import AgradError, LanguageError, Span
from . import foreign
from . import tokens as t
from .claim_lines import Claim, DomainLine, read_claim, read_domain
from .expression import Expression
from .forms import Forms, Line
from .postfix import CALL, CONSTANT, FIELD, INDEX, LIST, LOAD, TUPLE, Instruction, operand_spans
from .precedence import OPERATOR, STOP

ASSIGNMENT: Final = 0
AUGMENTED: Final = 1
UNPACKING: Final = 2
ITEM: Final = 3
BARE: Final = 4
CLAIM: Final = 5
BROKEN: Final = 6


Targets = tuple[tuple[str, int, int], ...]


class Statement:
    """One statement: what it assigns to, the instructions of its right side, and where it stands.

    Attributes:
        kind: what sort of statement it is.
        targets: the names that it assigns, with their spans.
        instructions: of the right side; for an item assignment those of the left side's index come first.
        line: the right side, where it has the form of one before it.
        split: for an item assignment, how many instructions belong to the left side.
        operator: for an augmented assignment, the row's name.
        claim: for a claim, what it says.
        expression, span: of the right side and of the whole.
        error: for a broken one, what is wrong with it.
    """

    __slots__ = (
        "_instructions",
        "claim",
        "error",
        "expression",
        "kind",
        "line",
        "operator",
        "span",
        "split",
        "targets",
    )

    def __init__(
        self,
        kind: int,
        targets: Targets,
        instructions: list[Instruction] | None,
        expression: Span,
        span: Span,
        line: Line | None = None,
    ) -> None:
        self.kind = kind
        self.targets = targets
        self._instructions = instructions
        self.expression = expression
        self.span = span
        self.line = line
        self.split = 0
        self.operator = ""
        self.claim: Claim | DomainLine | None = None
        self.error: AgradError | None = None

    @property
    def instructions(self) -> list[Instruction]:
        """The instructions, made now where they were not needed before."""
        if self._instructions is None:
            self._instructions = self.line.instructions() if self.line is not None else []
        return self._instructions

    @instructions.setter
    def instructions(self, instructions: list[Instruction]) -> None:
        self._instructions = instructions


_START: Final = re.compile(r"[ \t\f\v\xa0]*([^\W\d]\w*)[ \t]*=(?!=)")
_ASSERT: Final = re.compile(r"[ \t\f\v\xa0]*assert\b")
_BLANK: Final = re.compile(r"[ \t\f\v\xa0;]*(?:#.*)?$")
_BRACKETS: Final = re.compile(r"[()\[\]]|#.*|\"[^\"\n]*\"|'[^'\n]*'")
_new = tuple.__new__
_MULTIPLE: Final = "write NAME = EXPRESSION, NAME[INDEX] = EXPRESSION or NAME, NAME = EXPRESSION"


class Parser:
    """Reads a text statement by statement."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.expression = Expression(text)
        self.forms = Forms(text)
        self.pattern = t.pattern_for(text)

    def statements(self) -> Iterator[Statement]:
        """Each statement of the text; a broken one carries its error, and reading goes on after it."""
        text, size = self.text, len(self.text)
        position = 0
        while position < size:
            line = self.forms.line(position)
            if line is not None:
                yield _as_statement(line)
                position = line.places[0][1]
                continue
            end = text.find("\n", position)
            if end < 0:
                end = size
            start = _START.match(text, position, end)
            if start is None and _BLANK.match(text, position, end):
                position = end + 1
                continue
            statement, position = self._next(position, end, start)
            yield statement

    def _next(self, position: int, end: int, start: re.Match[str] | None) -> tuple[Statement, int]:
        """The statement that begins on a line, and where the next one may begin."""
        targets: list[tuple[str, int, int]] = []
        expression = self.expression
        expression.reset()
        begin = cursor = position
        try:
            if start is not None and start[1].isidentifier():
                word, begin, cursor = start[1], start.start(1), start.end()
                if word in t.KEYWORDS:
                    raise LanguageError(
                        f"'{word}' is a keyword and cannot be a name",
                        spans=(Span(begin, begin + len(word)),),
                        hint=f"write {word}_ = ... or another name",
                    )
                targets.append((word, begin, begin + len(word)))
                plain = self._plain(word, begin, cursor, end)
                if plain is not None:
                    return plain, end + 1
                expression.reset()
            else:
                begin = cursor = _first(self.text, position)
            return self._statement(begin, cursor, targets)
        except AgradError as error:
            if not error.spans:
                at = expression.last if expression.last > begin else max(cursor - 1, begin)
                at = min(at, len(self.text) - 1)
                error.spans = (Span(at, at + 1),)
            broken = Statement(BROKEN, tuple(targets), [], Span(begin, end), Span(begin, end))
            broken.error = error
            return broken, self._recover(begin, error.spans[0].start)

    def _plain(self, name: str, begin: int, cursor: int, end: int) -> Statement | None:
        """An assignment that is one whole line, as nearly all are; None where it is anything else."""
        expression = self.expression
        if self.text.find(";", cursor, end) >= 0:
            return None
        tokens = self.pattern.findall(self.text, cursor, end)
        if tokens and tokens[-1] == "\\":
            return None
        if expression.feed(tokens, cursor) != OPERATOR or expression.frames or expression.base_commas:
            return None
        instructions = expression.finish()
        last = expression.last
        target = begin, begin + len(name)
        span = _new(Span, (expression.starts[0], last))
        self.forms.learn(Span(*target), tokens, cursor, instructions, span)
        return Statement(ASSIGNMENT, ((name, *target),), instructions, span, _new(Span, (begin, last)))

    def _statement(self, begin: int, cursor: int, targets: list[tuple[str, int, int]]) -> tuple[Statement, int]:
        """Read one statement from `cursor` on; its targets so far are known. Also where the next one may begin."""
        expression, text = self.expression, self.text
        claim = None if targets else _ASSERT.match(text, begin)
        if claim is not None:
            return self._claim(begin, claim.end())
        kind, operator, left = ASSIGNMENT if targets else BARE, "", None
        while True:
            stop = self._read(cursor)
            if expression.stopped < 0 or text[stop] == ";":
                break
            if text.startswith("in", stop):
                if kind != BARE:
                    raise foreign.no_operator(text, t.KEYWORD, "in", stop, begin, expression.last, t.NAME)
                return self._domain(begin, stop)
            if kind not in (ASSIGNMENT, BARE):
                raise LanguageError(
                    "only names can be assigned together", spans=(Span(stop, stop + 1),), hint=_MULTIPLE
                )
            kind, left = self._target(targets, stop)
            cursor = stop + 1
            if text[stop] != "=":
                if kind != ASSIGNMENT or len(targets) != 1:
                    raise LanguageError(
                        "an augmented assignment changes one name", spans=(Span(begin, stop + 2),), hint=_MULTIPLE
                    )
                cursor = text.index("=", stop) + 1
                kind, operator = AUGMENTED, text[stop : cursor - 1]
            expression.reset()
        instructions = expression.finish()
        last = expression.last
        statement = Statement(kind, tuple(targets), instructions, Span(expression.starts[0], last), Span(begin, last))
        if left is not None:
            statement.split = len(left)
            statement.instructions = left + instructions
        statement.operator = operator
        return statement, stop + 1

    def _claim(self, begin: int, cursor: int) -> tuple[Statement, int]:
        """A claim, from behind `assert` on; also where the next statement may begin."""
        claim, span, stop = read_claim(self.expression, self.text, self._read, cursor)
        if claim is None:
            return self._domain(begin, stop)
        instructions = [*claim.left, *claim.right, *claim.within]
        statement = Statement(CLAIM, (), instructions, span, Span(begin, span.end))
        statement.claim = claim
        return statement, stop + 1

    def _domain(self, begin: int, at: int) -> tuple[Statement, int]:
        """A domain, whose `in` stands at a position; also where the next statement may begin."""
        domain, end = read_domain(self.expression, self.text, self._cut, at)
        span = Span(begin, self.expression.last)
        statement = Statement(CLAIM, (), [(LOAD, name, *place) for name, place in domain.names], span, span)
        statement.claim = domain
        return statement, end + 1

    def _cut(self, begin: int, end: int) -> list[str]:
        return self.pattern.findall(self.text, begin, end)

    def _target(self, targets: list[tuple[str, int, int]], stop: int) -> tuple[int, list[Instruction] | None]:
        """What stands before an assignment sign: names are added to the targets."""
        expression = self.expression
        if not expression.out and not expression.starts:
            raise LanguageError("a name is expected before '='", spans=(Span(stop, stop + 1),), hint=_MULTIPLE)
        out = list(expression.finish())
        code, payload, start, end = out[-1]
        if len(out) == 1 and code == LOAD and payload not in ("True", "False", "None"):
            targets.append((payload, start, end))
            return ASSIGNMENT, None
        if code in (TUPLE, LIST) and len(out) == payload + 1 and all(i[0] == LOAD for i in out[:-1]) and not targets:
            targets.extend((i[1], i[2], i[3]) for i in out[:-1])
            return UNPACKING, None
        if code == INDEX and out[0][0] == LOAD and not targets:
            span = Span(out[0][2], out[0][3])
            if operand_spans(out, len(out) - 1)[0] == span:
                targets.append((out[0][1], *span))
                return ITEM, out
        raise _no_target(out, self.text)

    def _read(self, position: int) -> int:
        """Feed the rest of a line, and the next ones while a bracket is open or a backslash ends the line.

        Returns:
            Where it ended: at the end of a line, or at a semicolon or an assignment sign.
        """
        expression, text, size = self.expression, self.text, len(self.text)
        while True:
            end = text.find("\n", position)
            if end < 0:
                end = size
            more = text.endswith("\\", position, end) and text.find("#", position, end) < 0
            tokens = self._tokens(position, end - more)
            if expression.feed(tokens, position) == STOP:
                return expression.stopped
            if end >= size or not (more or expression.frames):
                return end
            position = end + 1
            if expression.frames and not expression.takes_keyword:
                start = _START.match(text, position)
                if start is not None and start.start(1) == position:
                    raise expression.never_closed()

    def _tokens(self, position: int, end: int) -> Iterable[str]:
        """The tokens of a line; one by one where it may hold several statements, so that none is cut twice."""
        if self.text.find(";", position, end) < 0 and self.text.find("=", position, end) < 0:
            return self.pattern.findall(self.text, position, end)
        return (found[0] for found in self.pattern.finditer(self.text, position, end))

    def _recover(self, begin: int, where: int) -> int:
        """Where to read on after an error: behind the lines that the brackets of the broken statement span."""
        text, size = self.text, len(self.text)
        position, depth = begin, 0
        while position < size:
            end = text.find("\n", position)
            if end < 0:
                return size
            for found in _BRACKETS.finditer(text, position, end):
                mark = found[0]
                depth += (mark in "([") - (mark in ")]")
            position = end + 1
            if position > where and depth <= 0:
                break
            start = _START.match(text, position)
            if start is not None and start.start(1) == position:
                break
        return position


def _as_statement(line: Line) -> Statement:
    (begin, end), expression = line.places[1], line.expression
    targets = ((line.texts[0], begin, end),)
    return Statement(ASSIGNMENT, targets, None, expression, _new(Span, (begin, expression.end)), line)


def _first(text: str, position: int) -> int:
    while text[position] in " \t\f\v\xa0;":
        position += 1
    return position


def _no_target(out: list[Instruction], text: str) -> LanguageError:
    code, payload, start, end = out[-1]
    span = (Span(start, end),)
    shown = text[start:end] if end - start <= 40 and "\n" not in text[start:end] else "this"
    if code == CALL:
        return LanguageError(
            "functions cannot be defined", spans=span, hint=f"write {payload.path[-1]} = EXPRESSION, without arguments"
        )
    if code == FIELD:
        return LanguageError(
            f"the attribute .{payload} cannot be assigned", spans=span, hint="assign to a name of its own"
        )
    if code == CONSTANT:
        return LanguageError(f"cannot assign to {shown}", spans=span, hint="write NAME = VALUE, or == to compare")
    if code == INDEX:
        return LanguageError("only items of a name can be assigned", spans=span, hint=_MULTIPLE)
    return LanguageError(f"cannot assign to {shown}", spans=span, hint=_MULTIPLE)
