"""The Hessian of Rosenbrock's function of many variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from .work import Answer, Inputs, Work


def _inputs(size: int, dtype: Any) -> Inputs:
    return {"x": np.linspace(-1.5, 1.5, size).astype(dtype)}


def _loss(xp: Any, x: Any) -> Any:
    return xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def _casadi(casadi: Any, x: Any) -> Any:
    return casadi.sum1(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def _by_hand(x: Any) -> Answer:
    size = len(x)
    matrix = np.zeros((size, size), x.dtype)
    diagonal = matrix.reshape(-1)[:: size + 1]
    diagonal[:-1] = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    diagonal[1:] += 200
    beside = -400 * x[:-1]
    matrix.reshape(-1)[1 :: size + 1] = beside
    matrix.reshape(-1)[size :: size + 1] = beside
    return [matrix]


HESSIAN = Work(
    letter="h",
    name="hessian",
    title="the Hessian of Rosenbrock's function",
    text="f = sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)",
    wrt=("x",),
    sizes=(200, 2000),
    tiny=6,
    inputs=_inputs,
    amount=lambda size: float(size) ** 2,
    by_hand=_by_hand,
    losses={"torch": _loss, "jax": _loss, "autograd": _loss, "casadi": _casadi},
    derivative="hessian",
    goals={"best": 1.0, "best, first call": 0.1},
)
