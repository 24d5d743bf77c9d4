"""Values as strict JSON holds them, and large arrays by their statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

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
    if _entries(array) > LARGEST_WRITTEN and not full:
        return {name: _entry_as_json(entry) for name, entry in summary(array).items()}
    return _nested(array)


def _entries(array: Any) -> int:
    """How many entries the nested lists of an array have: of one without elements, how many empty lists."""
    shape = array.shape
    return array.size or math.prod(shape[: shape.index(0)])  # type: ignore[no-any-return]  # an array of any dtype


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
    with np.errstate(all="ignore"):  # a norm may be larger than any float
        pieces = [_Piece.of(flat[start : start + PIECE]) for start in range(0, flat.size, PIECE)]
        found = [piece for piece in pieces if piece.finite]
        ordered = flat.dtype.kind != "c" and bool(found)
        count = sum(piece.finite for piece in found)
        mean, norm = _mean_and_norm(flat, found, count) if found else (None, None)
        return {
            "shape": list(array.shape),
            "dtype": array.dtype.name,
            "min": np.min([piece.low for piece in found]) if ordered else None,
            "max": np.max([piece.high for piece in found]) if ordered else None,
            "mean": mean,
            "norm": norm,
            "nonfinite": flat.size - count,
            "head": flat[:ENDS],
            "tail": flat[-ENDS:],
        }


PIECE: Final = 2**16
"""Elements that are looked at together: few enough that no copy of a large array is made, and that they stay cached."""


class _Piece(NamedTuple):
    """What is known of some elements: how many are finite, the least and greatest of them, the largest magnitude."""

    finite: int
    low: Any
    high: Any
    largest: float

    @classmethod
    def of(cls, elements: Any) -> _Piece:
        """What is known of some elements."""
        finite = _finite(elements)
        if not finite.size:
            return cls(0, None, None, 0.0)
        largest = float(np.abs(finite).max())
        if finite.dtype.kind == "c":
            return cls(finite.size, None, None, largest)
        return cls(finite.size, finite.min(), finite.max(), largest)


def _finite(elements: Any) -> Any:
    """The elements that are numbers and not infinite; all of them as they are, where there are no others."""
    if elements.dtype.kind in "biu":
        return elements
    finite = np.isfinite(elements)
    return elements if finite.all() else elements[finite]


def _mean_and_norm(flat: Any, pieces: Sequence[_Piece], count: int) -> tuple[Any, Any]:
    """The mean and the Euclidean norm of the finite elements, scaled where squares would overflow or vanish."""
    largest = max(piece.largest for piece in pieces)
    scale = 1.0 if largest == 0 or 1e-100 < largest < 1e100 else largest
    kind = np.complex128 if flat.dtype.kind == "c" else np.float64
    totals, squares = [], []
    for start in range(0, flat.size, PIECE):
        finite = _finite(flat[start : start + PIECE])
        scaled = finite if scale == 1.0 else finite / scale
        totals.append(scaled.sum(dtype=kind))
        squares.append(np.square(np.abs(scaled), dtype=np.float64).sum())
    return np.sum(totals) / count * scale, np.sqrt(np.sum(squares)) * scale
