"""`agrad run --trace`: after each statement a table of the tensors that it made or changed."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any, Final

from .render.text import columns, escaped

if TYPE_CHECKING:
    from agrad.engine.snippets import After
    from agrad.engine.snippets.interpreter import Interpreter
    from agrad.engine.snippets.places import Places
    from agrad.engine.snippets.trace import Traced

_GAP: Final = "  "


def tracer() -> After:
    """What is called after each statement, and writes its table to stderr."""
    from agrad.engine.snippets.trace import Tracer

    found: list[Tracer] = []

    def after(run: Interpreter, places: Places, statement: Any) -> None:
        if not found:
            from agrad.engine.eager.tensor import Tensor

            found.append(Tracer(Tensor))
        rows = found[0].changed(run.top.values)
        if rows and sys.stderr is not None:
            head = f"{escaped(run.name)}:{statement.lineno}: {escaped(places.text(statement))}"
            sys.stderr.write("\n".join([head, *table(rows)]) + "\n")
            sys.stderr.flush()

    return after


def table(rows: list[Traced]) -> list[str]:
    """The rows, aligned under their headings."""
    names = [field.name for field in dataclasses.fields(rows[0])]
    texts = [names, *[[escaped(getattr(row, name)) for name in names] for row in rows]]
    widths = [max(map(columns, column)) for column in zip(*texts, strict=True)]
    return [
        _GAP
        + _GAP.join([text + " " * (width - columns(text)) for text, width in zip(line, widths, strict=True)]).rstrip()
        for line in texts
    ]
