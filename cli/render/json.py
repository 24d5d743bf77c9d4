"""JSON: strict, one line a node."""

from __future__ import annotations

import json
from typing import Any, Final


def json_text(data: dict[str, Any]) -> str:
    """Data as JSON text: each entry on a line of its own, and each element of a list of objects.

    Only ASCII is written, so that no terminal and no encoding can be upset by a name.
    """
    entries = ",\n ".join([f"{_dumped(name)}: {_entry(value)}" for name, value in data.items()])
    return f"{{{entries}}}\n"


def _entry(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n  " + ",\n  ".join([_dumped(element) for element in value]) + "]"
    return _dumped(value)


_dumped: Final = json.JSONEncoder(allow_nan=False).encode
