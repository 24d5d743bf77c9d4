"""A question proved for all numbers of its domains by SymPy, case by case, or not.

A proof shows that the sides are equal, and that each is defined where the other is.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from ..graph import Node
from ..referees.case import CannotJudge
from ..referees.forward import array_of
from ..worker.budget import Budget
from .case_values import CaseValues
from .decisions import UndecidedError, is_zero, known
from .proof_terms import NotProvedError, ProofArithmetic
from .question import Question
from .regions import MOST, Case, Entry, first_cases

_MOST_ENTRIES: Final = 40
_MOST_ROOTS: Final = 4
_WORDS: Final = {"nonzero": "not zero", "nonnegative": "not negative"}


class Proof(NamedTuple):
    """What SymPy says.

    Attributes:
        reason: why there is no proof; None where there is one.
        partial: whether the sides are undefined, both of them, for some numbers.
    """

    reason: str | None
    partial: bool = False


def proved(question: Question, budget: Budget) -> Proof:
    """Whether SymPy proves a question.

    Args:
        question: what is claimed.
        budget: what may be spent; SymPy itself does not poll it, so an alarm must stand behind.
    """
    if question.reads:
        return Proof("values decide what is picked, and only points where the same is picked were tried")
    try:
        return Proof(None, _all_cases(question, budget))
    except NotProvedError as reason:
        return Proof(str(reason))
    except (CannotJudge, ArithmeticError, AttributeError, NotImplementedError, TypeError, ValueError) as reason:
        return Proof(f"SymPy has no proof: {reason}")  # SymPy fails in many ways on formulas that it does not know
    except RecursionError:
        return Proof("the formula is nested too deeply for SymPy")


def _all_cases(question: Question, budget: Budget) -> bool:
    """Prove every case; gives whether the sides are undefined somewhere.

    Raises:
        NotProvedError: where one has no proof.
    """
    import sympy

    if sum(node.size for node, *_ in question.leaves.values()) > _MOST_ENTRIES:
        raise NotProvedError(f"more than {_MOST_ENTRIES} numbers are too many for SymPy")
    cases = first_cases(question, sympy)
    if cases is None:
        raise NotProvedError("there are too many cases for a proof")
    count, partial = len(cases), False
    while cases:
        case = cases.pop()
        try:
            partial = _OneCase(question, case, budget).run() or partial
        except UndecidedError as undecided:
            parts = _OneCase(question, case, budget).split(undecided.expression)
            count += len(parts)
            if not parts or count > MOST:
                raise NotProvedError(f"the sign of {_short(undecided.expression)} is not known") from None
            cases += parts
    return partial


def _short(expression: Any) -> str:
    text = str(expression)
    return text if len(text) <= 60 else "a long expression"


class _OneCase(CaseValues):
    """One case of a proof."""

    def run(self) -> bool:
        """Prove the case; gives whether the sides are undefined somewhere in it.

        Raises:
            NotProvedError: where there is no proof.
            UndecidedError: where the case must be split.
        """
        (left, wanted), (right, wanted_too) = self._side(self.question.left), self._side(self.question.right)
        if (wanted or wanted_too) and (wanted != wanted_too or left.size * right.size > 1):
            kind, expression = min(wanted ^ wanted_too or wanted, key=str)
            raise NotProvedError(f"a side is undefined unless {_short(expression)} is {_WORDS.get(kind, kind)}")
        partial = bool(wanted)
        for one, other in zip(*[side.ravel().tolist() for side in np.broadcast_arrays(left, right)], strict=True):
            partial = self._compare(one, other) or partial
        return partial

    def _compare(self, left: Any, right: Any) -> bool:
        """Prove one entry; gives whether it is undefined on both sides."""
        sympy = self.sympy
        ill = [expression.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo) for expression in (left, right)]
        if all(ill):
            return True
        if any(ill):
            raise NotProvedError("one side alone is undefined")
        operator = self.question.operator
        gap = right - left if operator in ("lt", "le") else left - right
        if operator in ("eq", "approximate"):
            if not is_zero(sympy, gap):
                for each in sorted(gap.atoms(sympy.Abs), key=str):
                    raise UndecidedError(each.args[0])
                raise NotProvedError("SymPy does not find the sides equal")
            return False
        kind = {"ne": "nonzero", "lt": "positive", "gt": "positive"}.get(operator, "nonnegative")
        if not any(known(sympy, kind, form) for form in (gap, sympy.expand(gap), sympy.simplify(gap))):
            raise NotProvedError(f"SymPy does not find that {_short(gap)} is {_WORDS.get(kind, kind)}")
        return False

    def _side(self, node: Node) -> tuple[Any, set[tuple[str, Any]]]:
        """A side as expressions, and what it takes to be defined."""
        m = ProofArithmetic(self.budget)
        values = self.values(m, node)
        entries = [int(entry) if isinstance(entry, bool) else entry for entry in values.ravel().tolist()]
        return array_of(values.shape, [m.settled(m.lifted(entry).expression) for entry in entries]), m.wanted

    def split(self, expression: Any) -> list[Case]:
        """The parts of the case on both sides of where an expression is zero; none where that cannot be found."""
        sympy = self.sympy
        owners = {symbol: entry for entry, (_, symbol) in self.places.items() if symbol is not None}
        numerator = sympy.numer(sympy.together(expression))
        for symbol in sorted(expression.free_symbols & owners.keys(), key=str):
            entry = owners[symbol]
            pieces = [self.case[entry]]
            for value in [*self._roots(numerator, symbol, entry), sympy.Integer(0)]:
                pieces = [part for piece in pieces for part in piece.split(value)]
            if len(pieces) > 1:
                return [{**self.case, entry: piece} for piece in pieces]
        return []

    def _roots(self, numerator: Any, symbol: Any, entry: Entry) -> list[Any]:
        """The rational numbers of an entry at which a factor of a polynomial is zero that has no other symbol."""
        sympy = self.sympy
        found = []
        for factor, _ in sympy.factor_list(numerator)[1]:
            if factor.free_symbols == {symbol} and factor.is_polynomial(symbol):
                for root in list(sympy.Poly(factor, symbol).ground_roots())[:_MOST_ROOTS]:
                    found.append(self.places[entry][0].subs(symbol, root))
        return [value for value in found if value.is_Rational]
