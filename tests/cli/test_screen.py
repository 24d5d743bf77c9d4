"""What the standard output is taken for."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from agrad.cli.screen import NARROWEST, WIDTH, Screen, standard_screen, write
from agrad.engine.errors import OutputError


class Stream(io.TextIOWrapper):
    """A standard output in memory, that may say it is a terminal."""

    def __init__(self, encoding: str = "utf-8", terminal: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self.terminal = terminal

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self.terminal


def screen(monkeypatch: pytest.MonkeyPatch, stream: Stream, **environment: str) -> Screen:
    """The screen that a stream is in an environment."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", stream)
    return standard_screen()


@pytest.mark.parametrize(
    ("columns", "width"), [("", WIDTH), ("70", 70), ("5", NARROWEST), ("0", WIDTH), ("-3", WIDTH), ("wide", WIDTH)]
)
def test_width(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    """COLUMNS decides where it is a number; no screen is narrower than can be drawn on."""
    assert screen(monkeypatch, Stream(), COLUMNS=columns).width == width


@pytest.mark.parametrize(
    ("terminal", "environment", "colour"),
    [
        (False, {}, False),
        (True, {}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour(monkeypatch: pytest.MonkeyPatch, terminal: bool, environment: dict[str, str], colour: bool) -> None:
    """A terminal has colour unless it is dumb or the person wants none."""
    assert screen(monkeypatch, Stream(terminal=terminal), **environment).colour is colour


@pytest.mark.parametrize(("encoding", "ascii_only"), [("utf-8", False), ("ascii", True), ("latin-1", True)])
def test_ascii_where_rules_cannot_be_written(monkeypatch: pytest.MonkeyPatch, encoding: str, ascii_only: bool) -> None:
    """Where the encoding lacks the characters of the table, it is drawn in ASCII."""
    assert screen(monkeypatch, Stream(encoding)).ascii_only is ascii_only


def test_every_byte_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that takes a few bytes at a time gets all of them, with escapes for what it cannot encode."""

    class Slow(io.RawIOBase):
        """Takes at most three bytes in one call, as an unbuffered pipe may."""

        taken = b""

        def writable(self) -> bool:
            """Whether it can be written."""
            return True

        def write(self, data: Any) -> int:
            """Take the first three bytes."""
            self.taken += bytes(data[:3])
            return len(bytes(data[:3]))

    slow = Slow()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(slow, encoding="ascii", write_through=True))  # type: ignore[type-var]  # a raw stream is what an unbuffered Python has
    write("z = 1.25 θ\n")
    assert slow.taken == b"z = 1.25 \\u03b8\n"


def test_closed_output_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that cannot be written are not silently lost."""
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OutputError, match="standard output is closed"):
        write("z")
    stream = Stream()
    stream.close()
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(OutputError, match="cannot write the results"):
        write("z")
