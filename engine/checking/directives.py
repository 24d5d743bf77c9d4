"""What a file says of how it is to be checked: `# check: --data exam.csv --wrt w,b` on a line of its own."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import AgradError, InputError, Source, Span
from ..files.data import read_data
from ..language import assignments

_LINE: Final = re.compile(r"^[ \t]*#[ \t]*check:(.*)$", re.MULTILINE)
_FLOATS: Final = ("float64", "float32")


@dataclass(slots=True)
class Directives:
    """The options of the same names.

    Attributes:
        at, data: the values that they give, by name.
        wrt, output, grad_tensors: as `agrad eval` takes them, each option once an entry.
        dtype: empty where nothing is said.
    """

    at: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    wrt: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    grad_tensors: list[str] = field(default_factory=list)
    dtype: str = ""


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
        span = Span(line.start(1), max(line.end(1), line.start(1) + 1))
        try:
            _take(found, line[1], source.name)
        except AgradError as error:
            error.source, error.spans = source, (span,)
            raise
    return found


def _take(found: Directives, text: str, file: str) -> None:
    words = iter(_words(text))
    for word in words:
        option, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if option not in OPTIONS:
            raise InputError(
                f"check: knows no {option}",
                hint=f"a file may say {', '.join(OPTIONS)}; all else stands on the command line",
                code="directive",
            )
        if not equals:
            value = next(words, "")
        if not value:
            raise InputError(f"check: {option} lacks its value", code="directive")
        if option == "--at":
            found.at.update(assignments(value))
        elif option == "--data":
            found.data.update(read_data(_beside(file, value)))
        elif option == "--dtype":
            if value not in _FLOATS:
                raise InputError(f"check: --dtype is {' or '.join(_FLOATS)}", code="directive")
            found.dtype = value
        else:
            values: list[str] = getattr(found, option.removeprefix("--").replace("-", "_"))
            values.append(value)


def _words(text: str) -> list[str]:
    import shlex

    try:
        return shlex.split(text)
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
