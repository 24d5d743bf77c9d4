"""Arithmetic between written numbers: they stay Python numbers until they meet a tensor."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from ..errors import InputError, LimitError

NUMBERS: Final = frozenset((float, int, complex, bool))

_BITS: Final = 1024
"""The length of the largest integer that is kept: it is that of the largest float."""


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, complex) or isinstance(exponent, complex):
        return base**exponent
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent >= 0 and abs(base) > 1 and exponent * math.log2(abs(base)) > _BITS:
            raise _too_large(exponent * math.log10(abs(base)))
        return base**exponent
    if base < 0 and exponent == exponent and math.isfinite(exponent) and exponent != int(exponent):
        raise InputError(
            "a negative number to a fractional power is no real number",
            hint="write the base as a complex number, (-8+0j)**(1/3), or the root as -(8**(1/3))",
        )
    try:
        return float(base) ** float(exponent)
    except OverflowError:
        raise _too_large(float(exponent) * math.log10(abs(float(base)))) from None


def _too_large(digits: float) -> LimitError:
    return LimitError(
        f"the number has about {digits:,.0f} digits before the point: too large for a float",
        hint="the largest float is 1.8e308; write inf for infinity",
    )


def _bitwise(apply: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def result(a: Any, b: Any) -> Any:
        if isinstance(a, (float, complex)) or isinstance(b, (float, complex)):
            raise InputError("& and | work on booleans and integers", hint="compare first: (a < b) & (c < d)")
        return apply(a, b)

    return result


def _no_product(_a: Any, _b: Any) -> Any:
    raise InputError("@ multiplies matrices, not numbers", hint="write * to multiply numbers")


def _inverted(a: Any) -> Any:
    if isinstance(a, bool):
        return not a
    if isinstance(a, int):
        return ~a
    raise InputError("~ works on booleans and integers", hint="write -x for the negative")


_TWO: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "pow": _power,
    "matmul": _no_product,
    "bitwise_and": _bitwise(operator.and_),
    "bitwise_or": _bitwise(operator.or_),
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}
_ONE: Final[dict[str, Callable[[Any], Any]]] = {
    "neg": operator.neg,
    "positive": operator.pos,
    "bitwise_not": _inverted,
}


def checked(value: Any) -> Any:
    """A number that a float can hold.

    Raises:
        LimitError: where it is an integer that is too large.
    """
    if type(value) is int and value.bit_length() > _BITS:
        raise _too_large(value.bit_length() * math.log10(2))
    return value


def fold(name: str, *operands: Any) -> Any:
    """The result of an operator on written numbers.

    Raises:
        InputError: where it has none.
        LimitError: where it is too large.
    """
    try:
        return checked(_ONE[name](*operands) if len(operands) == 1 else _TWO[name](*operands))
    except ZeroDivisionError:
        raise InputError("division by zero", hint="write inf or nan if that is what is meant") from None
    except OverflowError:
        raise LimitError("the result is too large for a float", hint="write inf for infinity") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"complex numbers cannot be used here: {error}") from None
