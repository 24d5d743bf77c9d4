"""SymPy's expressions as the exact arithmetic of formulas: each carries its value at the point.

Conditions are decided by the values, so that an expression holds the branch that is taken at the point and SymPy never
has to reason about inequalities. A comparison of equals that vary is a *tie*: the point lies on the border of two
branches; `side` says from which side the border is seen.

SymPy walks over a shared part once for each place that it stands in, so expressions would explode. Where one grows
beyond `PIECE` parts, its operands get names, symbols with a definition, and `pieces.py` joins their derivatives.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

from ..worker.budget import Budget
from .algebra import HIGHEST_POWER, SYMPY_NAMES, Algebra
from .case import CannotJudge
from .term import Term

PIECE: Final = 16
"""How many parts an expression may have before its operands get names; closed forms have no such limit."""
_CHUNK: Final = 24
"""How many operands a sum or a product may have before it is taken in parts."""
_LONGEST: Final = 10**6
DIGITS: Final = 60
"""The digits of values, where the caller does not say how many."""


class SymbolicArithmetic(Algebra):
    """The `Arithmetic` of SymPy's expressions.

    Args:
        budget: what may be spent.
        digits: the digits of the values.
        side: -1 or 1: ties are decided as if the first of the two compared (the varying one) were smaller or larger.
        readable: write 0.1 and 0.333333333333333 as 1/10 and 1/3, for closed forms; else numbers are exact.
    """

    def __init__(self, budget: Budget, *, digits: int = DIGITS, side: int = -1, readable: bool = False) -> None:
        super().__init__(budget, digits)
        self.pieces: dict[Any, Any] = {}  # the expression of each named piece, in the order of their making
        self.ties = 0
        self._side = side
        self._readable = readable
        self._constants: dict[Any, Term] = {}
        self._last_whole = self.precise.number(10) ** (digits - 20)

    def number(self, value: complex) -> Term:
        """A Python number, exactly; a symbol stands for a long one, lest SymPy factors it."""
        if isinstance(value, complex):
            raise CannotJudge("complex numbers are not expanded to symbols")
        known = self._constants.get(value)
        if known is None or known.value != value:
            known = self._constants[value] = self._constant(value)
        return known

    def _constant(self, value: float) -> Term:
        exact = self.precise.number(value)
        if not self.precise.finite(exact):
            if self.precise.undefined_number(exact):
                return self.undefined()
            return Term(self, self.sympy.oo if value > 0 else -self.sympy.oo, exact, False)
        fraction = Fraction(value)
        if self._readable:
            near = fraction.limit_denominator(1000)
            fraction = near if float(near) == value else Fraction(repr(value))
        elif max(abs(fraction.numerator), fraction.denominator) > _LONGEST:
            return self._opaque(exact)
        return Term(self, self.sympy.Rational(fraction.numerator, fraction.denominator), exact, False)

    def _opaque(self, value: Any) -> Term:
        """A symbol that stands for a number."""
        positive = value > 0
        symbol = self.sympy.Dummy("c", positive=positive) if positive else self.sympy.Dummy("c", negative=True)
        self.symbols[symbol] = value
        return Term(self, symbol, value, False)

    def lifted(self, value: Any) -> Term:
        """A term of a term, of a Python number or of a truth value."""
        return value if isinstance(value, Term) else self.number(value)

    def _made(self, operation: Callable[..., Any], value: Any, terms: Sequence[Term]) -> Term:
        """The term of an operation of SymPy's on terms, and of its value."""
        varies = any(term.varies for term in terms)
        if not self._readable and sum(term.size for term in terms) >= PIECE:
            for term in terms:
                self._name(term)
        size = 1 + sum(term.size for term in terms)
        return Term(self, self.applied(operation, terms), value, varies, size)

    def _name(self, term: Term) -> None:
        """Let a symbol stand for the expression of a term from now on."""
        if term.varies and not term.expression.is_Symbol:
            symbol = self.sympy.Dummy("p", real=True)
            self.pieces[symbol] = term.expression
            term.expression, term.size = symbol, 1

    def divide(self, x: Any, y: Any) -> Term:
        """The quotient."""
        x, y = self.lifted(x), self.lifted(y)
        self.budget.spend()
        value = self.precise.divide(x.value, y.value)
        if y.value == 0 and not y.varies:
            return self.undefined() if x.value == 0 else Term(self, self.sympy.oo, value, False)
        return self._made(operator.truediv, value, (x, y))

    def power(self, x: Any, y: Any) -> Term:
        """x**y; SymPy is kept from multiplying out large powers of numbers."""
        x, y = self.lifted(x), self.lifted(y)
        self.budget.spend()
        value = self.precise.power(x.value, y.value)
        # Floating point has 1 for the power 0 of what is not a number, and no slope beside it.
        base_is_undefined = self.precise.undefined_number(x.value) and y.varies
        if base_is_undefined or self.precise.undefined_number(value):
            return self.undefined()
        if not x.varies and not y.varies and (abs(y.value) > HIGHEST_POWER or not y.expression.is_Integer):
            return self._opaque(value) if value and self.precise.finite(value) else self.number(float(value))
        return self._made(operator.pow, value, (x, y))

    def _sign(self, x: Term) -> Term:
        """-1, 0 or 1, by the value at the point."""
        return self.number(0) if x.value == 0 and not x.varies else self.number(-1 if x < 0 else 1)

    def _known(self, name: str, terms: Sequence[Term]) -> Term:
        """A function of SymPy's by mpmath's name; a symbol stands for that of a number."""
        value = self.precise.function(name, *[term.value for term in terms])
        if name in ("sinpi", "cospi"):
            function = getattr(self.sympy, name[:3])
            return self._made(lambda x: function(self.sympy.pi * x), value, terms)
        if self.precise.undefined_number(value):
            return self.undefined()
        if not any(term.varies for term in terms) and self.precise.finite(value) and value and not self._readable:
            return self._opaque(value)
        function = getattr(self.sympy, SYMPY_NAMES.get(name, name), None)
        if function is None:
            raise CannotJudge(f"SymPy has no {name}")
        return self._made(function, value, terms)

    def absolute(self, x: Any) -> Term:
        """The absolute value, by the sign at the point."""
        term = self.lifted(x)
        return -term if term < 0 else term

    def where(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Term:
        """One of two values."""
        return self.lifted(yes() if condition else no())

    def equal(self, x: Any, y: Any) -> bool:
        """Whether two terms are equal; not where they are so at this point only."""
        x, y = self.lifted(x), self.lifted(y)
        if not x.varies and not y.varies:
            return bool(x.value == y.value)
        if x.value == y.value and x.expression != y.expression:
            self.ties += 1
        return bool(x.expression == y.expression)

    def below(self, x: Any, y: Any, *, equal: bool) -> bool:
        """Whether x < y, or x <= y where `equal`."""
        x, y = self.lifted(x), self.lifted(y)
        if x.value == y.value and (x.varies or y.varies) and x.expression != y.expression:
            self.ties += 1
            return (self._side if x.varies else -self._side) < 0
        return bool(x.value <= y.value if equal else x.value < y.value)

    def constant(self, x: Any) -> Any:
        """The value at the point, whatever it is computed from."""
        if not isinstance(x, Term) or not x.varies:
            return x
        return self._opaque(x.value) if x.value and self.precise.finite(x.value) else self.number(float(x.value))

    def both(self, *conditions: Any) -> bool:
        """Whether all conditions hold."""
        return all(conditions)

    def boolean(self, condition: Any) -> bool:
        """Whether a condition holds."""
        return bool(condition)

    def order(self, values: Sequence[Any]) -> Sequence[int]:
        """The positions from the smallest to the largest; the side decides between equal ones."""
        terms = [self.lifted(value) for value in values]
        stable = self.precise.order([term.value for term in terms])
        groups: list[list[int]] = []
        for position in stable:
            if groups and terms[groups[-1][0]].value == terms[position].value:
                first = terms[groups[-1][0]]
                if first.expression != terms[position].expression and (first.varies or terms[position].varies):
                    self.ties += 1
                groups[-1].append(position)
            else:
                groups.append([position])
        return [position for group in groups for position in (group if self._side < 0 else reversed(group))]

    def _extreme(self, values: Sequence[Any], which: int) -> Term:
        terms = [self.lifted(value) for value in values]
        undefined = [term for term in terms if self.precise.undefined_number(term.value)]
        if undefined:
            return undefined[0]
        ties = self.ties
        best = terms[self.order(terms)[which]]
        # Ties among the others do not matter.
        equals = [term for term in terms if term.value == best.value and term.expression != best.expression]
        self.ties = ties + sum(term.varies or best.varies for term in equals)
        return best

    def floor(self, x: Any) -> Term:
        """The integer below, by the value at the point."""
        x = self.lifted(x)
        value = self.precise.floor(x.value)
        if abs(value) > self._last_whole and self.precise.finite(value) and not x.expression.is_Rational:
            raise CannotJudge("the whole part of so large a number is not known to the last digit")
        if value == x.value and x.varies:
            self.ties += 1
            if self._side < 0:
                value -= 1
        return self.number(int(value)) if self.precise.finite(value) else self.undefined()

    def _folded(self, operation: Callable[..., Any], of_values: Callable[..., Any], terms: Sequence[Term]) -> Term:
        """A sum or product, of parts of it where it is long."""
        while len(terms) > _CHUNK and not self._readable:
            chunks = [terms[start : start + _CHUNK] for start in range(0, len(terms), _CHUNK)]
            terms = [self._folded(operation, of_values, chunk) for chunk in chunks]
            for term in terms:
                self._name(term)
        return super()._folded(operation, of_values, terms)
