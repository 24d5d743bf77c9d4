"""Errors as text: places, carets, escapes, windows."""

from __future__ import annotations

import pytest

from agrad.engine.errors import AgradError, InputError, SeveralErrors, Source, Span
from agrad.engine.language import build, escaped, render


def shown(text: str, name: str = "f.txt") -> list[str]:
    """The lines that the error of a text is rendered as."""
    with pytest.raises(AgradError) as caught:
        build(Source(text, name))
    return render(caught.value).split("\n")


def test_an_error_shows_place_line_carets_and_hint() -> None:
    """File, line, column, message; the source line; carets; the hint."""
    assert shown("x = 1.0\ny = x^2") == [
        "f.txt:2:6: '^' is no power here",
        "  | y = x^2",
        "  |      ^",
        "  hint: write ** for a power: x**2",
    ]


def test_shapes_that_do_not_fit_have_carets_under_both_operands() -> None:
    """Both operands of an operator are marked, brackets and calls inside of them too."""
    lines = shown("a = [1.0, 2.0]\nb = [1.0, 2.0, 3.0]\nc = (a*2) + exp(b)")
    assert lines[0].endswith("tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0")
    assert lines[1] == "  | c = (a*2) + exp(b)"
    assert lines[2] == "  |      ^^^    ^^^^^^"
    assert "[2] and [3]" in lines[3]


def test_tabs_and_wide_characters_keep_the_carets_in_place() -> None:
    """A tab takes four columns, an ideograph two, a combining mark none."""
    assert shown("\tz = [1, 名前]")[1:3] == ["  |     z = [1, 名前]", "  |             ^^^^"]
    assert shown("z = x̂ + 2y")[1:3] == ["  | z = x̂ + 2y", "  |         ^^"]


def test_control_characters_are_escaped() -> None:
    """Neither a terminal's escapes nor invisible characters reach the screen as they are."""
    lines = shown("x = 1.0\ny = x \x1b[31m", "a\x1b[2Jb.txt")
    assert "\x1b" not in "\n".join(lines)
    assert lines[0].startswith("a\\x1b[2Jb.txt:2:7:")
    assert lines[1] == "  | y = x \\x1b[31m"
    assert lines[2] == "  |       ^^^^"
    assert escaped("a\u202eb\u2028c\U000e0001") == "a\\u202eb\\u2028c\\U000e0001"
    assert escaped("x[bold]é") == "x[bold]é"


def test_a_long_line_is_cut_around_the_carets() -> None:
    """A window of the line is shown, with dots where it goes on."""
    lines = shown("y = " + "1 + " * 200 + "2x" + " + 1" * 200)
    assert lines[1].startswith("  | ...")
    assert lines[1].endswith("...")
    assert len(lines[1]) <= 110
    at = lines[2].index("^")
    assert lines[1][at : at + 2] == "2x"
    assert lines[2].count("^") == 2


def test_an_error_over_several_lines_marks_its_first_line() -> None:
    """A sub-expression that goes on in the next line is marked up to the end of its first."""
    lines = shown("z = ([1.0, 2.0] +\n  [1.0, 2.0, 3.0])")
    assert lines[1:][:2] == ["  | z = ([1.0, 2.0] +", "  |      ^^^^^^^^^^"]
    assert lines[3:6] == ["  line 2:", "  |   [1.0, 2.0, 3.0])", "  |   ^^^^^^^^^^^^^^^"]


def test_several_errors_are_separated_by_a_blank_line() -> None:
    """Each error has its own block."""
    assert "\n".join(shown("a = 2x\nb = 3y")).count("\n\n") == 1


def test_an_error_without_a_place_is_one_line_and_a_hint() -> None:
    """An error that no text belongs to has no carets."""
    assert render(InputError("wrong", hint="right")) == "error: wrong\n  hint: right"


def test_a_span_at_the_end_of_the_text_is_shown() -> None:
    """A caret may stand behind the last character, and in an empty text."""
    for text in ("", "x = 1", "x = 1\n"):
        error = InputError("end", spans=(Span(len(text), len(text)),))
        error.source = Source(text, "f")
        assert render(error).split("\n")[-1].endswith("^")
    assert render(SeveralErrors([])) == ""


def test_bytes_of_a_name_that_are_no_utf_8_are_escaped() -> None:
    """What the system gives for such a byte is written as the byte."""
    assert escaped("a\udcff.txt") == "a\\xff.txt"
