"""One aligned line a node, without Rich: fast, and easy to search."""

from __future__ import annotations

from collections.abc import Sequence

from agrad.engine.report import Row

from .cells import HEADINGS, cells
from .layout import GAP
from .numbers import EVERYTHING, NORMAL
from .text import columns


def plain_lines(rows: Sequence[Row], *, full: bool, ascii_only: bool) -> list[str]:
    """The headings and a line for each row; lines are as long as they need to be."""
    texts = [HEADINGS, *cells(rows, EVERYTHING if full else NORMAL, ascii_only=ascii_only)]
    by_column = list(zip(*texts, strict=True))
    gap = " " * GAP
    if "".join(map("".join, by_column)).isascii():
        widths = [max(map(len, column)) for column in by_column]
        form = gap.join([f"{{:{'<' if index else '>'}{width}}}" for index, width in enumerate(widths)])
        return [form.format(*row).rstrip() for row in texts]
    widths = [max(map(columns, column)) for column in by_column]
    return [
        gap.join(
            [_padded(text, width, index) for index, (text, width) in enumerate(zip(row, widths, strict=True))]
        ).rstrip()
        for row in texts
    ]


def _padded(text: str, width: int, index: int) -> str:
    space = " " * (width - columns(text))
    return text + space if index else space + text
