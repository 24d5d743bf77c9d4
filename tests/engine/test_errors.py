"""Places in the source, and what errors know of them."""

from __future__ import annotations

from agrad.engine.errors import DeviceError, InputError, LimitError, Source, Span


def test_location_counts_lines_and_columns_from_one() -> None:
    """An offset is located by file, line and column, with the text of its line."""
    source = Source("x = 1\nz = x + y\n", "a.txt")
    assert source.location(0) == ("a.txt", 1, 1, "x = 1")
    assert source.location(14) == ("a.txt", 2, 9, "z = x + y")


def test_location_at_the_end_of_text_without_newline() -> None:
    """The offset after the last character lies on the last line."""
    assert Source("x = (", "a").location(5) == ("a", 1, 6, "x = (")


def test_appended_text_has_its_own_name_and_lines() -> None:
    """The lines of a text that was appended are counted from its own beginning."""
    source = Source("x = 1", "a.txt")
    source.append("y = 2\nz = x", "-e")
    assert source.location(source.text.index("x = 1")).file == "a.txt"
    assert source.location(source.text.index("z = x")) == ("-e", 2, 1, "z = x")


def test_an_error_locates_its_first_span() -> None:
    """An error with a source and spans says where it is; without them it says nothing."""
    error = InputError("wrong", spans=(Span(4, 5), Span(0, 1)))
    assert error.location is None
    error.source = Source("x = y", "a")
    assert error.location is not None
    assert error.location.column == 5


def test_exit_codes() -> None:
    """Bad input exits 2; limits and devices exit 3."""
    assert (InputError("").exit_code, LimitError("").exit_code, DeviceError("").exit_code) == (2, 3, 3)
