"""Both sides of a question at one point: in float64 as the engine runs them, and in exact arithmetic.

In exact arithmetic a derivative is a difference quotient of what is differentiated, never the result of a rule; where
it does not exist, at a kink, it is what the rule chooses, if that lies between the slopes of both sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np

from ..graph import Node, ancestors
from ..referees.arithmetic import PreciseArithmetic
from ..referees.case import CannotJudge
from ..referees.forward import array_of, cost_of, evaluate_graph
from ..referees.slopes import Slope
from ..run.cpu import run
from ..run.plan import make_plan
from ..run.steps import Plan
from ..worker.budget import Budget
from .cuts import up_to_derivatives, without_rules
from .precision import DIGITS, SPARE, BoundedArithmetic, digits_needed, is_algebraic, is_doubtful, steady
from .question import Question
from .quotients import is_linear, slopes_of
from .rounding import drawn_in, has_rounded_parameter, is_rounded, rewritten

Side = Literal["slope", "left", "right", "chosen"]

Point = Mapping[str, Any]
"""An array (or NumPy scalar) for each leaf, by name."""

_MOST_OPERATIONS: Final = 300_000
_MODERATE: Final = 1e3
"""Rules are looked at where leaves are between the inverse of this and this: elsewhere digits may run out."""
_STEEPEST: Final = 1e20
"""Where leaves are larger, or smaller than the inverse, steps of difference quotients may be too long."""
_RULE: Final = 1e-9
"""How near a rule must come to the difference quotient, both in exact arithmetic."""


class WrongRuleError(Exception):
    """A derivative by agrad's rules is not the derivative: nothing can be judged by it."""


@dataclass(slots=True)
class ExactSides:
    """Both sides in exact arithmetic.

    Attributes:
        left, right: object arrays of mpmath numbers, of one shape.
        digits: the decimal digits that they were computed with.
        size, least: the largest finite number on the way to them, and the least that is not zero.
        kinks: for derivatives that do not exist, both slopes and what the rule chooses, in words.
        wrong: for derivatives by rules that are not the derivative, what both are, in words.
        doubtful: whether a comparison, or a step, turned on less than the digits tell.
    """

    left: Any
    right: Any
    size: Any
    least: Any
    digits: int
    kinks: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    doubtful: bool = False


