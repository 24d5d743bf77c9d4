"""Cases of a proof: where each entry of each leaf lies, as an expression whose symbols assume just that."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from ..language.domains import Domain
from .question import Question

MOST: Final = 81
"""How many cases a proof may have."""

Entry = tuple[str, tuple[int, ...]]
"""An entry of a leaf: its name and its index."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Where one entry lies: a point (`low` is `high`), or an interval without its ends, but for `closed` ones.

    Attributes:
        low, high: the ends: rational numbers of SymPy's or floats that are infinite.
        closed: whether the finite end of an interval that reaches to infinity belongs to it.
    """

    low: Any
    high: Any
    closed: bool = False

    @property
    def is_point(self) -> bool:
        """Whether it is a single number."""
        return bool(self.low == self.high)

    def expression(self, sympy: Any, name: str) -> tuple[Any, Any]:
        """The number in it, and the symbol that it depends on (None for a point)."""
        if self.is_point:
            return self.low, None
        if self.low == -math.inf and self.high == math.inf:
            symbol = sympy.Symbol(name, real=True)
            return symbol, symbol
        signs = {"nonnegative": True} if self.closed else {"positive": True}
        if self.high == math.inf:
            symbol = sympy.Symbol(name, real=True, **signs)
            return self.low + symbol, symbol
        if self.low == -math.inf:
            symbol = sympy.Symbol(name, real=True, **signs)
            return self.high - symbol, symbol
        symbol = sympy.Symbol(name, positive=True)
        return self.low + (self.high - self.low) * symbol / (1 + symbol), symbol

    def split(self, at: Any) -> list[Piece]:
        """Its parts below, at and above a number inside of it; an end that belongs to it is a part of its own."""
        if self.closed:
            end = self.high if self.low == -math.inf else self.low
            return [Piece(end, end), *Piece(self.low, self.high).split(at)]
        if self.is_point or not self.low < at < self.high:
            return [self]
        return [Piece(self.low, at), Piece(at, at), Piece(at, self.high)]


Case = dict[Entry, Piece]


def entries(question: Question) -> list[Entry]:
    """Every entry of every leaf."""
    return [(name, index) for name, (node, *_) in question.leaves.items() for index in _indices(node.shape)]


def _indices(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return product(*[range(size) for size in shape])


def first_cases(question: Question, sympy: Any) -> list[Case] | None:
    """The cases to begin with; None where they are too many."""
    cases: list[Case] = [{}]
    for name, index in entries(question):
        pieces = _pieces(question.domain(name), sympy)
        if len(cases) * len(pieces) > MOST:
            return None
        cases = [{**case, (name, index): piece} for case in cases for piece in pieces]
    return cases


def _pieces(domain: Domain, sympy: Any) -> list[Piece]:
    if domain.values:
        return [Piece(value, value) for value in [sympy.Rational(str(value)) for value in domain.values]]
    low, high = [sympy.Rational(repr(end)) if math.isfinite(end) else end for end in (domain.low, domain.high)]
    ends = [end for end, bracket in ((low, "["), (high, "]")) if bracket in domain.brackets and math.isfinite(end)]
    if low == high:
        return [Piece(low, high)]
    if math.isfinite(domain.low) and math.isfinite(domain.high):
        return [Piece(low, high), *[Piece(end, end) for end in ends]]
    return [Piece(low, high, closed=bool(ends))]
