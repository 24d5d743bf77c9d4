"""Warnings: shown once a line, recorded, raised or dropped, as Python does."""

from __future__ import annotations

import warnings

import pytest

from agrad.engine.snippets.warn import Warnings


@pytest.fixture
def told() -> list[str]:
    """What is shown."""
    return []


def make(told: list[str], line: int = 3) -> Warnings:
    """Warnings of a script that stands in one line."""
    found = Warnings(lambda: line, told.append, "notes.py")
    found.source_line = lambda number: f"  statement {number}"
    return found


def test_library_warnings_are_shown_with_the_line_of_the_script(told: list[str]) -> None:
    """A warning of Python code below is shown as Python shows one, once for a line and text."""
    with make(told):
        for _ in range(2):
            warnings.warn("careful", UserWarning, stacklevel=1)
        warnings.warn("quiet", DeprecationWarning, stacklevel=1)
    assert told == ["notes.py:3: UserWarning: careful\n  statement 3\n"]


def test_record(told: list[str]) -> None:
    """Within catch_warnings they are recorded, and afterwards shown again."""
    found = make(told)
    with found.catch_warnings(record=True) as caught:
        found.simplefilter("always")
        found.warn("one")
        found.warn("one")
    assert caught is not None
    assert [(str(each.message), each.category) for each in caught] == [("one", UserWarning)] * 2
    assert told == []
    found.warn("two", FutureWarning)
    assert told[0].startswith("notes.py:3: FutureWarning: two")


def test_filters(told: list[str]) -> None:
    """Filters drop, raise, or show always."""
    found = make(told)
    found.filterwarnings("ignore", message="skip", category=UserWarning)
    found.warn("skip this")
    found.simplefilter("error")
    with pytest.raises(UserWarning, match="loud"):
        found.warn("loud")
    found.resetwarnings()
    found.simplefilter("always")
    found.warn("again")
    found.warn("again")
    assert len(told) == 2
