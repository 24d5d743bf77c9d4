"""A lock as a file: strict JSON with floats that read back exactly, a line for each output."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from ..errors import InputError
from ..files.texts import read_text, save_text
from .lock import Lock, Locked

SCHEMA_VERSION: Final = 1
_VERSIONS: Final = ("agrad", "numpy")


def read_lock(path: str) -> Lock | None:
    """The lock in a file; None where there is no such file.

    Raises:
        InputError: where it is no lock, or one of a later version.
    """
    import os

    if not os.path.lexists(path):
        return None
    text = read_text(path)
    try:
        content = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as fault:
        reason = "it is nested too deeply" if isinstance(fault, RecursionError) else str(fault)
        raise _no_lock(path, reason) from None
    version = content.get("schema_version") if isinstance(content, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise InputError(f"{path} is a lock of a later version of agrad", hint="use that version", code="lock")
    if version != SCHEMA_VERSION:
        raise _no_lock(path, "it has no schema_version")
    return Lock(
        {name: str(content.get(name, "unknown")) for name in _VERSIONS},
        _mapping(content.get("conventions"), path, "conventions"),
        {
            file: {name: _locked(entry, path, name) for name, entry in _mapping(outputs, path, file).items()}
            for file, outputs in _mapping(content.get("files"), path, "files").items()
        },
        {file: str(dtype) for file, dtype in _mapping(content.get("dtypes", {}), path, "dtypes").items()},
    )


def _locked(entry: Any, path: str, name: str) -> Locked:
    fields = _mapping(entry, path, name)
    if "value" not in fields:
        raise _no_lock(path, f"{name} has no value")
    return Locked(fields["value"], _mapping(fields.get("gradients"), path, f"the gradients of {name}"))


def _mapping(value: Any, path: str, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _no_lock(path, f"{what} should be an object")
    return value


def _no_lock(path: str, reason: str) -> InputError:
    return InputError(
        f"{path} is no lock of agrad: {reason}",
        hint="remove it to have it written anew, or name another file",
        code="lock",
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a name stands twice")
    return entries


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def write_lock(path: str, lock: Lock) -> None:
    """Write a lock: the whole file or nothing.

    Raises:
        OutputError: where it cannot be written; the file that was there stays as it was.
    """
    save_text(path, lock_text(lock))


def lock_text(lock: Lock) -> str:
    """A lock as text: what changes is seen line by line."""
    head = {"schema_version": SCHEMA_VERSION, **lock.versions, "conventions": dict(lock.conventions)}
    if lock.dtypes:
        head["dtypes"] = dict(lock.dtypes)
    lines = [f" {_dumped(name)}: {_dumped(value)},\n" for name, value in head.items()]
    files = ",\n".join([f"  {_dumped(file)}: {_outputs(outputs)}" for file, outputs in lock.files.items()])
    return f'{{\n{"".join(lines)} "files": {{\n{files}\n }}\n}}\n'


def _outputs(outputs: Mapping[str, Locked]) -> str:
    entries = ",\n".join(
        [
            f"   {_dumped(name)}: {_dumped({'value': entry.value, 'gradients': dict(entry.gradients)})}"
            for name, entry in outputs.items()
        ]
    )
    return f"{{\n{entries}\n  }}" if entries else "{}"


_dumped: Final = json.JSONEncoder(allow_nan=False).encode
