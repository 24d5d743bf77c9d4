"""SymPy's expressions as the exact arithmetic of formulas, with conditions that stay symbolic: `Piecewise` branches.

The referee's own arithmetic (`referees.terms`) takes the branch that holds at the point; a closed form shows all of
them. What only the order of numbers decides (sorting, pivots) is decided at the point, and the conditions are noted.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

from ..graph import LEAF, Op
from ..referees.algebra import HIGHEST_POWER, SYMPY_NAMES, Algebra
from ..referees.case import CannotJudge
from ..referees.term import Term
from ..worker.budget import Budget
from .condition import Condition, related

_SIMPLE: Final = 1000
"""Denominators of fractions that a float is taken for, where it is the float next to one."""


class FormArithmetic(Algebra):
    """The `Arithmetic` of closed forms.

    Attributes:
        held: what a symbol stands for that is a constant to every derivative: `floor(x)`, `detach(x)`, a long number.
        decided: conditions that were decided at the point: the forms hold where they do.
        borders: for each relation the row of the op that it comes from.
        row: the row whose formula is being evaluated.
    """

    def __init__(self, budget: Budget, digits: int = 60) -> None:
        super().__init__(budget, digits)
        self.held: dict[Any, Any] = {}
        self.decided: list[Any] = []
        self.borders: dict[Any, Op] = {}
        self.row: Op = LEAF

    def term(self, expression: Any, value: Any) -> Term:
        """A term of an expression and its value."""
        return Term(self, expression, value, bool(expression.free_symbols))

    def _made(self, operation: Callable[..., Any], value: Any, terms: Sequence[Term]) -> Term:
        """The term of an operation of SymPy's on terms, and of its value."""
        return self.term(self.applied(operation, terms), value)

    def number(self, value: complex) -> Term:
        """A Python number: 0.5 is 1/2, 0.1 is 1/10."""
        if isinstance(value, complex):
            raise CannotJudge("complex numbers have no closed form here")
        exact = self.precise.number(value)
        if self.precise.undefined_number(exact):
            return self.undefined()
        if not self.precise.finite(exact):
            return self.term(self.sympy.oo if value > 0 else -self.sympy.oo, exact)
        near = Fraction(value).limit_denominator(_SIMPLE)
        fraction = near if float(near) == value else Fraction(repr(float(value)))
        return self.term(self.sympy.Rational(fraction.numerator, fraction.denominator), exact)

    def lifted(self, value: Any) -> Term:
        """A term of a term, of a Python number or of a condition, which counts 1 or 0."""
        if isinstance(value, Condition):
            return self.where(value, lambda: self.number(1), lambda: self.number(0))
        return value if isinstance(value, Term) else self.number(value)

    def _hold(self, expression: Any, value: Any) -> Term:
        """A symbol that stands for an expression as a constant."""
        for symbol, known in self.held.items():
            if known == expression:
                return self.term(symbol, value)
        symbol = self.sympy.Dummy("held", real=True)
        self.symbols[symbol], self.held[symbol] = value, expression
        return self.term(symbol, value)

    def divide(self, x: Any, y: Any) -> Term:
        """The quotient."""
        x, y = self.lifted(x), self.lifted(y)
        self.budget.spend()
        value = self.precise.divide(x.value, y.value)
        if y.expression == 0:
            return self.undefined() if x.expression == 0 else self.term(self.sympy.oo, value)
        return self.term(x.expression / y.expression, value)

    def power(self, x: Any, y: Any) -> Term:
        """x**y; SymPy is kept from multiplying out large powers of numbers."""
        x, y = self.lifted(x), self.lifted(y)
        self.budget.spend()
        value = self.precise.power(x.value, y.value)
        if not x.varies and not y.varies and abs(y.value) > HIGHEST_POWER and self.precise.finite(value):
            return self._hold(self.sympy.Float(self.precise.text(value, 20), 20), value)
        return self.term(x.expression**y.expression, value)

    def _sign(self, x: Term) -> Term:
        """-1, 0 or 1, a constant to every derivative."""
        return self._hold(self.sympy.sign(x.expression), self._value("sign", [x.value]))

    def _known(self, name: str, terms: Sequence[Term]) -> Term:
        """A function of SymPy's by mpmath's name."""
        if name in ("sinpi", "cospi"):
            return self.function(name.removesuffix("pi"), self.join(operator.mul, self.pi, *terms))
        function = getattr(self.sympy, SYMPY_NAMES.get(name, name), None)
        if function is None:  # before there is a value: of a branch that does not hold it may take for ever
            raise CannotJudge(f"SymPy has no {name}")
        return self._made(function, self._value(name, [term.value for term in terms]), terms)

    def _value(self, name: str, values: Sequence[Any]) -> Any:
        """The value of a function; undefined where mpmath has none: the branch may not be the one that holds."""
        if name == "sign":
            return self.precise.number((values[0] > 0) - (values[0] < 0))
        try:
            return self.precise.function(name, *values)
        except CannotJudge:
            return self.precise.undefined()

    def absolute(self, x: Any) -> Term:
        """The absolute value; in two branches where SymPy does not know that its argument is real."""
        term = self.lifted(x)
        self.borders.setdefault(self.sympy.Eq(term.expression, 0), self.row)
        if term.expression.is_extended_real:
            return self.term(self.sympy.Abs(term.expression), abs(term.value))
        return self.where(term < 0, lambda: -term, lambda: term)

    def condition(self, relation: Any, holds: bool) -> Any:
        """A condition, or a plain truth value where SymPy knows it for all values."""
        if relation in (True, False):
            return bool(relation)
        return Condition(self, relation, holds)

    def where(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Term:
        """One of two values; of a branch that has no form the other one is taken, if the condition says so here."""
        if not isinstance(condition, Condition):
            return self.lifted(yes() if condition else no())
        self.budget.spend()
        try:
            branches = [self.lifted(yes()), self.lifted(no())]
        except (CannotJudge, ZeroDivisionError):
            return self.lifted(yes() if condition else no())
        value = branches[0 if condition.holds else 1].value
        expressions = [branch.expression for branch in branches]
        return self.term(self.sympy.Piecewise((expressions[0], condition.relation), (expressions[1], True)), value)

    def equal(self, x: Any, y: Any) -> Any:
        """Whether two terms are equal."""
        x, y = self.lifted(x), self.lifted(y)
        if not x.varies and not y.varies:
            return bool(x.value == y.value)
        return self._related(self.sympy.Eq, x, y, bool(x.value == y.value))

    def below(self, x: Any, y: Any, *, equal: bool) -> Any:
        """Whether x < y, or x <= y where `equal`."""
        x, y = self.lifted(x), self.lifted(y)
        holds = bool(x.value <= y.value if equal else x.value < y.value)
        if not x.varies and not y.varies:
            return holds
        return self._related(self.sympy.Le if equal else self.sympy.Lt, x, y, holds)

    def _related(self, relation: Any, x: Term, y: Term, holds: bool) -> Any:
        try:
            found = related(self, relation, x.expression, y.expression)
        except TypeError:  # one of them is no real number for some values
            return holds
        self.borders.setdefault(self.sympy.Eq(x.expression, y.expression), self.row)
        return self.condition(found, holds)

    def constant(self, x: Any) -> Any:
        """What `detach` means: the same value, a constant to every derivative."""
        return self._hold(x.expression, x.value) if isinstance(x, Term) and x.varies else x

    def both(self, *conditions: Any) -> Any:
        """Whether all conditions hold."""
        found: Any = True
        for condition in conditions:
            found = condition & found if isinstance(condition, Condition) else found if condition else False
        return found

    def boolean(self, condition: Any) -> bool:
        """Whether a condition holds at the point, which is noted."""
        return bool(condition)

    def order(self, values: Sequence[Any]) -> Sequence[int]:
        """The positions from the smallest to the largest at the point, which is noted."""
        terms = [self.lifted(value) for value in values]
        order = self.precise.order([term.value for term in terms])
        for smaller, larger in itertools.pairwise(order):
            self._note(terms[smaller], terms[larger])
        return order

    def _note(self, smaller: Term, larger: Term) -> None:
        """Note that a term is not above another one at the point."""
        if smaller.varies or larger.varies:
            condition = self.below(smaller, larger, equal=True)
            if isinstance(condition, Condition):
                bool(condition)

    def _extreme(self, values: Sequence[Any], which: int) -> Term:
        """The smallest or the largest: of two terms in branches, of more the one that is so at the point."""
        terms = [self.lifted(value) for value in values]
        if len(terms) == 1:
            return terms[0]
        if len(terms) == 2:
            low, high = terms if which == 0 else terms[::-1]
            return self.where(self.below(low, high, equal=False), lambda: terms[0], lambda: terms[1])
        best = terms[self.precise.order([term.value for term in terms])[which]]
        for term in terms:
            if term is not best:
                self._note(*((best, term) if which == 0 else (term, best)))
        return best

    def floor(self, x: Any) -> Term:
        """The integer below."""
        x = self.lifted(x)
        expression = self.sympy.floor(x.expression)
        return self._hold(expression, self.precise.floor(x.value)) if x.varies else self.number(int(expression))
