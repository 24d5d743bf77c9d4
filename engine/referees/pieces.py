"""The gradient of a term by SymPy: each named piece is differentiated by `sympy.diff`, the chain rule joins them.

An expression without named pieces is one piece: then SymPy does it all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from ..worker.budget import Budget
from .arithmetic import PreciseArithmetic
from .case import CannotJudge
from .expressions import evaluated
from .term import Term
from .terms import SymbolicArithmetic

LARGEST: Final = 150_000
"""How many parts of expressions, times symbols in them, SymPy is asked to differentiate: some seconds of work."""
_PRECISIONS: Final = (50, 80, 160, 420, 840)
"""The digits of two evaluations must agree; where they do not, terms have cancelled and more are used."""
_TRUSTED: Final = 1e-22


@cache
def _arithmetic(digits: int) -> PreciseArithmetic:
    return PreciseArithmetic(digits)


class Gradient:
    """The derivatives of a term by symbols, as expressions to be evaluated.

    Args:
        m: the arithmetic that the term was made in.
        total: what is differentiated.
        budget: what may be spent.
    """

    def __init__(self, m: SymbolicArithmetic, total: Term, budget: Budget) -> None:
        self._m = m
        self._budget = budget
        self._total = total.expression
        self._edges: list[tuple[Any, Any, Any]] = []  # piece (None: all), symbol in it, derivative
        self._differentiate()

    def _differentiate(self) -> None:
        reached: set[Any] = {None}
        place = {symbol: position for position, symbol in enumerate((*self._m.symbols, *self._m.pieces))}
        work = 0
        for name, expression in [(None, self._total), *reversed(self._m.pieces.items())]:
            if name not in reached:
                continue
            symbols = sorted(expression.free_symbols, key=place.__getitem__)
            work += len(symbols) * int(expression.count_ops() + 1)
            if work > LARGEST:
                raise CannotJudge(f"too large for SymPy: more than {LARGEST:,} parts to differentiate")
            for symbol in symbols:
                self._budget.spend()
                if not symbol.is_Dummy or symbol in self._m.pieces:
                    self._edges.append((name, symbol, self._m.sympy.diff(expression, symbol)))
                    reached.add(symbol)

    def at(self, digits: int) -> dict[Any, Any]:
        """The derivative by each symbol that the term depends on, computed with some digits."""
        m = _arithmetic(digits)
        known = {symbol: m.number(0) + value for symbol, value in self._m.symbols.items()}
        for piece, expression in self._m.pieces.items():
            known[piece] = evaluated(m, expression, known, self._budget)
        slopes: dict[Any, Any] = {None: m.number(1)}
        for name, symbol, slope in self._edges:
            value = slopes[name] * evaluated(m, slope, known, self._budget)
            slopes[symbol] = slopes[symbol] + value if symbol in slopes else value
        return slopes

    def _magnitude(self) -> int:
        """The decimal exponent of the largest number: beside it, others would be lost in any two precisions alike."""
        m = _arithmetic(_PRECISIONS[0])
        sizes = [abs(value) for value in self._m.symbols.values() if m.finite(value)]
        return max(0, m.exponent(max(sizes, default=0) + 1))

    def by(self, symbols: Sequence[Any]) -> list[Any]:
        """The derivatives by some symbols, right to 20 digits."""
        found: dict[Any, Any] = {}
        before: dict[Any, Any] = {}
        for digits in (self._magnitude() + digits for digits in _PRECISIONS):
            slopes = self.at(digits)
            found = {symbol: slopes.get(symbol, 0) for symbol in symbols}
            if all(_settled(_arithmetic(digits), value, before.get(symbol)) for symbol, value in found.items()):
                break
            before = found
        zero = _arithmetic(50).number(0)
        least = _arithmetic(50).number(10) ** -400
        return [zero if abs(found[symbol]) < least else found[symbol] for symbol in symbols]


def _settled(m: PreciseArithmetic, value: Any, before: Any) -> bool:
    """Whether more digits change nothing; two zeros may both have lost everything, unless nothing was added up."""
    if isinstance(value, int) or not m.finite(value):
        return True
    return before is not None and value != 0 and bool(abs(value - before) <= abs(value) * _TRUSTED)
