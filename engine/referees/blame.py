"""Which op is to blame for a wrong gradient, or whether none is: each by itself, as a tiny case, before its referee.

`alone` has made the cases; nothing is known here of kernels and rules but the numbers that they give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from ..graph import Node, ancestors
from ..worker.budget import Budget, BudgetSpent
from . import differences, precise
from .alone import OpCase, zeros
from .arithmetic import PreciseArithmetic
from .case import AGREE, CANNOT, DISAGREE, KINK, CannotJudge, Case, Fault, Judgement
from .digits import shown
from .facts import Facts
from .forward import cost_of
from .point import Point
from .quotients import DENORMAL

_TOLERANCE: Final = {"float64": 1e-6, "complex128": 1e-6}
"""How wrong a value may be, as a part of itself."""
_TOLERANCE_SHORT: Final = 1e-3
_SLACK: Final = 1_000
"""And how many times the effect of single roundings."""
_DIGITS: Final = 50


class Wrong(NamedTuple):
    """What is wrong with one of some ops.

    Attributes:
        position: which of them it is.
        fault, argument, reason: as of `Blame`.
    """

    position: int
    fault: Fault
    argument: int | None
    reason: str


class Examined(NamedTuple):
    """What a look at some ops has found.

    Attributes:
        wrong: the first whose value or rule is wrong.
        cleared: whether each is right by itself, but for what its own roundings do, and stands at a kink or a pole
            only because its arguments are rounded.
        at_kinks: whether some stand at such a kink.
    """

    wrong: Wrong | None
    cleared: bool = False
    at_kinks: bool = False


def examined(cases: Sequence[OpCase], budget: Budget, whole: Case | None) -> Examined:
    """Each of some ops by itself, up to the first that is wrong, as far as the budget goes.

    Args:
        cases: the ops.
        budget: what may be spent.
        whole: the case that they are parts of; without it no kink or pole counts as one of rounding.

    Raises:
        BudgetSpent: where it is spent before all are looked at.
    """
    exact = None if whole is None else _Exact(whole, budget)
    cleared, at_kinks = True, False
    for position, op_case in enumerate(cases):
        objection, known, singular = _values_beside_exact(op_case, budget)
        if objection is not None:
            return Examined(Wrong(position, "value", None, objection))
        cleared = cleared and known
        for name, node in op_case.case.wrt.items():
            facts = Facts()
            judgement = _judged(replace(op_case.case, wrt={name: node}), budget, facts)
            if judgement.verdict == DISAGREE:
                return Examined(Wrong(position, "rule", int(name.split()[1]) - 1, str(judgement.reason)))
            at_kinks = at_kinks or judgement.verdict == KINK
            singular = singular or judgement.verdict == KINK or not _is_finite(op_case.case.gradients.get(name))
            cleared = cleared and (judgement.verdict in (AGREE, KINK) or _has_lost_digits(judgement, facts))
        cleared = cleared and (not singular or (exact is not None and exact.is_beside(op_case)))
    return Examined(None, cleared, at_kinks)


def _is_finite(value: Any) -> bool:
    return value is None or bool(np.all(np.isfinite(value)))


def _has_lost_digits(judgement: Judgement, facts: Facts) -> bool:
    """Whether nothing but roundings keeps the referee of an op from saying that it is right."""
    beyond = facts.overflow is not None or facts.underflow is not None
    return judgement.verdict == CANNOT and facts.complete and bool(facts.losses) and not beyond


class _Exact:
    """The exact numbers of the whole case, computed when they are asked for."""

    def __init__(self, whole: Case, budget: Budget) -> None:
        self._whole = whole
        self._budget = budget
        self._nodes = ancestors(whole.outputs)

    @cached_property
    def _point(self) -> Point:
        left = Budget(self._budget.operations, self._budget.seconds_left)
        return _exact_point(self._whole, self._nodes, left, DENORMAL)

    def is_beside(self, op_case: OpCase) -> bool:
        """Whether the exact arguments of an op are not those that it was given, so that its kink may be missed."""
        alone = op_case.case.outputs[0]
        given = alone.args[0].args if alone.op.name == "output" else alone.args
        pairs = [
            pair for pair in zip(self._nodes[op_case.place].args, given, strict=True) if pair[1].dtype.kind in "fc"
        ]
        try:
            point = self._point
        except (BudgetSpent, CannotJudge):
            return False
        return any(
            point.m.number(stored) != entry
            for arg, leaf in pairs
            for stored, entry in zip(np.asarray(leaf.value).ravel().tolist(), point.values[arg].flat, strict=True)
        )


def _exact_point(case: Case, nodes: Sequence[Node], budget: Budget, least: int = _DIGITS) -> Point:
    """A case in exact numbers, with digits for its largest one."""
    rough = Point(case, nodes, budget, least)
    digits = least + rough.magnitude
    return rough if rough.magnitude < _DIGITS else Point(case, nodes, budget, digits)


def _judged(case: Case, budget: Budget, facts: Facts) -> Judgement:
    budget.require_time()
    nodes = ancestors(case.outputs)
    fresh = Budget(budget.operations, budget.seconds_left)
    if 2 * precise.DIRECTIONS * sum(cost_of(node) for node in nodes) > budget.operations:
        return differences.judge(case, fresh)
    return precise.judge(case, fresh, facts, directions=precise.cost(case, nodes) > budget.operations)


class _Values(NamedTuple):
    """What is to be said of the values of an op by its formula.

    Attributes:
        objection: what is wrong with them.
        known: whether they could be compared.
        at_pole: whether the formula too has no finite value at these arguments.
    """

    objection: str | None = None
    known: bool = True
    at_pole: bool = False


def _values_beside_exact(op_case: OpCase, budget: Budget) -> _Values:
    """The values of an op beside those of its formula at the arguments that it was given."""
    outputs = op_case.case.outputs
    nodes = ancestors(outputs)
    if sum(output.size for output in outputs) + sum(cost_of(node) for node in nodes) > budget.operations:
        return _Values(known=False)
    left = Budget(budget.operations, budget.seconds_left)
    case = Case(outputs, [zeros(output) for output in outputs], {}, {})
    try:
        true = _exact_point(case, nodes, left)
        noisy = Point(case, nodes, left, true.m.digits, 0)
    except (BudgetSpent, CannotJudge):
        return _Values(known=False)
    if true.signed_zero is not None:  # exact numbers have no signs of zeros
        return _Values(known=False)
    m = true.m
    at_pole = False
    for node, value in zip(outputs, op_case.values, strict=True):
        numbers = zip(true.values[node].flat, noisy.values[node].flat, strict=True)
        for got, (right, off) in zip(np.asarray(value).ravel().tolist(), numbers, strict=True):
            if not _is_near(m, node, got, right, off):
                exact = right if isinstance(right, (bool, np.bool_)) else shown(m, right)
                return _Values(f"its value is {got!r}, not {exact}")
            at_pole = at_pole or (node.dtype.kind in "fc" and not m.finite(right))
    return _Values(at_pole=at_pole)


def _is_near(m: PreciseArithmetic, node: Node, got: Any, right: Any, off: Any) -> bool:
    """Whether a value is right, up to many times what one rounding of the arguments does to it."""
    if isinstance(right, (bool, np.bool_)) or node.dtype.kind == "b":
        return bool(got) == bool(right) or bool(off) != bool(right)
    number = m.number(got)
    if m.undefined_number(right):
        return True
    if node.dtype.kind not in "fc":
        return bool(number == right or right != off)
    limit = np.finfo(node.dtype)
    clipped = m.clipped(right, float(limit.max))
    if not m.finite(number) or not m.finite(clipped):
        return bool(number == clipped)
    part = _TOLERANCE.get(node.dtype.name, _TOLERANCE_SHORT)
    room = abs(right - off) * _SLACK if m.finite(off) else m.inf
    return bool(abs(number - right) <= max(abs(right) * part, room, float(limit.tiny)))
