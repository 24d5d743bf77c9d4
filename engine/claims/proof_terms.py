"""SymPy's expressions as the arithmetic of a proof: a branch is taken only where all numbers of a case take it.

Where that cannot be told, `UndecidedError` says of which expression the sign is wanted, so that the case can be split.
Where an expression is defined is noted too: what cancels in an expression may be undefined all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from ..referees.term import Term
from ..referees.terms import SymbolicArithmetic
from ..worker.budget import Budget
from .constants import recognised
from .decisions import UndecidedError, is_zero, known, sign_of

_LONGEST: Final = 4_000
_ENTIRE: Final = frozenset(
    ("exp", "sin", "cos", "tanh", "sinh", "cosh", "atan", "asinh", "erf", "erfc", "expm1", "erfi", "si", "shi")
)
"""Functions that are defined for every real number."""
_WITHIN: Final = {"asin": "nonnegative", "acos": "nonnegative", "atanh": "positive"}
"""Functions that are defined between -1 and 1, and what 1 - x**2 must be."""
_OF_POSITIVES: Final = frozenset(("gamma", "loggamma", "digamma", "psi", "factorial"))
"""Functions that are defined for every number above 0, and for others too."""


class NotProvedError(Exception):
    """There is no proof, for the reason given."""


class ProofArithmetic(SymbolicArithmetic):
    """The `Arithmetic` of SymPy's expressions over all numbers of a case.

    Attributes:
        near: a symbol that is as near to zero as one likes, or None.
        wanted: what must hold for the expressions to be defined, and is not known to: pairs of "nonzero", "positive" or
            "nonnegative" and an expression.
        unsettled: symbols for the largest of several terms, and why it is not known which that is.
    """

    def __init__(self, budget: Budget) -> None:
        super().__init__(budget, readable=True)
        self.near: Any = None
        self.wanted: set[tuple[str, Any]] = set()
        self.unsettled: dict[Any, Any] = {}

    def varying(self, expression: Any) -> Term:
        """The term of an expression of symbols."""
        return Term(self, expression, self.precise.number(0.6180339887498949), True)

    def constant(self, x: Any) -> Any:
        """A number that does not move with what it is computed from: SymPy has no such thing."""
        if isinstance(x, Term) and x.varies:
            raise NotProvedError("a part of it is detached")
        return x

    def _constant(self, value: float) -> Term:
        exact = self.precise.number(value)
        if not self.precise.finite(exact):
            return super()._constant(value)
        return Term(self, recognised(self.sympy, value), exact, False)

    def _made(self, operation: Callable[..., Any], value: Any, terms: Sequence[Term]) -> Term:
        term = super()._made(operation, value, terms)
        if term.size > _LONGEST:
            raise NotProvedError("the formula is too long for SymPy")
        return term

    def want(self, kind: str, expression: Any) -> bool:
        """Note what must hold, unless it is known to; gives whether it can hold at all."""
        if expression.has(self.sympy.nan, self.sympy.zoo):
            return False
        if known(self.sympy, kind, expression, self.near):
            return True
        if kind == "nonzero":
            factors = self.sympy.Mul.make_args(self.sympy.factor(expression))
            bases = [factor.base if factor.is_Pow else factor for factor in factors]
            self.wanted.update((kind, base) for base in bases if not known(self.sympy, kind, base, self.near))
            return True
        with suppress(UndecidedError):
            if kind != "defined" and sign_of(self.sympy, expression, self.near) <= 0:
                return False
        self.wanted.add((kind, expression))
        return True

    def divide(self, x: Any, y: Any) -> Term:
        """The quotient, where the divisor is not zero."""
        x, y = self.lifted(x), self.lifted(y)
        if y.expression == 0:
            return self.undefined()
        self.want("nonzero", y.expression)
        return self._made(lambda a, b: a / b, self.precise.undefined(), (x, y))

    def power(self, x: Any, y: Any) -> Term:
        """x**y, where it is defined."""
        x, y = self.lifted(x), self.lifted(y)
        base, exponent = x.expression, y.expression
        if base == 0 and exponent.is_negative:
            return self.undefined()
        if not exponent.is_integer:
            if not self.want("positive" if not exponent.is_positive else "nonnegative", base):
                return self.undefined()
        elif not exponent.is_nonnegative:
            self.want("nonzero", base)
        return self._made(lambda a, b: a**b, self.precise.undefined(), (x, y))

    def function(self, name: str, *args: Any) -> Term:
        """A function by mpmath's name, where it is defined."""
        if name in ("conj", "re", "im", "floor", "ceil", "sign", "expm1", "log1p"):
            return self._composed(name, args)
        terms = [self.lifted(arg) for arg in args]
        if not self._defined(name, [term.expression for term in terms]):
            return self.undefined()
        function = getattr(self.sympy, {"psi": "polygamma", "lambertw": "LambertW", "si": "Si"}.get(name, name), None)
        if function is None:
            raise NotProvedError(f"SymPy has no {name}")
        return self._made(function, self.precise.undefined(), terms)

    def _defined(self, name: str, args: Sequence[Any]) -> bool:
        """Note what it takes for a function to be defined; gives whether it can be at all."""
        if name in _ENTIRE:
            return True
        if name in ("log", "sqrt"):
            return self.want("positive" if name == "log" else "nonnegative", args[0])
        if name in _WITHIN:
            return self.want(_WITHIN[name], self.sympy.factor(1 - args[0] ** 2))
        if name == "tan":
            return self.want("nonzero", self.sympy.cos(args[0]))
        if name in _OF_POSITIVES and known(self.sympy, "positive", args[-1], self.near):
            return True
        return self.want("defined", self.sympy.Function(name)(*args))

    def _composed(self, name: str, args: Sequence[Any]) -> Term:
        if name == "expm1":
            return self.lifted(self.function("exp", *args) - 1)
        if name == "log1p":
            return self.function("log", self.lifted(args[0]) + 1)
        if name in ("conj", "re", "im"):
            return self.lifted(args[0] if name != "im" else 0)
        if name == "sign":
            return self.number(self.sign(self.lifted(args[0]).expression))
        x = self.lifted(args[0])
        return -self.floor(-x) if name == "ceil" else self.floor(x)

    def sign(self, expression: Any) -> int:
        """-1, 0 or 1: the sign of an expression for all numbers of the case.

        Raises:
            UndecidedError: where it is not one.
        """
        return sign_of(self.sympy, expression, self.near)

    def absolute(self, x: Any) -> Term:
        """The absolute value."""
        term = self.lifted(x)
        return -term if self.sign(term.expression) < 0 else term

    def equal(self, x: Any, y: Any) -> bool:
        """Whether two terms are equal."""
        x, y = self.lifted(x), self.lifted(y)
        if x.expression == y.expression:
            return True
        return self.sign(x.expression - y.expression) == 0

    def below(self, x: Any, y: Any, *, equal: bool) -> bool:
        """Whether x < y, or x <= y where `equal`."""
        x, y = self.lifted(x), self.lifted(y)
        if x.expression == y.expression:
            return equal
        sign = self.sign(y.expression - x.expression)
        return sign > 0 or (equal and sign == 0)

    def order(self, values: Sequence[Any]) -> Sequence[int]:
        """The positions from the smallest to the largest."""
        terms = [self.lifted(value) for value in values]
        found: list[int] = []
        for position, term in enumerate(terms):
            place = len(found)
            while place and self.below(term, terms[found[place - 1]], equal=False):
                place -= 1
            found.insert(place, position)
        return found

    def maximum(self, values: Sequence[Any]) -> Term:
        """The largest of some terms; where none is that everywhere, a symbol that must not matter in the end."""
        try:
            return super().maximum(values)
        except UndecidedError as undecided:
            if len(undecided.expression.free_symbols) < 2:
                raise
            symbol = self.sympy.Dummy("m", real=True)
            self.unsettled[symbol] = undecided.expression
            return self.varying(symbol)

    def settled(self, expression: Any) -> Any:
        """An expression without the symbols that must not matter.

        Raises:
            UndecidedError: where one matters.
        """
        for symbol in sorted(expression.free_symbols & self.unsettled.keys(), key=str):
            if not is_zero(self.sympy, self.sympy.diff(expression, symbol)):
                raise UndecidedError(self.unsettled[symbol])
            expression = expression.subs(symbol, 0)
        return expression

    def _extreme(self, values: Sequence[Any], which: int) -> Term:
        terms = [self.lifted(value) for value in values]
        return terms[self.order(terms)[which]]

    def floor(self, x: Any) -> Term:
        """The integer below, of a number only."""
        term = self.lifted(x)
        if term.varies:
            raise NotProvedError("a floor jumps")
        return self.number(math.floor(term.expression))

    def boolean(self, condition: Any) -> bool:
        """Whether a condition holds."""
        return bool(condition)
