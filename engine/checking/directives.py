"""What a file says of how it is to be checked: `# check: --data exam.csv --wrt w,b` on a line of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ..errors import AgradError, InputError, SeveralErrors, Source, Span
from ..files.data import read_data
from ..language import assignments

_LINE: Final = re.compile(r"^[ \t]*#[ \t]*check:(.*)$", re.MULTILINE)
_FLOATS: Final = ("float64", "float32")


class Option(NamedTuple):
    """One option in a text: its name, its value, and where both stand."""

    name: str
    value: str
    span: Span


@dataclass(slots=True)
class Directives:
    """The options of the same names.

    Attributes:
        at, data: the values that they give, by name.
        wrt, output, grad_tensors: as `agrad eval` takes them, each option once an entry.
        dtype: empty where nothing is said.
        options: all of them, in the order of the text.
    """

    at: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    wrt: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    grad_tensors: list[str] = field(default_factory=list)
    dtype: str = ""
    options: list[Option] = field(default_factory=list)

    def locate(self, error: AgradError, source: Source, *names: str) -> None:
        """Let an error that has no place in the text stand at the option that it speaks of.

        Args:
            error: of a value that an option gave.
            source: the text.
            names: of the options that it may be of.
        """
        for each in error.errors if isinstance(error, SeveralErrors) else [error]:
            if each.spans and each.source in (None, source):
                continue
            option = _spoken_of(each.message, [option for option in self.options if option.name in names])
            if option is not None:
                each.source, each.spans = source, (option.span,)


OPTIONS: Final = ("--at", "--data", "--wrt", "--output", "--grad-tensors", "--dtype")


def directives(source: Source) -> Directives:
    """The options in the comments of a text.

    Data files are named from the folder of the text, and lie in it or below it: a text that somebody else wrote cannot
    make agrad read anything else.

    Raises:
        AgradError: at the place of what is wrong, also where a data file cannot be read.
    """
    found = Directives()
    for line in _LINE.finditer(source.text):
        whole = Span(line.start(1), max(line.end(1), line.start(1) + 1))
        try:
            for option in _options(line[1], line.start(1)):
                whole = option.span
                _take(found, option, source.name)
                found.options.append(option)
        except AgradError as error:
            error.source, error.spans = source, error.spans if error.source is None and error.spans else (whole,)
            raise
    return found


def _spoken_of(message: str, options: Sequence[Option]) -> Option | None:
    """The option that a message is about: one of a name that it has, or the last one."""
    named = [option for option in options if f"{option.name}:" in message or f"{option.name} " in message]
    options = named or options
    for word in _NAME.findall(message):
        for option in options:
            if word in _NAME.findall(option.value):
                return option
    return options[-1] if options else None


_NAME: Final = re.compile(r"[^\W\d]\w*")


def _options(text: str, start: int) -> Iterator[Option]:
    """The options of a line, that begins at some offset of the text.

    Raises:
        InputError: with the place of an option that is none, or has no value.
    """
    words = iter(_words(text, start))
    for word, span in words:
        option, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if option not in OPTIONS:
            raise InputError(
                f"check: knows no {option}",
                hint=f"a file may say {', '.join(OPTIONS)}; all else stands on the command line",
                spans=(span,),
                code="directive",
            )
        if not equals:
            value, last = next(words, ("", span))
            span = Span(span.start, last.end)
        if not value:
            raise InputError(f"check: {option} lacks its value", spans=(span,), code="directive")
        yield Option(option, value, span)


def _take(found: Directives, option: Option, file: str) -> None:
    if option.name == "--at":
        found.at.update(assignments(option.value))
    elif option.name == "--data":
        found.data.update(read_data(_beside(file, option.value)))
    elif option.name == "--dtype":
        if option.value not in _FLOATS:
            raise InputError(f"check: --dtype is {' or '.join(_FLOATS)}", code="directive")
        found.dtype = option.value
    else:
        values: list[str] = getattr(found, option.name.removeprefix("--").replace("-", "_"))
        values.append(option.value)


def _words(text: str, start: int) -> list[tuple[str, Span]]:
    """The words of a line as a shell splits it, with their places, quotation marks and all."""
    import io
    import shlex

    stream = io.StringIO(text)
    splitter = shlex.shlex(stream, posix=True)
    splitter.whitespace_split = True
    splitter.commenters = ""
    words: list[tuple[str, Span]] = []
    try:
        begin = 0
        while (word := splitter.get_token()) is not None:
            end = stream.tell()  # behind the space that ends the word
            written = text[begin:end]
            first = begin + len(written) - len(written.lstrip())
            words.append((word, Span(start + first, start + first + len(written.strip()))))
            begin = end
        return words
    except ValueError as fault:  # a quotation that is not closed
        raise InputError(f"check: {str(fault).lower()}", code="directive") from None


def _beside(file: str, option: str) -> str:
    """A data file that is named from the folder of the text."""
    name, equals, path = option.partition("=")
    if not equals or not name.strip().isidentifier():
        name, equals, path = "", "", option
    if os.path.isabs(path) or ".." in path.replace("\\", "/").split("/"):  # noqa: PTH117  # a path from a text
        raise InputError(
            f"check: --data {path} lies outside of the file's folder",
            hint="give it on the command line, or put it beside the file",
            code="directive",
        )
    folder = os.path.dirname(file) if file != "<stdin>" else ""  # noqa: PTH120
    return f"{name}{equals}{os.path.join(folder, path)}"  # noqa: PTH118
