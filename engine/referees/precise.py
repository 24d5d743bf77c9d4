"""The referee "mpmath": the forward graph on numbers of 50 digits and more, and difference quotients of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..graph import Node
from ..worker.budget import Budget, BudgetSpent
from .case import AGREE, CANNOT, DISAGREE, KINK, CannotJudge, Case, Judgement
from .digits import ENOUGH, MOST, Entry, Truth, given, right_digits, shown, verdict_of
from .excuses import Facts, excused, excused_along
from .forward import array_of, cost_of
from .sides import between, entry_slope
from .slopes import Slope, Slopes

NAME: Final = "mpmath"
DIRECTIONS: Final = 3
_FARTHEST: Final = 1e10
"""How far an entry is moved, times the step, however large it is: waves do not grow with where they are."""
_BENT: Final = 1e-6
"""A slope that differs by that part from the partial derivatives is another one."""


def cost(case: Case, nodes: list[Node]) -> int:
    """Roughly how many operations on numbers the judgement of every entry takes."""
    entries = sum(node.size * (2 if node.dtype.kind == "c" else 1) for node in case.wrt.values())
    return sum(cost_of(node) for node in nodes) * (2 * entries + 1)


def judge(
    case: Case, budget: Budget, facts: Facts | None = None, *, directions: bool = False, finer: int = 1
) -> Judgement:
    """What difference quotients in high precision say.

    Args:
        case: the case.
        budget: what may be spent.
        facts: is filled in.
        directions: compare along a few random directions instead of entry by entry; done too where the entries cost
            more than half of the budget.
        finer: how many times as many digits as usual.
    """
    facts = Facts() if facts is None else facts
    try:
        if not directions:
            with suppress(BudgetSpent):
                half = budget.part(0.5)
                return _by_entry(case, Slopes(case, half, finer=finer), facts)
        return _along(case, Slopes(case, budget, finer=finer))
    except BudgetSpent as spent:
        return Judgement(NAME, CANNOT, None, str(spent))
    except CannotJudge as reason:
        return Judgement(NAME, CANNOT, None, str(reason))


def _by_entry(case: Case, slopes: Slopes, facts: Facts) -> Judgement:
    truth: dict[str, Any] = {}
    kinks: list[tuple[Entry, Slope]] = []
    edges = False
    for name, node in case.wrt.items():
        entries: list[Any] = []
        got = given(case, name).ravel().tolist()
        for position, value in enumerate(got):
            slope = entry_slope(slopes, node, position)
            entries.append(slope.value)
            edges = edges or slope.is_one_sided
            if slope.is_kink:
                index = tuple(int(i) for i in np.unravel_index(position, node.shape))
                kinks.append((Entry(name, index, value, None, 0, 0), slope))
        truth[name] = array_of(node.shape, entries)
    overflow = slopes.point.overflows
    facts.overflow = overflow.op.name if overflow is not None else None
    facts.kinks.update(entry.label for entry, _ in kinks)
    judgement, objections = verdict_of(NAME, slopes.m, case, truth)
    if objections:
        judgement = excused(judgement, objections, case, slopes, facts)
        if judgement.verdict == AGREE:
            judgement, _ = verdict_of(NAME, slopes.m, case, truth, facts.rounded)
    facts.complete = True
    if judgement.verdict in (AGREE, KINK) and kinks:
        return _at_kinks(judgement, kinks, slopes.m)
    if judgement.verdict == AGREE and edges:
        return _at_edge(judgement, case, slopes, truth)
    return judgement


def _at_edge(judgement: Judgement, case: Case, slopes: Slopes, truth: Truth) -> Judgement:
    """At a corner of the domain the partial derivatives may exist where no gradient does: a step into it tells."""
    m = slopes.m
    direction: dict[Node, dict[int, Any]] = {}
    parts = []
    for name, node in case.wrt.items():
        if node.args or node.dtype.kind == "c":
            continue
        for position, value in enumerate(truth[name].flat):
            unit, exponent = slopes.unit(node, position)
            slope = slopes.slope(unit, exponent)
            side = -1 if m.undefined_number(slope.right) else 1
            move = m.number(side) * m.number(10) ** exponent
            direction.setdefault(node, {})[position] = move
            parts.append(move * value)
    sizes = [abs(part) for part in parts]
    if len(parts) > 1 and all(m.finite(size) for size in sizes):
        along = slopes.slope(direction, 0)
        ahead, expected = along.value if along.value is not None else along.right, m.total(parts)
        if m.finite(ahead) and abs(ahead - expected) > max(abs(ahead), *sizes) * _BENT:
            reason = (
                f"not differentiable: into the domain the slope is {shown(m, ahead)}, and the partial derivatives add "
                f"up to {shown(m, expected)}"
            )
            return replace(judgement, verdict=KINK, reason=reason)
    return replace(judgement, reason="one-sided: the edge of the domain")


def _at_kinks(judgement: Judgement, kinks: list[tuple[Entry, Slope]], m: Any) -> Judgement:
    """A kink has no derivative; what agrad gives must lie between the slopes of both sides."""
    for entry, slope in kinks:
        sides = f"the slopes by {entry.label} are {shown(m, slope.left)} and {shown(m, slope.right)}"
        if not between(m, entry.got, slope):
            return Judgement(NAME, DISAGREE, None, f"{sides}, and {entry.got!r} is outside of them", entry.label)
    entry, slope = kinks[0]
    reason = f"the slopes by {entry.label} are {shown(m, slope.left)} and {shown(m, slope.right)}"
    return replace(judgement, verdict=KINK, reason=reason, entry=entry.label)


def _along(case: Case, slopes: Slopes) -> Judgement:
    """The gradient times a few random directions against the slopes along them.

    The leaves move together, an intermediate node by itself: what it is computed from would move it as well.
    """
    if any(node.dtype.kind == "c" for node in case.wrt.values()):
        return Judgement(NAME, CANNOT, None, "too many complex entries")
    leaves = {name: node for name, node in case.wrt.items() if not node.args}
    groups = [leaves] if leaves else []
    groups += [{name: node} for name, node in case.wrt.items() if node.args]
    choose = random.Random(0).uniform  # noqa: S311  # reproducible, no secret
    digits = [MOST]
    for group in groups:
        for _ in range(DIRECTIONS):
            judgement = _along_one(replace(case, wrt=group), slopes, choose)
            if judgement.verdict != AGREE:
                return judgement
            digits.append(judgement.digits or 0)
    return Judgement(NAME, AGREE, min(digits), f"along {DIRECTIONS} random directions")


def _along_one(case: Case, slopes: Slopes, choose: Callable[[float, float], float]) -> Judgement:
    m = slopes.m
    direction: dict[Node, dict[int, Any]] = {}
    products = []
    for name, node in case.wrt.items():
        sizes = [min(abs(value), m.number(_FARTHEST)) or m.number(1) for value in slopes.point.values[node].flat]
        moves = {i: m.number(choose(0.5, 1.0) * choose(-1.0, 1.0)) * size for i, size in enumerate(sizes)}
        direction[node] = moves
        products += [m.number(g) * moves[i] for i, g in enumerate(given(case, name).ravel().tolist())]
    slope = slopes.slope(direction, 0)
    scale = max((abs(product) for product in products), default=m.number(0))
    got = m.total(products)
    if slope.is_kink:
        sides = f"{shown(m, slope.left)} and {shown(m, slope.right)} along a random direction"
        if between(m, float(got), slope):
            return Judgement(NAME, KINK, None, f"the slopes are {sides}")
        return Judgement(NAME, DISAGREE, None, f"the slopes are {sides}, and {shown(m, got)} is outside of them")
    true = slope.value
    if abs(true) < scale * 1e-3:
        got, true = got + scale, true + scale  # the parts cancel: their size is the measure
    digits = right_digits(m, float(got), true, scale, np.finfo(np.float64))
    if digits >= min(ENOUGH.get(node.dtype.name, 4) for node in case.wrt.values()):
        return Judgement(NAME, AGREE, digits)
    reason = f"along a random direction the slope is {shown(m, slope.value)}, not {shown(m, m.total(products))}"
    return excused_along(Judgement(NAME, DISAGREE, digits, reason), slopes, direction, m.total(products))
