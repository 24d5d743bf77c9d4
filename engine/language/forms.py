"""Lines that differ in names and numbers only: a few of them are parsed, and the others are taken after these.

A long file is written by a program and has few kinds of lines. Once a kind is known, one regular expression cuts its
lines into names and numbers, and what is to be done with them is known too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

from ..errors import Span
from . import tokens as t
from .postfix import BINARY, CALL, CONSTANT, LOAD, UNARY, Call, Instruction

_OFTEN: Final = 8
"""How often a kind of line is met before it is worth a regular expression."""
_MOST_LESSONS: Final = 5_000
"""Lines that are learned from: a text that has new kinds of lines after so many is not one of few."""
_MOST_TOKENS: Final = 200
_MOST_FOLLOWERS: Final = 4

_NAME: Final = "name"
_NUMBER: Final = "0"
_WHOLE: Final = {_NAME: t.WHOLE_NAME, _NUMBER: t.WHOLE_NUMBER}
_new = tuple.__new__


class Step(NamedTuple):
    """An operator, or a call of one argument, in a form.

    Attributes:
        called: which text is the name of what is called; -1 for an operator.
        operator: the name of an operator's row.
        left, right: the operands, among the names, then the numbers, then the results of the steps before; `right` is
            -1 where there is only one.
        first, last: the groups that are where the sub-expression begins and where it ends.
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
        pattern: the line. Its groups are the name that is assigned, names, numbers, and places (these are empty).
        names, numbers: which texts they are: a group's text stands one before its number.
        steps: what is done with them; the last one gives the value.
        instructions: as the parser gives them, with groups for names, numbers and spans.
        first, last: the groups that are where the expression begins and where it ends.
        followers: the forms of lines that have followed one of this form.
    """

    __slots__ = ("first", "followers", "instructions", "last", "names", "numbers", "pattern", "steps")

    def __init__(self, pattern: re.Pattern[str], span: tuple[int, int]) -> None:
        self.pattern = pattern
        self.names: list[int] = []
        self.numbers: list[int] = []
        self.steps: list[Step] = []
        self.instructions: list[Instruction] = []
        self.first, self.last = span
        self.followers: list[Form] = []


class Line(NamedTuple):
    """A line of a known form.

    Attributes:
        form: what it is beside its names and numbers.
        texts: what the groups hold; the first one is the name that is assigned.
        places: where the whole line begins and ends, then each group.
        numbers: the values of its numbers.
    """

    form: Form
    texts: Sequence[str]
    places: Sequence[tuple[int, int]]
    numbers: Sequence[Any]

    @property
    def expression(self) -> Span:
        """Where the expression stands."""
        form, places = self.form, self.places
        return _new(Span, (places[form.first][0], places[form.last][0]))

    def instructions(self) -> list[Instruction]:
        """What the parser would make of the expression."""
        places, numbers = self.places, iter(self.numbers)
        found: list[Instruction] = []
        for code, payload, first, last in self.form.instructions:
            if code in (LOAD, CONSTANT):
                written = self.texts[payload - 1] if code == LOAD else next(numbers)
                found.append((code, written, *places[payload]))
            else:
                written = Call((self.texts[payload - 1],), 1) if code == CALL else payload
                found.append((code, written, places[first][0], places[last][0]))
        return found


class Forms:
    """The forms of the lines of a text that were read so far."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lessons = _MOST_LESSONS if text.isascii() else 0
        self._values: dict[str, Any] = {}
        self._times: dict[tuple[str, ...], int] = {}
        self._known: dict[tuple[str, ...], Form | None] = {}
        self._last: Form | None = None

    def line(self, position: int) -> Line | None:
        """The line that begins at a position, if its form has followed that of the last line before."""
        if self._last is None:
            return None
        for form in self._last.followers:
            found = form.pattern.match(self._text, position)
            if found is None:
                continue
            texts = found.groups()
            numbers = [self._values.get(texts[place]) for place in form.numbers]
            if None in numbers:
                try:
                    numbers = [self._number(texts[place]) for place in form.numbers]
                except ValueError:  # the parser knows what to say
                    return None
            if not t.KEYWORDS.isdisjoint(texts):
                return None
            self._last = form
            return _new(Line, (form, texts, found.regs, numbers))
        return None

    def _number(self, text: str) -> Any:
        value = self._values[text] = t.number_of(text)
        return value

    def learn(
        self, name: Span, tokens: Sequence[str], begin: int, instructions: Sequence[Instruction], span: Span
    ) -> None:
        """Note what kind of line was read.

        Args:
            name: where the name stands that it assigns.
            tokens: those behind the equals sign.
            begin: where they begin.
            instructions: what was made of them.
            span: where the expression stands.
        """
        if not self._lessons or len(tokens) > _MOST_TOKENS or (name.start and self._text[name.start - 1] != "\n"):
            return
        self._lessons -= 1
        key = (self._text[name.end : begin], *[_shape(token) for token in tokens])
        times = self._times[key] = self._times.get(key, 0) + 1
        if times == _OFTEN:
            self._known[key] = _form(key, list(accumulate(map(len, tokens), initial=begin)), instructions, span)
        form = self._known.get(key)
        if form is None:
            return
        before, self._last = self._last, form
        if before is not None and form not in before.followers and len(before.followers) < _MOST_FOLLOWERS:
            before.followers.append(form)


