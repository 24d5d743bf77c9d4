"""Lines that differ in names and numbers only: one of them is parsed, and the others are taken after it.

A long file is written by a program, and has few kinds of lines. Once a kind was met a few times, one regular expression
cuts its lines into names and numbers, and what is to be done with them is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from . import tokens as t
from .postfix import BINARY, CALL, CONSTANT, LOAD, Call, Instruction

_OFTEN: Final = 8
"""How often a kind of line is met before it is worth an expression of its own."""
_MOST_KINDS: Final = 1_000
"""A text of more kinds of lines is not one of few."""
_MOST_TOKENS: Final = 200
_MOST_FOLLOWERS: Final = 4

_Key = tuple[int | str, ...]
"""The tokens of a line, with its names and numbers by kind only."""


class Step(NamedTuple):
    """An operator, or a call of one argument, in a form.

    Attributes:
        called: which text is the name of what is called; -1 for an operator.
        operator: the name of an operator's row.
        left, right: the operands, among the names, then the numbers, then the results of the steps before.
        first, last: the places where the sub-expression begins and ends.
    """

    called: int
    operator: str
    left: int
    right: int
    first: int
    last: int


class Form:
    """What lines have in common that differ in names and numbers only.

    Attributes:
        pattern: the line; its groups are the name that is assigned, other names, numbers, and places (empty groups).
        names, numbers: which of the texts they are.
        steps: what is done with them; the last one gives the value.
        instructions: as the parser gives them, with the group of the text or place for each name, number and span.
        first, last: the places where the expression begins and ends.
        followers: the forms of lines that have stood after one of this form.
    """

    __slots__ = ("first", "followers", "instructions", "last", "names", "numbers", "pattern", "steps")

    def __init__(
        self,
        pattern: re.Pattern[str],
        names: tuple[int, ...],
        numbers: tuple[int, ...],
        steps: tuple[Step, ...],
        instructions: tuple[Instruction, ...],
        span: tuple[int, int],
    ) -> None:
        self.pattern = pattern
        self.names = names
        self.numbers = numbers
        self.steps = steps
        self.instructions = instructions
        self.first, self.last = span
        self.followers: list[Form] = []


class Line(NamedTuple):
    """A line of a known form: `NAME = EXPRESSION`.

    Attributes:
        form: what it is beside its names and numbers.
        texts: what the groups of the form's pattern hold; the name that is assigned first.
        places: where the whole line and then each group begins and ends.
        numbers: the values of its numbers.
    """

    form: Form
    texts: Sequence[str]
    places: Sequence[tuple[int, int]]
    numbers: Sequence[Any]

    def instructions(self) -> list[Instruction]:
        """What the parser would make of the expression."""
        found: list[Instruction] = []
        numbers = iter(self.numbers)
        for code, payload, first, last in self.form.instructions:
            if code in (LOAD, CONSTANT):
                written = self.texts[payload - 1] if code == LOAD else next(numbers)
                found.append((code, written, *self.places[payload]))
                continue
            written = Call((self.texts[payload - 1],), 1) if code == CALL else payload
            found.append((code, written, self.places[first][0], self.places[last][0]))
        return found


class Forms:
    """The forms of the lines of a text that were read so far."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._values: dict[str, Any] = {}
        self._times: dict[_Key, int] = {}
        self._known: dict[_Key, Form | None] = {}
        self._last: Form | None = None

    def line(self, position: int) -> Line | None:
        """The line that begins at a position, if it has a form that has followed the last line's form before."""
        if self._last is None:
            return None
        for form in self._last.followers:
            found = form.pattern.match(self._text, position)
            if found is not None:
                texts = found.groups()
                if not t.KEYWORDS.isdisjoint(texts):
                    return None
                try:
                    numbers = [self._number(texts[place]) for place in form.numbers]
                except ValueError:
                    return None
                self._last = form
                return Line(form, texts, found.regs, numbers)
        return None

    def _number(self, text: str) -> Any:
        value = self._values.get(text)
        if value is None:
            value = self._values[text] = t.number_of(text)
        return value

    def learn(
        self, line: tuple[int, int, int], tokens: Sequence[str], instructions: Sequence[Instruction], span: Sequence[int]
    ) -> None:
        """Note what kind of line was read.

        Args:
            line: where it begins, where the name begins that it assigns, and where the tokens after `=` begin.
            tokens: those tokens.
            instructions: what was made of them.
            span: where the expression stands.
        """
        if len(self._times) >= _MOST_KINDS or len(tokens) > _MOST_TOKENS or not self._text.isascii():
            return
        key = (self._text[line[0] : line[1]], *[self._shape(token) for token in tokens])
        times = self._times[key] = self._times.get(key, 0) + 1
        if times == _OFTEN:
            self._known[key] = self._form(line, tokens, instructions, span)
        form = self._known.get(key)
        if form is None:
            return
        if self._last is not None and form not in self._last.followers and len(self._last.followers) < _MOST_FOLLOWERS:
            self._last.followers.append(form)
        self._last = form
