"""Numbers and arrays as texts."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.cli.render.numbers import DETAILS, EVERYTHING, NORMAL, Detail, float_text, value_text


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (1.0, 6, "1.0"),
        (-0.0, 6, "-0.0"),
        (0.1, 6, "0.1"),
        (5.656854249492381, 6, "5.65685"),
        (123456789.0, 6, "1.23457e8"),
        (1e-5, 6, "1e-5"),
        (1e22, 0, "1e22"),
        (123456789.0, 0, "123456789.0"),
        (float("nan"), 6, "nan"),
        (float("-inf"), 0, "-inf"),
    ],
)
def test_floats_are_short(number: float, digits: int, text: str) -> None:
    """A float always reads as one, and an exponent has no padding."""
    assert float_text(number, digits) == text


@given(st.floats(allow_nan=False), st.integers(4, 17))
def test_shown_digits_are_right(number: float, digits: int) -> None:
    """What is shown reads back as the number, rounded to that many digits."""
    assert float(float_text(number, digits)) == float(f"{number:.{digits}g}")
    assert float(float_text(number, 0)) == number


@given(st.floats(width=32, allow_nan=False))
def test_float32_is_as_short_as_it_can_be(number: float) -> None:
    """All digits of a float32 are those that tell it from its neighbours."""
    text = value_text(np.float32(number), EVERYTHING)
    assert np.float32(text) == np.float32(number)
    assert len(re.sub(r"\D", "", text.split("e")[0]).strip("0")) <= 9


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (True, "True"),
        (np.bool_(False), "False"),
        (np.array([1, 2]), "[1, 2]"),
        (np.array([[1.0, 2.5], [3.0, 4.0]]), "[[1.0, 2.5], [3.0, 4.0]]"),
        (np.zeros((0, 3)), "[], size=(0, 3)"),
        (1 - 2j, "1.0-2.0j"),
        (np.array([0.5 + 1e-9j]), "[0.5+1e-9j]"),
        (np.complex64(0.1j), "0.0+0.1j"),
        (np.arange(13), "shape [13]: 0, 1, 2, ..., 10, 11, 12"),
    ],
)
def test_values_read_like_lists(value: object, text: str) -> None:
    """Arrays are nested lists; a longer one is its shape and its ends."""
    assert value_text(value, NORMAL) == text


def test_large_arrays_have_statistics() -> None:
    """Above 1000 elements the statistics are there too."""
    text = value_text(np.append(np.arange(1001.0), np.nan), NORMAL)
    assert text.startswith(
        "shape [1002]: 0.0, 1.0, 2.0, ..., 999.0, 1000.0, nan; min 0.0, max 1000.0, mean 500.0, norm "
    )
    assert text.endswith(", 1 not finite")
    assert "..." not in value_text(np.arange(1001.0), EVERYTHING)


@pytest.mark.parametrize("detail", DETAILS)
def test_details_grow_narrower(detail: Detail) -> None:
    """Each level of detail takes no more room than the one before."""
    values = [np.pi * 1e-200, np.full(7, np.pi), np.full(9, np.pi), np.arange(2000.0)]
    for value in values:
        assert len(value_text(value, detail)) <= len(value_text(value, NORMAL))


@pytest.mark.parametrize(
    ("shape", "text"),
    [((0,), "[]"), ((1, 0), "[], size=(1, 0)"), ((70000, 0), "[], size=(70000, 0)"), ((3, 0, 4), "[], size=(3, 0, 4)")],
)
def test_no_elements_are_written_with_their_size(shape: tuple[int, ...], text: str) -> None:
    """However many rows an array without elements has, it is told by its size, as in PyTorch."""
    for detail in (*DETAILS, EVERYTHING):
        assert value_text(np.zeros(shape), detail) == text