class Sides:
    """The sides of a question, to be seen at one point after another.

    Args:
        question: the question; the values of its leaves are set here.
        budget: what may be spent.
    """

    def __init__(self, question: Question, budget: Budget) -> None:
        self.question = question
        self.budget = budget
        self.base: Point = {name: np.asarray(nodes[0].value) for name, nodes in question.leaves.items()}
        self._targets = (question.left, question.right)
        self._reads = make_plan(question.reads)
        self._read = self._values_read()
        self._plan = make_plan(self._targets)
        self._order = without_rules(self._targets, question.derivatives)
        self._rules = {node: ancestors([node]) for node in question.derivatives if node in set(self._order)}
        outputs = [of.output for of in question.derivatives.values()]
        self._forward = up_to_derivatives(self._order, ancestors(outputs), question.derivatives)
        self._everything = list(dict.fromkeys([*self._order, *self._forward]))
        entries = sum(node.size for node in self._rules)
        self._cost = sum(cost_of(node) for node in self._everything) * (1 + 2 * entries)
        varying = {node for nodes in question.leaves.values() for node in nodes}
        everything = ancestors([*self._targets, *outputs])
        self._written = [node for node in everything if node not in varying and is_rounded(node)]
        self.has_rounded_parameters = any(map(has_rounded_parameter, everything))
        """Whether an op has a parameter that binary floating point rounds."""
        self.is_algebraic = all(is_algebraic(node) for node in everything)
        """Whether it is made of sums, products, quotients and roots alone."""

    @property
    def is_large(self) -> bool:
        """Whether exact arithmetic would take too long."""
        return self._cost > _MOST_OPERATIONS

    def give_up(self) -> None:
        """Exact arithmetic has turned out to take too long."""
        self._cost = _MOST_OPERATIONS + 1

    def move(self, point: Point) -> None:
        """Go to a point."""
        for name, nodes in self.question.leaves.items():
            for node in nodes:
                node.value = np.asarray(point[name], node.dtype).reshape(node.shape)[()]

    def is_as_built(self) -> bool:
        """Whether the formulas are right here: what decided how they were built is as it was."""
        return all(np.array_equal(*pair) for pair in zip(self._read, self._values_read(), strict=True))

    def _values_read(self) -> list[Any]:
        values = run(self._reads)
        return [np.asarray(values[node]) for node in self.question.reads]

    def floats(self) -> tuple[Any, Any]:
        """Both sides as the engine computes them."""
        values = run(self._plan)
        left, right = (np.asarray(values[side], np.float64) for side in self._targets)
        return np.broadcast_arrays(left, right)  # type: ignore[return-value]  # two of two

    def floats_beside(self, seed: int, away: float) -> tuple[Any, Any]:
        """Both sides nearer to zero, by some part of each leaf at most: they are rounded in other ways there."""
        nodes = [node for nodes in self.question.leaves.values() for node in nodes]
        with drawn_in(nodes, seed, away), np.errstate(all="ignore"):
            return self.floats()

    def largest_float(self) -> float:
        """The largest finite number on the way, also within derivatives, as the engine computes it."""
        values = run(self._numbers)
        with np.errstate(all="ignore"):
            sizes = [np.abs(np.asarray(value, np.float64)) for value in values.values()]
        return max((float(np.max(size, initial=0.0, where=np.isfinite(size))) for size in sizes), default=0.0)

    @cached_property
    def _numbers(self) -> Plan:
        """The plan of every number on the way: it is the same at all points."""
        return make_plan(
            [node for node in ancestors(self._targets) if node.op.outputs == 1 and node.dtype.kind in "fi"]
        )

    def exact(self, digits: int = DIGITS, *, rules: bool = False, side: Side = "slope", finer: int = 1) -> ExactSides:
        """Both sides in exact arithmetic.

        Args:
            digits: decimal digits to work with.
            rules: look whether the rules give the derivatives too.
            side: what stands for a derivative at a kink: the slope, or else what the rule chooses; the slope of one
                side; or what the rule chooses in any case.
            finer: how many times as many digits difference quotients have as usual.

        Raises:
            CannotJudge: where there is no exact arithmetic for it.
        """
        m = BoundedArithmetic(digits)
        told = ExactSides(None, None, None, None, digits)
        given = {node: self._derivative(m, node, told, rules, side, finer) for node in self._rules}
        values = evaluate_graph(m, self._order, given, self.budget)
        if m.beyond:
            raise CannotJudge("the numbers grow beyond all bounds here")
        told.left, told.right = np.broadcast_arrays(*[_numbers(m, values[target]) for target in self._targets])
        told.size, told.least = _extent(m, values.values())
        told.doubtful = any(is_doubtful(m, node, values) for node in self._order if node not in given)
        return told

    def _derivative(
        self, m: BoundedArithmetic, node: Node, told: ExactSides, rules: bool, side: Side, finer: int
    ) -> Any:
        """A derivative by difference quotients, entry by entry."""
        of = self.question.derivatives[node]
        evaluate_graph(m, ancestors([of.output]), {}, self.budget)
        if m.beyond:
            raise CannotJudge("the numbers grow beyond all bounds here")
        kinky = self.at_kink(ancestors([of.output]))
        slopes = list(slopes_of(of, self.budget, finer))
        entries = [None if slope.value is None else m.context.mpf(slope.value) for slope in slopes]
        if not (rules and self.is_moderate()) and not kinky and None not in entries:
            return array_of(node.shape, entries)
        by_rule = evaluate_graph(m, self._rules[node], {}, self.budget)[node].ravel().tolist()
        for position, (slope, entry, got) in enumerate(zip(slopes, entries, by_rule, strict=True)):
            if entry is None and side in ("left", "right"):
                entries[position] = m.context.mpf(slope.left if side == "left" else slope.right)
            elif entry is None:
                entries[position] = _chosen(m, slope, got, told, strictly=of.by[0].size == 1 and self.is_moderate())
            elif m.finite(entry) and m.finite(got) and _apart(m, entry, got):
                if kinky:
                    told.kinks.append(
                        f"a kink is near: the slope is {m.text(entry, 6)}, and agrad takes {m.text(got, 6)}"
                    )
                    entries[position] = got if side == "chosen" else entry
                elif self.is_moderate() and self.digits_needed() <= DIGITS + SPARE:
                    true, wrong = m.text(entry, 10), m.text(got, 10)
                    told.wrong.append(f"the rules give {wrong} for a derivative that is {true}")
        return array_of(node.shape, entries)

    def is_moderate(self, most: float = _MODERATE) -> bool:
        """Whether every leaf that is not zero lies between the inverse of a number and that number."""
        sizes = [np.abs(np.asarray(node.value)) for nodes in self.question.leaves.values() for node in nodes]
        return all(bool(np.all((size == 0) | ((size >= 1 / most) & (size <= most)))) for size in sizes)

    def at_kink(self, nodes: Sequence[Node]) -> bool:
        """Whether an op stands on a kink, where rules follow a convention that the whole need not follow."""
        nodes = [node for node in nodes if node.op.at_kink is not None]
        if not nodes:
            return False
        values = run(make_plan([arg for node in nodes for arg in node.args]))
        with np.errstate(all="ignore"):
            return any(
                bool(np.any(node.op.at_kink(np, *[values[arg] for arg in node.args], **node.attrs)))  # type: ignore[misc]  # not None
                for node in nodes
            )

    def digits_needed(self) -> int:
        """How many digits exact arithmetic needs here, see `precision.digits_needed`."""
        return digits_needed(self._everything)

    def steady(self, digits: int) -> bool:
        """Whether the numbers on the way are the same with more digits."""
        return steady(self._forward, digits, self.budget)

    def rewritten(self, seed: int) -> AbstractContextManager[None]:
        """Let every rounded written number be another number within its rounding, while the block runs."""
        return rewritten(self._written, seed)

    def is_smooth(self) -> bool:
        """Whether what is differentiated has a slope along any direction that its derivatives add up to."""
        if self._rules and not self.is_moderate(_STEEPEST):
            return False
        return all(is_linear(self.question.derivatives[node], self.budget) for node in self._rules)

    @property
    def is_at_kink(self) -> bool:
        """Whether any op stands on a kink."""
        return self.at_kink(self._everything)

    @property
    def holds_rounded_numbers(self) -> bool:
        """Whether a number is written in it that binary floating point rounds."""
        return bool(self._written)


