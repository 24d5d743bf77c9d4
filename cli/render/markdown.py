"""A Markdown table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agrad.engine.report import Row

from .cells import HEADINGS, cells
from .numbers import EVERYTHING, NORMAL

_CODE: Final = HEADINGS.index("expression")


def markdown_lines(rows: Sequence[Row], *, full: bool, ascii_only: bool) -> list[str]:
    """The rows as the lines of a table; expressions as code, so that nothing in them is taken for markup."""
    lines = [_line(HEADINGS), _line(["---"] * len(HEADINGS))]
    for row in cells(rows, EVERYTHING if full else NORMAL, ascii_only=ascii_only):
        texts = [text.replace("|", "\\|") for text in row]
        texts[_CODE] = f"`{texts[_CODE]}`"
        lines.append(_line([text.replace("_", "\\_") if index == 1 else text for index, text in enumerate(texts)]))
    return lines


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"