def _shape(token: str) -> str:
    """What tokens have in common that may stand in one place of a form."""
    if token.isidentifier() and token not in t.KEYWORDS:
        return _NAME
    return _NUMBER if token[0] in "0123456789." and t.classify(token)[0] == t.NUMBER else token


def _form(key: Sequence[str], starts: Sequence[int], instructions: Sequence[Instruction], span: Span) -> Form | None:
    """The form of a line; None where it has more in it than names, numbers, operators and calls of one argument.

    Args:
        key: what stands between the name and the tokens, then the shapes of the tokens.
        starts: where each token begins, and where the last one ends.
        instructions, span: of the expression.
    """
    bounds = {*span, *[bound for _, _, *both in instructions for bound in both]}
    pieces = [f"({t.WHOLE_NAME})", re.escape(key[0])]
    text_at: dict[int, int] = {}
    place_at: dict[int, int] = {}
    group = 1
    for start, shape in zip(starts, [*key[1:], ""], strict=True):
        if start in bounds:
            group += 1
            place_at[start] = group
            pieces.append("()")
        if shape in _WHOLE:
            group += 1
            text_at[start] = group
            pieces.append(f"({_WHOLE[shape]})")
        else:
            pieces.append(re.escape(shape))
    form = Form(re.compile("".join(pieces) + r"(?:\n|\Z)", re.ASCII), (place_at[span.start], place_at[span.end]))
    return form if _take(form, instructions, text_at, place_at) else None


def _take(
    form: Form, instructions: Sequence[Instruction], text_at: Mapping[int, int], place_at: Mapping[int, int]
) -> bool:
    """Note in a form what its instructions do; whether it has a place for all of them.

    Args:
        form: the form.
        instructions: of a line of that form.
        text_at: the group of the name or number that begins at a position.
        place_at: the group of a position itself.
    """
    form.names = [text_at[start] - 1 for code, _, start, _ in instructions if code == LOAD]
    results = len(form.names) + sum(code == CONSTANT for code, *_ in instructions)
    stack: list[int] = []
    loaded = 0
    for code, payload, start, end in instructions:
        first, last, group = place_at[start], place_at[end], payload
        if code in (LOAD, CONSTANT):
            if start not in text_at:  # a string, or a long list
                return False
            group = text_at[start]
            if code == LOAD:
                stack.append(loaded)
                loaded += 1
            else:
                stack.append(len(form.names) + len(form.numbers))
                form.numbers.append(group - 1)
        else:
            right = stack.pop() if code == BINARY else -1
            if code in (BINARY, UNARY):
                step = Step(-1, payload, stack.pop(), right, first, last)
            elif code == CALL and payload.positional == 1 and not payload.keywords and len(payload.path) == 1:
                group = text_at[start]
                step = Step(group - 1, "", stack.pop(), right, first, last)
            else:
                return False
            stack.append(results + len(form.steps))
            form.steps.append(step)
        form.instructions.append((code, group, first, last))
    return True
