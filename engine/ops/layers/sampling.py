"""Samples of images at points as arithmetic: fast ones on arrays, and exact ones that write out the sum.

Coordinates run from -1 to 1. The weights' derivatives are taken here too: `orders` says of which order, for each
coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from ...graph import Shape
from ..questions import answered

_SHARPNESS: Final = -0.75

# --- numbers -----------------------------------------------------------------------------------------------------


def _reflected(xp: Any, x: Any, size: int, align: bool) -> tuple[Any, Any]:
    """Coordinates reflected at the borders until they lie inside, and the sign of the slope."""
    low, span = (0.0, float(size - 1)) if align else (-0.5, float(size))
    if span == 0:
        return xp.zeros_like(x), xp.zeros_like(x)
    away = xp.abs(x - low)
    turns = xp.floor(away / span)
    rest = away - turns * span
    even = turns % 2 == 0
    inside = xp.where(even, rest + low, span - rest + low)
    return inside, xp.where(x < low, -1.0, 1.0) * xp.where(even, 1.0, -1.0)


def _clipped(xp: Any, x: Any, slope: Any, size: int) -> tuple[Any, Any]:
    """Coordinates brought to the nearest border, and no slope there."""
    inside = (x > 0) & (x < size - 1)
    return xp.clip(x, 0.0, size - 1.0), xp.where(inside, slope, 0.0)


def _spline_weights(xp: Any, part: Any, order: int) -> list[Any]:
    """Keys' cubic weights of the four neighbours, or their derivatives, for the part of the way to the next entry."""
    a = _SHARPNESS
    near = np.polynomial.Polynomial([1.0, 0.0, -(a + 3), a + 2]).deriv(order)
    far = np.polynomial.Polynomial([-4 * a, 8 * a, -5 * a, a]).deriv(order)
    turned = (-1.0) ** order
    pieces = ((far, part + 1, 1.0), (near, part, 1.0), (near, 1 - part, turned), (far, 2 - part, turned))
    result = []
    for polynomial, distance, sign in pieces:
        total = xp.zeros_like(part)
        for coefficient in reversed(polynomial.coef.tolist()):
            total = total * distance + coefficient
        result.append(sign * total)
    return result


def _taps(
    xp: Any, coordinate: Any, size: int, mode: str, padding: str, align: bool, order: int
) -> list[tuple[Any, Any]]:
    """For one coordinate of the grid: positions along its axis and their weights, 0 for what lies outside."""
    scale = (size - 1) / 2 if align else size / 2
    x = (coordinate + 1) * scale - (0.0 if align else 0.5)
    slope = xp.ones_like(x)
    if mode != "bicubic":
        if padding == "reflection":
            x, slope = _reflected(xp, x, size, align)
        if padding != "zeros":
            x, slope = _clipped(xp, x, slope, size)
    if mode == "nearest":
        found = [(xp.rint(x), xp.where(xp.isnan(x), x, 1.0))]
    else:
        low = xp.floor(x)
        part = x - low
        if mode == "bilinear":
            weights = [1 - part, part] if order == 0 else [-xp.ones_like(x), xp.ones_like(x)]
            found = [(low, weights[0]), (low + 1, weights[1])]
        else:
            found = [(low + step, weight) for step, weight in enumerate(_spline_weights(xp, part, order), -1)]
    result = []
    for place, weight in found:
        factor = weight * (slope * scale) ** order if order else weight
        if mode == "bicubic" and padding != "zeros":
            place = _reflected(xp, place, size, align)[0] if padding == "reflection" else place
            place = xp.clip(place, 0, size - 1)
        inside = (place >= 0) & (place <= size - 1)
        # A coordinate that is NaN lies nowhere: its sample is NaN, not 0.
        result.append((xp.where(inside, place, 0).astype(np.int64), xp.where(inside | xp.isnan(x), factor, 0.0)))
    return result


