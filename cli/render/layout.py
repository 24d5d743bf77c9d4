"""Where columns go: as wide as they want to be, else broken between words, else not side by side at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from agrad.engine.report import Row

from .cells import HEADINGS, cells, stacked
from .numbers import DETAILS, EVERYTHING, Detail
from .text import columns, least_columns, name_parts, tokens, words, wrapped

GAP: Final = 2
"""Columns of space between two columns of the table."""
_LEAST: Final = 16
"""An expression is given this much room, even where its longest token needs less."""

Split = Callable[[str], list[str]]
SPLITS: Final[tuple[Split, ...]] = (words, words, tokens, words, words, words, name_parts, words)
"""Where a text may be broken, for each heading."""


_VALUE: Final = HEADINGS.index("value")
_GRAD: Final = HEADINGS.index("grad")
_FIRST_SERVED: Final = (_VALUE, _GRAD, 2, 1, 6)
"""The columns that spare room is given to; the others only lose a heading on one line."""


class Layout(NamedTuple):
    """A table that fits.

    Attributes:
        widths: of each column.
        headings: the lines of each heading.
        rows: for each row and column the lines of the cell.
    """

    widths: list[int]
    headings: list[list[str]]
    rows: list[list[list[str]]]


def details(full: bool) -> Sequence[Detail]:
    """The levels of detail to try, the best first."""
    return (EVERYTHING,) if full else DETAILS


def fit(rows: Sequence[Row], width: int, *, full: bool, ascii_only: bool) -> Layout | None:
    """A table that is no wider than `width`, or None where none is.

    The one with the most digits is taken; but fewer digits are better than the row of a matrix on two lines.
    """
    for unbroken in (True, False):
        for detail in details(full):
            texts = _stacked_cells(rows, detail, ascii_only)
            by_column = list(zip(HEADINGS, *texts, strict=True))
            widths = _widths(by_column, width - GAP * (len(HEADINGS) - 1), unbroken)
            if widths is not None:
                return _laid_out(texts, widths)
    return None


def _laid_out(texts: Sequence[Sequence[str]], widths: list[int]) -> Layout:
    headings = [wrapped(text, room, name_parts) for text, room in zip(HEADINGS, widths, strict=True)]
    rows = [
        [wrapped(text, room, split) for text, room, split in zip(row, widths, SPLITS, strict=True)] for row in texts
    ]
    return Layout(widths, headings, rows)


def _stacked_cells(rows: Sequence[Row], detail: Detail, ascii_only: bool) -> list[list[str]]:
    """The texts of the rows, with those of arrays on several lines."""
    return [
        [stacked(text) if index in (_VALUE, _GRAD) else text for index, text in enumerate(row)]
        for row in cells(rows, detail, ascii_only=ascii_only)
    ]


def _widths(by_column: Sequence[tuple[str, ...]], room: int, unbroken: bool) -> list[int] | None:
    """The width of each column, or None where even the narrowest do not fit into `room` together.

    Args:
        by_column: for each column the heading and the texts.
        room: for all columns together.
        unbroken: whether each row of a matrix must stand on one line.
    """
    wanted = [max([columns(line) for text in texts for line in text.split("\n")]) for texts in by_column]
    if sum(wanted) <= room:
        return wanted
    widths = []
    for (heading, *texts), split, natural in zip(by_column, SPLITS, wanted, strict=True):
        least = max(
            least_columns(heading, name_parts), max([_least(text, split, unbroken) for text in texts], default=0)
        )
        widths.append(max(least, min(natural, _LEAST)) if split is tokens else least)
    spare = room - sum(widths)
    if spare < 0:
        return None
    for served in (_FIRST_SERVED, range(len(wanted))):
        while spare and any(widths[index] < wanted[index] for index in served):
            for index in served:
                if widths[index] < wanted[index] and spare:
                    widths[index] += 1
                    spare -= 1
    return widths


def _least(text: str, split: Split, unbroken: bool) -> int:
    """The least columns that a text needs."""
    if unbroken and "\n" in text:
        return max(map(columns, text.split("\n")))
    return least_columns(text, split)


def cards(rows: Sequence[Row], width: int, *, full: bool, ascii_only: bool) -> list[str]:
    """The rows as blocks of lines, one field a line, for a narrow screen; empty lines stand between blocks."""
    indent = " " * GAP
    chosen = details(full)[-1]
    for detail in details(full):
        texts = _stacked_cells(rows, detail, ascii_only)
        if all(least_columns(row[index], words) <= width - 2 * GAP for row in texts for index in (_VALUE, _GRAD)):
            chosen = detail
            break
    lines: list[str] = []
    for line, name, *fields in _stacked_cells(rows, chosen, ascii_only):
        lines.append(f"{name} (line {line})" if line else name)
        for heading, text, split in zip(HEADINGS[2:], fields, SPLITS[2:], strict=True):
            label = f"{indent}{heading:<13}{indent}"
            room = width - len(label)
            if least_columns(text, split) <= room:
                first, *more = wrapped(text, room, split)
                lines += [label + first, *[" " * len(label) + piece for piece in more]]
            else:
                lines.append(label.rstrip())
                lines += [2 * indent + piece for piece in wrapped(text, width - 2 * GAP, split)]
        lines.append("")
    return lines
