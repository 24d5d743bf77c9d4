"""JSON: strict, one line a node."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from agrad.engine.files.json_data import json_value

from .text import escaped

if TYPE_CHECKING:
    from agrad.engine.report import Report, Row


class Encoded(list[str]):
    """A list whose elements are JSON text already."""


def json_text(data: dict[str, Any]) -> str:
    """Data as JSON text: each entry on a line of its own, and each element of a list of objects.

    Only ASCII is written, so that no terminal and no encoding can be upset by a name.
    """
    pieces: list[str] = []
    for name, value in data.items():
        pieces += (",\n " if pieces else "{", dumped(name), ": ", *_entry(value))
    return "".join([*pieces, "}\n"] if pieces else ["{}\n"])


def report_text(report: Report, *, full: bool) -> str:
    """A report as JSON text: what `json_text` makes of `report.as_json`, sooner where there are many nodes.

    Args:
        report: what was found.
        full: write arrays of any size in full.
    """
    return json_text(report.as_json(full=full, nodes=Encoded([_node_text(row, full) for row in report.rows])))


def _entry(value: Any) -> tuple[str, ...]:
    """The pieces of an entry's text; they are joined once, as there may be many megabytes of them."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = Encoded([dumped(element) for element in value])
    if isinstance(value, Encoded) and value:
        return "[\n  ", ",\n  ".join(value), "]"
    return (dumped(value),)


def _node_text(row: Row, full: bool) -> str:
    name, line, expression, op, shape, dtype, value, requires_grad, is_leaf, grad_fn, grad = row
    place = "null" if line is None else line
    gradient = "null" if grad is None else _value_text(grad, full)
    return (
        f'{{"name": {dumped(name)}, "line": {place}, "expression": {dumped(expression)}, {_kind(op, shape, dtype)}, '
        f'"value": {_value_text(value, full)}, {_flags(requires_grad, is_leaf, grad_fn)}, "grad": {gradient}}}'
    )


def _value_text(value: Any, full: bool) -> str:
    found = json_value(value, full=full)
    return repr(found) if type(found) is float else dumped(found)


@lru_cache
def _kind(op: str, shape: tuple[int, ...], dtype: str) -> str:
    return dumped({"op": op, "shape": shape, "dtype": dtype})[1:-1]


@lru_cache
def _flags(requires_grad: bool, is_leaf: bool, grad_fn: str | None) -> str:
    return dumped({"requires_grad": requires_grad, "is_leaf": is_leaf, "grad_fn": grad_fn})[1:-1]


def dumped(value: Any) -> str:
    """A value as strict JSON; the bytes of a name that is no UTF-8 are written as escapes, not as half characters."""
    text = _encoded(value)
    return _encoded(_whole(value)) if "\\ud" in text else text


_encoded: Final = json.JSONEncoder(allow_nan=False).encode


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return "".join([escaped(character) if "\ud800" <= character <= "\udfff" else character for character in value])
    if isinstance(value, dict):
        return {_whole(name): _whole(entry) for name, entry in value.items()}
    return [_whole(entry) for entry in value] if isinstance(value, (list, tuple)) else value
