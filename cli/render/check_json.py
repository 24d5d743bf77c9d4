"""The results of a check as JSON, whole or a line for each file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agrad.engine.checking.finding import FileResult, Finding, Tally
from agrad.engine.checking.report import SCHEMA_VERSION, finding_as_json, result_as_json

from .json import dumped, json_text


def whole_text(results: Sequence[FileResult], lock: Sequence[Finding], tally: Tally, code: int) -> str:
    """Everything as one object."""
    return json_text(
        {
            "schema_version": SCHEMA_VERSION,
            "files": [result_as_json(result) for result in results],
            "lock": [finding_as_json(finding) for finding in lock],
            "summary": _summary(tally, code),
        }
    )


def file_line(result: FileResult) -> str:
    """One file as a line."""
    return dumped({"schema_version": SCHEMA_VERSION, **result_as_json(result)})


def end_lines(lock: Sequence[Finding], tally: Tally, code: int) -> list[str]:
    """What comes after the files, a line each: everything that moved, and the sums."""
    moved = [dumped({"schema_version": SCHEMA_VERSION, "lock": [finding_as_json(finding) for finding in lock]})] * bool(
        lock
    )
    return [*moved, dumped({"schema_version": SCHEMA_VERSION, "summary": _summary(tally, code)})]


def _summary(tally: Tally, code: int) -> dict[str, Any]:
    return {**tally.as_json(), "words": tally.words, "exit_code": code}
