"""What was found in a file as lines for people: one for each finding, and under a failure its place and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agrad.engine.checking.finding import BROKEN, FAILED, NOTED, PASSED, FileResult, Finding
from agrad.engine.language import render

from ..screen import Screen
from .text import columns, escaped, one_line

_COLOURS: Final = {PASSED: "green", NOTED: "yellow", FAILED: "red", BROKEN: "red"}
_INDENT: Final = "  "


def result_lines(result: FileResult, screen: Screen) -> list[str]:
    """The findings of a file under its name."""
    name = screen.painted(escaped(result.file, ascii_only=screen.ascii_only), "bold")
    if not result.findings:
        return [name, f"{_INDENT}nothing to judge"]
    return [name, *finding_lines(result.findings, screen)]


def finding_lines(findings: Sequence[Finding], screen: Screen) -> list[str]:
    """A line for each finding: line, verdict with digits, subject; more below where it did not pass."""
    rows = [_cells(finding, screen) for finding in findings]
    number, verdict = (max([columns(row[index]) for row in rows], default=0) for index in range(2))
    lines = []
    for finding, row in zip(findings, rows, strict=True):
        padding = " " * (verdict - columns(row[1]))
        painted = screen.painted(row[1], _COLOURS[finding.outcome]) + padding
        begin = f"{_INDENT}{row[0].rjust(number)}{_INDENT}{painted}{_INDENT}{row[2]}"
        free = screen.width - number - verdict - columns(row[2]) - 4 * len(_INDENT)
        fits = columns(row[3]) <= free
        lines.append(f"{begin}{_INDENT}{row[3] if fits else ''}".rstrip())
        lines += [] if fits else [" " * (number + 2 * len(_INDENT)) + row[3]]
        lines += [_INDENT * 2 + text for text in _below(finding, screen)]
    return lines


def lock_lines(findings: Sequence[Finding], screen: Screen) -> list[str]:
    """What a lock has otherwise, a line each; what is to be said of all of it stands below, once."""
    if not findings:
        return []
    everywhere = [line for line in findings[0].details if all(line in finding.details for finding in findings)]
    if len(findings) == 1:
        everywhere = []
    lines = [screen.painted("lock", "bold")]
    for finding in findings:
        place = finding.place
        at = f"{place.file}:{place.line}:{place.column}" if place else finding.file
        told = escaped(
            f"{at}: {finding.subject}{': ' * bool(finding.subject)}{finding.reason}", ascii_only=screen.ascii_only
        )
        verdict = screen.painted(finding.verdict, "red") + " " * (len("removed") - len(finding.verdict))
        lines.append(f"{_INDENT}{verdict}  {told}")
        more = [line for line in finding.details if line not in everywhere]
        lines += [_INDENT * 2 + escaped(line, ascii_only=screen.ascii_only) for line in more]
    ends = [*everywhere, *dict.fromkeys(f"hint: {finding.hint}" for finding in findings)]
    return [*lines, *[_INDENT + escaped(line, ascii_only=screen.ascii_only) for line in ends]]


def _cells(finding: Finding, screen: Screen) -> tuple[str, str, str, str]:
    """The line, the verdict with its digits, the subject, and why it passed."""

    def shown(text: str) -> str:
        return escaped(one_line(text), ascii_only=screen.ascii_only)

    place = finding.place
    digits = "" if finding.digits is None else f", {finding.digits} digits"
    reason = shown(finding.reason) if finding.outcome in (PASSED, NOTED) else ""
    return str(place.line) if place else "", finding.verdict + digits, shown(finding.subject), reason


def _below(finding: Finding, screen: Screen) -> list[str]:
    """The place of a failure with carets, its reasons, and what to do."""
    lines = list(finding.details)
    if finding.outcome in (FAILED, BROKEN):
        lines = [*render(finding.as_error).split("\n"), *lines]
    return [escaped(line, ascii_only=screen.ascii_only) for line in lines]
