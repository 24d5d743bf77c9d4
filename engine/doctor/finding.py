"""What the doctor tells: a sentence with its place in the text, what to do, and the same as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from ..errors import InputError, Source, Span
from ..files.json_data import json_value
from ..graph import Node
from ..language import Formulas

Number = float | complex
Kind = Literal["value", "gradient", "repaired", "digits"]

LONGEST: Final = 60
"""A longer piece of the text is not repeated in a sentence."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a person should know of a number, and where it comes from.

    Attributes:
        kind: `value` and `gradient` for what is not finite, `repaired` for what would not be by the plain chain rule,
            `digits` for what has lost digits.
        message: a sentence.
        notes: how it comes about, and what else is known, in parts of sentences.
        hint: what to write or do instead; empty where nothing is known.
        span: where in the text it happens; None for what is not of the text.
        source: the text.
        facts: what the sentence says, for programs.
    """

    kind: Kind
    message: str
    hint: str
    span: Span | None
    source: Source
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    def as_error(self) -> InputError:
        """The same in the form that is rendered with the source line and carets under it."""
        error = InputError(self.message, hint=self.hint, spans=() if self.span is None else (self.span,), code="doctor")
        error.source = self.source
        return error

    def as_json(self) -> dict[str, Any]:
        """The same as data."""
        place = self.source.location(self.span.start) if self.span is not None else None
        return {
            "kind": self.kind,
            "message": self.message,
            "notes": list(self.notes),
            "hint": self.hint or None,
            "file": place.file if place else None,
            "line": place.line if place else None,
            "column": place.column if place else None,
            **{name: _as_json(value) for name, value in self.facts.items()},
        }


def _as_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_json(entry) for entry in value]
    return json_value(value) if isinstance(value, (float, complex, np.inexact)) else value


def text_of(formulas: Formulas, node: Node) -> str:
    """What the text calls a node: its own piece of the text where that is short, else its name or its op's."""
    if node.span is not None:
        start, end = node.span
        text = formulas.source.text[start:end]
        if node.args and len(text) <= LONGEST and "\n" not in text:
            return text
    return node.name or node.op.name


def scalar(value: Any) -> Number:
    """One number of an array as Python's."""
    number = np.asarray(value).item()
    return number if isinstance(number, complex) else float(number)


def number_text(value: Any) -> str:
    """A number in a sentence: the shortest text that reads back as the same one."""
    number = scalar(value)
    if not isinstance(number, complex):
        return repr(number)
    imaginary = repr(number.imag)
    return f"{number.real!r}{'' if imaginary.startswith('-') else '+'}{imaginary}j"


def bracketed(number: Number, *, first: bool = False) -> str:
    """A number beside an operator: in brackets where it has two parts, or a sign that does not stand first."""
    text = number_text(number)
    return f"({text})" if isinstance(number, complex) or (text.startswith("-") and not first) else text
