"""Hostile snippets: each is refused or ended, none reaches outside, none takes more than it may."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[2] / "data"
ROWS = [json.loads(line) for line in DATA.joinpath("hostile_snippets.jsonl").read_text(encoding="utf-8").splitlines()]
ALLOWED = {"time": 0.4, "tensor-time": 0.4, "catch": 0.4, "memory": 1.5, "tensor-memory": 1.5}
"""The seconds of what never ends by itself; memory is used up slowly by some."""


def allowed(row: Any) -> float:
    """The seconds that a row may take."""
    return ALLOWED.get(row["name"].rpartition("-")[0], 10.0)


def batch(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """How each of the rows ended, and at last the memory."""
    result = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("batch.py"))],
        input="".join(json.dumps({"code": row["code"], "seconds": allowed(row)}) + "\n" for row in rows),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture(scope="module")
def endings() -> tuple[dict[str, dict[str, Any]], int]:
    """How each snippet ended, by name, and the most MiB that any of them had."""
    shares = [ROWS[0::2], ROWS[1::2]]
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(batch, shares))
    found = {
        row["name"]: ending
        for share, (*each, _) in zip(shares, results, strict=True)
        for row, ending in zip(share, each, strict=True)
    }
    return found, max(result[-1]["most"] for result in results)


def test_there_are_many() -> None:
    """The corpus is as large as it is meant to be, and each of its rows has a name of its own."""
    assert len(ROWS) >= 150
    assert len({row["name"] for row in ROWS}) == len(ROWS)


def test_each_is_refused_or_ended(endings: tuple[dict[str, dict[str, Any]], int]) -> None:
    """Each row has the exit code and the words that it is to have, with its place."""
    wrong = []
    for row in ROWS:
        ending = endings[0][row["name"]]
        if ending["exit"] != row["exit"] or row["says"] not in ending["said"] or "notes.py:" not in ending["said"]:
            wrong.append((row["name"], row["code"], ending["exit"], ending["said"][-300:]))
    assert not wrong, wrong


def test_none_shows_a_traceback_or_reaches_outside(endings: tuple[dict[str, dict[str, Any]], int]) -> None:
    """No file, program or connection is opened, no handler of theirs runs, and no traceback of ours is shown."""
    for name, ending in endings[0].items():
        assert "REACHED OUTSIDE" not in ending["said"], (name, ending)
        assert "Traceback" not in ending["said"], (name, ending)
        assert "caught" not in ending["output"], (name, ending)


def test_none_takes_too_much(endings: tuple[dict[str, dict[str, Any]], int]) -> None:
    """None runs two seconds past its limit, or has 512 MB."""
    slow = [row["name"] for row in ROWS if endings[0][row["name"]]["seconds"] > allowed(row) + 2]
    assert not slow
    assert endings[1] < 512
