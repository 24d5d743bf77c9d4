"""SARIF 2.1.0: what code scanning reads; only what did not simply pass is a result."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from agrad.engine.checking.finding import BROKEN, FAILED, PASSED, FileResult, Finding

from .github import message

VERSION: Final = "2.1.0"
SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"

RULES: Final = {
    "gradient-disagree": "A referee finds another gradient than agrad's rules.",
    "gradient-kink": "The gradient is one of several slopes: the point lies on a kink or a tie.",
    "gradient-cannot-judge": "No referee could judge a gradient.",
    "gradient-skipped": "An output has no gradient to judge.",
    "claim-refuted": "A claim does not hold.",
    "claim-cannot-judge": "Neither proof nor counter-example was found for a claim.",
    "lock-moved": "A number is not what the lock says it was.",
    "lock-added": "The lock does not have something that is there now.",
    "lock-removed": "The lock has something that is no longer there.",
    "input-error": "A file cannot be read, or what it says cannot be computed.",
}
_NOTES: Final = frozenset({"cannot judge", "skipped"})


def sarif_text(results: Sequence[FileResult], lock: Sequence[Finding], version: str, code: int) -> str:
    """The results as one run of a tool.

    Args:
        results: of each file.
        lock: what has moved.
        version: of agrad.
        code: the exit code of the command.
    """
    findings = [finding for result in results for finding in result.findings] + list(lock)
    rules = list(RULES)
    driver: dict[str, Any] = {
        "name": "agrad",
        "rules": [{"id": rule, "shortDescription": {"text": text}} for rule, text in RULES.items()],
    }
    if version[:1].isdigit():
        driver["version"] = version
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": code in (0, 1), "exitCode": code}],
        "results": [_result(finding, rules) for finding in findings if finding.outcome != PASSED],
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=1, allow_nan=False) + "\n"


def _result(finding: Finding, rules: Sequence[str]) -> dict[str, Any]:
    rule = f"{finding.kind}-{finding.verdict.replace(' ', '-')}"
    failed = finding.outcome in (FAILED, BROKEN)
    result: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": "error" if failed else "note" if finding.verdict in _NOTES else "warning",
        "message": {"text": _plain(message(finding))},
    }
    location = _location(finding)
    if location is None and finding.place is not None:  # the standard input is no artifact
        line, column = finding.place.line, finding.place.column
        result["message"]["text"] = f"<stdin>:{line}:{column}: {result['message']['text']}"
    if location is not None:
        result["locations"] = [{"physicalLocation": location}]
    return result


def _plain(text: str) -> str:
    """A text in which nothing is a placeholder or a link."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _location(finding: Finding) -> dict[str, Any] | None:
    place = finding.place
    file = place.file if place else finding.file
    if file in ("-", "<stdin>"):
        return None
    location: dict[str, Any] = {"artifactLocation": _artifact(file)}
    if place is not None:
        location["region"] = {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        }
    return location


def _artifact(file: str) -> dict[str, str]:
    path = Path(os.path.normpath(file))
    if path.is_absolute() or ".." in path.parts:
        whole = Path(os.path.abspath(path))  # noqa: PTH100  # links stay links
        return {"uri": f"file://{_quoted(whole)}"}
    return {"uri": _quoted(path), "uriBaseId": "%SRCROOT%"}


def _quoted(path: Path) -> str:
    text = path.as_posix()
    try:
        return quote(os.fsencode(text))
    except UnicodeEncodeError:  # half a character, which no system gives for a name
        return quote(text, errors="backslashreplace")
