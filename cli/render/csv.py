"""CSV: a line for each node, arrays in their JSON form."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any, Final

from agrad.engine.files.json_data import json_value
from agrad.engine.report import Row

from .text import escaped, one_line

HEADER: Final = Row._fields


def csv_text(rows: Sequence[Row], *, full: bool, ascii_only: bool) -> str:
    """The rows with a header; what does not exist is an empty cell."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADER)
    for row in rows:
        writer.writerow(
            (
                escaped(row.name, ascii_only=ascii_only),
                row.line,
                escaped(one_line(row.expression), ascii_only=ascii_only),
                row.op,
                json.dumps(row.shape),
                row.dtype,
                _value(row.value, full),
                str(row.requires_grad).lower(),
                str(row.is_leaf).lower(),
                row.grad_fn,
                None if row.grad is None else _value(row.grad, full),
            )
        )
    return stream.getvalue()


def _value(value: Any, full: bool) -> str:
    data = json_value(value, full=full)
    return data if isinstance(data, str) else json.dumps(data)
