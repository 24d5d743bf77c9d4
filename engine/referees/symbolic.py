"""The referee "sympy": the graph expanded to scalars, differentiated by SymPy, evaluated at the point."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node, ancestors
from ..worker.budget import Budget, BudgetSpent
from .case import AGREE, CANNOT, DISAGREE, KINK, CannotJudge, Case, Judgement
from .digits import Entry, Truth, entry_label, given, shown, verdict_of
from .excuses import explained
from .facts import Facts, losing, overflowing
from .forward import array_of, evaluate_graph, weighted_sum
from .pieces import Gradient
from .sides import between
from .slopes import Slope
from .term import Term
from .terms import DIGITS, SymbolicArithmetic

NAME: Final = "sympy"
FEW: Final = 4
"""With at most so many scalar leaves the closed forms are given."""
_MORE_DIGITS: Final = 2 * DIGITS
_SHRINKS: Final = DIGITS // 2
"""A number that has so many zeros more with more digits is rounding."""
_SHORT: Final = 60
_SIMPLIFIABLE: Final = 30
_ROUND: Final = 1000
"""Polynomials over longer numbers than that have degrees of as many digits."""


def judge(case: Case, budget: Budget, facts: Facts | None = None) -> Judgement:
    """What SymPy says.

    Args:
        case: the case.
        budget: what may be spent; SymPy itself does not poll it, so an alarm must stand behind.
        facts: what is known of the function at the point, whatever its gradient.
    """
    try:
        return _judged(case, budget, facts or Facts())
    except BudgetSpent as spent:
        return Judgement(NAME, CANNOT, None, str(spent))
    except CannotJudge as reason:
        return Judgement(NAME, CANNOT, None, str(reason))
    except RecursionError:
        return Judgement(NAME, CANNOT, None, "the expression is nested too deeply for SymPy")


def _judged(case: Case, budget: Budget, facts: Facts) -> Judgement:
    if any(node.dtype.kind == "c" for node in ancestors(case.outputs)):
        raise CannotJudge("complex numbers are not expanded to symbols")
    truth, ties = _gradients(case, budget, -1)
    m = SymbolicArithmetic(budget).precise
    judgement, objections = verdict_of(NAME, m, case, truth, facts.rounded)
    if objections:
        try:
            truth = _without_noise(m, truth, _gradients(case, budget, -1, _MORE_DIGITS)[0])
        except BudgetSpent as spent:
            return _not_known(judgement, spent)
        judgement, objections = verdict_of(NAME, m, case, truth, facts.rounded)
    if objections and _endless(case) and any(not m.finite(entry.true) for entry in objections):
        raise CannotJudge("the expression holds an infinity, which SymPy differentiates like a number")
    kink: Judgement | None = None
    if ties:
        _require_value(m, case, budget)
        other, _ = _gradients(case, budget, 1)
        if _undefined(m, truth) or _undefined(m, other):
            raise CannotJudge("two branches meet here, and one of them has no derivative")
        if _differ(m, truth, other):
            outside = _at_branches(m, case, truth, other)
            if outside is not None:
                return _told(case, *outside, facts, budget)
            kink = Judgement(NAME, KINK, None, "two branches meet here with different slopes", judgement.entry)
            truth = {name: _where_alike(m, array, other[name]) for name, array in truth.items()}
            judgement, objections = verdict_of(NAME, m, case, truth, facts.rounded)
    judgement = _told(case, judgement, objections, facts, budget, truth)
    return kink if kink is not None and judgement.verdict == AGREE else judgement


def _told(
    case: Case, judgement: Judgement, objections: list[Entry], facts: Facts, budget: Budget, truth: Truth | None = None
) -> Judgement:
    """A judgement, once the function has been asked what explains its objections.

    Args:
        case, judgement, objections: what is judged, and how.
        facts: what is known already.
        budget: what may be spent.
        truth: the true gradients, where entries that are nothing but rounding are to be measured anew.
    """
    if judgement.verdict == DISAGREE and not facts.complete:
        try:
            facts = facts.joined(explained(case, objections, budget))
        except (BudgetSpent, CannotJudge) as reason:
            return _not_known(judgement, reason)
        if truth is not None:
            m = SymbolicArithmetic(budget).precise
            judgement, objections = verdict_of(NAME, m, case, truth, facts.rounded)
    return _excused(judgement, objections, facts)


def _not_known(judgement: Judgement, reason: Exception) -> Judgement:
    """An objection that may be one to rounding."""
    words = f"{judgement.reason}; whether that is rounding is not known: {reason}"
    return dataclasses.replace(judgement, verdict=CANNOT, reason=words)


def _require_value(m: Any, case: Case, budget: Budget) -> None:
    """See whether there is a value at the border itself, which the branches beside it do not tell.

    Raises:
        CannotJudge: where there is none.
    """
    values = evaluate_graph(m, ancestors(case.outputs), {}, budget)
    if not m.finite(weighted_sum(m, [values[output] for output in case.outputs], case.cotangents)):
        raise CannotJudge("the value is not a finite number here")


def _where_alike(m: Any, left: Any, right: Any) -> Any:
    """The slopes that are the same on both sides, and None for the others."""
    pairs = zip(left.flat, right.flat, strict=True)
    alike = [a == b or (m.finite(a - b) and abs(a - b) <= abs(a) * 1e-15) for a, b in pairs]
    return array_of(left.shape, [a if same else None for a, same in zip(left.flat, alike, strict=True)])


def _at_branches(
    m: Any, case: Case, truth: Mapping[str, Any], other: Mapping[str, Any]
) -> tuple[Judgement, list[Entry]] | None:
    """An objection to entries that lie outside of the slopes of both branches, each beside the nearer slope."""
    outside: list[tuple[Entry, Slope]] = []
    for name in truth:
        for index, number in np.ndenumerate(given(case, name)):
            got = number.item()
            slope = Slope(truth[name][index], other[name][index], None)
            sides = m.finite(slope.left) and m.finite(slope.right) and slope.left != slope.right
            if sides and not between(m, got, slope):
                left_is_nearer = abs(slope.left - m.number(got)) < abs(slope.right - m.number(got))
                scale = max(abs(slope.left), abs(slope.right))
                true = slope.left if left_is_nearer else slope.right
                outside.append((Entry(name, index, got, true, 0, 0, scale), slope))
    if not outside:
        return None
    entry, slope = outside[0]
    reason = (
        f"the slopes by {entry.label} are {shown(m, slope.left)} and {shown(m, slope.right)}, "
        f"and {entry.got!r} is outside of them"
    )
    return Judgement(NAME, DISAGREE, None, reason, entry.label), [entry for entry, _ in outside]


def _excused(judgement: Judgement, objections: Sequence[Entry], facts: Facts) -> Judgement:
    """An objection is withdrawn where the function itself explains it."""
    if judgement.verdict != DISAGREE or not facts.explain(objections):
        return judgement
    labels = {entry.label for entry in objections}
    if labels <= facts.kinks:
        return dataclasses.replace(
            judgement, verdict=KINK, reason=f"a kink, or the edge of a domain; {judgement.reason}"
        )
    if not labels <= facts.losses | facts.kinks:
        return dataclasses.replace(judgement, verdict=CANNOT, reason=overflowing(facts, judgement))
    return dataclasses.replace(judgement, verdict=CANNOT, reason=losing(judgement))


def _endless(case: Case) -> bool:
    """Whether a number that the outputs are computed from is infinite."""
    return any(
        node.op is LEAF and node.dtype.kind == "f" and bool(np.any(np.isinf(node.value)))
        for node in ancestors(case.outputs)
    )


def _without_noise(m: Any, truth: Truth, more: Truth) -> dict[str, Any]:
    """The gradients as more digits have them; what shrinks as digits are added is a zero that parts cancel to."""

    def entry(one: Any, other: Any) -> Any:
        shrinks = m.finite(one) and m.finite(other) and abs(other) <= abs(one) * m.number(10) ** -_SHRINKS
        return m.number(0) if shrinks else other

    return {
        name: array_of(array.shape, [entry(*pair) for pair in zip(array.flat, more[name].flat, strict=True)])
        for name, array in truth.items()
    }


def _gradients(case: Case, budget: Budget, side: int, digits: int = DIGITS) -> tuple[dict[str, Any], int]:
    """The true gradient of each name, and how many ties were met."""
    truth: dict[str, Any] = {}
    ties = 0
    leaves = {name: node for name, node in case.wrt.items() if not node.args}
    groups = [leaves] if leaves else []
    groups += [{name: node} for name, node in case.wrt.items() if node.args]
    for group in groups:
        m = SymbolicArithmetic(budget, digits=digits, side=side)
        total, symbols = expanded(m, case, group)
        if not m.precise.finite(total.value):
            undefined = m.precise.undefined_number(total.value)
            raise CannotJudge(f"the value is {'not a number' if undefined else 'infinite'} here")
        gradient = Gradient(m, total, budget)
        for name, node in group.items():
            truth[name] = array_of(node.shape, gradient.by([term.expression for term in symbols[name].flat]))
        ties += m.ties
    return truth, ties


def expanded(m: SymbolicArithmetic, case: Case, wrt: Mapping[str, Node]) -> tuple[Term, dict[str, Any]]:
    """The number that is differentiated, over a symbol for each entry of some nodes, and these symbols."""
    symbols: dict[str, Any] = {}
    given: dict[Node, Any] = {}
    nodes = ancestors([*case.outputs, *wrt.values()])
    for name, node in wrt.items():
        if node.args:
            inner = ancestors([node])
            point = evaluate_graph(m.precise, inner, {}, m.budget)[node]
        else:
            point = np.asarray(node.value).reshape(node.shape).astype(object)  # Python's numbers
        entries = []
        for index in np.ndindex(node.shape):
            entries.append(m.symbol(entry_label(name, index), point[index]))
        given[node] = symbols[name] = array_of(node.shape, entries)
    values = evaluate_graph(m, nodes, given, m.budget)
    return m.lifted(weighted_sum(m, [values[output] for output in case.outputs], case.cotangents)), symbols


def _differ(m: Any, truth: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the gradients on both sides of a border are not the same."""
    pairs = [pair for name in truth for pair in zip(truth[name].flat, other[name].flat, strict=True)]
    scale = max((abs(a) for a, _ in pairs if m.finite(a)), default=0)
    return any(a != b and not abs(a - b) <= scale * 1e-15 for a, b in pairs)


