"""What the arithmetics of SymPy's expressions have in common, whether they decide conditions or keep them."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..worker.budget import Budget
from .arithmetic import PreciseArithmetic
from .case import CannotJudge
from .term import Term

SYMPY_NAMES: Final = {"psi": "polygamma", "lambertw": "LambertW"}
"""Where SymPy's name is not mpmath's."""
HIGHEST_POWER: Final = 64
"""The exponent above which SymPy would multiply out a power of a number."""
_LARGEST_EXPONENT: Final = 100_000
"""Numbers of more binary digits before or behind the point are not given to SymPy, which would write them out."""
_OF_REALS: Final = {"conj": 1, "re": 1, "im": 0}
"""Complex parts of a real number, as multiples of it."""


class Algebra(ABC):
    """An `Arithmetic` of terms: SymPy's expressions with their values at a point.

    Args:
        budget: what may be spent.
        digits: the digits of the values.

    Attributes:
        sympy: the package.
        precise: the arithmetic of the values.
        symbols: the value at the point of each symbol.
    """

    def __init__(self, budget: Budget, digits: int) -> None:
        import sympy

        self.sympy: Any = sympy
        self.precise = PreciseArithmetic(digits)
        self.budget = budget
        self.symbols: dict[Any, Any] = {}
        self.pi = Term(self, sympy.pi, self.precise.pi, False)
        self.e = Term(self, sympy.E, self.precise.e, False)
        self.inf = Term(self, sympy.oo, self.precise.inf, False)

    @abstractmethod
    def _made(self, operation: Callable[..., Any], value: Any, terms: Sequence[Term]) -> Term:
        """The term of an operation of SymPy's on terms, and of its value."""

    @abstractmethod
    def number(self, value: complex) -> Term:
        """A Python number."""

    @abstractmethod
    def lifted(self, value: Any) -> Term:
        """A term of a term, of a Python number or of a condition, which counts 1 or 0."""

    @abstractmethod
    def divide(self, x: Any, y: Any) -> Term:
        """The quotient."""

    @abstractmethod
    def power(self, x: Any, y: Any) -> Term:
        """The power x**y."""

    @abstractmethod
    def absolute(self, x: Any) -> Term:
        """The absolute value."""

    @abstractmethod
    def below(self, x: Any, y: Any, *, equal: bool) -> Any:
        """Whether x < y, or x <= y where `equal`."""

    @abstractmethod
    def floor(self, x: Any) -> Term:
        """The integer below."""

    @abstractmethod
    def _sign(self, x: Term) -> Term:
        """-1, 0 or 1."""

    @abstractmethod
    def _known(self, name: str, terms: Sequence[Term]) -> Term:
        """A function of SymPy's by mpmath's name."""

    @abstractmethod
    def _extreme(self, values: Sequence[Any], which: int) -> Term:
        """The smallest of some terms, or the largest where `which` is -1."""

    def applied(self, operation: Callable[..., Any], terms: Sequence[Term]) -> Any:
        """What an operation of SymPy's makes of the expressions of some terms.

        Raises:
            CannotJudge: where SymPy fails: it evaluates on the way, and not all of it is ready for infinities, or for
                numbers whose exponents alone have many digits.
        """
        if any(term.expression.is_number and self._is_beyond(term.value) for term in terms):
            raise CannotJudge("a number in it is too large or too small for SymPy")
        try:
            return operation(*[term.expression for term in terms])
        except (ArithmeticError, AttributeError, NotImplementedError, TypeError, ValueError) as fault:
            raise CannotJudge(f"SymPy cannot build the expression ({type(fault).__name__})") from fault

    def _is_beyond(self, value: Any) -> bool:
        m = self.precise
        return bool(m.finite(value) and value != 0 and abs(m.context.mag(value)) > _LARGEST_EXPONENT)

    def symbol(self, name: str, value: float) -> Term:
        """A real symbol."""
        symbol = self.sympy.Symbol(name, real=True)
        self.symbols[symbol] = self.precise.number(value)
        return Term(self, symbol, self.symbols[symbol], True)

    def ratio(self, numerator: int, denominator: int) -> Term:
        """A fraction."""
        value = self.precise.ratio(numerator, denominator)
        return Term(self, self.sympy.Rational(numerator, denominator), value, False)

    def join(self, operation: Callable[..., Any], *operands: Any) -> Term:
        """An operation that expressions and values both have."""
        self.budget.spend()
        terms = [self.lifted(operand) for operand in operands]
        return self._made(operation, operation(*[term.value for term in terms]), terms)

    def remainder(self, x: Any, y: Any) -> Term:
        """What is left of x after whole multiples of y, with the sign of y."""
        return self.lifted(self.lifted(x) - self.floor(self.divide(x, y)) * self.lifted(y))

    def function(self, name: str, *args: Any) -> Term:
        """A function by mpmath's name."""
        if name in _OF_REALS:
            return self.lifted(args[0] if _OF_REALS[name] else 0)
        if name == "floor":
            return self.floor(args[0])
        if name == "ceil":
            return -self.floor(-self.lifted(args[0]))
        if name == "expm1":
            return self.join(operator.sub, self.function("exp", *args), 1)
        if name == "log1p":
            return self.function("log", self.join(operator.add, args[0], 1))
        terms = [self.lifted(arg) for arg in args]
        if name == "sign":
            return self._sign(terms[0])
        self.budget.spend()
        return self._known(name, terms)

    def exp(self, x: Any) -> Term:
        """e**x."""
        return self.function("exp", x)

    def log(self, x: Any) -> Term:
        """The natural logarithm."""
        return self.function("log", x)

    def logaddexp(self, x: Any, y: Any) -> Term:
        """log(e**x + e**y)."""
        return self.log(self.exp(x) + self.exp(y))

    def sqrt(self, x: Any) -> Term:
        """The square root."""
        return self.function("sqrt", x)

    def maximum(self, values: Sequence[Any]) -> Term:
        """The largest of some terms."""
        return self._extreme(values, -1)

    def minimum(self, values: Sequence[Any]) -> Term:
        """The smallest of some terms."""
        return self._extreme(values, 0)

    def matrix_function(self, name: str, matrix: Any) -> tuple[Any, ...]:  # noqa: ARG002  # as the protocol has it
        """SymPy has no closed form."""
        raise CannotJudge(f"SymPy has no closed form of {name}")

    def undefined(self) -> Term:
        """Not a number."""
        return Term(self, self.sympy.nan, self.precise.undefined(), False)

    def total(self, values: Sequence[Any]) -> Term:
        """The sum."""
        return self._folded(self.sympy.Add, self.precise.total, [self.lifted(value) for value in values])

    def product(self, values: Sequence[Any]) -> Term:
        """The product."""
        return self._folded(self.sympy.Mul, self.precise.product, [self.lifted(value) for value in values])

    def _folded(self, operation: Callable[..., Any], of_values: Callable[..., Any], terms: Sequence[Term]) -> Term:
        self.budget.spend(len(terms))
        return self._made(operation, of_values([term.value for term in terms]), terms)
