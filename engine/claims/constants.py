"""What a written number stands for."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

_NEAR: Final = 1000
"""Written numbers with a smaller denominator, or of which the square or the part of pi has one, are taken for that."""
_ROUNDED: Final = 4e-16
_SHORT: Final = 14
"""A decimal number with fewer characters is meant as it is written."""
_DECIMAL: Final = 15
"""Every decimal number of so many digits is told from every other in a double: it is meant as it is written, too."""


def recognised(sympy: Any, value: float) -> Any:
    """The number that a written one stands for: 0.1 is 1/10, 1.414... the root of 2, 6.283... twice pi."""
    if isinstance(value, int) or float(value).is_integer():
        return sympy.Integer(int(value))
    near = Fraction(value).limit_denominator(_NEAR)
    if float(near) == value:
        return sympy.Rational(near.numerator, near.denominator)
    short = Fraction(repr(float(value)))
    if len(repr(float(value))) < _SHORT:
        return sympy.Rational(short.numerator, short.denominator)
    if value == math.e:
        return sympy.E
    for power, constant in ((1, sympy.pi), (-1, 1 / sympy.pi)):
        part = Fraction(value * math.pi**-power).limit_denominator(_NEAR)
        if part and math.isclose(float(part) * math.pi**power, value, rel_tol=_ROUNDED):
            return sympy.Rational(part.numerator, part.denominator) * constant
    for power, constant in ((0, sympy.Integer(1)), (1, sympy.pi), (-1, 1 / sympy.pi)):
        part = Fraction(value * value * math.pi**-power).limit_denominator(_NEAR)
        if part and math.isclose(math.sqrt(float(part) * math.pi**power), abs(value), rel_tol=_ROUNDED):
            root = sympy.sqrt(sympy.Rational(part.numerator, part.denominator) * constant)
            if not root.is_Rational:  # of those it is none: 0.30000000000000004 is not 3/10
                return root if value > 0 else -root
    if len(Decimal(repr(float(value))).as_tuple().digits) > _DECIMAL:
        # 0.1 + 0.2, or something else that is rounded: a constant of which nothing is known but its sign.
        return sympy.Symbol(repr(float(value)), positive=value > 0, negative=value < 0)
    return sympy.Rational(short.numerator, short.denominator)
