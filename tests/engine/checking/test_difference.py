"""Which numbers count as moved, and how that is told."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.checking.difference import differences

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(FLOATS, st.integers(0, 4))
def test_a_few_units_in_the_last_place_are_no_move(number: float, steps: int) -> None:
    """Up to four neighbouring floats, of any size down to the smallest, count as the same number."""
    other = number
    for _ in range(steps):
        other = math.nextafter(other, 0.0)
    assert list(differences(number, other, "x", 0.0)) == []


@given(FLOATS.filter(lambda number: abs(number) > 1e-300), st.floats(1e-11, 1e-3))
def test_more_than_that_is_a_move(number: float, change: float) -> None:
    """A relative change that is larger than the tolerance is found, in either direction, and a smaller one is not."""
    other = number * (1 - change)
    assert list(differences(number, other, "x", 1e-12))
    assert list(differences(other, number, "x", 1e-12))
    assert not list(differences(other, number, "x", change * 1.01))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (1.0, "NaN"),
        ("Infinity", "-Infinity"),
        (0.0, 1e-300),
        (True, 1.0),
        (None, 1.0),
        ([1.0], 1.0),
        ([1.0, 2.0], [1.0]),
        ([[1.0]], [1.0]),
        ({"real": 1.0}, 1.0),
        ({"real": 1.0, "imag": 0.0}, {"real": 1.0, "imag": 0.5}),
        (10**400, 1.0),
        (-(10**400), 1e308),
        ("x" * 10_000, 1.0),
    ],
)
def test_whatever_a_lock_holds_is_compared(old: Any, new: Any) -> None:
    """Other shapes, words, objects and numbers beyond any float are differences, told in a short line."""
    (difference,) = differences(old, new, "x", 1e-12)
    assert len(difference.words) < 200


def test_what_is_the_same_in_words() -> None:
    """NaN is NaN, and minus zero is zero."""
    assert not list(differences("NaN", "NaN", "x", 0.0))
    assert not list(differences([0.0, "Infinity"], [-0.0, "Infinity"], "x", 0.0))


def test_entries_are_named() -> None:
    """The entry of an array and the part of a complex number are in the label."""
    (entry,) = differences([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [5.0, 4.0]], "w", 0.0)
    assert entry.words == "w[1, 0] was 3.0 and is 5.0, a relative change of 0.67"
    (entry,) = differences({"real": [1.0], "imag": [2.0]}, {"real": [1.0], "imag": [3.0]}, "w", 0.0)
    assert entry.entry == "w[0].imag"
