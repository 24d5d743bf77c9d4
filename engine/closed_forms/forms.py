"""An output as a closed form, its derivatives, and their values at the point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node, ancestors
from ..referees.case import CannotJudge
from ..referees.forward import array_of, evaluate_node, exact_leaf
from ..worker.budget import Budget, BudgetSpent
from .arithmetic import FormArithmetic
from .point import Point

LARGEST: Final = 1000
"""Operations of a form that is still written out."""
_EXPANDED: Final = 20_000
"""Operations of an output that SymPy is asked to differentiate."""
_ROOT: Final = 12
_POWER: Final = 40
_AROUND: Final = 8
_ROOM: Final = 1e-9
QUICK: Final = (("factor_terms", 400), ("expand", 150), ("together", 80), ("factor", 60), ("powsimp", 60))
"""Functions of SymPy that may make an expression shorter, and how many operations they are tried on."""
THOROUGH: Final = (("simplify", 40),)
"""The same for what takes a second or more."""


class Forms:
    """The closed form of one output over symbols for entries of leaves.

    Args:
        output: the node.
        symbols: the nodes that get symbols, by the names that are shown: leaves, or one node inside of the graph.
        budget: what may be spent.

    Raises:
        CannotJudge: where an op has no form, or all is too large.
        BudgetSpent: where it takes too long.
    """

    def __init__(self, output: Node, symbols: Mapping[str, Node], budget: Budget) -> None:
        self.m = FormArithmetic(budget)
        self.point = Point(self.m, budget)
        self._budget = budget
        self.symbols: dict[str, Any] = {}
        self._known: dict[tuple[tuple[int, ...], tuple[Any, ...]], Any] = {}
        self._entries = self._expanded(output, symbols)

    def _expanded(self, output: Node, symbols: Mapping[str, Node]) -> Any:
        m = self.m
        values: dict[Node, Any] = {}
        nodes = ancestors([output, *symbols.values()])
        for name, node in symbols.items():
            point = self._value_of(node)
            entries = [
                m.symbol(f"{name}[{', '.join(map(str, index))}]" if index else name, point[index])
                for index in np.ndindex(node.shape)
            ]
            values[node] = array_of(node.shape, entries)
            self.symbols[name] = array_of(node.shape, [entry.expression for entry in entries])
        for node in nodes:
            if node in values:
                continue
            if node.dtype.kind == "c":
                raise CannotJudge("complex numbers have no closed form here")
            m.row = node.op
            if node.op is LEAF:
                values[node] = exact_leaf(m, node)
            else:
                values[node] = evaluate_node(m, node, [values[arg] for arg in node.args], self._budget)
        return values[output]

    def _value_of(self, node: Node) -> Any:
        if node.op is LEAF:
            return np.asarray(node.value).reshape(node.shape)
        precise = self.m.precise
        values: dict[Node, Any] = {}
        for inner in ancestors([node]):
            if inner.op is LEAF:
                values[inner] = exact_leaf(precise, inner)
            else:
                values[inner] = evaluate_node(precise, inner, [values[arg] for arg in inner.args], self._budget)
        return values[node]

    def derivative(self, entry: tuple[int, ...], by: Sequence[Any]) -> Any:
        """The derivative of an entry of the output by symbols, one after another, as SymPy gives it."""
        if not by:
            return self.m.lifted(self._entries[entry]).expression
        key = (entry, tuple(by))
        if key not in self._known:
            self._known[key] = self._checked(self._differentiated(self._small(self.derivative(entry, by[:-1])), by[-1]))
        return self._known[key]

    def _small(self, expression: Any) -> Any:
        operations = self.m.sympy.count_ops(expression)
        if operations > _EXPANDED:
            raise CannotJudge(f"too large for SymPy: {operations:,} operations")
        self._budget.spend()
        return expression

    def _checked(self, expression: Any) -> Any:
        sympy = self.m.sympy
        if expression.has(sympy.Derivative, sympy.Subs, sympy.DiracDelta, sympy.Integral):
            raise CannotJudge("SymPy leaves the derivative open")
        return expression

    def _differentiated(self, expression: Any, symbol: Any) -> Any:
        """The derivative by a symbol, branch by branch.

        A branch that holds at single points of the symbol says nothing of the slope there; a sign is constant between.
        """
        sympy = self.m.sympy
        moving = {symbol}
        fixed = {
            relation: sympy.true if isinstance(relation, sympy.Ne) else sympy.false
            for relation in expression.atoms(sympy.Eq, sympy.Ne)
            if relation.free_symbols & moving
        }
        signs = {sign: sympy.Dummy("sign", real=True) for sign in expression.atoms(sympy.sign)}
        slope = sympy.diff(expression.xreplace(fixed).xreplace(signs), symbol)
        return slope.xreplace({dummy: sign for sign, dummy in signs.items()})

    def shorter(self, expression: Any, attempts: Sequence[tuple[str, int]]) -> Any:
        """The shortest of some ways to write an expression.

        Args:
            expression: what is written.
            attempts: `QUICK` or `THOROUGH`.
        """
        sympy = self.m.sympy
        best = expression
        for name, most in attempts:
            for start in dict.fromkeys((best, expression)):
                if 2 <= sympy.count_ops(start) <= most and (name == "factor_terms" or _is_tractable(sympy, start)):
                    self._budget.spend()
                    best = min(best, self._tried(name, start), key=lambda form: _weight(sympy, form))
        return best

    def _tried(self, name: str, expression: Any) -> Any:
        """What a function of SymPy makes of an expression; the expression itself where it fails."""
        try:
            return getattr(self.m.sympy, name)(expression)
        except (BudgetSpent, MemoryError):
            raise
        except Exception:  # SymPy fails in many ways, and the form is there already
            return expression

    def shown(self, expression: Any) -> Any:
        """An expression with what its symbols hold put in."""
        while held := [symbol for symbol in expression.free_symbols if symbol in self.m.held]:
            expression = expression.xreplace({symbol: self.m.held[symbol] for symbol in held})
        return self._with_last_branches(expression)

    def _with_last_branches(self, expression: Any) -> Any:
        """The same, in which the last branch of each choice is for all that is left: ours are for all numbers."""
        sympy = self.m.sympy
        for choice in sorted(expression.atoms(sympy.Piecewise), key=sympy.count_ops):
            *branches, (last, condition) = choice.args
            if condition != sympy.true:
                whole = sympy.Piecewise(*branches, (last, True), evaluate=False)
                expression = expression.xreplace({choice: whole})
        return expression

    def tied(self) -> bool:
        """Whether the point lies on the border of two branches."""
        return any(self.point.is_tie(relation) for relation in self.m.borders)

    def is_between(self, number: float, expression: Any) -> bool:
        """Whether a number lies between the values that an expression has around the point, as it may at a kink."""
        precise = self.m.precise
        values = [Point(self.m, self._budget, seed).value(expression) for seed in range(_AROUND)]
        finite = [value for value in values if precise.finite(value)]
        room = _ROOM * max(map(abs, finite), default=precise.number(0))
        return bool(finite) and bool(min(finite) - room <= precise.number(number) <= max(finite) + room)

    def kinks(self, by: Sequence[Any]) -> list[tuple[Any, str, str, bool]]:
        """Where derivatives by some symbols jump.

        Each is an equation, the op, what its row says that is chosen there, and whether the point lies on it.
        """
        found = []
        for relation, row in self.m.borders.items():
            if relation in (True, False) or row.kink.startswith("none"):
                continue
            here = self.point.is_tie(relation)
            equations = self._equations(self.shown(relation.lhs), self.shown(relation.rhs))
            found += [(e, row.name, row.kink, here) for e in equations if e.free_symbols & set(by)]
        return found

    def _equations(self, left: Any, right: Any) -> list[Any]:
        """An equation, for each branch of a choice by itself, constants on its right; those without solutions aside."""
        sympy = self.m.sympy
        for choice, other in ((left, right), (right, left)):
            if isinstance(choice, sympy.Piecewise):
                return [equation for branch, _ in choice.args for equation in self._equations(branch, other)]
        if not left.free_symbols:
            left, right = right, left
        constant, rest = left.as_coeff_Add()
        if rest.could_extract_minus_sign() and not right.free_symbols:
            constant, rest, right = -constant, -rest, -right
        equation = sympy.Eq(rest, right - constant)
        return [] if equation in (True, False) else [equation]

    def conditions(self) -> list[Any]:
        """What was decided at the point: the form holds where all of these do."""
        return list(dict.fromkeys(self.shown(relation) for relation in self.m.decided))


def _is_tractable(sympy: Any, expression: Any) -> bool:
    """Whether SymPy will not make polynomials of x**(1/1000) for x**0.333, nor try all identities of tanh."""
    exponents = [power.exp for power in expression.atoms(sympy.Pow) if power.exp.is_Rational]
    simple = all(int(number.q) <= _ROOT and abs(int(number.p)) <= _POWER for number in exponents)
    return simple and not (len(expression.free_symbols) > 2 and expression.has(sympy.tanh, sympy.sinh, sympy.cosh))


def _weight(sympy: Any, expression: Any) -> tuple[int, int, str]:
    """How long an expression is to read."""
    text = str(expression)
    return int(sympy.count_ops(expression)), len(text), text
