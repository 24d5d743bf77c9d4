"""Nodes as SymPy's expressions for all numbers of a case: derivatives are SymPy's own, of what is differentiated.

Where the case is a single number of a leaf, a derivative by that is taken from both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..graph import Node, ancestors
from ..language.differentials import Derivative
from ..referees.forward import array_of, evaluate_graph
from ..referees.term import Term
from ..worker.budget import Budget
from .cuts import without_rules
from .decisions import UndecidedError, is_zero, known
from .proof_terms import NotProvedError, ProofArithmetic
from .question import Question
from .regions import Case, Entry


class CaseValues:
    """Nodes as expressions, for all numbers of a case, with derivatives by SymPy.

    Args:
        question: what is claimed.
        case: where each entry of each leaf lies.
        budget: what may be spent.
    """

    def __init__(self, question: Question, case: Case, budget: Budget) -> None:
        import sympy

        self.sympy: Any = sympy
        self.question = question
        self.case = case
        self.budget = budget
        self.places: dict[Entry, tuple[Any, Any]] = {
            entry: piece.expression(sympy, label(entry)) for entry, piece in case.items()
        }
        self.names = {node: name for name, nodes in question.leaves.items() for node in nodes}

    def values(self, m: ProofArithmetic, target: Node, given: Mapping[Node, Any] | None = None) -> Any:
        """The value of a node, with its derivatives by SymPy."""
        order = without_rules([target], self.question.derivatives)
        known_values: dict[Node, Any] = {**self.leaves(m), **(given or {})}
        for node in order:
            if node in self.question.derivatives and node not in known_values:
                known_values[node] = self._derivative(m, node, self.question.derivatives[node])
        return evaluate_graph(m, order, known_values, self.budget)[target]

    def leaves(self, m: ProofArithmetic, moved: Mapping[Entry, Any] | None = None) -> dict[Node, Any]:
        """The leaves as terms; some entries may be moved to other expressions."""
        found = {}
        for name, nodes in self.question.leaves.items():
            terms = []
            for index in np.ndindex(nodes[0].shape):
                expression, symbol = self.places[name, index]
                if moved is not None and (name, index) in moved:
                    terms.append(m.varying(moved[name, index]))
                elif symbol is not None:
                    terms.append(m.varying(expression))
                else:
                    terms.append(Term(m, expression, m.precise.number(float(expression)), False))
            for node in nodes:
                found[node] = array_of(node.shape, terms)
        return found

    def _derivative(self, m: ProofArithmetic, node: Node, of: Derivative) -> Any:
        """A derivative, entry by entry."""
        if any(by not in self.names for by in of.by):
            return self._by_intermediate(m, node, of)
        totals = self._totals(m, of, self.values(m, of.output))
        found: list[Any] = []
        for row, total in enumerate(totals):
            for indices in product(*[list(np.ndindex(by.shape)) for by in of.by]):
                chosen = [(self.names[by], index) for by, index in zip(of.by, indices, strict=True)]
                points = [entry for entry in chosen if self.case[entry].is_point]
                if not points:
                    expression = total.expression
                    for entry in chosen:
                        expression = self._slope(m, expression, *self.places[entry])
                elif len(chosen) == 1:
                    expression = self._beside(m, node, of, (row, len(found)), points[0])
                else:
                    raise NotProvedError(f"there is no proof of a second derivative at {label(points[0])} itself")
                found.append(m.varying(expression))
        return array_of(node.shape, found)

    def _totals(self, m: ProofArithmetic, of: Derivative, output: Any) -> list[Term]:
        """What is differentiated: the weighted sum of the entries, or each of them."""
        terms = [m.lifted(entry) for entry in output.ravel().tolist()]
        if of.weights is None:
            return terms
        weights = self.values(m, of.weights).ravel().tolist()
        return [m.total([m.lifted(weight) * term for weight, term in zip(weights, terms, strict=True)])]

    def _slope(self, m: ProofArithmetic, expression: Any, place: Any, symbol: Any) -> Any:
        """The derivative of an expression by an entry that is `place`, an expression of a symbol."""
        sympy = self.sympy
        expression = m.settled(expression)
        for each in sorted(expression.atoms(sympy.Abs), key=str):
            raise UndecidedError(each.args[0])
        if expression.has(sympy.sign, sympy.Max, sympy.Min, sympy.Heaviside, sympy.floor, sympy.Piecewise):
            raise NotProvedError("SymPy writes it with branches")
        slope = sympy.diff(expression, symbol) / sympy.diff(place, symbol)
        if slope.has(sympy.Derivative, sympy.Subs, sympy.DiracDelta):
            raise NotProvedError("SymPy has no closed form of the derivative")
        self._define(m, slope)
        return slope

    def _define(self, m: ProofArithmetic, expression: Any) -> None:
        """Note what a derivative takes to be defined."""
        sympy = self.sympy
        for power in expression.atoms(sympy.Pow):
            if power.exp.is_negative is not False:
                m.want("nonzero", power.base)
            if power.exp.is_integer is not True and power.base is not sympy.E:
                m.want("nonnegative", power.base)
        for logarithm in expression.atoms(sympy.log):
            m.want("positive", logarithm.args[0])

    def _by_intermediate(self, m: ProofArithmetic, node: Node, of: Derivative) -> Any:
        """A derivative by what is no leaf: its entries are symbols, until it has been differentiated."""
        if len(of.by) != 1:
            raise NotProvedError("there is no proof of a second derivative by what is computed")
        sympy, by = self.sympy, of.by[0]
        inner = self.values(m, by).ravel().tolist()
        symbols = [sympy.Dummy("u", real=True) for _ in inner]
        fresh = ProofArithmetic(self.budget)
        given = {by: array_of(by.shape, [fresh.varying(symbol) for symbol in symbols])}
        totals = self._totals(fresh, of, self.values(fresh, of.output, given))
        back = {symbol: m.lifted(entry).expression for symbol, entry in zip(symbols, inner, strict=True)}
        slopes = [self._slope(fresh, total.expression, symbol, symbol) for total in totals for symbol in symbols]
        for kind, expression in fresh.wanted:
            m.want(kind, expression.subs(back))
        return array_of(node.shape, [m.varying(slope.subs(back)) for slope in slopes])

    def _beside(self, m: ProofArithmetic, node: Node, of: Derivative, place: tuple[int, int], entry: Entry) -> Any:
        """The derivative by an entry that is a single number: from both sides, and at a kink what the rule chooses."""
        sympy = self.sympy
        near = sympy.Symbol("near", positive=True)
        sides: list[tuple[Any, Any] | None] = []
        for sign in (1, -1):
            fresh = ProofArithmetic(self.budget)
            fresh.near = near
            given = self.leaves(fresh, {entry: self.places[entry][0] + sign * near})
            total = fresh.settled(self._totals(fresh, of, self.values(fresh, of.output, given))[place[0]].expression)
            if fresh.wanted or total.has(sympy.nan, sympy.zoo):
                sides.append(None)
                continue
            value, slope = total.subs(near, 0), sign * sympy.diff(total, near)
            at = slope.subs(near, 0)
            if at.has(sympy.nan, sympy.zoo):
                at = sympy.limit(slope, near, 0, "+")
            sides.append((value, at))
        right, left = sides
        if left is None or right is None:
            one = left or right
            return one[1] if one is not None else sympy.nan
        if any(side[1].has(sympy.oo, -sympy.oo, sympy.nan, sympy.zoo) for side in (left, right)):
            return sympy.nan if left[1] == right[1] else self._no_kink(entry)
        if not is_zero(sympy, left[0] - right[0]):
            raise NotProvedError(f"what is differentiated jumps at {label(entry)} = {self.places[entry][0]}")
        if is_zero(sympy, left[1] - right[1]):
            return right[1]
        chosen = m.lifted(self._by_rule(m, node)[place[1]]).expression
        if not known(sympy, "nonnegative", sympy.expand((chosen - left[1]) * (right[1] - chosen))):
            self._no_kink(entry)
        return chosen

    def _no_kink(self, entry: Entry) -> Any:
        raise NotProvedError(f"there is a kink at {label(entry)} = {self.places[entry][0]}")

    def _by_rule(self, m: ProofArithmetic, node: Node) -> Sequence[Any]:
        """What the rules give for a derivative: at a kink it is theirs to choose."""
        values = evaluate_graph(m, ancestors([node]), self.leaves(m), self.budget)
        return values[node].ravel().tolist()  # type: ignore[no-any-return]  # NumPy's list of an object array


def label(entry: Entry) -> str:
    """An entry as in `x[0, 1]`, or `x` for a single number."""
    name, index = entry
    return f"{name}[{', '.join(map(str, index))}]" if index else name
