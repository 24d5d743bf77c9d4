"""What written numbers stand for."""

from __future__ import annotations

import math

import pytest
import sympy

from agrad.engine.claims.constants import recognised


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (3.0, sympy.Integer(3)),
        (0.1, sympy.Rational(1, 10)),
        (1 / 3, sympy.Rational(1, 3)),
        (1e-8, sympy.Rational(1, 10**8)),
        (math.pi, sympy.pi),
        (2 * math.pi, 2 * sympy.pi),
        (-math.pi / 2, -sympy.pi / 2),
        (math.e, sympy.E),
        (math.sqrt(2), sympy.sqrt(2)),
        (2 / math.sqrt(math.pi), 2 / sympy.sqrt(sympy.pi)),
        (1 / math.sqrt(2 * math.pi), 1 / sympy.sqrt(2 * sympy.pi)),
    ],
)
def test_written_numbers_stand_for_what_is_meant(value: float, meant: sympy.Expr) -> None:
    """Fractions, multiples of pi and square roots are told from their doubles."""
    assert sympy.simplify(recognised(sympy, value) - meant) == 0


def test_other_numbers_are_their_decimals() -> None:
    """A number that stands for nothing else is what it is written as."""
    assert recognised(sympy, 0.57721566490153) == sympy.Rational(57721566490153, 10**14)


def test_a_sum_that_is_rounded_is_an_unknown_number() -> None:
    """0.1 + 0.2 is neither 3/10 nor the decimals that it prints: only its sign is known."""
    found = recognised(sympy, 0.1 + 0.2)
    assert found.is_Symbol
    assert found.is_positive
    assert recognised(sympy, 0.1 + 0.2) == found
    assert recognised(sympy, -0.1 - 0.2).is_negative
    assert recognised(sympy, 1 + 2.0**-52).is_Symbol
