"""Which number stands where slopes and the rules' number are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agrad.engine.graph import leaf
from agrad.engine.limits.settled import Settled, as_float, label, settled, shortened
from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.referees.slopes import Slope

M = PreciseArithmetic(50)
NODE = leaf(np.float64(0.0))
INF, NAN = math.inf, math.nan


def kept(got: float, left: float, right: float, value: float | None, scale: float = 1.0) -> Settled:
    """The number for slopes given as floats."""
    exact: Any = None if value is None else M.number(value)
    return settled(M, got, Slope(M.number(left), M.number(right), exact), NODE, scale)


@pytest.mark.parametrize(
    ("got", "left", "right", "number"),
    [
        (0.0, -1.0, 1.0, 0.0),
        (0.5, 0.0, 1.0, 0.5),
        (1.0, 0.0, 1.0, 1.0),
        (NAN, -1.0, 1.0, 0.0),
        (NAN, 2.0, 3.0, 2.0),
        (NAN, -2.0, -3.0, -2.0),
        (7.0, 1.0, 2.0, 1.0),
        (0.0, -INF, INF, 0.0),
        (NAN, 1.0, INF, 1.0),
        (INF, 1.0, INF, INF),
    ],
)
def test_kink(got: float, left: float, right: float, number: float) -> None:
    """A number between both slopes stands; any other is replaced by the one of least size."""
    found = kept(got, left, right, None)
    assert found.number == number
    assert found.sides == (left, right)
    assert (found.reason is None) == (got == number)


@pytest.mark.parametrize("got", [NAN, INF, 0.0, 2.0, 0.5 + 1e-6])
def test_smooth(got: float) -> None:
    """Where there is a derivative it is given, and told where the rules' number is visibly another."""
    found = kept(got, 0.5, 0.5, 0.5)
    assert found.number == 0.5
    assert found.reason is not None


def test_rounding_is_not_told() -> None:
    """A number that is right to rounding stays, one that is a little off is replaced in silence."""
    assert kept(0.5 + 1e-15, 0.5, 0.5, 0.5) == Settled(0.5 + 1e-15)
    assert kept(0.5 + 1e-11, 0.5, 0.5, 0.5) == Settled(0.5)
    assert kept(1e-17, 0.0, 0.0, 0.0) == Settled(0.0)
    assert kept(0.0, 1e-17, 1e-17, 1e-17) == Settled(0.0)


def test_a_vanished_number_is_told() -> None:
    """What is far below rounding is no rounding: float64 has lost it."""
    found = kept(0.0, 1e-174, 1e-174, 1e-174)
    assert found.number == 1e-174
    assert found.reason is not None


def test_undefined_slopes_change_nothing() -> None:
    """Without a slope the rules' number stands."""
    assert np.isnan(kept(NAN, NAN, NAN, NAN).number)
    assert kept(3.0, NAN, NAN, NAN) == Settled(3.0)


def test_as_float() -> None:
    """Beyond the range of a dtype an exact number is infinite."""
    assert as_float(M, M.number(10) ** 400, np.float64) == INF
    assert as_float(M, -(M.number(10) ** 50), np.float32) == -INF
    assert as_float(M, M.number(10) ** -310, np.float64) == 1e-310
    assert np.isnan(as_float(M, M.undefined(), np.float64))


def test_words() -> None:
    """Entries are named as the text would index them, and long lists are cut."""
    assert label("x", NODE, 0) == "x"
    assert label("A", leaf(np.zeros((2, 3))), 4) == "A[1, 1]"
    assert shortened(["a"] * 5) == ["a"] * 5
    assert shortened(["a"] * 8) == [*["a"] * 5, "and 3 more like these"]
