"""Texts made from formats: `str.format`, `%`, f-strings, without their back doors to attributes and endless widths."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .limits import Meter

_NUMBER: Final = re.compile(r"\d+")
_STAR: Final = re.compile(r"%[-+ #0]*(\*|\d*\.\*)")

Read = Callable[[Any, str], Any]


def check_widths(specification: str, meter: Meter) -> None:
    """Refuse a width or a precision that would fill the memory."""
    for digits in _NUMBER.findall(specification):
        meter.width(int(digits) if len(digits) < 20 else 10**20)


def formatted(value: Any, specification: Any, meter: Meter) -> str:
    """`format(value, specification)`, with a width that fits."""
    if type(specification) is str:
        check_widths(specification, meter)
    return format(value, specification)


def percent(template: str, values: Any, meter: Meter) -> str:
    """`template % values`, with widths that fit."""
    check_widths(template, meter)
    if _STAR.search(template):
        for value in values if isinstance(values, tuple) else (values,):
            if type(value) is int:
                meter.width(abs(value))
    made: str = template % values
    return made


class Formatter(string.Formatter):
    """`str.format` whose fields read attributes as the snippet itself may.

    Args:
        meter: counts what is used up.
        read: reads an attribute, or refuses to.
    """

    def __init__(self, meter: Meter, read: Read) -> None:
        self.meter = meter
        self.read = read

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A positional or a named value; the errors are those of `str.format`."""
        if isinstance(key, int):
            if key >= len(args):
                raise IndexError(f"Replacement index {key} out of range for positional args tuple")
            return args[key]
        return kwargs[key]

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
        """The value of `name.attribute[index]`."""
        first, *rest = re.split(r"(?=[.\[])", field_name)
        value = self.get_value(int(first) if first.isdecimal() else first, args, kwargs)
        for step in rest:
            if step.startswith("."):
                if len(step) == 1:
                    raise ValueError("Empty attribute in format string")
                value = self.read(value, step[1:])
            else:
                if not step.endswith("]"):
                    raise ValueError("Missing ']' in format string")
                index = step[1:-1]
                value = value[int(index) if index.isdecimal() else index]
        return value, first

    def format_field(self, value: Any, format_spec: str) -> str:
        """One value under its specification."""
        return formatted(value, format_spec, self.meter)
