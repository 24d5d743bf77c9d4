"""What is refused before anything runs: the place, the reason, all of it at once."""

from __future__ import annotations

import ast

import pytest

from agrad.engine.errors import AgradError, InputError, LimitError, SeveralErrors, Source
from agrad.engine.snippets.expressions import EXPRESSIONS
from agrad.engine.snippets.places import Places
from agrad.engine.snippets.statements import STATEMENTS
from agrad.engine.snippets.syntax import NODES, parsed


def refused(text: str) -> AgradError:
    """The error that a text is refused with."""
    with pytest.raises(AgradError) as caught:
        parsed(Source(text, "notes.py"))
    return caught.value


def test_every_node_on_the_list_is_run() -> None:
    """What may be written can be run: no statement and no expression on the list lacks its function."""
    for kind in NODES:
        if issubclass(kind, ast.stmt):
            assert kind in STATEMENTS
        elif issubclass(kind, ast.expr) and kind is not ast.Starred:
            assert kind in EXPRESSIONS


def test_place_of_a_refusal() -> None:
    """A refusal knows the file, the line, the column in characters and the text under the caret."""
    error = refused("x = 1\ny = 'é'.__class__\n")
    assert error.location is not None
    assert tuple(error.location)[:3] == ("notes.py", 2, 5)
    assert error.source is not None
    span = error.spans[0]
    assert error.source.text[span.start : span.end] == "'é'.__class__"


def test_all_refusals_are_told_in_order() -> None:
    """Several refusals come together, in the order of the text."""
    error = refused("import os\nopen('x')\nx = [].__class__\n")
    assert isinstance(error, SeveralErrors)
    assert [each.location.line for each in error.errors if each.location] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import os", "os is not on the list of modules"),
        ("from torch import *", "one by one"),
        ("yield 1", "generators"),
        ("open('x')", "reads and writes no files"),
        ("x._private", "underscore"),
        ("class A(metaclass=B): pass", "keywords"),
        ("return 1", "'return' outside function"),
        ("x = = 1", "this is no Python"),
    ],
)
def test_reasons(text: str, said: str) -> None:
    """Each refusal gives its own reason."""
    error = refused(text)
    assert isinstance(error, InputError)
    assert said in error.message


def test_deep_texts_are_limited() -> None:
    """What is nested too deeply is a limit, not a crash."""
    assert isinstance(refused("x = " + "-" * 5000 + "1"), LimitError)
    assert isinstance(refused("x = " + "+".join(["1"] * 1000)), LimitError)


def test_shadowed_builtin_is_a_name() -> None:
    """A built-in function that is not on the list may be a name of the script's own."""
    parsed(Source("open = 3\nprint(open)\n"))


def test_text_of_a_node_is_one_line() -> None:
    """The text of a long expression is shortened and put on one line."""
    source = Source("f(1,\n  2)\n" + "g(" + "1, " * 60 + "2)\n")
    places = Places(source)
    body = ast.parse(source.text).body
    assert places.text(body[0]) == "f(1, 2)"
    assert len(places.text(body[1])) == 80
