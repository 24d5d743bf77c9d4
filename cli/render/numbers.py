"""Numbers and arrays as short texts: fewer digits where there is little room, but never a number cut in two."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from agrad.engine.files.json_data import LARGEST_WRITTEN, summary


class Detail(NamedTuple):
    """How much of a value is shown.

    Attributes:
        digits: significant digits of a float; 0 for as many as tell it from its neighbours.
        elements: the most elements of an array that are all written; 0 for any number. Of a longer one the ends are.
    """

    digits: int
    elements: int


EVERYTHING: Final = Detail(0, 0)
NORMAL: Final = Detail(6, 12)
DETAILS: Final = (NORMAL, Detail(5, 12), Detail(4, 12))
"""From the widest to the narrowest that is still of use: PyTorch shows 4 digits."""
_EACH_END: Final = 3


def value_text(value: Any, detail: Detail = NORMAL) -> str:
    """A number, a boolean or an array as text; spaces stand only between numbers."""
    kind = type(value)
    if kind is np.float64 or kind is float:
        return float_text(float(value), detail.digits)
    if kind is int or kind is bool:
        return str(value)
    array = np.asarray(value)
    if not array.shape:
        return _element_text(array, array[()], detail.digits)
    if not array.size:
        return "[]" if array.ndim == 1 else f"[], size=({', '.join(map(str, array.shape))})"
    if detail.elements and array.size > detail.elements:
        return _ends_text(array, detail)
    return _nested_text(array, detail.digits)


def float_text(number: float, digits: int) -> str:
    """A float with at most so many significant digits (0: the shortest text that reads back as the same float)."""
    text = f"{number:.{digits}g}" if digits else repr(number)
    if "e" in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa}e{int(exponent)}"
    return text if "." in text or "n" in text else text + ".0"  # the n of inf and nan


def _element_text(array: Any, element: Any, digits: int) -> str:
    kind = array.dtype.kind
    if kind == "f":
        if array.dtype.itemsize < 8 and not digits:
            element = str(element)  # the shortest text of a float32 has fewer digits
        return float_text(float(element), digits)
    if kind == "c":
        real, imag = (
            _element_text(part, part[()], digits) for part in (np.asarray(element.real), np.asarray(element.imag))
        )
        return f"{real}{'' if imag.startswith('-') else '+'}{imag}j"
    return str(element)


def _joined(array: Any, digits: int) -> str:
    return ", ".join([_element_text(array, element, digits) for element in array])


def _nested_text(array: Any, digits: int) -> str:
    if array.ndim == 1:
        return f"[{_joined(array, digits)}]"
    return f"[{', '.join([_nested_text(row, digits) for row in array])}]"


def _ends_text(array: Any, detail: Detail) -> str:
    """The shape, the ends of the elements in a row and, of a large array, its statistics."""
    flat = array.reshape(-1)
    shape = ", ".join([str(size) for size in array.shape])
    ends = f"{_joined(flat[:_EACH_END], detail.digits)}, ..., {_joined(flat[-_EACH_END:], detail.digits)}"
    text = f"shape [{shape}]: {ends}"
    if array.size <= LARGEST_WRITTEN:
        return text
    facts = summary(array)
    parts = [
        f"{name} {value_text(facts[name], detail)}"
        for name in ("min", "max", "mean", "norm")
        if facts[name] is not None
    ]
    if facts["nonfinite"]:
        parts.append(f"{facts['nonfinite']} not finite")
    return f"{text}; {', '.join(parts)}"
