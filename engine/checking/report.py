"""Results as data that `json.dumps(..., allow_nan=False)` takes."""

from __future__ import annotations

from typing import Any, Final

from ..report import check_as_json
from .finding import FileResult, Finding

SCHEMA_VERSION: Final = 1


def result_as_json(result: FileResult) -> dict[str, Any]:
    """Everything found in a file."""
    return {
        "file": result.file,
        "findings": [finding_as_json(finding) for finding in result.findings],
        "warnings": result.warnings,
    }


def finding_as_json(finding: Finding) -> dict[str, Any]:
    """One finding."""
    place = finding.place
    data: dict[str, Any] = {
        "kind": finding.kind,
        "subject": finding.subject,
        "verdict": finding.verdict,
        "outcome": finding.outcome,
        "file": place.file if place else finding.file,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "end_line": place.end_line if place else None,
        "end_column": place.end_column if place else None,
        "reason": finding.reason or None,
        "hint": finding.hint or None,
        "details": list(finding.details),
        "digits": finding.digits,
    }
    if finding.check is not None:
        data["check"] = check_as_json(finding.check, finding.source)
    if finding.claim is not None:
        data["claim"] = finding.claim.as_json()
    return data
