"""What is told, as text with its place and as data."""

from __future__ import annotations

from agrad.engine.doctor.finding import LONGEST, Finding, text_of
from agrad.engine.errors import Source, Span
from agrad.engine.language.diagnostics import render

from .conftest import Run

SOURCE = Source("x = 1\ny = log(x)\n", "a.txt")


def test_a_finding_is_rendered_with_its_carets() -> None:
    """File, line, column, the source line and the hint stand as in an error."""
    finding = Finding("value", "it is odd", "mend it", Span(10, 16), SOURCE, ("a note",), {"factors": [float("inf")]})
    assert render(finding.as_error()) == "a.txt:2:5: it is odd\n  | y = log(x)\n  |     ^^^^^^\n  hint: mend it"
    assert finding.as_json() == {
        "kind": "value", "message": "it is odd", "notes": ["a note"], "hint": "mend it",
        "file": "a.txt", "line": 2, "column": 5, "factors": ["Infinity"],
    }  # fmt: skip


def test_a_finding_without_a_place() -> None:
    """What is not of the text has nulls in its place."""
    data = Finding("digits", "it is odd", "", None, SOURCE).as_json()
    assert (data["file"], data["line"], data["column"], data["hint"]) == (None, None, None, None)


def test_text_of_a_node(run: Run) -> None:
    """A node is called by its piece of the text where that is short, else by its name or op."""
    long = " + ".join(["x"] * LONGEST)
    formulas, _ = run(f"x = 1.0\ny = log(x)\nz = {long}\n", "z")
    assert text_of(formulas, formulas.names["y"]) == "log(x)"
    assert text_of(formulas, formulas.names["x"]) == "x"
    assert text_of(formulas, formulas.names["z"]) == "z"
