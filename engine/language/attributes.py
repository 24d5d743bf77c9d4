"""Attributes and measures of a value: `.T`, `.values`, `.shape`, `.size(0)`."""

from __future__ import annotations

from typing import Any, Final

from ..errors import InputError
from ..graph import TABLE, Node, Outputs
from . import names
from .listing import Listing, described

_ROWS: Final = ("T", "mT", "H", "mH", "real", "imag")
_PLAIN: Final = ("shape", "ndim", "dtype")
MEASURES: Final = ("size", "numel", "dim", "len", "ndimension", "nelement")


def attribute(value: Any, name: str) -> Any:
    """An attribute of a tensor or of the results of a call.

    Raises:
        InputError: where there is none, with the nearest ones.
    """
    if isinstance(value, Outputs):
        if name in value.names:
            return value.nodes[value.names.index(name)]
        hint = names.nearest(name, value.names) or f"it has .{', .'.join(value.names)}"
        raise InputError(f"unknown attribute .{name}", hint=hint)
    if not isinstance(value, Node):
        raise InputError(f"{described(value)} has no attribute .{name}")
    if name in _ROWS:
        return TABLE[name].call(value)
    if name == "shape":
        return shape_of(value)
    if name == "ndim":
        return value.ndim
    if name == "dtype":
        return value.dtype
    if name in names.FOREIGN_METHODS:
        raise InputError(f".{name} has no place in an expression file", hint=names.FOREIGN_METHODS[name])
    op = names.row(name)
    if (op is not None and op.method) or name in MEASURES:
        raise InputError(f".{name} is a method", hint=f"call it: .{name}()")
    hint = names.nearest(name, [*_ROWS, *_PLAIN, *names.method_names()])
    raise InputError(f"unknown attribute .{name}", hint=hint)


def shape_of(node: Node) -> Listing:
    """The sizes of a tensor as a written tuple."""
    return Listing(list(node.shape), True, (node.ndim,), 1)


def measure(name: str, value: Any, arguments: list[Any]) -> Any:
    """What is known of a tensor without computing: its sizes, how many elements, how many axes.

    Raises:
        InputError: where the axis is none.
    """
    if not isinstance(value, Node):
        if name == "len" and isinstance(value, Outputs):
            return len(value.nodes)
        if name == "len" and isinstance(value, Listing):
            return len(value.items)
        raise InputError(f"{name}() takes a tensor, not {described(value)}")
    if name == "size":
        if not arguments:
            return shape_of(value)
        axis = arguments[0]
        if type(axis) is not int or not -value.ndim <= axis < value.ndim:
            raise InputError(f"size() takes an axis from {-value.ndim} to {value.ndim - 1}, not {described(axis)}")
        return value.shape[axis]
    if arguments:
        raise InputError(f"{name}() takes no arguments")
    if name == "len":
        if not value.shape:
            raise InputError("len() of a tensor without axes")
        return value.shape[0]
    return value.size if name in ("numel", "nelement") else value.ndim
