"""JUnit, SARIF and GitHub's annotations: valid whatever names and texts hold, with file, line and column."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from agrad.cli.render.github import annotation_lines
from agrad.cli.render.junit import junit_text
from agrad.cli.render.sarif import RULES, sarif_text
from agrad.engine.checking.finding import FileResult, Finding
from agrad.engine.errors import Source, Span

DATA = Path(__file__).parents[2] / "data"
# As Jenkins' xUnit plugin has it; pytest tests its own reports with the same file (testing/example_scripts), under MIT.
JUNIT = xmlschema.XMLSchema(str(DATA / "junit-10.xsd"))
# The standard's own schema, as the npm package @microsoft/jest-sarif ships it, under MIT.
SARIF = Draft4Validator(json.loads((DATA / "sarif-2.1.0.json").read_text(encoding="utf-8")))

VERDICTS: dict[str, tuple[str, ...]] = {
    "gradient": ("agree", "disagree", "kink", "cannot judge", "skipped"),
    "claim": ("proved", "holds", "refuted", "refuted as expected", "cannot judge"),
    "lock": ("moved", "added", "removed"),
    "input": ("error",),
}
OUTCOMES = {
    "agree": "passed",
    "proved": "passed",
    "holds": "passed",
    "refuted as expected": "passed",
    "kink": "noted",
    "cannot judge": "noted",
    "skipped": "noted",
    "error": "broken",
}
TEXT = "x = 1.0\nz = x**2\n"
SECOND = Span(8, 16)
HOSTILE = "a]]><&\"'\x00\x1b[31m\ud800\ufffe\u202e\r\n::error file=b::c%0A{0}[x](http://y),:é"


def finding(kind: Any, verdict: str, *, file: str = "a.txt", words: str = "why", span: Span | None = SECOND) -> Finding:
    """A finding of the second line of a text."""
    outcome: Any = OUTCOMES.get(verdict, "failed")
    return Finding(
        kind=kind,
        subject=words,
        verdict=verdict,
        outcome=outcome,
        reason=words,
        hint=words,
        details=(words, words),
        file=file,
        source=Source(TEXT, file) if span is not None else None,
        span=span,
        exit_code={"failed": 1, "broken": 2}.get(outcome, 0),
    )


def results(file: str = "a.txt", words: str = "why") -> list[FileResult]:
    """Every verdict there is, with a place and without."""
    found = [
        finding(kind, verdict, file=file, words=words, span=span)
        for kind, verdicts in VERDICTS.items()
        for verdict in verdicts
        for span in (SECOND, Span(0, 16), None)
    ]
    return [FileResult(file, found, seconds=1234.5), FileResult("b.txt")]


def suites(text: str) -> ElementTree.Element:
    """A JUnit report that its schema takes."""
    JUNIT.validate(text)
    return ElementTree.fromstring(text)  # noqa: S314  # our own text


def sarif(text: str) -> dict[str, Any]:
    """A SARIF report that its schema takes."""
    log: dict[str, Any] = json.loads(text, parse_constant=pytest.fail)
    SARIF.validate(log)
    return log


def test_junit_holds_every_finding() -> None:
    """A suite a file, a case a finding, failures with their place, and sums that are right."""
    root = suites(junit_text(results(), [finding("lock", "moved")]))
    assert [suite.get("name") for suite in root] == ["a.txt", "b.txt", "lock"]
    assert len(root[0]) == 42
    failed = root.findall(".//failure")
    assert len(failed) == int(root.get("failures", "")) == 16
    assert len(root.findall(".//error")) == int(root.get("errors", "")) == 3
    assert len(root.findall(".//skipped")) == int(root[0].get("skipped", "")) == 12
    assert str(failed[0].text).startswith("a.txt:2:1: why: disagree: why\nwhy\n")
    assert failed[0].get("message") == "why: disagree: why"
    assert root[0].get("time") == "1234.500"


def test_sarif_holds_what_did_not_pass() -> None:
    """Each result has its rule, its level, and the file, line and column of its statement."""
    (run,) = sarif(sarif_text(results("some where/ä.txt"), [finding("lock", "moved")], "1.2", 1))["runs"]
    assert run["tool"]["driver"]["version"] == "1.2"
    found = run["results"]
    assert len(found) == 31
    location = found[0]["locations"][0]["physicalLocation"]
    assert unquote(location["artifactLocation"]["uri"]) == "some where/ä.txt"
    assert location["region"] == {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 9}
    assert {each["level"] for each in found} == {"error", "warning", "note"}
    assert all(run["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] == each["ruleId"] for each in found)
    assert {each["ruleId"] for each in found} == set(RULES) - {"claim-skipped"}


def test_sarif_of_other_places(tmp_path: Path) -> None:
    """A file outside of the repository is a file URI, and the standard input has no place."""
    log = sarif(
        sarif_text([FileResult("x", [finding("claim", "refuted", file=str(tmp_path / "a b.txt"))])], [], "source", 1)
    )
    artifact = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": f"file://{tmp_path}/a%20b.txt"}
    assert "version" not in log["runs"][0]["tool"]["driver"]
    log = sarif(sarif_text([FileResult("-", [finding("claim", "refuted", file="<stdin>")])], [], "1", 1))
    assert "locations" not in log["runs"][0]["results"][0]


def annotation(line: str) -> tuple[str, dict[str, str], str]:
    """What a runner reads in a line of its log."""
    command = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line)
    assert command, line

    def plain(text: str) -> str:
        for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            text = text.replace(code, character)
        return text

    properties = dict(part.split("=", 1) for part in command[2].split(","))
    return command[1], {name: plain(value) for name, value in properties.items()}, plain(command[3])


def test_annotations_stand_beside_their_lines() -> None:
    """An annotation names file, line and columns, and says what is found and why."""
    level, properties, message = annotation(annotation_lines([finding("gradient", "disagree", file="a,b:c.txt")])[0])
    assert level == "error"
    assert properties == {
        "file": "a,b:c.txt",
        "line": "2",
        "endLine": "2",
        "col": "1",
        "endColumn": "8",
        "title": "agrad: gradient disagree",
    }
    assert message == "why: disagree: why\nwhy\nwhy\nhint: why"


def test_annotations_of_each_level() -> None:
    """What failed is an error, a kink and a missing verdict a warning, what is skipped a notice, the rest nothing."""
    found = [annotation(line)[0] for line in annotation_lines(results()[0].findings)]
    assert (found.count("error"), found.count("warning"), found.count("notice")) == (18, 9, 3)
    _, properties, _ = annotation(annotation_lines([finding("claim", "refuted", span=Span(0, 16))])[0])
    assert "col" not in properties  # it goes on over lines
    assert (properties["line"], properties["endLine"]) == ("1", "2")


@pytest.mark.parametrize("words", [HOSTILE, "\n", "::set-output name=x::y", "]]>", "<!ENTITY", "%0A::error::x"])
def test_hostile_words_stay_words(words: str) -> None:
    """Whatever a file, its name or its text holds, the reports are valid and nothing in it is obeyed."""
    hostile = results(f"{words}.txt", words)
    root = suites(junit_text(hostile, []))
    assert len(root[0]) == 42
    assert len(sarif(sarif_text(hostile, [], "1", 1))["runs"][0]["results"]) == 30
    lines = annotation_lines(hostile[0].findings)
    assert len(lines) == 30
    for line in lines:
        assert re.match(r"::(error|warning|notice) file=", line)
        assert "\n" not in line
        assert "\r" not in line
        assert "\x1b" not in line
        assert set(annotation(line)[1]) <= {"file", "line", "endLine", "col", "endColumn", "title"}


@settings(max_examples=50, deadline=None)
@given(st.text(), st.text())
def test_any_text_is_reported_validly(file: str, words: str) -> None:
    """No name and no text whatever makes a report invalid."""
    found = [FileResult(file, [finding("claim", "refuted", file=file, words=words)])]
    suites(junit_text(found, []))
    sarif(sarif_text(found, [], "1", 1))
    (line,) = annotation_lines(found[0].findings)
    annotation(line)


def test_the_schemas_refuse_what_is_wrong() -> None:
    """The schemas are those of the formats: a report with a fault in it is refused."""
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        JUNIT.validate(junit_text(results(), []).replace("<failure", "<fault").replace("</failure", "</fault"))
    log = json.loads(sarif_text(results(), [], "1", 1))
    log["runs"][0]["results"][0]["level"] = "dreadful"
    assert not SARIF.is_valid(log)
