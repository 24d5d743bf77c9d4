"""Values as strict JSON holds them, and large arrays by their statistics."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

LARGEST_WRITTEN: Final = 1000
"""Arrays of more elements are written by shape, statistics and ends, unless everything is asked for."""
ENDS: Final = 5


def json_value(value: Any, *, full: bool = False) -> Any:
    """A value as strict JSON holds it: NaN and infinities as strings, complex numbers by parts, shortest floats.

    Args:
        value: a number or an array.
        full: write an array of more than `LARGEST_WRITTEN` elements in full, not by its `summary`.
    """
    kind = type(value)
    if kind is np.float64 or kind is float:
        number = float(value)
        return number if math.isfinite(number) else _word(number)
    if kind is int or kind is bool:
        return value
    array = np.asarray(value)
    if array.size > LARGEST_WRITTEN and not full:
        return {name: _entry_as_json(entry) for name, entry in summary(array).items()}
    return _nested(array)


def _entry_as_json(entry: Any) -> Any:
    return entry if entry is None or isinstance(entry, (str, list)) else _nested(np.asarray(entry))


def _nested(array: Any) -> Any:
    kind = array.dtype.kind
    if kind == "c":
        return {"real": _nested(array.real), "imag": _nested(array.imag)}
    if kind != "f":
        return array.tolist()
    if array.dtype != np.float64:
        array = array.astype("U32").astype(np.float64)  # 0.1 in float32 is written 0.1, not 0.10000000149011612
    entries = array.tolist()
    return entries if np.isfinite(array).all() else _with_words(entries)


def _with_words(entries: Any) -> Any:
    if isinstance(entries, list):
        return [_with_words(entry) for entry in entries]
    return entries if math.isfinite(entries) else _word(entries)


def _word(number: float) -> str:
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"


def summary(array: Any) -> dict[str, Any]:
    """A large array by shape, statistics of its finite elements (None where they do not exist) and ends.

    Returns:
        shape, dtype, min, max, mean, norm, nonfinite (how many elements are NaN or infinite), head, tail.
    """
    flat = array.reshape(-1)
    finite = flat if flat.dtype.kind in "biu" else flat[np.isfinite(flat)]
    ordered = flat.dtype.kind != "c" and finite.size > 0
    with np.errstate(all="ignore"):  # a norm may be larger than any float
        return {
            "shape": list(array.shape),
            "dtype": array.dtype.name,
            "min": finite.min() if ordered else None,
            "max": finite.max() if ordered else None,
            "mean": _mean(finite) if finite.size else None,
            "norm": _norm(finite) if finite.size else None,
            "nonfinite": flat.size - finite.size,
            "head": flat[:ENDS],
            "tail": flat[-ENDS:],
        }


def _mean(flat: Any) -> Any:
    scale = _scale(flat)
    return (flat / scale).mean(dtype=np.complex128 if flat.dtype.kind == "c" else np.float64) * scale


def _norm(flat: Any) -> Any:
    scale = _scale(flat)
    return np.sqrt(np.square(np.abs(flat / scale), dtype=np.float64).sum()) * scale


def _scale(flat: Any) -> float:
    """1, or the largest magnitude where squares of the elements would overflow or vanish."""
    largest = float(np.abs(flat).max())
    return 1.0 if largest == 0 or 1e-100 < largest < 1e100 else largest
