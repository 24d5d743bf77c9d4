"""Which files are meant: those named, and every expression file below the folders named."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatch
from typing import Final

from ..errors import InputError

SUFFIX: Final = ".txt"
STANDARD_INPUT: Final = "-"


def expression_files(named: Sequence[str], exclude: Sequence[str] = ()) -> list[str]:
    """The files to check, each once, sorted by name; the standard input comes first.

    A folder means every file below it that ends in `.txt`, except in folders whose name begins with a dot; links to
    folders are not followed. A file that is named is taken whatever its name, and need not exist.

    Args:
        named: files, folders and `-`.
        exclude: patterns of paths or names to leave out, as a shell writes them, of files and folders found in folders;
            a pattern that ends in a slash means folders only.

    Raises:
        InputError: where a folder holds no expression file.
    """
    found: dict[str, str] = {}
    for name in named:
        for path in _below(name, exclude) if name != STANDARD_INPUT and os.path.isdir(name) else [name]:  # noqa: PTH112  # a surrogate or a NUL in a name is no error here
            key = path if path == STANDARD_INPUT else _identity(path)
            if key not in found or path in named:
                found[key] = path
    return sorted(found.values(), key=lambda path: (path != STANDARD_INPUT, path))


def _identity(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _below(folder: str, exclude: Sequence[str]) -> list[str]:
    found: list[str] = []
    plain = [pattern for pattern in exclude if not pattern.endswith("/")]
    for parent, folders, files in os.walk(folder):
        folders[:] = [
            name for name in folders if not (name.startswith(".") or _excluded(_path(parent, name), name, exclude))
        ]
        for name in files:
            path = _path(parent, name)
            hidden = name.startswith(".") or not (os.path.isfile(path) or os.path.islink(path))  # noqa: PTH113, PTH114  # a pipe, say
            if name.endswith(SUFFIX) and not hidden and not _excluded(path, name, plain):
                found.append(path)
    if not found:
        raise InputError(
            f"{folder} holds no expression files (*{SUFFIX})",
            hint="name the files themselves where they are called otherwise",
            code="file",
        )
    return found


def _path(parent: str, name: str) -> str:
    """A path as the person names it."""
    return os.path.normpath(os.path.join(parent, name))  # noqa: PTH118  # only text


def _excluded(path: str, name: str, patterns: Sequence[str]) -> bool:
    plain = path.replace(os.sep, "/")
    wanted = [pattern.removeprefix("./").rstrip("/") for pattern in patterns]
    return any(fnmatch(name, pattern) or fnmatch(plain, pattern) for pattern in wanted)
