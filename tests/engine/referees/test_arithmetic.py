"""mpmath's numbers: what they cost, and functions where mpmath alone has no answer or takes too long."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.referees.case import CannotJudge


def test_contexts_are_made_once() -> None:
    """Two arithmetics of as many digits share a context, and what was left in it by an interrupt is set right."""
    first = PreciseArithmetic(61)
    first.context.prec += 100
    second = PreciseArithmetic(61)
    assert second.context is first.context
    assert second.digits == 61
    assert PreciseArithmetic(62).context is not first.context


@pytest.mark.parametrize("x", [2.0**100 * 1.5, 1e31, 1e300])
def test_loggamma_far_out_is_quick_and_right(x: float) -> None:
    """Stirling's series gives what mpmath gives where that is quick."""
    m = PreciseArithmetic(60)
    start = time.perf_counter()
    value = m.function("loggamma", x)
    assert time.perf_counter() - start < 1.0
    assert float(value) == pytest.approx(math.lgamma(x), rel=1e-14)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_erfcx_by_its_series_is_the_product(order: int) -> None:
    """Where both can be had, the series and the derivatives of exp(x**2)*erfc(x) are one."""
    m = PreciseArithmetic(60)
    context = m.context
    x = context.mpf(200)
    product = context.diff(lambda t: context.exp(t * t) * context.erfc(t), x, order)
    assert abs(m.function("erfcx", x, order) / product - 1) < 1e-25


@pytest.mark.parametrize(("x", "y"), [(5.0, -3.0), (-1e300, 1e16), (0.6394, 5e-324), (1.0, 1e-300)])
def test_a_remainder_is_exact(x: float, y: float) -> None:
    """However large the quotient: as Python's own, which is exact too."""
    m = PreciseArithmetic(50)
    assert float(m.number(x) % m.number(y)) == x % y


@pytest.mark.parametrize("x", [1.0, -2.0, 1e8])
def test_sines_of_whole_numbers_are_zero(x: float) -> None:
    """sin(pi*x) has no rounding of pi in it."""
    assert PreciseArithmetic(50).function("sinpi", x) == 0


@pytest.mark.parametrize(("y", "power"), [(2 + 1j, 0.0), (0.5 - 3j, 0.0), (-1 + 0j, np.inf)])
def test_complex_powers_of_zero(y: complex, power: float) -> None:
    """Zero where the real part of the exponent is above zero, as in PyTorch."""
    m = PreciseArithmetic(50)
    assert m.power(m.number(0.0), m.number(y)) == power
    assert m.undefined_number(m.power(m.number(0j), m.number(1j)))


def test_acosh_below_the_real_line() -> None:
    """However near to it: there mpmath's own has the value above."""
    m = PreciseArithmetic(50)
    near = m.number(0.5) - m.number(1j) * m.number(10) ** -900
    assert complex(m.function("acosh", near)) == pytest.approx(-1j * math.acos(0.5))


@pytest.mark.parametrize("name", ["exp", "sinh", "cosh"])
def test_complex_numbers_that_are_too_large_are_not_judged(name: str) -> None:
    """There is no number for what their functions give."""
    m = PreciseArithmetic(50)
    with pytest.raises(CannotJudge):
        m.function(name, m.number(1e200 + 1j))
    with pytest.raises(CannotJudge):
        m.power(m.number(2j), m.number(1e200 + 1j))


def test_parts_of_very_different_size_have_no_logarithm() -> None:
    """mpmath would add their squares, of more digits than there is memory for."""
    m = PreciseArithmetic(50)
    with pytest.raises(CannotJudge):
        m.log(m.number(1.0) + m.number(1j) * m.context.mpf((0, 1, -(10**30), 1)))


@pytest.mark.parametrize(
    ("name", "arguments"), [("psi", (0, -0.4546410233552937)), ("gamma", (2.3,)), ("zeta", (2.7,))]
)
def test_a_function_has_no_more_digits_than_the_rest(name: str, arguments: tuple[float, ...]) -> None:
    """A value with more digits than its own magnitude is less than a whole multiple of it."""
    m = PreciseArithmetic(80)
    value = m.function(name, *arguments)
    assert value == +value
    assert abs(value) % abs(value) == 0


