"""Where the nodes of a syntax tree stand in its text."""

from __future__ import annotations

import ast

from ..errors import Source, Span


class Places:
    """Where the nodes of a syntax tree stand in its text: `ast` counts lines, and columns in bytes.

    Args:
        source: the text.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lines = source.text.split("\n")
        starts = [0]
        for line in self._lines:
            starts.append(starts[-1] + len(line) + 1)
        self._starts = starts

    def offset(self, line: int, column: int) -> int:
        """The offset of a place given by its line and a column in bytes."""
        line = min(max(line, 1), len(self._lines))
        text = self._lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode(errors="ignore"))
        return self._starts[line - 1] + min(column, len(text))

    def span(self, node: ast.AST) -> Span:
        """The stretch of text that a node covers."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        start = self.offset(line, column)
        end = self.offset(getattr(node, "end_lineno", line) or line, getattr(node, "end_col_offset", column) or column)
        return Span(start, max(end, start + 1))

    def text(self, node: ast.AST) -> str:
        """The text that a node covers, on one line and not too long."""
        span = self.span(node)
        text = " ".join(self.source.text[span.start : span.end].split())
        return text if len(text) <= 80 else text[:77] + "..."

    def line(self, number: int) -> str:
        """A line of the text."""
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""
