"""Texts read and results saved."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from agrad.engine.errors import InputError, OutputError
from agrad.engine.files.texts import check_target, decoded, read_text, save_npz


def write(folder: Path, name: str, content: str | bytes) -> str:
    """A file with the content; its path."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def test_byte_order_mark_and_line_ends_are_normalised(tmp_path: Path) -> None:
    """A file from Windows reads as one from Unix."""
    assert read_text(write(tmp_path, "a.txt", b"\xef\xbb\xbfx = 1\r\ny = 2\rz = 3\n")) == "x = 1\ny = 2\nz = 3\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x = 1\ny = \xff\n", "not UTF-8 text: byte 0xff at offset 10"),
        (b"x = 1\ny = \0\n", "holds a NUL byte at offset 10"),
    ],
)
def test_bytes_that_are_no_text_are_located(content: bytes, said: str) -> None:
    """The error names the byte, and its place is the line and column of the byte."""
    with pytest.raises(InputError, match=said) as caught:
        decoded(io.BytesIO(content), "a.txt")
    place = caught.value.location
    assert place is not None
    assert (place.file, place.line, place.column) == ("a.txt", 2, 5)


def test_utf16_is_recognised() -> None:
    """A file saved as UTF-16 is told so."""
    with pytest.raises(InputError) as caught:
        decoded(io.BytesIO("x = 1".encode("utf-16")), "a.txt")
    assert "UTF-16" in caught.value.hint


def test_missing_file_names_the_nearest(tmp_path: Path) -> None:
    """A misspelt file name is answered with the one that is there."""
    write(tmp_path, "paraboloid.txt", "")
    with pytest.raises(InputError, match="no such file") as caught:
        read_text(str(tmp_path / "parabolod.txt"))
    assert "paraboloid.txt" in caught.value.hint


def test_directory_is_no_file(tmp_path: Path) -> None:
    """A directory is named as one."""
    with pytest.raises(InputError, match="is a directory"):
        read_text(str(tmp_path))


def test_save_writes_exact_values_under_any_name(tmp_path: Path) -> None:
    """Names that NumPy's own function would take for its parameters are written too."""
    path = str(tmp_path / "a.npz")
    save_npz(path, {"file": np.float64(0.1), "allow_pickle": np.arange(3.0), "grad/x": np.float32(1)})
    with np.load(path) as saved:
        assert sorted(saved.files) == ["allow_pickle", "file", "grad/x"]
        assert saved["file"] == 0.1
        assert saved["grad/x"].dtype == np.float32


def test_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    """A save that fails half-way changes nothing and leaves nothing behind."""
    path = tmp_path / "a.npz"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="Object arrays"):
        save_npz(str(path), {"x": np.arange(3.0), "y": np.array([None])})
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.npz"]


def test_target_is_checked_beforehand(tmp_path: Path) -> None:
    """A folder that is missing, or a target that is a folder, is refused before anything is computed."""
    with pytest.raises(OutputError, match="there is no folder"):
        check_target(str(tmp_path / "missing" / "a.npz"))
    with pytest.raises(OutputError, match="is a directory"):
        check_target(str(tmp_path))
