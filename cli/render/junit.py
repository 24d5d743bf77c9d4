"""JUnit's XML: a suite for each file, a test case for each finding (schema junit-10.xsd of Jenkins' xUnit plugin)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from xml.etree import ElementTree

from agrad.engine.checking.finding import BROKEN, FAILED, NOTED, FileResult, Finding

from .github import message
from .text import escaped


def junit_text(results: Sequence[FileResult], lock: Sequence[Finding]) -> str:
    """The results as XML in ASCII; what is neither passed nor failed (a kink, no verdict) counts as skipped.

    Args:
        results: of each file.
        lock: what has moved: a suite of its own.
    """
    suites = [(result.file, result.findings, result.seconds) for result in results]
    if lock:
        suites.append(("lock", list(lock), 0.0))
    everything = [finding for _, findings, _ in suites for finding in findings]
    root = ElementTree.Element("testsuites", {"name": "agrad check", **_counts(everything)})
    for name, findings, seconds in suites:
        _suite(root, name, findings, seconds)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="us-ascii", xml_declaration=True)
    return text.decode("ascii") + "\n"


def _counts(findings: Sequence[Finding]) -> dict[str, str]:
    outcomes = [finding.outcome for finding in findings]
    return {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count(FAILED)),
        "errors": str(outcomes.count(BROKEN)),
    }


def _suite(root: ElementTree.Element, name: str, findings: Sequence[Finding], seconds: float) -> None:
    skipped = sum(finding.outcome == NOTED for finding in findings)
    time = {"skipped": str(skipped), "time": f"{seconds:.3f}"}
    suite = ElementTree.SubElement(root, "testsuite", {"name": escaped(name), **_counts(findings), **time})
    for finding in findings:
        _case(suite, finding)


def _case(suite: ElementTree.Element, finding: Finding) -> None:
    place = finding.place
    file = place.file if place else finding.file
    what = finding.subject or finding.kind
    name = f"{file}:{place.line}: {what}" if place else f"{file}: {what}"
    case = ElementTree.SubElement(suite, "testcase", {"classname": _class_of(file), "name": escaped(name)})
    tag = {FAILED: "failure", BROKEN: "error", NOTED: "skipped"}.get(finding.outcome)
    if tag is not None:
        text = message(finding)
        at = f"{escaped(file)}:{place.line}:{place.column}: " if place else ""
        told = {"type": f"{finding.kind} {finding.verdict}", "message": text.split("\n", 1)[0]}
        ElementTree.SubElement(case, tag, told).text = at + text


def _class_of(file: str) -> str:
    """A path as the name of a class: readers of JUnit files part it at dots."""
    stem = os.path.splitext(file)[0].replace("\\", "/").strip("./")  # noqa: PTH122  # a name, perhaps of no path
    return escaped(stem.replace(".", "_").replace("/", ".")) or "stdin"
