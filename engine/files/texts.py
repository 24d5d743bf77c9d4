"""Files: the text of an expression file read, results saved."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, NoReturn

from ..errors import AgradError, InputError, LimitError, OutputError, Source, Span

LARGEST_TEXT: Final = 2**28
"""The most bytes that an expression file, a .csv or a .json may have."""


def read_text(path: str) -> str:
    """The text of a file, with line ends as newlines and without a byte order mark.

    Raises:
        InputError: where it is missing, a directory, unreadable, not UTF-8 or holds NUL bytes.
        LimitError: where it is larger than `LARGEST_TEXT`.
    """
    with opened(path) as stream:
        return decoded(stream, path)


def decoded(stream: BinaryIO, name: str) -> str:
    """The text of an open stream of bytes; errors as `read_text`."""
    data = stream.read(LARGEST_TEXT + 1)
    if len(data) > LARGEST_TEXT:
        raise LimitError(f"{name} is larger than {LARGEST_TEXT // 2**20} MiB", hint="give data by --data as .npz")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        _at(
            fault.start,
            f"{name} is not UTF-8 text: byte 0x{data[fault.start]:02x} at offset {fault.start}",
            data,
            name,
            "it looks like UTF-16: save it as UTF-8" if utf16 else "save it as UTF-8",
        )
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        offset = data.index(0)
        _at(offset, f"{name} holds a NUL byte at offset {offset}", data, name, "this is no text file")
    return text


def _at(offset: int, message: str, data: bytes, name: str, hint: str) -> NoReturn:
    """Raise an error that points at one byte of a text."""
    source = Source(data.decode("utf-8-sig", "replace"), name)
    position = len(data[:offset].decode("utf-8-sig", "replace"))
    error = InputError(message, hint=hint, spans=(Span(position, position + 1),), code="encoding")
    error.source = source
    raise error from None


def opened(path: str) -> BinaryIO:
    """A file opened to read bytes; the caller closes it. Errors as `read_text` says."""
    try:
        return open(path, "rb")  # noqa: PTH123  # pathlib costs 6 ms of a start; the caller closes it
    except (OSError, ValueError) as fault:
        raise _unreadable(path, fault) from None


def _unreadable(path: str, fault: OSError | ValueError) -> AgradError:
    if isinstance(fault, FileNotFoundError):
        return InputError(f"no such file: {path}", hint=_nearest_file(path), code="file")
    if isinstance(fault, IsADirectoryError):
        return InputError(f"{path} is a directory, not a file", code="file")
    reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    return InputError(f"cannot read {path}: {reason}", code="file")


def _nearest_file(path: str) -> str:
    from difflib import get_close_matches
    from pathlib import Path

    try:
        near = get_close_matches(Path(path).name, os.listdir(Path(path).parent), n=1)  # noqa: PTH208  # names only
    except (OSError, ValueError):
        return ""
    return f"did you mean {Path(path).parent / near[0]}?" if near else ""


def check_target(path: str) -> None:
    """Refuse a file that cannot be written, before anything is computed for it.

    Raises:
        OutputError: where its folder is missing or it is a directory.
    """
    from pathlib import Path

    target = Path(path)
    if target.is_dir():
        raise OutputError(f"cannot write {path}: it is a directory")
    if not target.parent.is_dir():
        raise OutputError(f"cannot write {path}: there is no folder {target.parent}")


def save_npz(path: str, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name into an .npz file: the whole file or nothing.

    Raises:
        OutputError: where it cannot be written; the file that was there stays as it was.
    """
    from zipfile import ZipFile

    import numpy as np

    # Not np.savez: its own parameters would clash with arrays called `file` or `args`.
    with _replaced(path) as stream, ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)


def save_text(path: str, text: str) -> None:
    """Write a text as UTF-8: the whole file or nothing; errors as `save_npz`."""
    with _replaced(path) as stream:
        stream.write(text.encode())


@contextmanager
def _replaced(path: str) -> Iterator[BinaryIO]:
    """A draft to write to, which takes the place of a file once it is complete."""
    from pathlib import Path

    target = Path(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with draft.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(target)
    except OSError as fault:
        raise OutputError(f"cannot write {path}: {fault.strerror or fault}") from None
    finally:
        draft.unlink(missing_ok=True)
