"""A condition on terms: a relation of SymPy's with its truth at the point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .arithmetic import FormArithmetic


class Condition:
    """A relation that stays symbolic; where Python needs a truth value it is decided at the point, and noted.

    Attributes:
        relation: SymPy's boolean.
        row: the op whose formula makes it.
        holds: whether it is true at the point.
    """

    __slots__ = ("holds", "m", "relation", "row")

    is_Boolean = True  # noqa: N815  # SymPy's name, by which the formulas of the table know a condition

    def __init__(self, m: FormArithmetic, relation: Any, holds: bool) -> None:
        self.m = m
        self.relation = relation
        self.holds = holds
        self.row = m.row

    def __bool__(self) -> bool:
        # A smooth function is the same one however its formula goes about it.
        if self.row.family == "comparison" or not self.row.kink.startswith("none"):
            self.m.decided.append(self.relation if self.holds else self.m.sympy.Not(self.relation))
        return self.holds

    def __invert__(self) -> Any:
        return self.m.condition(self.m.sympy.Not(self.relation), not self.holds)

    def __and__(self, other: Any) -> Any:
        relation, holds = _parts(other)
        return self.m.condition(self.m.sympy.And(self.relation, relation), self.holds and holds)

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        relation, holds = _parts(other)
        return self.m.condition(self.m.sympy.Or(self.relation, relation), self.holds or holds)

    __ror__ = __or__


def _parts(condition: Any) -> tuple[Any, bool]:
    """The relation and the truth of a condition, or of a plain truth value."""
    if isinstance(condition, Condition):
        return condition.relation, condition.holds
    return bool(condition), bool(condition)


def related(m: FormArithmetic, relation: Any, x: Any, y: Any) -> Any:
    """A relation of two expressions, for each branch of a choice by itself: SymPy would nest conditions.

    Args:
        m: the arithmetic.
        relation: SymPy's class: Lt, Le or Eq.
        x, y: the expressions.
    """
    sympy = m.sympy
    choice = next((side for side in (x, y) if isinstance(side, sympy.Piecewise)), None)
    if choice is None:
        return relation(x, y)
    m.budget.spend()
    found, before = [], sympy.true
    for branch, condition in choice.args:
        sides = (branch, y) if choice is x else (x, branch)
        found.append(sympy.And(before, condition, related(m, relation, *sides)))
        before = sympy.And(before, sympy.Not(condition))
    return sympy.Or(*found)
