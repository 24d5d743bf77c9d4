"""Annotations as GitHub's runners read them from a log: `::error file=...,line=...::message`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agrad.engine.checking.finding import BROKEN, FAILED, PASSED, Finding

from .text import escaped

_LEVELS: Final = {"kink": "warning", "cannot judge": "warning", "skipped": "notice"}
"""Of verdicts that are no failure."""


def annotation_lines(findings: Iterable[Finding]) -> list[str]:
    """A line for each finding that did not simply pass."""
    return [_annotation(finding) for finding in findings if finding.outcome != PASSED]


def _annotation(finding: Finding) -> str:
    level = "error" if finding.outcome in (FAILED, BROKEN) else _LEVELS.get(finding.verdict, "warning")
    place = finding.place
    properties = {"file": place.file if place else finding.file}
    if place is not None:
        properties["line"] = str(place.line)
        properties["endLine"] = str(place.end_line)
        if place.line == place.end_line:  # on more than one line GitHub takes no columns
            properties["col"] = str(place.column)
            properties["endColumn"] = str(max(place.end_column - 1, place.column))
    properties["title"] = f"agrad: {finding.kind} {finding.verdict}"
    told = ",".join([f"{name}={_property(value)}" for name, value in properties.items()])
    return f"::{level} {told}::{_data(message(finding))}"


def message(finding: Finding) -> str:
    """A finding in lines of text: what is said of what, why, and what to do."""
    verdict = finding.verdict if finding.kind != "input" else ""
    head = ": ".join([part for part in (finding.subject, verdict, finding.reason) if part])
    hint = [f"hint: {finding.hint}"] if finding.hint else []
    return "\n".join([escaped(line) for line in (head, *finding.details, *hint)])


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(escaped(text)).replace(":", "%3A").replace(",", "%2C")
