"""Limits from both sides, from numbers of many digits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agrad.engine.doctor.sides import Sides, slopes_beside, values_beside
from agrad.engine.referees.case import Case

from .conftest import Run


def case(run: Run, text: str) -> Case:
    """The case of a text with one leaf x."""
    formulas, evaluation = run(text)
    return Case([formulas.names["y"]], [np.float64(1.0)], {"x": formulas.names["x"]}, {"x": evaluation.gradient("x")})


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("x = 0.0\ny = sin(x)/x", 1.0, 1.0),
        ("x = 0.0\ny = 1/x", -math.inf, math.inf),
        ("x = 0.0\ny = log(x)", math.nan, -math.inf),
        ("x = 0.0\ny = x*log(abs(x))", 0.0, 0.0),
        ("x = 0.0\ny = log(x) + 1000", math.nan, -math.inf),
        ("x = 0.0\ny = log(-log(abs(x)))", math.inf, math.inf),
        ("x = 0.0\ny = 5 - 1/log(abs(x)) + 0/x*x", 5.0, 5.0),
        ("x = 2.0\ny = (x**2 - 4)/(x - 2)", 4.0, 4.0),
        ("x = 0.0\ny = exp(1/x)", 0.0, math.inf),
    ],
)
def test_values(text: str, left: float, right: float, run: Run) -> None:
    """What the function tends to: a number, an infinity, or nothing where it ends."""
    of = case(run, text)
    sides = values_beside(of, of.wrt["x"], 0)
    assert sides is not None
    np.testing.assert_allclose([sides.left, sides.right], [left, right], rtol=1e-15)


def test_a_limit_that_does_not_show_is_not_told(run: Run) -> None:
    """A function that swings has no limit here."""
    for text in ("x = 0.0\ny = sin(log(abs(x)))", "x = inf\ny = 1/x"):
        of = case(run, text)
        assert values_beside(of, of.wrt["x"], 0) is None


def test_slopes(run: Run) -> None:
    """One-sided slopes at a kink and at an end; none is told at a pole."""
    for text, left, right in (("x = 0.0\ny = abs(x)", -1.0, 1.0), ("x = 0.0\ny = sqrt(x)", math.nan, math.inf)):
        of = case(run, text)
        sides = slopes_beside(of, of.wrt["x"], 0)
        assert sides is not None
        np.testing.assert_array_equal([sides.left, sides.right], [left, right])
    of = case(run, "x = 0.0\ny = 1/x")
    assert slopes_beside(of, of.wrt["x"], 0) is None


def test_words() -> None:
    """Both sides in words, and what is alike said once."""
    assert Sides(1.0, 1.0, ("1.0", "1.0")).text == "1.0 from both sides"
    assert Sides(-1.0, 2.0, ("-1.0", "2.0")).text == "-1.0 from the left and 2.0 from the right"
    assert Sides(math.nan, 2.0, ("", "2.0")).text == "2.0 from the right, and there is nothing on the left"
    assert Sides(2.0, math.nan, ("2.0", "")).text == "2.0 from the left, and there is nothing on the right"
    assert Sides(math.nan, math.nan, ("", "")).text == "nothing on either side"
    assert Sides(1.0, 1.0, ("1.0", "1.0")).alike == 1.0
    assert Sides(math.inf, math.inf, ("inf", "inf")).alike is None
