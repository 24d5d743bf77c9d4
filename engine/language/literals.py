"""Values of options: numbers, nested lists and constructors, read with the same parser as files."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import AgradError, InputError, Source, Span
from ..graph import FLOAT64, LEAF, Node
from ..ops.concrete import value_of
from . import parser as p
from .listing import Listing, described
from .lower import Lowering, PoisonedError
from .names import static
from .written import NUMBERS


def literal(text: str) -> Any:
    """The value that a text writes: a number, or an array (integers stay integers).

    Raises:
        InputError: with the place in the text, where it writes none.
    """
    source = Source(text, "<value>")
    statements = list(p.Parser(source.text).statements())
    if len(statements) != 1 or statements[0].kind not in (p.BARE, p.BROKEN):
        raise _located(InputError("one value is expected", hint="write 1.5 or [1, 2, 3]"), source)
    return _value(statements[0], source)


def assignments(text: str) -> dict[str, Any]:
    """The values of a list of assignments: `x=1, y=[1, 2]`.

    Raises:
        InputError: with the place in the text, where it is none.
    """
    source = Source(_on_lines(text), "<values>")
    values: dict[str, Any] = {}
    for statement in p.Parser(source.text).statements():
        if statement.error is None and (statement.kind != p.ASSIGNMENT or len(statement.targets) != 1):
            error = InputError("NAME=VALUE is expected", spans=(statement.span,), hint="write x=1, y=[1, 2]")
            raise _located(error, source)
        value = _value(statement, source)
        name, start, end = statement.targets[0]
        if name in values:
            raise _located(InputError(f"{name} is given twice", spans=(Span(start, end),)), source)
        values[name] = value
    if not values:
        raise _located(InputError("NAME=VALUE is expected", hint="write x=1, y=[1, 2]"), source)
    return values


def _on_lines(text: str) -> str:
    """The text with each comma outside of brackets and strings as the end of a line; offsets stay."""
    result, depth, quote = [], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        result.append("\n" if character == "," and depth <= 0 and not quote else character)
    return "".join(result)


def _unknown(name: str, start: int, end: int) -> Any:
    try:
        return static((name,))
    except KeyError:
        raise InputError(
            f"{name} has no value here", spans=(Span(start, end),), hint="write numbers, lists and constructors"
        ) from None


def _value(statement: p.Statement, source: Source) -> Any:
    try:
        if statement.error is not None:
            raise statement.error
        lowering = Lowering(FLOAT64, _unknown, lambda _message, _span: None)
        with np.errstate(all="ignore"):
            return _plain(lowering.run(statement.instructions), lowering)
    except PoisonedError:
        raise AssertionError("nothing is poisoned in a value") from None
    except AgradError as error:
        if not error.spans:
            error.spans = (statement.expression,)
        raise _located(error, source) from None


def _plain(value: Any, lowering: Lowering) -> Any:
    if type(value) in NUMBERS:
        return value
    if isinstance(value, Listing) and value.shape is not None:
        return value.integer_array() if value.integers else value.array(FLOAT64)
    if isinstance(value, Listing):
        value = lowering.converter.tensor(value)
    if isinstance(value, Node):
        if value.op is LEAF:
            return value.value
        return value_of(value)
    raise InputError(f"a number or a list is expected, not {described(value)}", hint="write 1.5 or [1, 2, 3]")


def _located(error: AgradError, source: Source) -> AgradError:
    error.source = source
    return error
