"""Where a question is tried: the file's point, simple numbers, ends, kinks, extreme floats, and at random."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations, islice, repeat
from typing import Any, Final

import numpy as np

from ..errors import AgradError
from ..graph import Node, ancestors
from ..language.domains import Domain
from ..run.cpu import run
from ..run.plan import make_plan
from .sides import Point, Sides

SIMPLE: Final = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 10.0, -10.0, 0.1, 100.0, -100.0)
"""From the simplest on."""

EXTREME: Final = (
    1e-300,
    -1e-300,
    1e300,
    -1e300,
    1 + 2.0**-52,
    1 - 2.0**-53,
    5e-324,
    -5e-324,
    710.0,
    -710.0,
    750.0,
    -750.0,
    1e-8,
    -1e-8,
    1e7,
    -1e7,
    1e16,
    -1e16,
    40.0,
    -40.0,
)
"""Where float64 runs out of range or of digits."""

_GRID: Final = (
    -1e3,
    -30.0,
    -10.0,
    -5.0,
    -3.0,
    -2.0,
    -1.5,
    -1.0,
    -0.5,
    -0.1,
    0.1,
    0.5,
    1.0,
    1.5,
    2.0,
    3.0,
    5.0,
    10.0,
    30.0,
    1e3,
)
_COMPARISONS: Final = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))
_MOST_ENTRIES: Final = 12
_MOST_SWITCHES: Final = 24
_HALVINGS: Final = 80


def points(sides: Sides, count: int, seed: int) -> Iterator[Point]:
    """The points to try, the most telling first, without end.

    Args:
        sides: both sides; the file's point is their base.
        count: how many are wanted: a part of them is random in any case.
        seed: of the random ones.
    """
    question, base = sides.question, sides.base
    yield base
    if not question.leaves:
        return
    rng = np.random.default_rng(seed)
    chosen = [*_simple(sides), *_ties(sides)]
    with suppress(AgradError):  # an op that refuses some values: a singular matrix
        chosen = [*_simple(sides), *switches(sides), *_ties(sides)]
    extremes = list(_ends_and_extremes(sides))
    special = count * 6 // 10
    room = max(special - len(chosen), count // 4)
    if len(extremes) > room:
        extremes = [extremes[place] for place in sorted(rng.permutation(len(extremes))[:room].tolist())]
    anywhere = ({name: _random(question.domain(name), base[name].shape, rng) for name in base} for _ in repeat(None))
    yield from chosen[: max(special - len(extremes), count // 4)]
    # Ordinary numbers are quick: they come before extreme ones, which may take all of the time.
    yield from islice(anywhere, count // 10)
    yield from extremes
    yield from anywhere


def _filled(sides: Sides, name: str, value: float) -> Point:
    return {**sides.base, name: np.full(sides.base[name].shape, value)}


def _simple(sides: Sides) -> Iterator[Point]:
    """All leaves, then each alone, at simple numbers."""
    names = list(sides.base)
    domains = [sides.question.domain(name) for name in names]
    for value in SIMPLE[:6]:
        if all(domain.holds(value) for domain in domains):
            yield {name: np.full(sides.base[name].shape, value) for name in names}
    if len(names) > 1:
        for value in SIMPLE[:3]:
            for name, domain in zip(names, domains, strict=True):
                if domain.holds(value):
                    yield _filled(sides, name, value)


def _ends_and_extremes(sides: Sides) -> Iterator[Point]:
    """Each leaf alone at the ends of its domain and at extreme numbers."""
    for name in sides.base:
        domain = sides.question.domain(name)
        for value in (*ends(domain), *domain.values):
            yield _filled(sides, name, value)
    for value in EXTREME:
        for name in sides.base:
            if sides.question.domain(name).holds(value):
                yield _filled(sides, name, value)


def ends(domain: Domain) -> list[float]:
    """The numbers of an interval at its ends, or as near as floats come to them."""
    if domain.values:
        return []
    near = [(domain.low, math.inf), (domain.high, -math.inf)]
    values = [value for end, inside in near if math.isfinite(end) for value in (end, float(np.nextafter(end, inside)))]
    return [value for value in dict.fromkeys(values) if domain.holds(value)]


def _ties(sides: Sides) -> Iterator[Point]:
    """Two leaves alike, where their shapes are."""
    for one, other in list(combinations(sides.base, 2))[:_MOST_ENTRIES]:
        value = sides.base[one]
        domain = sides.question.domain(other)
        if value.shape == sides.base[other].shape and domain.first_outside(value) is None:
            yield {**sides.base, other: value}
    for name, value in sides.base.items():
        if value.size > 1:
            yield _filled(sides, name, float(value.flat[0]))


def switches(sides: Sides) -> list[Point]:
    """Where, along single entries, an op comes to its kink or a comparison turns."""
    quantities = _quantities(sides)
    if not quantities:
        return []
    plan = make_plan([node for pair in quantities for node in pair[0]])

    def turning(point: Point) -> Any:
        sides.move(point)
        values = run(plan)
        with np.errstate(all="ignore"):
            gaps = [_gap([values[node] for node in nodes], level) for nodes, level in quantities]
        return np.concatenate([np.sign(gap) for gap in gaps])

    found: dict[bytes, Point] = {}
    entries = [(name, index) for name, value in sides.base.items() for index in np.ndindex(value.shape)]
    for name, index in entries[:_MOST_ENTRIES]:
        for value in _roots(sides, name, index, turning):
            point = _with_entry(sides.base, name, index, value)
            found.setdefault(b"".join([np.asarray(array).tobytes() for array in point.values()]), point)
            if len(found) >= _MOST_SWITCHES:
                return list(found.values())
    return list(found.values())


def _with_entry(point: Point, name: str, index: tuple[int, ...], value: float) -> Point:
    array = np.array(point[name], np.float64)
    array[index] = value
    return {**point, name: array}


def _quantities(sides: Sides) -> list[tuple[list[Node], float]]:
    """The numbers whose sign decides what an op does: nodes, the second taken from the first, and a level."""
    question = sides.question
    everything = ancestors([question.left, question.right, *[of.output for of in question.derivatives.values()]])
    found: list[tuple[list[Node], float]] = []
    if question.operator not in ("eq", "approximate"):
        found.append(([question.left, question.right], 0.0))
    for node in everything:
        if node.op.name not in _COMPARISONS and node.op.at_kink is None:
            continue
        args = [arg for arg in node.args if arg.dtype.kind in "fiu" and arg.op.outputs == 1]
        if not any(arg.dtype.kind == "f" for arg in args):
            continue
        levels = [float(level) for level in node.attrs.values() if type(level) in (int, float)]
        if len(args) > 1:
            found.append((args[:2], 0.0))
        found += [(args[:1], level) for level in dict.fromkeys([0.0, *levels, *[-level for level in levels]])]
    return found[: 4 * _MOST_SWITCHES]


def _gap(values: Sequence[Any], level: float) -> Any:
    if len(values) == 1:
        return np.ravel(np.asarray(values[0], np.float64) - level)
    one, other = np.broadcast_arrays(*[np.asarray(value, np.float64) for value in values])
    return np.ravel(one - other)


def _roots(sides: Sides, name: str, index: tuple[int, ...], turning: Any) -> Iterator[float]:
    """The values of one entry at which a quantity turns: found by halving, and rounded where that is exact."""
    domain = sides.question.domain(name)
    grid = [value for value in sorted({*_GRID, float(sides.base[name][index]), *ends(domain)}) if domain.holds(value)]
    signs = [turning(_with_entry(sides.base, name, index, value)) for value in grid]
    for low, high, before, after in zip(grid, grid[1:], signs, signs[1:], strict=False):
        for place in np.flatnonzero((before != after) & ~np.isnan(before) & ~np.isnan(after))[:4].tolist():
            a, b = low, high
            for _ in range(_HALVINGS):
                middle = a + (b - a) / 2
                if middle in (a, b):
                    break
                here = turning(_with_entry(sides.base, name, index, middle))[place]
                if here == before[place]:
                    a = middle
                elif here == 0:
                    # What happens on the other side shows next to it.
                    a, b = middle, float(np.nextafter(middle, high))
                    break
                else:
                    b = middle
            yield from dict.fromkeys([value for value in (float(f"{b:.12g}"), a, b) if domain.holds(value)])


def _random(domain: Domain, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """A random array within a domain, of a random scale."""
    if domain.values:
        return rng.choice(np.array(domain.values), shape)
    scale = 10.0 ** rng.choice([-2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.0])
    low, high = domain.low, domain.high
    if math.isfinite(low) and math.isfinite(high):
        return np.clip(low + (high - low) * rng.uniform(1e-9, 1 - 1e-9, shape), low, high)
    size = np.abs(rng.normal(size=shape)) * scale
    if math.isfinite(low):
        return low + np.maximum(size, 1e-12 * max(1.0, abs(low)))
    if math.isfinite(high):
        return high - np.maximum(size, 1e-12 * max(1.0, abs(high)))
    return size * rng.choice([-1.0, 1.0], shape)
