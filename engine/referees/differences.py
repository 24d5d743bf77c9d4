"""The referee "differences": float64 difference quotients along a few random directions, for large graphs.

The quotients for a row of shrinking steps are extrapolated to step zero (Richardson); how far neighbouring
extrapolations differ is the error bar. This referee alone runs the forward kernels; like the others it uses no rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..graph import Node
from ..worker.budget import Budget, BudgetSpent
from .case import AGREE, CANNOT, DISAGREE, KINK, Case, Judgement
from .digits import given
from .function import Function, Values, functions

NAME: Final = "differences"
DIRECTIONS: Final = 3
_STEPS: Final = 5
_RATIO: Final = 4.0
_LARGEST_STEPS: Final = (0.02, 0.0137)
"""Two rows of steps: where they disagree, as for waves shorter than a step, the error bar is their distance."""
_STILL_AWAY: Final = 0.9
"""A gap that a smaller step leaves so large is that of a jump."""
_SMALL_STEPS: Final = (1e-4, 1e-6)
_WIDEST: Final = 1e-2
"""An error bar above this part of the slope says nothing."""
_NARROW: Final = {"float64": 1e-8, "complex128": 1e-8}
_NARROW_SHORT: Final = 1e-3
_SURELY: Final = 50
"""Both sides of a kink are apart by more than so many times the rounding of a value."""
_STAYS: Final = 0.1
"""The part by which their distance may change with the step."""


def judge(case: Case, budget: Budget, *, directions: int = DIRECTIONS) -> Judgement:
    """What difference quotients in float64 say: the gradient times a direction against the slope along it."""
    digits: list[int] = []
    fewest = directions
    try:
        for function in functions(case, budget):
            for seed in range(directions):
                try:
                    judgement = _along(function, np.random.default_rng(seed))
                except BudgetSpent:
                    if not seed:
                        raise
                    fewest = min(fewest, seed)
                    break
                if judgement.verdict != AGREE:
                    return judgement
                digits.append(judgement.digits or 0)
    except BudgetSpent as spent:
        return Judgement(NAME, CANNOT, None, str(spent))
    along = "1 random direction" if fewest == 1 else f"{fewest} random directions"
    return Judgement(NAME, AGREE, min(digits, default=16), f"along {along}")


def _along(function: Function, rng: np.random.Generator) -> Judgement:
    function.require_time()
    case = function.case
    direction: Values = {}
    product = 0.0
    size = 0.0
    for name, node in case.wrt.items():
        move = _move(node, rng)
        direction[node] = move
        parts = np.real(np.conj(given(case, name)) * move).astype(np.float64)
        product += float(np.sum(parts))
        size += _norm(parts)
    slope, bar = bracketed(
        lambda step: (function.at(direction, step) - function.at(direction, -step)) / (2 * step), function.noise
    )
    if not math.isfinite(slope):
        return Judgement(NAME, CANNOT, None, "a value along a random direction is not finite")
    if not math.isfinite(product):
        return _broken(slope, bar, product)
    scale = max(abs(slope), size)
    error = abs(slope - product)
    agrees = error <= 10 * bar + 1e-12 * scale
    # A wrong gradient must not vouch for itself: to object, the bar is measured against the slope alone.
    if agrees and size == 0:
        return Judgement(NAME, CANNOT, None, "a slope of zero cannot be told from rounding in float64")
    if bar > (_narrow(case) * scale if agrees else _WIDEST * abs(slope)):
        return Judgement(NAME, CANNOT, None, f"the error bar is too wide: {slope:.3g} ± {bar:.1g}")
    sides = _sides(direction, function)
    if agrees and sides is None:
        return Judgement(NAME, AGREE, _digits(max(error, bar), scale))
    if sides is not None and sides[0] - 10 * bar <= product <= sides[1] + 10 * bar:
        return Judgement(NAME, KINK, None, f"the slopes are {sides[0]:.6g} and {sides[1]:.6g} along a random direction")
    if _jumps(direction, function):
        return Judgement(NAME, CANNOT, None, "the function jumps at the point, as the signs of eigenvectors may")
    if not _confirmed(direction, function, product, 10 * bar + 1e-12 * scale):
        return Judgement(NAME, CANNOT, None, "the slope along a random direction changes with the step")
    reason = f"along a random direction the slope is {slope:.10g} ± {bar:.1g}, not {product:.10g}"
    return Judgement(NAME, DISAGREE, _digits(error, scale), reason)


def _norm(parts: Any) -> float:
    """The square root of the sum of squares, of whatever size."""
    largest = float(np.max(np.abs(parts), initial=0.0))
    return largest * float(np.linalg.norm(parts / largest)) if largest and math.isfinite(largest) else largest


def _narrow(case: Case) -> float:
    """The part of the slope above which an error bar might hide an error."""
    return max(_NARROW.get(node.dtype.name, _NARROW_SHORT) for node in (*case.outputs, *case.wrt.values()))


def _broken(slope: float, bar: float, product: float) -> Judgement:
    """A gradient that is not finite, where the function has a slope."""
    if bar > _WIDEST * abs(slope):
        return Judgement(NAME, CANNOT, None, f"the error bar is too wide: {slope:.3g} ± {bar:.1g}")
    return Judgement(NAME, DISAGREE, 0, f"along a random direction the slope is {slope:.10g}, not {product}")


def _move(node: Node, rng: np.random.Generator) -> Any:
    """A direction for a leaf: each entry by half to all of its size, a zero by half to all of one."""
    scale = np.abs(node.value)
    scale = np.where(scale > 0, scale, 1.0)

    def part() -> Any:
        return rng.uniform(0.5, 1.0, node.shape) * rng.choice([-1.0, 1.0], node.shape) * scale

    move = part() + 1j * part() if node.dtype.kind == "c" else part()
    return np.asarray(move).astype(node.dtype)


def _confirmed(direction: Values, function: Function, product: float, bar: float) -> bool:
    """Whether small steps, which meet fewer kinks beside the point, have another slope than the gradient as well."""
    for step in _SMALL_STEPS:
        slope = (function.at(direction, step) - function.at(direction, -step)) / (2 * step)
        if abs(slope - product) <= bar + 10 * function.noise / step:
            return False
    return True


def _sides(direction: Values, function: Function) -> tuple[float, float] | None:
    """The one-sided slopes, the lower first, where they stay apart as the step shrinks: at a kink."""
    here = function.at(direction, 0.0)
    apart = []
    for step in _SMALL_STEPS:
        right, left = (function.at(direction, step) - here) / step, (here - function.at(direction, -step)) / step
        apart.append(right - left)
        if not abs(right - left) > _SURELY * function.noise / step:
            return None
    stays = abs(apart[1] - apart[0]) <= _STAYS * abs(apart[0])
    return (min(left, right), max(left, right)) if stays else None


def _jumps(direction: Values, function: Function) -> bool:
    """Whether the values beside the point stay away from that at it, however small the step."""
    here = function.at(direction, 0.0)
    gaps = [sum(abs(function.at(direction, side) - here) for side in (step, -step)) for step in _SMALL_STEPS]
    return gaps[-1] > _STILL_AWAY * gaps[0] and gaps[-1] > _SURELY * function.noise


def _digits(error: float, scale: float) -> int:
    part = error / scale if scale else error
    if part == 0:
        return 16
    return max(0, min(16, math.floor(-math.log10(part)))) if math.isfinite(part) else 0


def bracketed(quotient: Callable[[float], float], noise: float = 0.0) -> tuple[float, float]:
    """The limit of a central difference quotient at step zero, from two rows of steps, and its error bar."""
    slopes, bars = zip(*[extrapolated(quotient, step, noise) for step in _LARGEST_STEPS], strict=True)
    return slopes[0], max(*bars, abs(slopes[0] - slopes[1]))


def extrapolated(quotient: Callable[[float], float], step: float, noise: float = 0.0) -> tuple[float, float]:
    """The limit of a central difference quotient at step zero, and its error bar.

    Source: Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", 1982: the tableau's entry that differs least
    from its neighbours.

    Args:
        quotient: of a step.
        step: the largest one.
        noise: by how much the function's values may be off, of rounding.
    """
    best, bar = math.nan, math.inf
    row: list[float] = []
    for _ in range(_STEPS):
        fresh = [quotient(step)]
        factor = _RATIO
        for column, before in enumerate(row):
            factor *= _RATIO
            fresh.append((fresh[column] * factor - before) / (factor - 1))
            error = max(abs(fresh[-1] - fresh[-2]), abs(fresh[-1] - before)) + noise / step
            if error <= bar:
                best, bar = fresh[-1], error
        row = fresh
        step /= _RATIO
    return best, bar
