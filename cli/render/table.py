"""The table, drawn by Rich; blocks of lines where the screen is too narrow; plain lines where the rows are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from agrad.engine.report import Row

from ..screen import Screen
from .cells import HEADINGS
from .layout import GAP, Layout, cards, fit
from .plain import plain_lines

if TYPE_CHECKING:
    from rich.box import Box
    from rich.text import Text

MOST_DRAWN: Final = 500
"""Above so many rows, Rich's 0.3 ms a row would be felt."""

_STYLES: Final = {"line": "dim", "name": "bold", "grad": "bold cyan"}


def table_lines(rows: Sequence[Row], screen: Screen, *, full: bool) -> list[str]:
    """The rows as the lines of a table that fits the screen."""
    if len(rows) > MOST_DRAWN:
        return plain_lines(rows, full=full, ascii_only=screen.ascii_only)
    layout = fit(rows, screen.width, full=full, ascii_only=screen.ascii_only)
    if layout is None:
        return cards(rows, screen.width, full=full, ascii_only=screen.ascii_only)
    return _drawn(layout, screen)


def _drawn(layout: Layout, screen: Screen) -> list[str]:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Everything is a Text: Rich would read `x[i]` as markup, `:x:` as an emoji, and colour what it takes for a number.
    table = Table(box=_box(screen.ascii_only), show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for heading, width in zip(layout.headings, layout.widths, strict=True):
        table.add_column(
            Text("\n".join(heading), "bold"),
            width=width,
            no_wrap=True,
            overflow="ignore",
        )
    for row in layout.rows:
        row[0] = [line.rjust(layout.widths[0]) for line in row[0]]
        table.add_row(*[_cell(lines, heading) for lines, heading in zip(row, HEADINGS, strict=True)])
    console = Console(
        width=sum(layout.widths) + GAP * len(layout.widths) + 8,
        color_system="standard" if screen.colour else None,
        force_terminal=screen.colour,
        legacy_windows=False,
        _environ={},
    )
    with console.capture() as capture:
        console.print(table, crop=False, no_wrap=True, overflow="ignore")
    return [line.rstrip() for line in capture.get().splitlines()]


def _cell(lines: list[str], heading: str) -> Text:
    from rich.text import Text

    style = "dim" if lines == ["None"] else _STYLES.get(heading, "")
    return Text("\n".join(lines), style, no_wrap=True, overflow="ignore")


def _box(ascii_only: bool) -> Box:
    from rich.box import SIMPLE_HEAD, Box

    return Box(str(SIMPLE_HEAD).replace("─", "-"), ascii=True) if ascii_only else SIMPLE_HEAD