def _all_taps(
    xp: Any, grid: Any, size: Shape, mode: str, padding: str, align: bool, orders: Shape
) -> list[tuple[Any, Any]]:
    """For each combination of taps: positions in the flattened spatial axes and weights, (batch, 1, points) each."""
    rank = len(size)
    batch, points = grid.shape[0], math.prod(grid.shape[1:-1])
    axes = [
        _taps(xp, grid[..., rank - 1 - axis], size[axis], mode, padding, align, orders[rank - 1 - axis])
        for axis in range(rank)
    ]
    result = []
    for combination in product(*axes):
        place, weight = combination[0]
        for (inner, factor), length in zip(combination[1:], size[1:], strict=True):
            place, weight = place * length + inner, weight * factor
        result.append((place.reshape(batch, 1, points), weight.reshape(batch, 1, points)))
    return result


def _weighted(xp: Any, entries: Any, weight: Any) -> Any:
    """Entries times weights; an entry of weight 0 is no part of the sum, even where it is not finite."""
    weight = weight.astype(entries.real.dtype)
    part = entries * weight
    return part if answered(xp, lambda: xp.isfinite(xp.sum(part))) else xp.where(weight == 0, part.dtype.type(0), part)


def sampled(xp: Any, x: Any, grid: Any, mode: str, padding: str, align: bool, orders: Shape) -> Any:
    """Samples of (batch, channel, *size) at the points of (batch, *points, axes)."""
    batch, channels, *size = x.shape
    flat = x.reshape(batch, channels, math.prod(size))
    total: Any = 0
    for place, weight in _all_taps(xp, grid, tuple(size), mode, padding, align, orders):
        entries = xp.take_along_axis(flat, xp.broadcast_to(place, (batch, channels, place.shape[-1])), axis=2)
        total = total + _weighted(xp, entries, weight)
    return total.reshape(batch, channels, *grid.shape[1:-1])


def spread(xp: Any, g: Any, grid: Any, size: Shape, mode: str, padding: str, align: bool, orders: Shape) -> Any:
    """The transpose of `sampled` in the image: each entry spread over those that made it."""
    batch, channels = g.shape[:2]
    flat = g.reshape(batch, channels, math.prod(g.shape[2:]))
    length = math.prod(size)
    result = xp.zeros(batch * channels * length, dtype=g.dtype)
    rows = xp.arange(batch * channels).reshape(batch, channels, 1) * length
    for place, weight in _all_taps(xp, grid, size, mode, padding, align, orders):
        # One flat index is several times faster than three of them.
        xp.add.at(result, (rows + place).ravel(), _weighted(xp, flat, weight).ravel())
    return result.reshape(batch, channels, *size)


# --- meaning -----------------------------------------------------------------------------------------------------

_OUTSIDE: Final = 2**1000
"""Beyond every image, and still a double."""


def _exact_floor(m: Any, x: Any) -> int:
    """The whole number below an exact number at the point; of what is outside of every image, one that is so too."""
    low, gap = 0, float(x)
    while abs(gap) >= 2:  # every turn adds the digits of one double
        if math.isinf(gap):
            return low + int(math.copysign(_OUTSIDE, gap))
        low += int(gap)
        gap = float(x - low)
    while m.boolean(x < low):
        low -= 1
    while m.boolean(x >= low + 1):
        low += 1
    return low


def _exact_reflected(m: Any, x: Any, size: int, align: bool) -> tuple[Any, int]:
    low, span = (m.number(0), size - 1) if align else (m.ratio(-1, 2), size)
    if span == 0:
        return m.number(0), 0
    away, sign = x - low, 1
    if m.boolean(away < 0):
        away, sign = -away, -1
    turns = _exact_floor(m, away / span)
    rest = away - turns * span
    return (low + rest, sign) if turns % 2 == 0 else (low + span - rest, -sign)


def _exact_clipped(m: Any, x: Any, slope: int, size: int) -> tuple[Any, int]:
    if m.boolean(x <= 0):
        return m.number(0), 0
    return (m.number(size - 1), 0) if m.boolean(x >= size - 1) else (x, slope)


def _exact_polynomial(m: Any, coefficients: Sequence[Any], x: Any, order: int) -> Any:
    """The derivative of some order of a polynomial, whose coefficients stand from the constant on."""
    terms = [
        coefficient * math.perm(power, order) * x ** (power - order)
        for power, coefficient in enumerate(coefficients)
        if power >= order
    ]
    return m.total(terms)


