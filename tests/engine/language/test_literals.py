"""Values of options."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import AgradError, InputError
from agrad.engine.language import assignments, literal


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("-1.5e3", -1500.0),
        ("1/4", 0.25),
        ("0x10", 16),
        ("-inf", -math.inf),
        ("pi", math.pi),
        ("True", True),
        ("3+2j", 3 + 2j),
        (" 2**10 ", 1024),
        ("0.5j", 0.5j),
    ],
)
def test_numbers_stay_python_numbers(text: str, expected: Any) -> None:
    """A number is a Python number of the kind that it is written as."""
    found = literal(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2]", np.array([1, 2])),
        ("[1, 2.5]", np.array([1.0, 2.5])),
        ("[[1, 2], [3, 4],]", np.array([[1, 2], [3, 4]])),
        ("(1, 2)", np.array([1, 2])),
        ("[True, False]", np.array([True, False])),
        ("ones(2, 2)", np.ones((2, 2))),
        ("zeros(3)", np.zeros(3)),
        ("linspace(0, 1, 3)", np.array([0.0, 0.5, 1.0])),
        ("[nan, inf]", np.array([math.nan, math.inf])),
        ("2*ones(2)", np.array([2.0, 2.0])),
        ("[" + "1, " * 30 + "2]", np.array([1] * 30 + [2])),
    ],
)
def test_lists_and_constructors_are_arrays(text: str, expected: np.ndarray[Any, Any]) -> None:
    """Nested lists of integers stay integers; others are floats."""
    found = literal(text)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "text", ["", "x=1", "1;2", "[[1],[2,3]]", "foo", "'a'", "__import__('os')", "1+", "9**9**9", "["]
)
def test_other_texts_are_errors(text: str) -> None:
    """What is no value is an error that can be shown."""
    with pytest.raises(AgradError):
        literal(text)


def test_assignments_are_separated_by_commas_outside_of_brackets() -> None:
    """Names, numbers, lists and blanks."""
    found = assignments("x=1, y = [1, 2],z=(3, 4), φ=-inf\nw=ones(2)")
    assert list(found) == ["x", "y", "z", "φ", "w"]
    assert found["x"] == 1
    np.testing.assert_array_equal(found["y"], [1, 2])
    assert found["φ"] == -math.inf


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "NAME=VALUE"),
        ("x", "NAME=VALUE"),
        ("1", "NAME=VALUE"),
        ("x=1, x=2", "given twice"),
        ("x=1 y=2", "second assignment"),
        ("x=y", "no value here"),
        ("x=[1", "never closed"),
        ("x+=1", "NAME=VALUE"),
        ("assert x", "NAME=VALUE"),
    ],
)
def test_wrong_assignments_are_errors(text: str, message: str) -> None:
    """The message says what is expected."""
    with pytest.raises(InputError, match=message) as caught:
        assignments(text)
    assert caught.value.source is not None
