"""The referee "differences": float64 difference quotients along a few random directions, for large graphs.

The quotients for a row of shrinking steps are extrapolated to step zero (Richardson); how far neighbouring
extrapolations differ is the error bar. This referee alone runs the forward kernels; like the others it uses no rule.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..graph import Node, ancestors
from ..run.cpu import run
from ..run.plan import Plan, Step, make_plan
from .case import AGREE, CANNOT, DISAGREE, KINK, Budget, BudgetSpent, Case, Judgement
from .digits import given

NAME: Final = "differences"
DIRECTIONS: Final = 3
_STEPS: Final = 5
_RATIO: Final = 4.0
_LARGEST_STEPS: Final = (0.02, 0.0137)
"""Two rows of steps: where they disagree, as for waves shorter than a step, the error bar is their distance."""
_WIDEST: Final = 1e-2
"""An error bar above this part of the slope says nothing."""

_Values = dict[Node, Any]


def judge(case: Case, budget: Budget, *, directions: int = DIRECTIONS) -> Judgement:
    """What difference quotients in float64 say: the gradient times a direction against the slope along it."""
    if any(node.args for node in case.wrt.values()):
        return Judgement(NAME, CANNOT, None, "an intermediate node is not a leaf that could be shifted")
    if any(node.dtype.kind == "c" for node in case.wrt.values()):
        return Judgement(NAME, CANNOT, None, "complex leaves")
    digits: list[int] = []
    try:
        value = _value_along(case, budget)
        for seed in range(directions):
            judgement = _along(case, value, np.random.default_rng(seed))
            if judgement.verdict != AGREE:
                return judgement
            digits.append(judgement.digits or 0)
    except BudgetSpent as spent:
        if not digits:
            return Judgement(NAME, CANNOT, None, str(spent))
    along = "1 random direction" if len(digits) == 1 else f"{len(digits)} random directions"
    return Judgement(NAME, AGREE, min(digits), f"along {along}")


def _value_along(case: Case, budget: Budget) -> Callable[[_Values, float], float]:
    """The weighted sum of the outputs as a function of a direction and a step along it."""
    plan = _with_constants(case)
    weights = [np.asarray(cotangent) for cotangent in case.cotangents]

    def value(direction: _Values, step: float) -> float:
        budget.spend(64)  # polls the clock
        with np.errstate(all="ignore"):
            shifted = {node: node.value + step * move for node, move in direction.items()}
        results = run(plan, shifted)
        total = 0.0
        for output, weight in zip(case.outputs, weights, strict=True):
            total += float(np.sum(np.real(np.conj(weight) * results[output])))
        return total

    return value


def _with_constants(case: Case) -> Plan:
    """The plan of the outputs, in which what is detached keeps the value that it has at the point."""
    detached = [node for node in ancestors(case.outputs) if node.op.name == "detach"]
    plan = make_plan([*case.outputs, *detached])
    if not detached:
        return plan
    values = run(plan)
    fixed = {plan.results[node]: values[node] for node in detached}

    def step_of(step: Step) -> Step:
        if step.output not in fixed:
            return step
        return step._replace(kernel=lambda *_args, **_attrs: fixed[step.output])

    return dataclasses.replace(plan, steps=[step_of(step) for step in plan.steps])


def _along(case: Case, value: Callable[[_Values, float], float], rng: np.random.Generator) -> Judgement:
    direction: _Values = {}
    product = 0.0
    size = 0.0
    for name, node in case.wrt.items():
        scale = np.abs(node.value)
        scale = np.where(scale > 0, scale, 1.0)
        move = (rng.uniform(0.5, 1.0, node.shape) * rng.choice([-1.0, 1.0], node.shape) * scale).astype(node.dtype)
        direction[node] = move
        parts = given(case, name).astype(np.float64) * move
        product += float(np.sum(parts))
        size += float(np.linalg.norm(parts))
    slope, bar = bracketed(lambda step: (value(direction, step) - value(direction, -step)) / (2 * step))
    if not (math.isfinite(slope) and math.isfinite(product)):
        return Judgement(NAME, CANNOT, None, "a value along a random direction is not finite")
    scale = max(abs(slope), size)
    error = abs(slope - product)
    agrees = error <= 10 * bar + 1e-12 * scale
    # A wrong gradient must not vouch for itself: to object, the bar is measured against the slope alone.
    if bar > _WIDEST * (scale if agrees else abs(slope)):
        return Judgement(NAME, CANNOT, None, f"the error bar is too wide: {slope:.3g} ± {bar:.1g}")
    if agrees:
        return Judgement(NAME, AGREE, _digits(max(error, bar), scale))
    sides = _sides(direction, value)
    if sides is not None and sides[0] - 10 * bar <= product <= sides[1] + 10 * bar:
        return Judgement(NAME, KINK, None, f"the slopes are {sides[0]:.6g} and {sides[1]:.6g} along a random direction")
    reason = f"along a random direction the slope is {slope:.10g} ± {bar:.1g}, not {product:.10g}"
    return Judgement(NAME, DISAGREE, _digits(error, scale), reason)


def _sides(direction: _Values, value: Callable[[_Values, float], float]) -> tuple[float, float] | None:
    """The one-sided slopes, the lower first, where they stay apart as the step shrinks: at a kink."""
    here = value(direction, 0.0)
    apart = []
    for step in (1e-4, 1e-6):
        right, left = (value(direction, step) - here) / step, (here - value(direction, -step)) / step
        apart.append(abs(right - left))
    return (min(left, right), max(left, right)) if apart[1] > 0.5 * apart[0] > 0 else None


def _digits(error: float, scale: float) -> int:
    if error == 0 or scale == 0:
        return 16
    return max(0, min(16, math.floor(-math.log10(error / scale))))


def bracketed(quotient: Callable[[float], float]) -> tuple[float, float]:
    """The limit of a central difference quotient at step zero, from two rows of steps, and its error bar."""
    slopes, bars = zip(*[extrapolated(quotient, step) for step in _LARGEST_STEPS], strict=True)
    return slopes[0], max(*bars, abs(slopes[0] - slopes[1]))


def extrapolated(quotient: Callable[[float], float], step: float) -> tuple[float, float]:
    """The limit of a central difference quotient at step zero, and its error bar.

    Source: Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", 1982: the tableau's entry that differs least
    from its neighbours.
    """
    best, bar = math.nan, math.inf
    row: list[float] = []
    for _ in range(_STEPS):
        fresh = [quotient(step)]
        factor = _RATIO
        for column, before in enumerate(row):
            factor *= _RATIO
            fresh.append((fresh[column] * factor - before) / (factor - 1))
            error = max(abs(fresh[-1] - fresh[-2]), abs(fresh[-1] - before))
            if error <= bar:
                best, bar = fresh[-1], error
        row = fresh
        step /= _RATIO
    return best, bar