def test_polygamma_far_below_zero_is_not_waited_for() -> None:
    """mpmath adds up terms for ever there; at whole numbers there is a pole."""
    m = PreciseArithmetic(50)
    with pytest.raises(CannotJudge, match="polygamma"):
        m.function("polygamma", 1, -1e7 + 0.25)
    assert m.undefined_number(m.function("polygamma", 1, -1e19))


def test_the_rest_of_a_quotient_beyond_all_memory_is_not_computed() -> None:
    """It is exact as far as doubles reach; of an exponential of 10**16 it would fill the memory."""
    m = PreciseArithmetic(50)
    assert m.remainder(m.number(1e300), m.number(7)) == int(1e300) % 7
    assert m.remainder(m.number(-1e300), m.number(7)) == int(-1e300) % 7
    with pytest.raises(CannotJudge, match="too large"):
        m.remainder(m.exp(m.number(1e16)), m.number(40))
    huge = m.exp(m.number(1e16))
    assert m.remainder(m.number(3.5), huge) == 3.5
    assert m.remainder(m.number(-3.5), -huge) == -3.5
    assert m.remainder(m.number(-3.5), huge) == huge
    assert m.remainder(m.number(0), huge) == 0
    assert m.undefined_number(m.remainder(huge, m.number(0)))


@pytest.mark.parametrize(
    ("base", "exponent", "expected"),
    [
        (1.7301, 1.0, math.inf),
        (1.7301, -1.0, 0.0),
        (0.9, 1.0, 0.0),
        (1.0, 1.0, 1.0),
        (-1.0, 1.0, 1.0),
        (-3.0, 1.0, math.inf),
        (math.inf, 1.0, math.inf),
        (math.inf, -1.0, 0.0),
        (-math.inf, 1.0, math.inf),
        (-math.inf, -1.0, 0.0),
    ],
)
def test_a_power_of_which_the_exponent_fills_the_memory(base: float, exponent: float, expected: float) -> None:
    """It is told without writing the exponent out."""
    m = PreciseArithmetic(50)
    huge = m.exp(m.number(1e16)) * exponent
    assert m.power(m.number(base), huge) == expected


def test_a_power_of_what_is_not_a_number_is_none() -> None:
    """Whichever of the two it is, and however large the other; but the power 0 of anything is 1."""
    m = PreciseArithmetic(50)
    nothing = m.undefined()
    for other in (m.number(0), m.number(2), m.inf, m.exp(m.number(1e16))):
        assert m.undefined_number(m.power(other, nothing))
    assert m.undefined_number(m.power(nothing, m.exp(m.number(1e16))))
    assert m.power(nothing, m.number(0)) == 1


def test_a_large_power_near_one() -> None:
    """The digits of the logarithm are enough for an exponent as large as the number is near to one."""
    m = PreciseArithmetic(50)
    tiny = m.number(2.0**-52)
    assert float(m.power(1 + tiny, 1 / tiny)) == pytest.approx(math.e, rel=1e-12)


@pytest.mark.parametrize(("x", "y", "expected"), [(1e300, 1.0, 1e300), (-1e300, -1.5e300, -1e300), (3.0, -1e300, 3.0)])
def test_a_sum_of_exponentials_beyond_all_numbers(x: float, y: float, expected: float) -> None:
    """Its logarithm is the larger exponent, which is a number as every other."""
    m = PreciseArithmetic(400)
    assert m.logaddexp(m.number(x), m.number(y)) == expected == m.logaddexp(m.number(y), m.number(x))


def test_a_sum_of_exponentials() -> None:
    """Equal ones are twice one, and infinities are none's fault."""
    m = PreciseArithmetic(50)
    assert m.logaddexp(m.number(2), m.number(2)) == pytest.approx(2 + math.log(2), rel=1e-15)
    assert m.logaddexp(m.inf, m.number(2)) == m.inf
    assert m.logaddexp(-m.inf, -m.inf) == -m.inf
    assert m.undefined_number(m.logaddexp(m.undefined(), m.number(2)))