def _exact_weights(m: Any, x: Any, mode: str, order: int) -> list[tuple[int, Any]]:
    """The entries along an axis that a sample at x is made of, and their weights' derivatives of some order in x."""
    low = _exact_floor(m, x)
    if mode == "bilinear":
        return [(low, low + 1 - x if order == 0 else m.number(-1)), (low + 1, x - low if order == 0 else m.number(1))]
    a = m.ratio(-3, 4)
    near, far = (m.number(1), m.number(0), -(a + 3), a + 2), (-4 * a, 8 * a, -5 * a, a)
    result = []
    for place in range(low - 1, low + 3):
        distance, sign = (x - place, 1) if place <= low else (place - x, (-1) ** order)
        pieces = near if place in (low, low + 1) else far
        result.append((place, sign * _exact_polynomial(m, pieces, distance, order)))
    return result


def _exact_taps(
    m: Any, coordinate: Any, size: int, mode: str, padding: str, align: bool, order: int
) -> list[tuple[int, Any]]:
    half, slope = m.ratio(1, 2), 1
    x = (coordinate + 1) * half * (size - 1) if align else ((coordinate + 1) * size - 1) * half
    if mode != "bicubic" and padding == "reflection":
        x, slope = _exact_reflected(m, x, size, align)
    if mode != "bicubic" and padding != "zeros":
        x, slope = _exact_clipped(m, x, slope, size)
    if mode == "nearest":
        near = _exact_floor(m, x + half)
        tie = m.boolean(m.equal(x + half, m.number(near)))
        return [(place, m.number(1)) for place in (near - (tie and near % 2),) if 0 <= place < size]
    factor = (slope * m.ratio(size - 1 if align else size, 2)) ** order if order else 1
    result = []
    for place, weight in _exact_weights(m, x, mode, order):
        if mode == "bicubic" and padding == "reflection":
            place = _exact_floor(m, _exact_reflected(m, m.number(place), size, align)[0] + half)
        if mode == "bicubic" and padding != "zeros":
            place = min(max(place, 0), size - 1)
        if 0 <= place < size:
            result.append((place, weight * factor))
    return result


def _exact_terms(
    m: Any, grid: Any, size: Shape, mode: str, padding: str, align: bool, orders: Shape
) -> list[tuple[Shape, Shape, Any]]:
    """For each point of the grid the entries that make it up: (point, position, weight)."""
    rank = len(size)
    result = []
    for point in np.ndindex(*grid.shape[:-1]):
        axes = [
            _exact_taps(m, grid[(*point, at)], size[rank - 1 - at], mode, padding, align, orders[at])
            for at in reversed(range(rank))
        ]
        for combination in product(*axes):
            weight = m.product([factor for _, factor in combination])
            result.append((point, tuple(place for place, _ in combination), weight))
    return result


def _summed(m: Any, shape: Shape, terms: Sequence[tuple[Shape, Any]]) -> Any:
    sums: dict[Shape, list[Any]] = {where: [] for where in np.ndindex(*shape)}
    for where, term in terms:
        sums[where].append(term)
    result = np.empty(shape, dtype=object)
    for where, values in sums.items():
        result[where] = m.total(values)
    return result


def sampled_formula(m: Any, x: Any, grid: Any, **attrs: Any) -> Any:
    """`sampled` over exact numbers."""
    terms = [
        ((point[0], channel, *point[1:]), x[(point[0], channel, *place)] * weight)
        for point, place, weight in _exact_terms(m, grid, x.shape[2:], **attrs)
        for channel in range(x.shape[1])
    ]
    return _summed(m, (*x.shape[:2], *grid.shape[1:-1]), terms)


def spread_formula(m: Any, g: Any, grid: Any, size: Shape, **attrs: Any) -> Any:
    """`spread` over exact numbers."""
    terms = [
        ((point[0], channel, *place), g[(point[0], channel, *point[1:])] * weight)
        for point, place, weight in _exact_terms(m, grid, size, **attrs)
        for channel in range(g.shape[1])
    ]
    return _summed(m, (*g.shape[:2], *size), terms)
