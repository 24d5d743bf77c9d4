"""Statements: assignments, continuation, claims, and reading on after an error."""

from __future__ import annotations

import pytest

from agrad.engine.errors import Source
from agrad.engine.language import build
from agrad.engine.language import parser as p


def statements(text: str) -> list[p.Statement]:
    """Every statement of a text."""
    return list(p.Parser(text).statements())


def test_comments_blank_lines_and_indentation_are_passed_over() -> None:
    """Only the assignments are left, with their names."""
    found = statements("# head\n\n  x = 1 # one\n\t\n   # more\ny = 2")
    assert [s.targets[0][0] for s in found] == ["x", "y"]


def test_brackets_and_a_backslash_continue_a_line() -> None:
    """A statement goes on in the next line inside of brackets, with comments there, and after a backslash."""
    text = "y = [1, # one\n  2,\n]\nz = 1 \\\n + 2\nw = (1 +\n\n 2)"
    assert [s.kind for s in statements(text)] == [p.ASSIGNMENT] * 3
    assert [s.error for s in statements(text)] == [None] * 3


def test_a_backslash_in_a_comment_does_not_continue_it() -> None:
    """The line after a comment that ends in a backslash is a statement of its own."""
    assert len(statements("x = 1 # \\\ny = 2")) == 2


def test_semicolons_separate_statements() -> None:
    """Several statements may stand on one line."""
    assert [s.targets[0][0] for s in statements("x = 1; y = 2;; z = 'a;b';")] == ["x", "y", "z"]


def test_many_semicolons_are_read_once() -> None:
    """A line of 5,000 statements is not cut again for each of them."""
    assert len(statements(";".join(["y = 1"] * 5_000))) == 5_000


@pytest.mark.parametrize(
    ("text", "kind", "names"),
    [
        ("x = y = 2", p.ASSIGNMENT, ["x", "y"]),
        ("x += 2", p.AUGMENTED, ["x"]),
        ("x **= 2", p.AUGMENTED, ["x"]),
        ("w, V = f(A)", p.UNPACKING, ["w", "V"]),
        ("(w, V) = f(A)", p.UNPACKING, ["w", "V"]),
        ("w, = f(A)", p.UNPACKING, ["w"]),
        ("x[1, 2:] = 3", p.ITEM, ["x"]),
        ("x**2", p.BARE, []),
        ("assert d(z)/d(x) == 2*x", p.CLAIM, []),
        ("x in (0, inf)", p.CLAIM, []),
    ],
)
def test_kinds_of_statements(text: str, kind: int, names: list[str]) -> None:
    """Each sort of statement is told apart, with the names that it assigns."""
    [statement] = statements(text)
    assert statement.error is None
    assert statement.kind == kind
    assert [target[0] for target in statement.targets] == names


def test_the_spans_of_a_statement_cover_its_right_side_and_the_whole() -> None:
    """Comments and blanks around a statement are outside of its spans."""
    text = "  zz =  x + 1  # sum"
    [statement] = statements(text)
    assert text[slice(*statement.expression)] == "x + 1"
    assert text[slice(*statement.span)] == "zz =  x + 1"


def test_reading_goes_on_after_an_error() -> None:
    """A broken statement does not hide those after it, also where a bracket stays open."""
    found = statements("a = 1\nb = (1 +\nc = 3\nd = 2x\ne = [1,\n 2 3]\nf = 4")
    assert [(s.targets[0][0], s.error is None) for s in found] == [
        ("a", True),
        ("b", False),
        ("c", True),
        ("d", False),
        ("e", False),
        ("f", True),
    ]


@pytest.mark.parametrize("text", ["x = 1.0\r\ny = 2*x\r\n", "x = 1.0\ry = 2*x", "\ufeffx = 1.0\ny = 2*x"])
def test_line_ends_of_all_systems_and_a_byte_order_mark_are_accepted(text: str) -> None:
    """CRLF, CR and a BOM change nothing, and columns are as an editor counts them."""
    formulas = build(Source(text, "f"))
    assert [b.name for b in formulas.bindings] == ["x", "y"]
    place = formulas.source.location(formulas.bindings[1].statement.start)
    assert (place.line, place.column, place.text) == (2, 1, "y = 2*x")


def test_names_stay_as_they_are_written() -> None:
    """Names of any script, with combining marks, are not normalised."""
    text = "φ_1 = 1.0\nx̂ = 2.0\nﬁ = 3.0\nनाम = φ_1 + x̂ + ﬁ"
    assert list(build(Source(text)).names) == ["φ_1", "x̂", "ﬁ", "नाम"]
