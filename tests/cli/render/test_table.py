"""The table at every width."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from agrad.cli.render.numbers import DETAILS, float_text
from agrad.cli.render.table import MOST_DRAWN, table_lines
from agrad.cli.screen import Screen
from agrad.engine.report import Row

NUMBERS = [1.0, -2.2345678901e-300, 2 / 3, 1e10, -123456.789]
FOUND = re.compile(r"-?(?:\d+\.?\d*(?:e-?\d+)?|inf|nan)")


def row(name: str, value: Any, grad: Any = None, expression: str = "1.0", line: int | None = 1) -> Row:
    """A row with the parts that matter here."""
    array = np.asarray(value)
    return Row(name, line, expression, "leaf", array.shape, array.dtype.name, value, True, True, None, grad)


ROWS = [
    row("x", np.float64(NUMBERS[1]), np.float64(NUMBERS[2])),
    row("w", np.array(NUMBERS), np.array(NUMBERS[::-1]), "tensor([1.2345678e-10, x[0, 1:]]) + x**2", 22),
    row("input", np.arange(40.0), None, "", None),
    row("z", np.float64(np.nan), np.float64(-np.inf))._replace(grad_fn="NativeBatchNormBackward0"),
]


def text_at(width: int, rows: list[Row] = ROWS, **options: Any) -> str:
    """The table at a width, as one text."""
    return "\n".join(table_lines(rows, Screen(width, **options), full=False))


@pytest.mark.parametrize("width", range(20, 201))
def test_no_number_is_cut_at_any_width(width: int) -> None:
    """At every width each number is there whole, at one of the levels of detail, and the table fits."""
    text = text_at(width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    found = FOUND.findall(text)
    for number in NUMBERS:
        assert any(float_text(number, detail.digits) in found for detail in DETAILS), number
    assert "1.2345678e-10" in found
    assert "-inf" in text
    assert "nan" in text


def test_headings_are_pytorchs_words() -> None:
    """A wide table has one line of headings."""
    assert text_at(300).splitlines()[0].split() == [
        "line", "name", "expression", "value", "requires_grad", "is_leaf", "grad_fn", "grad",
    ]  # fmt: skip


def test_narrow_screens_get_blocks() -> None:
    """Where columns do not fit side by side, each field has a line."""
    text = text_at(40)
    assert "x (line 1)\n  expression     1.0\n" in text
    assert "  grad_fn        NativeBatchNorm\n                 Backward0" in text


def test_markup_is_shown_literally() -> None:
    """Rich's markup, emoji codes and escapes from a file are only text."""
    rows = [row("x", 1.0, expression="[bold]y[/bold] :smile: \x1b[31m [link=evil]")]
    for width in (200, 30):
        flat = " ".join(text_at(width, rows).split())
        assert "[bold]y[/bold] :smile: \\x1b[31m [link=evil]" in flat or width == 30
        assert "\x1b" not in flat


def test_ascii_only() -> None:
    """With ASCII only, rules and names are ASCII."""
    text = text_at(120, [row("θ", 1.0)], ascii_only=True)
    assert text.isascii()
    assert "\\u03b8" in text
    assert "----" in text


def test_colour_only_where_wanted() -> None:
    """Escape sequences are there with colour and only with it."""
    assert "\x1b[" in text_at(120, colour=True)
    assert "\x1b" not in text_at(120)
    assert re.sub(r"\x1b\[[\d;]*m", "", text_at(120, colour=True)).split() == text_at(120).split()


def test_many_rows_are_plain_lines() -> None:
    """Above the limit each row is one line, and all are there."""
    rows = [row(f"x{index}", float(index)) for index in range(MOST_DRAWN + 1)]
    lines = table_lines(rows, Screen(), full=False)
    assert len(lines) == len(rows) + 1
    assert "─" not in "".join(lines)


def test_full_shows_every_digit_and_element() -> None:
    """Everything is written where everything is asked for."""
    text = "\n".join(table_lines([row("x", np.full(30, 2 / 3))], Screen(100), full=True))
    assert text.count("0.6666666666666666") == 30
