"""Scripts that learn from PyTorch, as whole processes: what PyTorch 2.13 writes, warns of and fails with."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data"
ROWS = {
    row["id"]: row for row in map(json.loads, DATA.joinpath("snippets.jsonl").read_text(encoding="utf-8").splitlines())
}
PENDING = frozenset(DATA.joinpath("snippets_pending.txt").read_text(encoding="utf-8").split())
NOTES = sorted((ROOT / "samples" / "notes").glob("*.py"))


def without_addresses(text: str) -> str:
    """A text with every address of memory as 0x0."""
    return re.sub(r"0x[0-9a-f]+", "0x0", text)


def fault(row: Any, ending: dict[str, Any]) -> str:
    """What differs from PyTorch; empty where nothing does."""
    if without_addresses(ending["output"]) != row["stdout"]:
        return f"output:\n{ending['output']}\nnot:\n{row['stdout']}\nsaid:\n{ending['said']}"
    wanted = "".join(
        rf"notes\.py:\d+: {warning['category']}: {re.escape(warning['message'])}\n(  .*\n)?"
        for warning in row["warnings"]
    )
    error = row["error"]
    if error is not None:
        wanted += re.escape(f"{error['class']}: {error['message']}\n") + r"notes\.py:\d+:\d+: .*\n"
    if not re.fullmatch(wanted, ending["said"]):
        return f"said:\n{ending['said']}"
    return "" if ending["exit"] == (0 if error is None else 1) else f"exit code {ending['exit']}"


@pytest.fixture(scope="module")
def endings() -> dict[str, dict[str, Any]]:
    """How each row and each sample ended, in a watched process of its own."""
    codes = {name: row["script"] for name, row in ROWS.items()}
    codes |= {path.stem: path.read_text(encoding="utf-8") for path in NOTES}
    result = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("batch.py"))],
        input="".join(json.dumps({"code": code, "seconds": 30}) + "\n" for code in codes.values()),
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=300,
    )
    return dict(zip(codes, map(json.loads, result.stdout.splitlines()), strict=False))


@pytest.mark.parametrize("name", ROWS)
def test_as_pytorch_does(name: str, endings: dict[str, dict[str, Any]]) -> None:
    """Standard output, warnings and the final error are PyTorch's; those listed as pending are not yet."""
    found = fault(ROWS[name], endings[name])
    if name in PENDING:
        assert found, f"{name} passes now: take it out of tests/data/snippets_pending.txt"
    else:
        assert not found, found


def test_pending_names_are_rows() -> None:
    """No name in the list of what is pending is misspelt."""
    assert set(ROWS) >= PENDING


@pytest.mark.parametrize("path", NOTES, ids=lambda path: path.stem)
def test_samples(path: Path, endings: dict[str, dict[str, Any]]) -> None:
    """Each of the samples writes what PyTorch 2.13 wrote for it, and nothing else; its first line says its idea."""
    ending = endings[path.stem]
    assert ending["output"] == DATA.joinpath("notes", f"{path.stem}.txt").read_text(encoding="utf-8")
    assert ending["said"] == ""
    assert ending["exit"] == 0
    assert path.read_text(encoding="utf-8").startswith("# ")


def test_sample_as_the_command() -> None:
    """The command itself, started as a person starts it, writes the same."""
    path = ROOT / "samples" / "notes" / "norm.py"
    command = [sys.executable, "-m", "agrad.cli", "run", str(path)]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=60)
    assert result.stdout == DATA.joinpath("notes", "norm.txt").read_text(encoding="utf-8")
    assert (result.stderr, result.returncode) == ("", 0)
