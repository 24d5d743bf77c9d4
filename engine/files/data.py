"""Input data from .npz, .npy, .csv and .json files: never a pickle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, Final

import numpy as np

from ..errors import InputError, LimitError
from .texts import opened, read_text

Arrays = dict[str, Any]


def read_data(option: str) -> Arrays:
    """The arrays of one `--data FILE` or `--data NAME=FILE`, by name.

    A .npz gives its arrays and a .json its entries by their names, a .csv each column of numbers by its header, and
    with a NAME a .npy, a .json list or all columns of a .csv are one array.

    Raises:
        InputError: where the file cannot be read or does not hold numbers.
    """
    from pathlib import Path

    name, equals, path = option.partition("=")
    if not equals or not name.strip().isidentifier() or Path(option).exists():
        name, path = "", option
    name = name.strip()
    suffix = Path(path).suffix.lower()
    reader = _READERS.get(suffix)
    if reader is None:
        raise InputError(
            f"{path}: agrad cannot read {suffix or 'a file without suffix'} as data",
            hint="--data takes .npz, .npy, .csv and .json",
            code="data",
        )
    return reader(path, name)


def _numbers(array: Any, label: str) -> Any:
    """An array as the graph takes it: bool, int64, float32, float64 or complex; without axes, a NumPy scalar.

    Bytes come into the order of this machine.

    Raises:
        InputError: where it holds something else than numbers.
        LimitError: where a number is too large, and would silently become another one.
    """
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind in "iu":
        if kind == "u" and array.size and array.max() > LARGEST_INTEGER:
            raise LimitError(f"{label}: an integer is too large", hint="the largest is 2**63 - 1")
        array = array.astype(np.int64, copy=False)
    elif kind == "f":
        array = _as_floats(array, np.float32 if size == 4 else np.float64, label)
    elif kind == "c":
        array = _as_floats(array, np.complex64 if size == 8 else np.complex128, label)
    elif kind != "b":
        raise InputError(f"{label} holds {array.dtype.name} values, not numbers", code="data")
    return array if array.shape else array[()]


LARGEST_INTEGER: Final = 2**63 - 1


def _as_floats(array: Any, dtype: type[np.inexact[Any]], label: str) -> Any:
    with np.errstate(over="ignore"):
        floats = array.astype(dtype, copy=False)
    if array.dtype.itemsize > floats.dtype.itemsize:
        for wide, narrow in ((array.real, floats.real), (array.imag, floats.imag)):
            if np.any(np.isinf(narrow) & ~np.isinf(wide)):
                raise _too_large(label)
    return floats


def _too_large(label: str) -> LimitError:
    return LimitError(
        f"{label}: a number is too large for a float",
        hint="the largest float is 1.8e308; write inf for infinity",
    )


def _load(path: str, stream: BinaryIO) -> Any:
    try:
        return np.load(stream, allow_pickle=False)
    except MemoryError:
        raise LimitError(f"{path} does not fit into memory") from None
    except Exception as fault:  # a damaged archive raises whatever zipfile, zlib or NumPy happens to raise
        raise _damaged(path, fault) from None


def _damaged(path: str, fault: Exception) -> InputError:
    if "pickle" in str(fault):
        return InputError(
            f"{path} is no plain NumPy file of numbers",
            hint="agrad never loads pickled objects: save numbers with np.save or np.savez",
            code="data",
        )
    return InputError(f"{path} is damaged: {fault}", code="data")


def _read_npy(path: str, name: str) -> Arrays:
    if not name:
        raise InputError(f"{path} holds one array without a name", hint=f"write --data NAME={path}", code="data")
    with opened(path) as stream:
        array = _mapped(path)
        if array is None:
            array = _load(path, stream)
        if not isinstance(array, np.ndarray):
            raise InputError(f"{path} is an .npz archive", hint="rename it to .npz", code="data")
    return {name: _numbers(array, path)}


MAPPED_FROM: Final = 2**20
"""Bytes of a .npy file from which its pages are read where they are needed, rather than all of it before."""


def _mapped(path: str) -> Any:
    """The array of a .npy file as a view of the file, or None where it is small, or must be read or converted."""
    from pathlib import Path

    file = Path(path)
    if not file.is_file() or file.stat().st_size < MAPPED_FROM:
        return None
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception:  # reading it says what is wrong
        return None
    return np.asarray(array) if isinstance(array, np.ndarray) and array.dtype.isnative else None


def _read_npz(path: str, name: str) -> Arrays:
    with opened(path) as stream:
        archive = _load(path, stream)
        if isinstance(archive, np.ndarray):
            raise InputError(f"{path} is a single .npy array", hint="rename it to .npy", code="data")
        arrays: Arrays = {}
        for key in archive.files:
            try:
                array = archive[key]
            except MemoryError:
                raise LimitError(f"{key} of {path} does not fit into memory") from None
            except Exception as fault:  # as in _load
                raise _damaged(f"{key} of {path}", fault) from None
            arrays[key] = _numbers(array, f"{key} of {path}")
    if not name:
        return arrays
    if len(arrays) != 1:
        raise InputError(
            f"{path} holds {len(arrays)} arrays ({', '.join(arrays)}): which of them is {name}?",
            hint=f"write --data {path} and use their own names",
            code="data",
        )
    return {name: next(iter(arrays.values()))}


def _read_csv(path: str, name: str) -> Arrays:
    import csv

    text = read_text(path)
    first = text.split("\n", 1)[0]
    delimiter = next((mark for mark in ",;\t" if mark in first), ",")
    try:
        reader = csv.reader(text.split("\n"), delimiter=delimiter)
        lines = [(reader.line_num, row) for row in reader if row]
    except csv.Error as fault:
        raise InputError(f"{path}: {fault}", code="data") from None
    if not lines:
        raise InputError(f"{path} is empty", code="data")
    header = [cell.strip() for cell in lines[0][1]]
    if all(_is_number(cell) for cell in header):
        raise InputError(f"{path}:1: the first line must name the columns, and it holds numbers", code="data")
    for cell in header:
        if header.count(cell) > 1:
            raise InputError(f"{path}:1: two columns are called {cell!r}", code="data")
    for number, row in lines[1:]:
        if len(row) != len(header):
            raise InputError(f"{path}:{number}: {len(row)} cells where the header has {len(header)}", code="data")
    numbers = [number for number, _ in lines[1:]]
    columns: Arrays = {}
    for label, cells in zip(header, zip(*[row for _, row in lines[1:]], strict=True), strict=False):
        if _is_number(cells[0]):  # a column that begins with text is text, and no formula can use it
            columns[label] = _column(path, label, numbers, cells)
    if not columns:
        raise InputError(f"{path} has no column of numbers", code="data")
    return {name: np.stack(list(columns.values()), axis=1)} if name else columns


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _column(path: str, label: str, numbers: list[int], cells: tuple[str, ...]) -> Any:
    try:
        column = np.array([float(cell) for cell in cells])
    except ValueError:
        for number, cell in zip(numbers, cells, strict=True):
            if not _is_number(cell):
                what = f"{cell!r} is not a number" if cell.strip() else "an empty cell"
                raise InputError(
                    f"{path}:{number}: column {label!r}: {what}", hint="write nan where a value is missing", code="data"
                ) from None
        raise
    for row in np.flatnonzero(np.isinf(column)):
        if any(character.isdecimal() for character in cells[row]):
            raise _too_large(f"{path}:{numbers[row]}: column {label!r}")
    return column


def _read_json(path: str, name: str) -> Arrays:
    import json

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) != len(pairs):
            twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
            raise InputError(f"{path}: {twice!r} stands twice", code="data")
        return entries

    def number(text: str) -> float:
        value = float(text)
        if abs(value) == np.inf:
            raise _too_large(path)
        return value

    try:
        content = json.loads(read_text(path), object_pairs_hook=unique, parse_float=number)
    except json.JSONDecodeError as fault:
        raise InputError(f"{path}:{fault.lineno}:{fault.colno}: not JSON: {fault.msg}", code="data") from None
    except (RecursionError, ValueError) as fault:
        reason = "nested too deeply" if isinstance(fault, RecursionError) else str(fault)
        raise InputError(f"{path}: not JSON that agrad can read: {reason}", code="data") from None
    if name:
        return {name: _from_json(content, path)}
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no names", hint=f"write --data NAME={path}", code="data")
    return {key: _from_json(value, f"{key} of {path}") for key, value in content.items()}


_WORDS: Final = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}


def _from_json(value: Any, label: str) -> Any:
    """A number, a nested list of numbers, or `{"real": ..., "imag": ...}`, as an array of floats (or booleans)."""
    if isinstance(value, dict) and set(value) == {"real", "imag"}:
        return _from_json(value["real"], label) + 1j * _from_json(value["imag"], label)
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):
        raise InputError(f"{label} is a ragged list: rows of different lengths", code="data") from None
    if array.dtype.kind in "UO":
        array = np.asarray(_without_words(value))
    if array.dtype.kind == "O" and all(type(entry) in (int, float) for entry in array.flat):
        try:
            array = array.astype(np.float64)
        except OverflowError:
            raise _too_large(label) from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{label} is no number and no nested list of numbers", code="data")
    if array.dtype.kind in "iu":
        array = array.astype(np.float64, copy=False)
    return _numbers(array, label)


def _without_words(value: Any) -> Any:
    """The same nested list with the words of strict JSON ("NaN", "Infinity") as floats."""
    if isinstance(value, list):
        return [_without_words(entry) for entry in value]
    return _WORDS.get(value, value) if isinstance(value, str) else value


_READERS: Final[Mapping[str, Callable[[str, str], Arrays]]] = {
    ".npz": _read_npz,
    ".npy": _read_npy,
    ".csv": _read_csv,
    ".json": _read_json,
}
