"""The process that watches: answers, lateness, death, errors sent from one process to the other."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

from agrad.engine.errors import InputError, LimitError, OutputError, SeveralErrors, Source, Span
from agrad.engine.snippets.process import Line, heard, told, watched


def test_answer_comes_back() -> None:
    """What the work gives is what the one that watches gets."""
    ending = watched(lambda: {"code": 7}, 10)
    assert (ending.answer, ending.status, ending.late) == ({"code": 7}, 0, False)


def test_late_work_is_ended() -> None:
    """Work that ignores its time is killed, a second after it."""
    line = Line()

    def work() -> dict[str, Any]:
        line.set(5)
        while True:
            pass

    begin = time.monotonic()
    ending = watched(work, 0.1)
    assert time.monotonic() - begin < 3
    assert ending.late
    assert ending.answer is None
    assert line.get() == 5


def test_crash_is_noticed() -> None:
    """A process that dies without an answer leaves the signal that it died of."""

    def work() -> dict[str, Any]:
        os.kill(os.getpid(), signal.SIGTERM)
        return {}

    ending = watched(work, 10)
    assert ending.answer is None
    assert ending.status == signal.SIGTERM


@pytest.mark.parametrize("kind", [InputError, LimitError, OutputError])
def test_errors_travel(kind: type[InputError]) -> None:
    """An error keeps its kind, its words and its place; several stay several."""
    error = kind("wrong", hint="right", spans=(Span(1, 3),), code="c")
    source = Source("abcdef", "notes.py")
    found = heard(told(error), source)
    assert (type(found), found.message, found.hint, found.spans, found.code) == (
        kind,
        "wrong",
        "right",
        (Span(1, 3),),
        "c",
    )
    assert found.source is source
    several = heard(told(SeveralErrors([error, error])), source)
    assert isinstance(several, SeveralErrors)
    assert len(several.errors) == 2
