"""The interpreter against CPython itself: the same text, the same output, the same last line of an error."""

from __future__ import annotations

import contextlib
import io
import traceback
from pathlib import Path

import pytest

from agrad.engine.errors import Source
from agrad.engine.snippets import Limits, Streams, run_snippet

DATA = Path(__file__).parents[2] / "data"


def constructs() -> dict[str, str]:
    """The texts of the file of constructs, by their titles."""
    parts = DATA.joinpath("constructs.txt").read_text(encoding="utf-8").split("# --- ")[1:]
    return {part.split("\n", 1)[0]: part.split("\n", 1)[1] for part in parts}


def by_python(code: str) -> tuple[str, str]:
    """What CPython writes, and the last line of its error."""
    written = io.StringIO()
    said = ""
    with contextlib.redirect_stdout(written):
        try:
            exec(compile(code, "notes.py", "exec", dont_inherit=True), {"__name__": "__main__"})  # noqa: S102  # ours
        except Exception as error:
            said = "".join(traceback.format_exception_only(error)).rstrip("\n")
    return written.getvalue(), said


def by_us(code: str) -> tuple[str, str]:
    """What the interpreter writes, and what it says of an error without the line of its own."""
    written = bytearray()
    said: list[str] = []
    code_of_exit = run_snippet(Source(code, "notes.py"), Limits(), Streams(written.extend, said.append))
    text = "".join(said).rstrip("\n")
    assert code_of_exit == (1 if text else 0), text
    return written.decode(), text.rpartition("\n")[0]


@pytest.mark.parametrize("title", constructs())
def test_as_python_does(title: str) -> None:
    """Each construct gives the output and the error that CPython gives."""
    code = constructs()[title]
    assert by_us(code) == by_python(code)