def _undefined(m: Any, truth: Mapping[str, Any]) -> bool:
    """Whether some entry has no value: a removable singularity, say."""
    return any(m.undefined_number(entry) for array in truth.values() for entry in array.flat)


def closed_forms(case: Case, budget: Budget) -> dict[str, str]:
    """The closed form of each derivative as text, for a few scalar leaves; empty where it would be long.

    What is written depends on sizes only, never on time.
    """
    wrt = {name: node for name, node in case.wrt.items() if node.size == 1 and not node.args}
    if not 0 < len(wrt) <= FEW or len(wrt) != len(case.wrt):
        return {}
    try:
        m = SymbolicArithmetic(budget, readable=True)
        total, symbols = expanded(m, case, wrt)
    except (BudgetSpent, CannotJudge):
        return {}
    forms = {}
    for name in wrt:
        form = shortest(m.sympy, m.sympy.diff(total.expression, symbols[name].flat[0].expression))
        if form is not None and not any(symbol.is_Dummy for symbol in form.free_symbols):
            forms[name] = str(form)
    return forms


def shortest(sympy: Any, expression: Any) -> Any:
    """The shortest of a few ways to write an expression, or None where all are long."""
    size = sympy.count_ops(expression)
    if size > _SHORT * 2:
        return None
    candidates = [expression]
    if size > 2:
        candidates += [sympy.factor_terms(expression), sympy.expand(expression)]
    if 4 < size <= _SIMPLIFIABLE and all(max(abs(n.p), n.q) <= _ROUND for n in expression.atoms(sympy.Rational)):
        # Not simplify(): it takes a third of a second to wake up.
        candidates += [sympy.together(candidates[1]), sympy.powsimp(candidates[2]), sympy.factor(expression)]
    best = min(candidates, key=lambda form: (sympy.count_ops(form), len(str(form)), str(form)))
    return best if sympy.count_ops(best) <= _SHORT else None
