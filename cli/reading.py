"""What the options of texts, values and weights say, read: the same for every command."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from agrad.engine.errors import AgradError, InputError, Source
from agrad.engine.evaluation.evaluate import unknown_name
from agrad.engine.evaluation.outputs import Weight
from agrad.engine.files.data import read_data
from agrad.engine.files.texts import decoded, read_text
from agrad.engine.language import Formulas, assignments, build, literal
from agrad.engine.ops.concrete import value_of

from .options import names


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRequest:
    """The options that say what is read and differentiated by; a command's request adds its own."""

    file: str | None
    expressions: Sequence[str]
    at: Sequence[str]
    data: Sequence[str]
    wrt: Sequence[str]
    dtype: str


def read_formulas(request: TextRequest) -> Formulas:
    """The text of the file and the lines, read into a graph over the values given."""
    overrides: dict[str, Any] = {}
    with located_in("--at"):
        for text in request.at:
            overrides.update(assignments(text))
    loaded: dict[str, Any] = {}
    for option in request.data:
        loaded.update(read_data(option))
    return build(
        read_source(request.file, request.expressions),
        inputs=loaded | overrides,
        spare=loaded.keys() - overrides,
        wrt=names(request.wrt, "--wrt") or None,
        dtype=np.dtype(request.dtype),
    )


def read_source(file: str | None, expressions: Sequence[str]) -> Source:
    """The text of FILE, followed by the lines of every -e."""
    if file is None and not expressions:
        raise InputError(
            "nothing to evaluate", hint="name a FILE, or - for the standard input, or give -e EXPR", code="usage"
        )
    labels = [f"-e {number}" if len(expressions) > 1 else "-e" for number in range(1, len(expressions) + 1)]
    texts = list(zip(labels, expressions, strict=True))
    if file is not None:
        texts.insert(0, ("<stdin>", _standard_input()) if file == "-" else (file, read_text(file)))
    (label, text), *others = texts
    source = Source(text, label)
    for label, text in others:
        source.append(text, label)
    return source


def _standard_input() -> str:
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise InputError("the standard input is closed", code="file")
    return decoded(stream, "<stdin>")


def weight_of(text: str, formulas: Formulas) -> Weight:
    """The cotangent that one `--grad-tensors` gives."""
    name, equals, rest = text.partition("=")
    if equals and name.strip().isidentifier():
        return Weight(name.strip(), _weight_value(rest.strip(), formulas))
    return Weight(None, _weight_value(text.strip(), formulas))


def _weight_value(text: str, formulas: Formulas) -> Any:
    if text == "ones":
        return None
    if text.startswith("@"):
        return next(iter(read_data(f"weights={text[1:]}").values()))
    if text in formulas.names:
        return value_of(formulas.names[text])
    if text.isidentifier():
        raise unknown_name("--grad-tensors", text, formulas)
    with located_in("--grad-tensors"):
        return literal(text)


@contextmanager
def located_in(option: str) -> Iterator[None]:
    """Let an error in the value of an option say which option it is."""
    try:
        yield
    except AgradError as error:
        if error.source is not None:
            error.source = Source(error.source.text, option)
        raise
