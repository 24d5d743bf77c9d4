"""The value of closed forms at the file's point, with the digits of their arithmetic."""

from __future__ import annotations

import random
from typing import Any, Final

from ..referees.case import CannotJudge
from ..referees.expressions import evaluated
from ..worker.budget import Budget
from .arithmetic import FormArithmetic

_TIED: Final = 1e-15
_NEAR: Final = 10**20


class Point:
    """The point that an arithmetic's symbols have their values at.

    Args:
        m: the arithmetic.
        budget: what may be spent.
        moved: where it is given, the seed of a random direction: the point lies a tiny step away.
    """

    def __init__(self, m: FormArithmetic, budget: Budget, moved: int | None = None) -> None:
        self._m = m
        self._budget = budget
        self._values: dict[Any, Any] | None = None
        self._direction = None if moved is None else random.Random(moved)  # noqa: S311  # reproducible, no secret

    def value(self, expression: Any) -> Any:
        """The value of an expression at the point: an mpmath number."""
        precise = self._m.precise
        known = self._known()
        return evaluated(precise, self._branches_taken(expression), known, self._budget)

    def _known(self) -> dict[Any, Any]:
        """The value of each symbol."""
        zero = self._m.precise.number(0)
        if self._values is None:
            self._values = {symbol: zero + value for symbol, value in self._m.symbols.items()}
            if self._direction is not None:
                for symbol, value in self._values.items():
                    if symbol not in self._m.held:
                        step = self._m.precise.number(self._direction.uniform(-1, 1)) * max(abs(value), zero + 1)
                        self._values[symbol] = value + step / _NEAR
        return dict(self._values)

    def size_of_parts(self, expression: Any) -> Any:
        """How large the terms of its sums are at the point: what is left where they cancel is small beside it."""
        return self._size(self._branches_taken(expression))

    def _size(self, expression: Any) -> Any:
        precise = self._m.precise
        if expression.is_Add:
            return precise.total([self._size(part) for part in expression.args])
        if expression.is_Mul:
            return precise.product([self._size(part) for part in expression.args])
        if expression.is_Pow and expression.exp.is_Integer and expression.exp > 0:
            return precise.power(self._size(expression.base), int(expression.exp))
        return abs(self.value(expression))

    def _branches_taken(self, expression: Any) -> Any:
        """The expression with the branch that holds at the point in the place of each choice."""
        sympy = self._m.sympy
        while expression.has(sympy.Piecewise):
            choice = next(iter(sorted(expression.atoms(sympy.Piecewise), key=sympy.count_ops)))
            taken = next((branch for branch, condition in choice.args if self.holds(condition)), sympy.nan)
            expression = expression.xreplace({choice: taken})
        # The sign of 0 is 0, in agrad and in what Python is written; the slope of |x| is taken to be that.
        flat = {sign: sympy.Integer(0) for sign in expression.atoms(sympy.sign) if self.value(sign.args[0]) == 0}
        return expression.xreplace(flat) if flat else expression

    def holds(self, condition: Any) -> bool:
        """Whether a condition holds at the point."""
        sympy = self._m.sympy
        if condition in (True, False):
            return bool(condition)
        if isinstance(condition, sympy.Not):
            return not self.holds(condition.args[0])
        if isinstance(condition, (sympy.And, sympy.Or)):
            results = [self.holds(part) for part in condition.args]
            return all(results) if isinstance(condition, sympy.And) else any(results)
        if isinstance(condition, sympy.ITE):
            asked, yes, no = condition.args
            return self.holds(yes if self.holds(asked) else no)
        if condition.func.__name__ not in _RELATIONS:
            raise CannotJudge(f"a condition of the kind {condition.func.__name__}")
        left, right = (self.value(side) for side in condition.args)
        return bool(_RELATIONS[condition.func.__name__](left, right))

    def is_tie(self, relation: Any) -> bool:
        """Whether the two sides of a relation are equal, but for rounding."""
        if relation in (True, False):
            return False
        left, right = (self.value(side) for side in relation.args)
        return bool(abs(left - right) <= _TIED * max(abs(left), abs(right)))


_RELATIONS: Final = {
    "Equality": lambda a, b: a == b,
    "Unequality": lambda a, b: a != b,
    "StrictLessThan": lambda a, b: a < b,
    "LessThan": lambda a, b: a <= b,
    "StrictGreaterThan": lambda a, b: a > b,
    "GreaterThan": lambda a, b: a >= b,
}
