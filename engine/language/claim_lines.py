"""Lines that claim something: `assert LEFT == RIGHT`, and domains of leaves: `x in (0, inf)`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..errors import LanguageError, Span
from .expression import WITHIN, Expression
from .postfix import BINARY, CALL, CONSTANT, LOAD, METHOD, TUPLE, UNARY, Instruction, operands

COMPARISONS: Final = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "approximate": "~="}
"""The comparisons that a claim may make, as rows and as they are written."""

_CONDITIONS: Final = frozenset(("all", "any", "isfinite", "logical_and", "logical_or", "logical_not", "logical_xor"))
"""Functions whose result is a truth value."""

_CLOSED_BY: Final = {"(": ")]", "[": ")]", "{": "}"}
_DOMAIN: Final = re.compile(r"[ \t\f\v\xa0]*([(\[{])?([^#;\n]*)")
_INTERVALS: Final = "write x in (0, inf), x in [0, 1] or n in {1, 2, 3}"


class Claim(NamedTuple):
    """What a line claims.

    Attributes:
        operator: the comparison, a key of `COMPARISONS`; empty where the line makes none. A condition, `(a < b) & c`,
            is compared with True.
        left, right: the instructions of both sides.
        within: those of the tolerance; empty where none is written.
        label: the words of `assert ..., "words"`.
        written: where the claim stands, without these words.
        is_condition: whether it is a condition, which is compared with True.
    """

    operator: str
    left: list[Instruction]
    right: list[Instruction]
    within: list[Instruction]
    label: str | None
    written: Span
    is_condition: bool = False


class DomainLine(NamedTuple):
    """Where leaves lie.

    Attributes:
        names: their names, with spans.
        brackets: the opening and the closing one.
        ends: the instructions of each end, or of each value of a set.
    """

    names: list[tuple[str, Span]]
    brackets: str
    ends: list[list[Instruction]]


def read_claim(
    expression: Expression, text: str, read: Callable[[int], int], cursor: int
) -> tuple[Claim | None, Span, int]:
    """A claim from behind the word `assert` on: what it says (None: it goes on with `in`), its span, where it ends.

    Args:
        expression: what is fed.
        text: the whole text.
        read: feeds it from a position on; gives where it stopped.
        cursor: where to begin.

    Raises:
        LanguageError: where it does not follow the language.
    """
    expression.reset()
    expression.claiming = True
    stop = read(cursor)
    if expression.stopped >= 0 and text.startswith("in", stop):
        return None, Span(stop, stop), stop
    if expression.stopped >= 0 and text[stop] == "=":
        raise LanguageError(
            "'=' in a claim", spans=(Span(stop, stop + 1),), hint="write == for equal, ~= for nearly equal"
        )
    instructions, label, end = _labelled(text, list(expression.finish()), expression.last)
    start, last = expression.starts[0], expression.last
    within: list[Instruction] = []
    if expression.stopped >= 0 and text.startswith(WITHIN, stop):
        if label is not None:
            raise LanguageError("the words of a claim stand at its end", spans=(Span(stop, stop + len(WITHIN)),))
        expression.reset()
        stop = read(stop + len(WITHIN))
        within, label, end = _labelled(text, list(expression.finish()), expression.last)
        last = expression.last
    claim = Claim("", instructions, [], within, label, Span(start, end))
    code, payload = instructions[-1][0], instructions[-1][1]
    if code == BINARY and payload in COMPARISONS:
        left, right = operands(instructions)
        claim = claim._replace(operator=payload, left=left, right=right)
    elif not within and _is_condition(code, payload):
        claim = claim._replace(
            operator="eq", left=instructions, right=[(CONSTANT, True, start, end)], is_condition=True
        )
    return claim, Span(start, last), stop


def _is_condition(code: int, payload: Any) -> bool:
    """Whether an instruction gives a truth value: a claim of that alone is that it is True."""
    if code in (CALL, METHOD):
        return payload.path[-1] in _CONDITIONS
    return code in (BINARY, UNARY) and payload in ("bitwise_and", "bitwise_or", "bitwise_not")


def _labelled(text: str, instructions: list[Instruction], last: int) -> tuple[list[Instruction], str | None, int]:
    """An expression without the words behind its comma, these words, and where it ends without them."""
    code, payload = instructions[-1][0], instructions[-1][1]
    if code != TUPLE or payload != 2:
        return instructions, None, last
    first, second = operands(instructions)
    if second[-1][0] == CONSTANT and isinstance(second[-1][1], str):
        return first, second[-1][1], len(text[: second[-1][2]].rstrip().removesuffix(",").rstrip())
    return instructions, None, last


def read_domain(
    expression: Expression, text: str, cut: Callable[[int, int], list[str]], at: int
) -> tuple[DomainLine, int]:
    """A domain: the names have been read, and `in` stands at a position. Also where the line ends.

    Args:
        expression: what has been fed with the names.
        text: the whole text.
        cut: the tokens of a stretch of it.
        at: where `in` stands.

    Raises:
        LanguageError: where it does not follow the language.
    """
    names = _names(list(expression.finish()))
    found = _DOMAIN.match(text, at + 2)
    assert found is not None  # every part of it may be empty
    inner = found[2].rstrip()
    begin, end = found.start(2), found.start(2) + len(inner) - 1
    if found[1] is None or not inner:
        raise LanguageError("a domain is expected after 'in'", spans=(Span(at, at + 2),), hint=_INTERVALS)
    if inner[-1] not in _CLOSED_BY[found[1]]:
        raise LanguageError(
            f"'{found[1]}' is never closed", spans=(Span(begin - 1, begin),), hint=f"a domain is one line: {_INTERVALS}"
        )
    brackets = found[1] + inner[-1]
    expression.reset()
    expression.feed(cut(begin, end), begin)
    instructions = list(expression.finish())
    expression.last = end + 1
    ends = operands(instructions) if instructions[-1][0] == TUPLE else [instructions]
    if found[1] != "{" and len(ends) != 2:
        raise LanguageError("an interval has two ends", spans=(Span(begin - 1, end + 1),), hint=_INTERVALS)
    stop = found.end()
    if text.startswith("#", stop):
        stop = text.find("\n", stop) if "\n" in text[stop:] else len(text)
    return DomainLine(names, brackets, ends), stop


def _names(instructions: list[Instruction]) -> list[tuple[str, Span]]:
    """The names before `in`."""
    parts = operands(instructions) if instructions[-1][0] == TUPLE else [instructions]
    names = []
    for part in parts:
        code, payload, start, end = part[-1]
        if len(part) != 1 or code != LOAD:
            raise LanguageError("only names have a domain", spans=(Span(part[-1][2], end),), hint=_INTERVALS)
        names.append((payload, Span(start, end)))
    return names
