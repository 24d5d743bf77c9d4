"""Lines that are taken after others of their form, against the parser."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import AgradError, Source
from agrad.engine.language import build, forms
from agrad.engine.language import parser as p

REGULAR = [f"x{i} = x{i - 1}*0.5 + sin(x{i - 2})" for i in range(2, 40)]


def described(statement: p.Statement) -> tuple[Any, ...]:
    """All that a statement says."""
    error = None if statement.error is None else (statement.error.message, statement.error.spans)
    return (
        statement.kind,
        statement.targets,
        statement.instructions,
        statement.expression,
        statement.span,
        error,
    )


def read_both_ways(monkeypatch: pytest.MonkeyPatch, text: str) -> int:
    """Compare the statements of a text with what the parser alone makes of it; gives how many had a known form."""
    found = list(p.Parser(text).statements())
    with monkeypatch.context() as patch:
        patch.setattr(forms, "_MOST_LESSONS", 0)
        alone = list(p.Parser(text).statements())
    assert not any(statement.line for statement in alone)
    for one, other in zip(found, alone, strict=True):
        assert described(one) == described(other), text[slice(*other.span)]
    return sum(statement.line is not None for statement in found)


def test_regular_lines_are_taken_after_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most lines of a regular text need no parser, whatever stands at its end."""
    for end in ("", "\n", "\n\n"):
        assert read_both_ways(monkeypatch, "\n".join(REGULAR) + end) > 25


def test_kinds_of_lines_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several forms that follow one another are all known."""
    kinds = ("a{i} = -b*{i}.5", "b{i} = (a + a{i})**2 / 3", "c = exp(-a{i}) - 1e-3", "d{i} = 0x1F", "e = a{i}")
    text = "\n".join(kinds[i % len(kinds)].format(i=i) for i in range(200))
    assert read_both_ways(monkeypatch, text) > 100


@pytest.mark.parametrize(
    "odd",
    [
        "x = y**0.5 + sin(z)",
        "x = y*0.5 + sin (z)",
        "x = y*0.5 + sin(z) # why",
        "x = y*0.5 + sin(z);w = 1",
        "x = y*0.5 + sin(z) \\\n + 1",
        "x == y*0.5 + sin(z)",
        "x = y*not + sin(z)",
        "if = y*0.5 + sin(z)",
        "x = True*0.5 + sin(z)",
        "x = y*0.5 + lambda(z)",
        "x = y*0b + sin(z)",
        "x = y*1_0.5 + sin(z)",
        "x = y*1__0 + sin(z)",
        "x = 2y*0.5 + sin(z)",
        "x = y*0.5.5 + sin(z)",
        "x = y*0.5 + sin(z.T)",
        "x = y*0.5 + sin(z, z)",
        "x = y*0.5 + sin(z",
        "x = y*0.5 + sin(z))",
        "  x = y*0.5 + sin(z)",
        "x = y*0.5  + sin(z)",
        "x, w = y*0.5 + sin(z)",
        "x = y*0.5 + sin(z)\r",
        "x *= y*0.5 + sin(z)",
        "x = np*0.5 + sin(z)",
        "x = y*5j + sin(1)",
        "y*0.5 + sin(z)",
        "assert y == y*0.5 + sin(z)",
    ],
)
def test_lines_that_only_look_alike_are_parsed(monkeypatch: pytest.MonkeyPatch, odd: str) -> None:
    """A line among regular ones means what it means by itself, errors and their places included."""
    assert read_both_ways(monkeypatch, "\n".join([*REGULAR, odd, *REGULAR])) > 50


_TOKENS = ("x", "y1", "sin", "(", ")", "+", "-", "*", "**", "/", "2", "0.5", "1e3", ".5", " ", ",", "[", "]", "if", "#")


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(_TOKENS), min_size=1, max_size=8).map("".join), min_size=1, max_size=3))
def test_any_few_kinds_of_lines(kinds: list[str]) -> None:
    """Whatever the lines are, and in whatever order: the statements are the parser's."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(forms, "_OFTEN", 1)
        read_both_ways(monkeypatch, "\n".join(f"z = {kind}" for _ in range(3) for kind in kinds))


def test_an_unusual_character_leaves_all_to_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names in other scripts have rules that the forms do not know."""
    assert read_both_ways(monkeypatch, "\n".join([*REGULAR, "é = x1²"])) == 0


def nodes_of(text: str) -> list[tuple[Any, ...]]:
    """Every named node of a text, by what it is."""
    return [
        (b.name, b.expression, b.statement, b.node.op.name, b.node.shape, b.node.dtype, b.node.span, b.node.grad_fn)
        for b in build(Source(text, "a.txt")).bindings
    ]


@pytest.mark.parametrize(
    "line",
    [
        "a = 1.5 * b + sin(b)",
        "a = n + sin(b)",
        "a = 2*n + 1",
        "a = sin(n) * b",
        "a = v[0]*2 + b",
        "a = v*2 + b",
        "a = -2.0",
        "a = w",
        "a = sum(v) - cos(b)",
    ],
)
def test_the_graph_is_the_same(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Plain numbers, integers, arrays and names of other things are what they are without forms."""
    text = "b = 0.5\nn = 3\nv = [1.0, 2.0]\nw = (1, 2)\n" + "\n".join([line] * 30)
    found = nodes_of(text)
    monkeypatch.setattr(forms, "_MOST_LESSONS", 0)
    assert found == nodes_of(text)


@pytest.mark.parametrize("wrong", ["x9 = q*0.5 + sin(x1)", "x9 = x1*0.5 + sine(x1)", "x9 = v*0.5 + sin(u)"])
def test_errors_in_known_forms_have_their_places(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """An unknown name, an unknown function and shapes that do not fit are told as ever."""
    text = "\n".join(["x0 = 1.0", "x1 = 2.0", "v = [1.0, 2.0]", "u = [1.0, 2.0, 3.0]", *REGULAR, wrong])
    told = []
    for lessons in (5_000, 0):
        monkeypatch.setattr(forms, "_MOST_LESSONS", lessons)
        with pytest.raises(AgradError) as caught:
            build(Source(text, "a.txt"))
        told.append((caught.value.message, caught.value.spans, caught.value.hint))
    assert told[0] == told[1]
    assert told[0][1]