def _chosen(m: PreciseArithmetic, slope: Slope, by_rule: Any, told: ExactSides, *, strictly: bool) -> Any:
    """The derivative at a kink: what the rule chooses, where that lies between the slopes."""
    left, right = m.context.mpf(slope.left), m.context.mpf(slope.right)
    low, high = min(left, right), max(left, right)
    if m.undefined_number(by_rule):
        return m.undefined()
    room = 1e-9 * max(abs(end) for end in (low, high) if m.finite(end)) if m.finite(low) or m.finite(high) else 0
    if not low - room <= by_rule <= high + room:
        if strictly:
            between = f"{m.text(low, 10)} and {m.text(high, 10)}"
            told.wrong.append(f"the rules give {m.text(by_rule, 10)} between slopes of {between}")
            return m.undefined()
        raise CannotJudge("where several entries meet in a kink, a slope along one says little")
    told.kinks.append(
        f"there is no derivative: the slopes are {m.text(left, 6)} and {m.text(right, 6)}, "
        f"and agrad takes {m.text(by_rule, 6)}"
    )
    return by_rule


def _apart(m: PreciseArithmetic, one: Any, other: Any) -> bool:
    """Whether two derivatives are not the same number."""
    size = max(abs(one), abs(other))
    return bool(abs(one - other) > _RULE * size and size > m.number(10) ** -30)


def _numbers(m: PreciseArithmetic, values: Any) -> Any:
    """An object array of numbers; truth values are 0 and 1."""
    entries = [m.number(int(entry)) if isinstance(entry, int) else entry for entry in values.ravel().tolist()]
    return array_of(values.shape, entries)


def _extent(m: PreciseArithmetic, values: Iterable[Any]) -> tuple[Any, Any]:
    """The largest finite number, and the least that is not zero."""
    largest, least = m.number(0), m.inf
    for array in values:
        for entry in array.flat if isinstance(array, np.ndarray) else ():
            size = m.context.mpf(abs(entry)) if not isinstance(entry, bool) else 0
            if size and m.finite(size):
                largest, least = max(largest, size), min(least, size)
    return largest, least
