"""Values that float64 has not finite, or wrong because something overflowed on the way."""

from __future__ import annotations

import math
from typing import Final

import mpmath
import numpy as np
import pytest

from agrad.engine.errors import Source
from agrad.engine.evaluation.evaluate import chosen_outputs, evaluate
from agrad.engine.language import build

RIGHT: Final = (
    ("log(cosh(x))", 800.0, 800.0 - math.log(2.0)),
    ("exp(x)*exp(-x)", 800.0, 1.0),
    ("exp(2*x)/exp(2*x - 1)", 500.0, math.e),
    ("exp(x)/(1 + exp(x))**2", 400.0, float(mpmath.exp(-400))),
    ("gamma(x + 1)/gamma(x)", 180.0, 180.0),
    ("log(erfc(x))", 30.0, float(mpmath.log(mpmath.erfc(30)))),
    ("x*10/100", 1e308, 1e307),
    ("sqrt(x*x*x*x)", 1e100, 1e200),
    ("(x*x)/x", 1e200, 1e200),
    ("1/(x*x)*x", 1e-200, 1e200),
    ("tanh(x)/(sinh(x)/cosh(x))", 900.0, 1.0),
)
AS_THEY_ARE: Final = (("log(x)", 0.0), ("exp(x)", 800.0), ("sqrt(x)", -1e-100), ("1/x", 0.0), ("x - x", math.inf))


def value(expression: str, x: float) -> tuple[float, list[str]]:
    """The value of an expression at a point, and what is said of it."""
    read = build(Source(f"x = {x!r}\nz = {expression}\n"))
    found = evaluate(read, chosen_outputs(read, []))
    return float(found.values[read.names["z"]]), list(found.warnings)


@pytest.mark.parametrize(("expression", "x", "right"), RIGHT)
def test_value_is_right(expression: str, x: float, right: float) -> None:
    """A value that has a float64 is that float64, and a warning says what the plain one is."""
    got, warnings = value(expression, x)
    np.testing.assert_allclose(got, right, rtol=1e-14)
    assert any(line.startswith("z, line 2: ") for line in warnings)


@pytest.mark.parametrize(("expression", "x"), AS_THEY_ARE)
def test_what_is_infinite_or_undefined_stays_so(expression: str, x: float) -> None:
    """Nothing is made finite that is not, nor defined that is not."""
    got, warnings = value(expression, x)
    assert not np.isfinite(got)
    assert not any("from 50 digits" in line for line in warnings)


def test_only_broken_entries_change() -> None:
    """Beside an entry that overflowed, tiny ones keep their digits."""
    read = build(Source("x = [-700.0, 800.0]\ny = log(1 + exp(x)) * exp(-x) * exp(x)\nz = sum(y)\n"))
    found = evaluate(read, chosen_outputs(read, []))
    np.testing.assert_allclose(found.values[read.names["y"]], [float(mpmath.exp(-700)), 800.0], rtol=1e-13)


def test_names_that_no_output_depends_on_are_left_alone() -> None:
    """The look is taken at what the outputs are computed from."""
    read = build(Source("x = 800.0\nw = exp(x)*exp(-x)\nz = x + 1\n"))
    found = evaluate(read, chosen_outputs(read, []))
    assert np.isnan(found.values[read.names["w"]])
    assert found.warnings == []
