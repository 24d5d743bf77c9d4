"""Texts made safe, measured and broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.cli.render.text import columns, escaped, name_parts, one_line, shortened, tokens, words, wrapped


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + y", "x + y"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc\r", "a\\x0ab\\x09c\\x0d"),
        ("safe \u202e evil", "safe \\u202e evil"),
        ("\u2066x\u2069\u200b", "\\u2066x\\u2069\\u200b"),
        ("\x9b31m", "\\x9b31m"),
        ("\ud800", "\\ud800"),
        ("a\udcff.txt", "a\\xff.txt"),
        ("θ变量", "θ变量"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
    ],
)
def test_nothing_acts_upon_the_terminal(text: str, expected: str) -> None:
    """Controls, bidi marks and line ends are escaped; letters of any script stay."""
    assert escaped(text) == expected


@given(st.text())
def test_ascii_only_is_ascii(text: str) -> None:
    """With ASCII only, the result is printable ASCII whatever the text."""
    found = escaped(text, ascii_only=True)
    assert found.isascii()
    assert found == "" or found.isprintable()


def test_wide_characters_take_two_columns() -> None:
    """East Asian letters are wide, combining marks take no room."""
    assert columns("变x") == 3
    assert columns("e\u0301") == 1


def test_expression_over_lines_is_one_line() -> None:
    """Line ends and comments inside of brackets go."""
    assert one_line("sum(x,  # all of it\n    dim=0)") == "sum(x, dim=0)"
    assert one_line("f(x, '#1',  # it's all\n\tmode=\"a # b\")") == "f(x, '#1', mode=\"a # b\")"
    assert one_line("x + \\\n  y") == "x + y"


def test_long_expression_ends_between_tokens() -> None:
    """What is left out begins after a whole number or name."""
    assert shortened("1.25+" * 40, 14) == "1.25+1.25+ ..."
    assert shortened("x + y", 5) == "x + y"


@given(st.lists(st.floats(allow_nan=False).map(repr), min_size=1, max_size=8), st.integers(1, 40))
def test_numbers_are_never_broken(numbers: list[str], width: int) -> None:
    """However narrow the lines are, each number stands whole on one of them."""
    text = "*".join(numbers)
    lines = wrapped(text, width, tokens)
    assert "".join(lines) == text
    for number in numbers:
        assert any(number.lstrip("-") in line for line in lines)


@given(st.lists(st.sampled_from(["1.5,", "-2e-300,", "...", "[[3.0,"]), min_size=1, max_size=30), st.integers(10, 60))
def test_lines_are_no_wider_than_asked(pieces: list[str], width: int) -> None:
    """Lines are broken at spaces, and as long as they may be at most."""
    lines = wrapped(" ".join(pieces), width, words)
    assert " ".join(lines).split() == pieces
    assert all(len(line) <= width for line in lines)


def test_names_break_before_capitals() -> None:
    """A grad_fn and a heading break where one reads them in parts."""
    assert name_parts("NativeBatchNormBackward0") == ["Native", "Batch", "Norm", "Backward0"]
    assert name_parts("requires_grad") == ["requires_", "grad"]
