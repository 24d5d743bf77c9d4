"""The referee "mpmath": the forward graph on numbers of 50 digits and more, and difference quotients of it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..graph import Node
from ..worker.budget import Budget, BudgetSpent
from .case import AGREE, CANNOT, DISAGREE, KINK, CannotJudge, Case, Judgement
from .digits import ENOUGH, MOST, Entry, Truth, given, right_digits, shown, verdict_of
from .excuses import excused, excused_along
from .facts import Facts
from .forward import array_of, cost_of
from .point import Direction
from .sides import between, joined, part_slopes, parts_of
from .slopes import Slope, Slopes
from .ties import Ties

NAME: Final = "mpmath"
DIRECTIONS: Final = 3
Kink = tuple[Entry, Slope, str]
"""An entry, its slopes, and which part of it they are by: a word before its label."""
_PARTS: Final = ("the real part of ", "the imaginary part of ")
_FARTHEST: Final = 1e10
"""How far an entry is moved, times the step, however large it is: waves do not grow with where they are."""
_NO_GRADIENT: Final = "there is no gradient here: slopes along directions do not add up"
_GROUPS: Final = 8
"""Parts of a direction that are looked at by themselves."""
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
    kinks: list[Kink] = []
    edges = False
    for name, node in case.wrt.items():
        entries: list[Any] = []
        got = given(case, name).ravel().tolist()
        for position, value in enumerate(got):
            sides = part_slopes(slopes, node, position)
            parts = parts_of(value, len(sides))
            entries.append(_truth(slopes.m, sides, parts))
            edges = edges or any(slope.is_one_sided for slope in sides)
            index = tuple(int(i) for i in np.unravel_index(position, node.shape))
            kinks += [
                (Entry(name, index, part, None, 0, 0), slope, _PARTS[place] if len(parts) > 1 else "")
                for place, (part, slope) in enumerate(zip(parts, sides, strict=True))
                if slope.is_kink
            ]
        truth[name] = array_of(node.shape, entries)
    overflow = slopes.point.overflows
    facts.overflow = overflow.op.name if overflow is not None else None
    facts.kinks.update(entry.label for entry, _, _ in kinks)
    judgement, objections = verdict_of(NAME, slopes.m, case, truth)
    ties = Ties(case, slopes)
    if objections and all(ties.allow(entry) for entry in objections):
        facts.kinks.update(entry.label for entry in objections)
        reason = f"equal numbers, of which one is chosen; {judgement.reason}"
        judgement = replace(judgement, verdict=KINK, reason=reason)
    elif objections:
        judgement = excused(judgement, objections, case, slopes, facts)
        if judgement.verdict == AGREE:
            judgement, _ = verdict_of(NAME, slopes.m, case, truth, facts.rounded)
    # Where an entry has no derivative at all, others may still ask what explains their objections to the rest.
    facts.complete = judgement.verdict != CANNOT or bool(objections)
    if judgement.verdict in (AGREE, KINK) and kinks:
        return _at_kinks(judgement, kinks, slopes.m, ties)
    if judgement.verdict == AGREE and edges:
        return _at_edge(judgement, case, slopes, truth)
    return judgement


def _truth(m: Any, sides: Sequence[Slope], got: Sequence[float]) -> Any:
    """The derivative by an entry, or None at a kink; where one part of a complex number has one, as agrad gives it."""
    if all(slope.is_kink for slope in sides):
        return None
    values = [m.number(part) if slope.is_kink else slope.value for slope, part in zip(sides, got, strict=True)]
    return joined(m, values) if all(m.finite(value) for value in values) or len(values) == 1 else None


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


def _at_kinks(judgement: Judgement, kinks: Sequence[Kink], m: Any, ties: Ties) -> Judgement:
    """A kink has no derivative; what agrad gives must lie between the slopes of both sides, or be chosen of equals."""
    for entry, slope, part in kinks:
        sides = f"the slopes by {part}{entry.label} are {shown(m, slope.left)} and {shown(m, slope.right)}"
        if not between(m, entry.got, slope) and not ties.allow(entry):
            return Judgement(NAME, DISAGREE, None, f"{sides}, and {entry.got!r} is outside of them", entry.label)
    entry, slope, part = kinks[0]
    reason = f"the slopes by {part}{entry.label} are {shown(m, slope.left)} and {shown(m, slope.right)}"
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


def _drawn(choose: Callable[[float, float], float], slope: float) -> float:
    """How far an entry moves; infinite slopes all grow along the direction, since two of them have no difference."""
    drawn = choose(0.5, 1.0) * choose(-1.0, 1.0)
    return math.copysign(drawn, slope) if math.isinf(slope) else drawn


def _along_one(case: Case, slopes: Slopes, choose: Callable[[float, float], float]) -> Judgement:
    m = slopes.m
    direction: dict[Node, dict[int, Any]] = {}
    products = []
    for name, node in case.wrt.items():
        sizes = [min(abs(value), m.number(_FARTHEST)) or m.number(1) for value in slopes.point.values[node].flat]
        slopes_given = given(case, name).ravel().tolist()
        draws = [_drawn(choose, g) for g in slopes_given]
        direction[node] = {i: m.number(draw) * size for i, (draw, size) in enumerate(zip(draws, sizes, strict=True))}
        products += [m.number(g) * direction[node][i] for i, g in enumerate(slopes_given)]
    slope = slopes.slope(direction, 0)
    scale = max((abs(product) for product in products), default=m.number(0))
    got = m.total(products)
    if slope.is_kink:
        sides = f"{shown(m, slope.left)} and {shown(m, slope.right)} along a random direction"
        if between(m, float(got), slope):
            return Judgement(NAME, KINK, None, f"the slopes are {sides}")
        if _is_open(slopes, direction, slope, got):
            return Judgement(NAME, KINK, None, _NO_GRADIENT)
        return Judgement(NAME, DISAGREE, None, f"the slopes are {sides}, and {shown(m, got)} is outside of them")
    true = slope.value
    if m.undefined_number(true):
        return Judgement(NAME, CANNOT, None, "the function is not defined on either side along a random direction")
    if abs(true) < scale * 1e-3:
        got, true = got + scale, true + scale  # the parts cancel: their size is the measure
    digits = right_digits(m, float(got), true, scale, np.finfo(np.float64))
    if digits >= min(ENOUGH.get(node.dtype.name, 4) for node in case.wrt.values()):
        return Judgement(NAME, AGREE, digits)
    if _is_open(slopes, direction, slope, m.total(products)):
        return Judgement(NAME, KINK, None, _NO_GRADIENT)
    reason = f"along a random direction the slope is {shown(m, slope.value)}, not {shown(m, m.total(products))}"
    return excused_along(Judgement(NAME, DISAGREE, digits, reason), slopes, direction, m.total(products))


def _is_open(slopes: Slopes, direction: Direction, slope: Slope, got: Any) -> bool:
    """Whether there is no gradient, by what parts of a direction do, and what agrad gives may be a choice.

    Slopes along parts that do not add up to the one along all of them are none of a gradient, nor are two sides of
    which one has no end. Where a part stands at a kink, any slope between its sides may be chosen.
    """
    m = slopes.m
    entries = [(node, position) for node, moves in direction.items() for position in moves]
    groups: list[dict[Node, dict[int, Any]]] = []
    for first in range(min(_GROUPS, len(entries))):
        groups.append({})
        for node, position in entries[first::_GROUPS]:
            groups[-1].setdefault(node, {})[position] = direction[node][position]
    if not (m.finite(slope.left) and m.finite(slope.right)):
        return slope.is_kink
    parts = [slopes.slope(group, 0) for group in groups]
    for whole, sides in ((slope.left, [part.left for part in parts]), (slope.right, [part.right for part in parts])):
        together = m.total(sides)
        if not abs(together - whole) <= _BENT * max(abs(together), abs(whole)):
            return True
    if not any(part.is_kink for part in parts):
        return False
    low, high = (m.total([end(part.left, part.right) for part in parts]) for end in (min, max))
    return between(m, float(got), Slope(low, high, None))
