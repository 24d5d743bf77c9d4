"""One elementwise expression and its sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from .work import Answer, Inputs, Work, normal


def _inputs(size: int, dtype: Any) -> Inputs:
    generator = np.random.default_rng(1)
    return {"x": normal(generator, dtype, size), "y": normal(generator, dtype, size)}


def _loss(xp: Any, x: Any, y: Any) -> Any:
    return xp.sum(xp.tanh(x * y + 1) ** 2 * xp.exp(-(x**2)))


def _casadi(casadi: Any, x: Any, y: Any) -> Any:
    return casadi.sum1(casadi.tanh(x * y + 1) ** 2 * casadi.exp(-(x**2)))


def _by_hand(x: Any, y: Any) -> Answer:
    t = np.tanh(x * y + 1)
    e = np.exp(-(x**2))
    f = t**2 * e
    slope = 2 * t * (1 - t**2) * e
    return [np.sum(f), slope * y - 2 * x * f, slope * x]


EXPRESSION = Work(
    letter="a",
    name="expression",
    title="sum(tanh(x*y + 1)**2 * exp(-x**2)), two gradients",
    text="loss = sum(tanh(x*y + 1)**2 * exp(-x**2))",
    wrt=("x", "y"),
    sizes=(10_000_000,),
    tiny=50,
    dtypes=("float64", "float32"),
    inputs=_inputs,
    amount=float,
    by_hand=_by_hand,
    losses={"torch": _loss, "jax": _loss, "autograd": _loss, "casadi": _casadi},
    goals={"torch-compiled": 0.45, "torch": 0.10, "jax": 0.35, "bound": 1.5},
)
