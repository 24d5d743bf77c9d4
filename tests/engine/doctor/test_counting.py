"""Right digits, entry by entry."""

from __future__ import annotations

import math

import numpy as np

from agrad.engine.doctor.counting import right_digits
from agrad.engine.graph import leaf
from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.referees.forward import array_of

M = PreciseArithmetic(50)


def counted(got: list[float], exact: list[float]) -> list[float]:
    """The right digits of numbers against exact ones."""
    node = leaf(np.array(got))
    found: list[float] = right_digits(
        M, got, array_of((len(exact),), [M.number(each) for each in exact]), node
    ).tolist()
    return found


def test_digits_are_counted_against_the_true_entry() -> None:
    """An error below 10**-n of it leaves n digits; none leaves all, one as large as itself none."""
    assert counted([1.0, 1.002, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0 + 1e-9]) == [16, 2, 0, 8]


def test_zero_is_counted_against_the_largest_entry() -> None:
    """Where the true entry is zero; alone it has no digits but those of zero itself."""
    assert counted([1e-9, 1.0], [0.0, 1.0]) == [8, 16]
    assert counted([1e-9], [0.0]) == [0]
    assert counted([0.0], [0.0]) == [16]


def test_what_is_not_finite() -> None:
    """An infinity or NaN is right only where the exact number is one; an overflow has no digits."""
    inf, nan = math.inf, math.nan
    assert counted([inf, -inf, nan, inf, 1.0], [inf, inf, nan, 1.0, nan]) == [16, 0, 16, 0, 0]
    huge = array_of((1,), [M.number(10) ** 400])
    assert right_digits(M, [inf], huge, leaf(np.array([inf]))).tolist() == [0]


def test_what_is_no_float_has_all_its_digits() -> None:
    """Integers and booleans are exact."""
    assert right_digits(M, [3], array_of((1,), [3]), leaf(np.array([3]))).tolist() == [16]
