"""Errors as text: file, line and column, the source line, carets under the whole sub-expression, and what to do."""

from __future__ import annotations

import unicodedata
from typing import Final, NamedTuple

from ..errors import AgradError, SeveralErrors, Source, Span

WIDEST: Final = 100
"""Columns of a source line that are shown; a longer line is cut around the carets."""

_TAB: Final = "    "


class _Cell(NamedTuple):
    """One character of a source line as it is shown, and how many columns it takes."""

    text: str
    width: int


def escaped(text: str) -> str:
    """A text without control characters: each is written as an escape, so that a terminal does not obey it."""
    if text.isprintable():
        return text
    return "".join([character if _shown(character) else _escape(character) for character in text])


def _shown(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) in ("Mn", "Mc", "Zs")


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file's name that is no UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def render(error: AgradError) -> str:
    """An error as lines of text; all of them for several errors."""
    if isinstance(error, SeveralErrors):
        return "\n\n".join([render(each) for each in error.errors])
    source = error.source
    lines: list[str] = []
    message = escaped(error.message)
    if source is None or not error.spans:
        lines.append(f"error: {message}")
    else:
        place = source.location(error.spans[0].start)
        lines.append(f"{escaped(place.file)}:{place.line}:{place.column}: {message}")
        lines.extend(_excerpt(source, error.spans))
    if error.hint:
        lines.append(f"  hint: {escaped(error.hint)}")
    return "\n".join(lines)


def _excerpt(source: Source, spans: tuple[Span, ...]) -> list[str]:
    """Each source line that the spans begin on, with carets under them."""
    by_line: dict[int, list[Span]] = {}
    for span in spans:
        location = source.location(span.start)
        by_line.setdefault(span.start - location.column + 1, []).append(span)
    first = source.location(spans[0].start)
    lines: list[str] = []
    for begin in sorted(by_line):
        location = source.location(begin)
        if len(by_line) > 1 and location.line != first.line:
            lines.append(f"  line {location.line}:")
        lines.extend(_with_carets(location.text, begin, by_line[begin]))
    return lines


def _with_carets(text: str, begin: int, spans: list[Span]) -> list[str]:
    marks = bytearray(len(text) + 1)
    for span in spans:
        start = min(span.start - begin, len(text))
        end = min(max(span.end - begin, start + 1), len(text) + 1)
        if len(text) and end > len(text) and start < len(text):
            end = len(text)
        marks[start:end] = b"\x01" * (end - start)
    low, high = _window(text, marks, spans[0].start - begin)
    cells = [_cell(character) for character in text[low:high]]
    shown = "".join([cell.text for cell in cells])
    before, after = "..." if low else "", "..." if high < len(text) else ""
    carets = " " * len(before)
    for cell, mark in zip(cells, marks[low:high], strict=False):
        carets += ("^" if mark else " ") * cell.width
    if high == len(text) and marks[len(text)]:
        carets += "^"
    return [f"  | {before}{shown}{after}", f"  | {carets}".rstrip()]


def _window(text: str, marks: bytearray, start: int) -> tuple[int, int]:
    """The part of a line that is shown: all of it, or what lies around the first caret."""
    if len(text) <= WIDEST:
        return 0, len(text)
    last = marks.rfind(b"\x01")
    first = marks.find(b"\x01")
    if last - first < WIDEST - 20:
        low = max(0, first - (WIDEST - (last - first)) // 2)
    else:
        low = max(0, min(start, len(text)) - 20)
    low = min(low, len(text) - WIDEST)
    return low, low + WIDEST


def _cell(character: str) -> _Cell:
    if character == "\t":
        return _Cell(_TAB, len(_TAB))
    if character.isascii():
        return _Cell(character, 1) if character.isprintable() else _Cell(_escape(character), len(_escape(character)))
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return _Cell(character, 0)
    if not _shown(character):
        return _Cell(_escape(character), len(_escape(character)))
    return _Cell(character, 2 if unicodedata.east_asian_width(character) in "WF" else 1)
