"""What the standard output is: how wide, whether in colour, and which characters it can write."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from dataclasses import dataclass
from typing import Final, TextIO

from agrad.engine.errors import OutputError

WIDTH: Final = 100
"""Where the output is no terminal and COLUMNS is not set."""
NARROWEST: Final = 20

_COLOURS: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@dataclass(frozen=True, slots=True)
class Screen:
    """What a text is drawn for.

    Attributes:
        width: in columns, at least `NARROWEST`.
        colour: whether escape sequences for colours are wanted.
        ascii_only: whether every character must be ASCII.
    """

    width: int = WIDTH
    colour: bool = False
    ascii_only: bool = False

    def painted(self, text: str, colour: str) -> str:
        """The text in a colour, or as it is where no colour is wanted."""
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.colour else text


def standard_screen(*, ascii_only: bool = False) -> Screen:
    """The screen that the standard output is, as the environment describes it."""
    stream = sys.stdout
    if stream is None:
        return Screen(ascii_only=True)
    terminal = stream.isatty()
    return Screen(_width(terminal), _colour(terminal), ascii_only or not _writes_boxes(stream.encoding or "ascii"))


def _width(terminal: bool) -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return max(int(columns), NARROWEST)
    if terminal:
        with contextlib.suppress(OSError, ValueError):
            return max(os.get_terminal_size(sys.stdout.fileno()).columns, NARROWEST)
    return WIDTH


def _colour(terminal: bool) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return terminal and os.environ.get("TERM") != "dumb"


def _writes_boxes(encoding: str) -> bool:
    try:
        "─".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def never_crash_on_characters() -> None:
    """Let the standard streams write an escape where their encoding lacks a character."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write(text: str) -> None:
    """Write to the standard output, and have it written.

    Raises:
        BrokenPipeError: where the reader has gone.
        OutputError: where it cannot be written for another reason.
    """
    if sys.stdout is None:
        raise OutputError("cannot write the results: the standard output is closed")
    try:
        _write_all(sys.stdout, text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as fault:
        raise OutputError(f"cannot write the results: {getattr(fault, 'strerror', None) or fault}") from None


def _write_all(stream: TextIO, text: str) -> None:
    """Write every byte: where Python's streams are unbuffered, one call may write a part only, and not say so."""
    if not isinstance(stream, io.TextIOWrapper):
        stream.write(text)
        return
    stream.flush()
    rest = memoryview(text.encode(stream.encoding, "backslashreplace"))
    while rest:
        rest = rest[stream.buffer.write(rest) :]


def write_lines(lines: list[str]) -> None:
    """Write lines to the standard output, and have them written."""
    if lines:
        write("\n".join(lines) + "\n")
