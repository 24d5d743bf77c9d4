"""A lock as a file: exact, strict, and never trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.checking.lock import Lock, Locked
from agrad.engine.checking.lock_file import lock_text, read_lock, write_lock
from agrad.engine.errors import InputError, OutputError

HEAD = '"schema_version": 1, "agrad": "1", "numpy": "2", "conventions": {}'


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)), st.text())
def test_numbers_and_names_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[float], name: str
) -> None:
    """Every float and every name is read as it was written."""
    path = str(tmp_path_factory.getbasetemp() / "exact.lock")
    lock = Lock({"agrad": "1", "numpy": "2"}, {"seed": 0}, {name: {name: Locked(numbers, {name: "NaN"})}})
    write_lock(path, lock)
    assert read_lock(path) == lock


def test_a_line_for_each_output() -> None:
    """A change of one output is a change of one line, and the text is strict JSON in ASCII."""
    files = {"ä.txt": {"z": Locked(1.0, {"x": 2.0}), "y": Locked([1.0], {})}, "b.txt": {}}
    text = lock_text(Lock({"agrad": "1", "numpy": "2"}, {"seed": 0}, files))
    assert text.isascii()
    assert [line.strip() for line in text.splitlines() if "value" in line] == [
        '"z": {"value": 1.0, "gradients": {"x": 2.0}},',
        '"y": {"value": [1.0], "gradients": {}}',
    ]
    json.loads(text, parse_constant=pytest.fail)


def test_no_file_is_no_lock(tmp_path: Path) -> None:
    """A lock that is not there yet is none."""
    assert read_lock(str(tmp_path / "gradients.lock")) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value"),
        ("[]", "no schema_version"),
        ("{}", "no schema_version"),
        ('{"schema_version": "1"}', "no schema_version"),
        ('{"schema_version": 2}', "later version"),
        ('{"schema_version": 1' + "0" * 4000 + "}", "later version"),
        ('{"schema_version": 1' + "0" * 5000 + "}", "no lock of agrad"),
        ('{"schema_version": 1}', "conventions should be an object"),
        (f'{{{HEAD}, "files": []}}', "files should be an object"),
        (f'{{{HEAD}, "files": {{"a": 1}}}}', "a should be an object"),
        (f'{{{HEAD}, "files": {{"a": {{"z": 1}}}}}}', "z should be an object"),
        (f'{{{HEAD}, "files": {{"a": {{"z": {{}}}}}}}}', "z has no value"),
        (f'{{{HEAD}, "files": {{"a": {{"z": {{"value": 1, "gradients": 2}}}}}}}}', "the gradients of z"),
        (f'{{{HEAD}, "files": {{"a": {{"z": {{"value": NaN}}}}}}}}', "NaN is no number"),
        (f'{{{HEAD}, "files": {{"a": {{}}, "a": {{}}}}}}', "stands twice"),
        (f'{{{HEAD}, "files": ' + '{"a":' * 100_000, "no lock of agrad"),
        ("\0", "NUL"),
        ("<html>", "Expecting value"),
    ],
)
def test_what_is_no_lock_is_said(tmp_path: Path, text: str, said: str) -> None:
    """Whatever a file holds, the answer is words."""
    path = tmp_path / "gradients.lock"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_lock(str(path))


def test_a_lock_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where writing fails, the lock that was there stays, and no draft is left."""
    path = tmp_path / "gradients.lock"
    path.write_text("as it was")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OutputError, match="No space left"):
        write_lock(str(path), Lock({}, {}, {}))
    assert path.read_text() == "as it was"
    assert [each.name for each in tmp_path.iterdir()] == ["gradients.lock"]
