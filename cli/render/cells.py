"""The rows of a report as rows of texts, under their headings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agrad.engine.report import Row

from .numbers import EVERYTHING, Detail, value_text
from .text import escaped, one_line, shortened

HEADINGS: Final = ("line", "name", "expression", "value", "requires_grad", "is_leaf", "grad_fn", "grad")
LONGEST_EXPRESSION: Final = 120
INPUT: Final = "(input)"


def stacked(text: str) -> str:
    """The text of an array with each of its rows on a line, as PyTorch prints them."""
    if not text.startswith("[["):
        return text
    first, *rest = text.split("], ")
    lines, depth = first, first.count("[") - first.count("]") - 1
    for row in rest:
        lines += f"],\n{' ' * depth}{row}"
        depth += row.count("[") - row.count("]") - 1
    return lines


def cells(rows: Sequence[Row], detail: Detail, *, ascii_only: bool) -> list[tuple[str, ...]]:
    """The texts of each row, in the order of `HEADINGS`; a long expression by its beginning, unless all is wanted."""
    texts: list[tuple[str, ...]] = []
    for row in rows:
        expression = one_line(row.expression) if row.line is not None else INPUT
        if len(expression) > LONGEST_EXPRESSION and detail is not EVERYTHING:
            expression = shortened(expression, LONGEST_EXPRESSION)
        texts.append(
            (
                "" if row.line is None else str(row.line),
                escaped(row.name, ascii_only=ascii_only),
                escaped(expression, ascii_only=ascii_only),
                value_text(row.value, detail),
                "True" if row.requires_grad else "False",
                "True" if row.is_leaf else "False",
                row.grad_fn or "None",
                "None" if row.grad is None else value_text(row.grad, detail),
            )
        )
    return texts
