"""The few exceptions of agrad: what is wrong, where, and what to do instead."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of source text: offsets of its first character and of the one after its last."""

    start: int
    end: int


class Location(NamedTuple):
    """Where an offset lies: file, line and column, both from 1, and the text of that line."""

    file: str
    line: int
    column: int
    text: str


class Source:
    """The text of one or more files, joined, with the place in them of every offset."""

    def __init__(self, text: str, name: str = "<text>") -> None:
        self.text = _with_plain_line_ends(text)
        self._parts: list[tuple[int, str, int]] = [(0, name, 0)]  # offset, file, index of its first line
        self._lines: list[int] | None = None

    def append(self, text: str, name: str) -> None:
        """Add the text of another file after what is there, beginning on a line of its own."""
        if self.text and not self.text.endswith("\n"):
            self.text += "\n"
        self._parts.append((len(self.text), name, self.text.count("\n")))
        self.text += _with_plain_line_ends(text)
        self._lines = None

    @property
    def name(self) -> str:
        """The name of the first file."""
        return self._parts[0][1]

    def lines(self, offsets: Iterable[int]) -> list[int]:
        """The line, within its file, of each of many ascending offsets."""
        lines: list[int] = []
        parts = iter([*self._parts[1:], (len(self.text) + 1, "", 0)])
        begin, _, _ = next(parts)
        at, line = 0, 1
        for offset in offsets:
            while offset >= begin:
                at, line = begin, 1
                begin, _, _ = next(parts)
            line += self.text.count("\n", at, offset)
            at = offset
            lines.append(line)
        return lines

    def location(self, offset: int) -> Location:
        """The file, line and column of an offset."""
        if self._lines is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._lines = starts
        index = bisect_right(self._lines, offset) - 1
        begin = self._lines[index]
        end = self.text.find("\n", begin)
        part = bisect_right(self._parts, offset, key=lambda p: p[0]) - 1
        _, file, first = self._parts[part]
        text = self.text[begin : end if end >= 0 else len(self.text)]
        return Location(file, index - first + 1, offset - begin + 1, text)


def _with_plain_line_ends(text: str) -> str:
    """A text without a byte order mark, each line ended by one line feed, whatever system wrote it."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


class AgradError(Exception):
    """Something a person must be told: one sentence, the places in the source, and a hint.

    Attributes:
        message: what is wrong, in one sentence.
        hint: what to write or do instead; empty where nothing is known.
        spans: the places in the source that it concerns, the main one first; filled in by the language where the
            raiser does not know them.
        source: the text that the spans refer to.
        code: a short constant name, for programs.
        exit_code: the exit code of the command line.
    """

    code = "error"
    exit_code = 2

    def __init__(self, message: str, *, hint: str = "", spans: tuple[Span, ...] = (), code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.spans = spans
        self.source: Source | None = None
        if code is not None:
            self.code = code

    @property
    def location(self) -> Location | None:
        """Where the main place is, if it is known."""
        if self.source is None or not self.spans:
            return None
        return self.source.location(self.spans[0].start)


class InputError(AgradError):
    """The person's formula, value or option is wrong: exit code 2."""

    code = "input"


class ShapeError(InputError):
    """Shapes do not fit each other or the op; `spans` covers both operands."""

    code = "shape"


class LanguageError(InputError):
    """The text of an expression file does not follow the language."""

    code = "syntax"


class SeveralErrors(InputError):  # noqa: N818  # it is several of them
    """All errors that one run over the text found, in the order of the text."""

    code = "several"

    def __init__(self, errors: list[AgradError]) -> None:
        super().__init__(f"{len(errors)} errors")
        self.errors = errors


class LimitError(AgradError):
    """Too large or too slow for the limits in force: exit code 3."""

    code = "limit"
    exit_code = 3


class DeviceError(AgradError):
    """A device that is not there: exit code 3."""

    code = "device"
    exit_code = 3


class OutputError(AgradError):
    """A result that could not be written: exit code 3."""

    code = "output"
    exit_code = 3


class NoGradientError(InputError):
    """A gradient is asked through an op that has none, or of something that does not require one."""

    code = "no-gradient"
