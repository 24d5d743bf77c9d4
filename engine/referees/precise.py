"""The referee "mpmath": the forward graph on numbers of 50 digits and more, and difference quotients of it."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ..graph import Node
from .case import AGREE, CANNOT, DISAGREE, KINK, Budget, BudgetSpent, CannotJudge, Case, Judgement
from .digits import ENOUGH, Entry, given, right_digits, shown, verdict_of
from .forward import array_of, cost_of
from .slopes import Slope, Slopes

NAME: Final = "mpmath"
DIRECTIONS: Final = 3
_SLACK: Final = 1_000
"""How many times the effect of single roundings an error may be and still be called a loss of floating point: many
roundings add up, but not to more than a tenth of the truth, unless single ones do so already."""
_NEGLIGIBLE: Final = 1e-14
"""The part of the largest entry that counts as rounding, where single roundings can make it."""


@dataclass(slots=True)
class Facts:
    """What this referee found out about the function (not about agrad's gradient), for the other referee to know.

    Attributes:
        kinks: entries that lie on a kink, or within rounding of one.
        losses: entries of which floating point cannot know more digits.
        rounded: entries that are nothing but rounding beside the largest entry.
        overflow: the op whose value does not fit into its dtype.
    """

    kinks: set[str] = field(default_factory=set)
    losses: set[str] = field(default_factory=set)
    rounded: set[str] = field(default_factory=set)
    overflow: str | None = None


def cost(case: Case, nodes: list[Node]) -> int:
    """Roughly how many operations on numbers the judgement of every entry takes."""
    entries = sum(node.size * (2 if node.dtype.kind == "c" else 1) for node in case.wrt.values())
    return sum(cost_of(node) for node in nodes) * (2 * entries + 1)


def judge(case: Case, budget: Budget, facts: Facts | None = None, *, directions: bool = False) -> Judgement:
    """What difference quotients in high precision say.

    Args:
        case: the case.
        budget: what may be spent.
        facts: is filled in.
        directions: compare along a few random directions instead of entry by entry; done too where the entries cost
            more than half of the budget.
    """
    facts = Facts() if facts is None else facts
    try:
        if not directions:
            with suppress(BudgetSpent):
                half = budget.part(0.5)
                return _by_entry(case, Slopes(case, half), half, facts)
        return _along(case, Slopes(case, budget))
    except BudgetSpent as spent:
        return Judgement(NAME, CANNOT, None, str(spent))
    except CannotJudge as reason:
        return Judgement(NAME, CANNOT, None, str(reason))


def _by_entry(case: Case, slopes: Slopes, budget: Budget, facts: Facts) -> Judgement:
    truth: dict[str, Any] = {}
    kinks: list[tuple[Entry, Slope]] = []
    edges = False
    for name, node in case.wrt.items():
        entries: list[Any] = []
        got = given(case, name).ravel().tolist()
        for position, value in enumerate(got):
            slope = _entry_slope(slopes, node, position)
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
        judgement = _excused(judgement, objections, case, slopes, budget, facts)
        if judgement.verdict == AGREE:
            judgement, _ = verdict_of(NAME, slopes.m, case, truth, facts.rounded)
    if judgement.verdict in (AGREE, KINK) and kinks:
        return _at_kinks(judgement, kinks, slopes.m)
    if judgement.verdict == AGREE and edges:
        return Judgement(NAME, AGREE, judgement.digits, "one-sided: the edge of the domain", judgement.entry)
    return judgement


def _entry_slope(slopes: Slopes, node: Node, position: int) -> Slope:
    direction, exponent = slopes.unit(node, position)
    slope = slopes.slope(direction, exponent)
    if node.dtype.kind != "c":
        return slope
    direction, exponent = slopes.unit(node, position, imaginary=True)
    other = slopes.slope(direction, exponent)
    if slope.is_kink or other.is_kink:
        raise CannotJudge("a kink in the complex plane")
    value = slope.value + slopes.m.number(1j) * other.value
    return Slope(value, value, value)


def _at_kinks(judgement: Judgement, kinks: list[tuple[Entry, Slope]], m: Any) -> Judgement:
    """A kink has no derivative; what agrad gives must lie between the slopes of both sides."""
    for entry, slope in kinks:
        between = f"the slopes by {entry.label} are {shown(m, slope.left)} and {shown(m, slope.right)}"
        if not _between(m, entry.got, slope):
            return Judgement(NAME, DISAGREE, None, f"{between}, and {entry.got!r} is outside of them", entry.label)
    entry, slope = kinks[0]
    reason = f"the slopes by {entry.label} are {shown(m, slope.left)} and {shown(m, slope.right)}"
    return Judgement(NAME, KINK, judgement.digits, reason, entry.label)


def _between(m: Any, got: complex, slope: Slope, room: float = 1e-6) -> bool:
    """Whether a gradient lies between both slopes; one that is not a number claims nothing."""
    value = m.number(got)
    if m.undefined_number(value):
        return True
    low, high = min(slope.left, slope.right), max(slope.left, slope.right)
    width = high - low if m.finite(high - low) else max(1, *(abs(end) for end in (low, high) if m.finite(end)), 1)
    return bool(low - width * room <= value <= high + width * room)


def _excused(
    judgement: Judgement, objections: list[Entry], case: Case, slopes: Slopes, budget: Budget, facts: Facts
) -> Judgement:
    """An objection is withdrawn where the function itself explains it: overflow, a kink, lost digits."""
    if facts.overflow is not None:
        reason = f"{facts.overflow} overflows here in floating point; {judgement.reason}"
        return Judgement(NAME, CANNOT, judgement.digits, reason, judgement.entry)
    noisy = [Slopes(case, budget, seed) for seed in range(3)]
    for entry in objections:
        node = case.wrt[entry.name]
        position = int(np.ravel_multi_index(entry.index, node.shape)) if entry.index else 0
        if _kink_within_rounding(slopes, node, position, entry):
            facts.kinks.add(entry.label)
        elif _lost_by_rounding(noisy, node, position, entry):
            error = abs(slopes.m.number(entry.got) - entry.true)
            (facts.rounded if error <= entry.scale * _NEGLIGIBLE else facts.losses).add(entry.label)
        else:
            return judgement
    if facts.losses:
        lost = 16 - (judgement.digits or 0)
        reason = f"floating point loses {lost} digits here; {judgement.reason}"
        return Judgement(NAME, CANNOT, judgement.digits, reason, judgement.entry)
    if any(entry.label in facts.kinks for entry in objections):
        return Judgement(NAME, KINK, judgement.digits, f"a kink within rounding; {judgement.reason}", judgement.entry)
    return Judgement(NAME, AGREE)


def _kink_within_rounding(slopes: Slopes, node: Node, position: int, entry: Entry) -> bool:
    if node.dtype.kind == "c":
        return False
    direction, exponent = slopes.unit(node, position)
    step = 6 if node.dtype.itemsize == 4 else 14
    left, right = slopes.quotients(direction, exponent, step)
    further_left, further_right = slopes.quotients(direction, exponent, step - 1)
    # Curvature sets both sides apart as well, but ten times less at a tenth of the step.
    apart = abs(right - left) > max(1e-3 * max(abs(left), abs(right)), abs(further_right - further_left) / 3)
    return bool(apart) and entry.got == entry.got and _between(slopes.m, entry.got, Slope(left, right, None), 0.05)


def _lost_by_rounding(noisy: list[Slopes], node: Node, position: int, entry: Entry) -> bool:
    m = noisy[0].m
    spread = m.number(0)
    for slopes in noisy:
        try:
            slope = _entry_slope(slopes, node, position)
        except CannotJudge:  # one rounding leads out of the domain
            return True
        if slope.value is not None and m.finite(slope.value) and m.finite(entry.true):
            spread = max(spread, abs(slope.value - entry.true))
    allowed = max(spread * 3, min(spread * _SLACK, abs(entry.true) / 10))
    return bool(abs(m.number(entry.got) - entry.true) <= allowed)


def _along(case: Case, slopes: Slopes) -> Judgement:
    """The gradient times a few random directions against the slopes along them."""
    if any(node.dtype.kind == "c" for node in case.wrt.values()):
        return Judgement(NAME, CANNOT, None, "too many complex entries")
    m = slopes.m
    worst = 16
    choose = random.Random(0).uniform  # noqa: S311  # reproducible, no secret
    for _ in range(DIRECTIONS):
        direction: dict[Node, dict[int, Any]] = {}
        products = []
        for name, node in case.wrt.items():
            sizes = [abs(value) or m.number(1) for value in slopes.point.values[node].flat]
            moves = {i: m.number(choose(0.5, 1.0) * choose(-1.0, 1.0)) * size for i, size in enumerate(sizes)}
            direction[node] = moves
            products += [m.number(g) * moves[i] for i, g in enumerate(given(case, name).ravel().tolist())]
        slope = slopes.slope(direction, 0)
        scale = max((abs(product) for product in products), default=m.number(0))
        got = m.total(products)
        if slope.is_kink:
            between = f"{shown(m, slope.left)} and {shown(m, slope.right)} along a random direction"
            if _between(m, float(got), slope):
                return Judgement(NAME, KINK, None, f"the slopes are {between}")
            return Judgement(NAME, DISAGREE, None, f"the slopes are {between}, and {shown(m, got)} is outside of them")
        true = slope.value
        if abs(true) < scale * 1e-3:
            got, true = got + scale, true + scale  # the parts cancel: their size is the measure
        digits = right_digits(m, float(got), true, scale, np.finfo(np.float64))
        if digits < min(ENOUGH.get(node.dtype.name, 4) for node in case.wrt.values()):
            reason = f"along a random direction the slope is {shown(m, slope.value)}, not {shown(m, m.total(products))}"
            return Judgement(NAME, DISAGREE, digits, reason)
        worst = min(worst, digits)
    return Judgement(NAME, AGREE, worst, f"along {DIRECTIONS} random directions")
