"""A SymPy expression with its value at the point, under Python's operators."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .algebra import Algebra


def _operators(operation: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The methods of an operator with a term on its left and on its right; arrays do it entry by entry themselves."""

    def left(self: Term, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else operation(self.m, self, other)

    def right(self: Term, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else operation(self.m, other, self)

    return left, right


class Term:
    """An expression and its value at the point.

    Attributes:
        m: the arithmetic that it belongs to.
        expression: SymPy's expression.
        value: an mpmath number.
        varies: whether it depends on a symbol that is differentiated by.
        size: how many parts the expression has.
    """

    __slots__ = ("expression", "m", "size", "value", "varies")

    def __init__(self, m: Algebra, expression: Any, value: Any, varies: bool, size: int = 1) -> None:
        self.m = m
        self.expression = expression
        self.value = value
        self.varies = varies
        self.size = size

    __add__, __radd__ = _operators(lambda m, x, y: m.join(operator.add, x, y))
    __sub__, __rsub__ = _operators(lambda m, x, y: m.join(operator.sub, x, y))
    __mul__, __rmul__ = _operators(lambda m, x, y: m.join(operator.mul, x, y))
    __truediv__, __rtruediv__ = _operators(lambda m, x, y: m.divide(x, y))
    __pow__, __rpow__ = _operators(lambda m, x, y: m.power(x, y))
    __lt__, __gt__ = _operators(lambda m, x, y: m.below(x, y, equal=False))
    __le__, __ge__ = _operators(lambda m, x, y: m.below(x, y, equal=True))

    def __neg__(self) -> Term:
        return self.m.join(operator.neg, self)

    def __pos__(self) -> Term:
        return self

    def __abs__(self) -> Term:
        return self.m.absolute(self)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    __index__ = __int__
