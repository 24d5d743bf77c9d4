"""Logistic regression with many rows and few columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from .work import Answer, Inputs, Work, normal

_COLUMNS = 20


def _inputs(size: int, dtype: Any) -> Inputs:
    generator = np.random.default_rng(6)
    return {
        "X": normal(generator, dtype, size, _COLUMNS),
        "w": normal(generator, dtype, _COLUMNS) / np.asarray(4, dtype),
        "b": np.asarray(0.3, dtype),
        "t": generator.integers(0, 2, size).astype(dtype),
    }


def _torch(torch: Any, X: Any, w: Any, b: Any, t: Any) -> Any:  # noqa: N803  # a matrix
    return torch.nn.functional.binary_cross_entropy_with_logits(X @ w + b, t)


def _jax(jnp: Any, X: Any, w: Any, b: Any, t: Any) -> Any:  # noqa: N803  # a matrix
    import jax

    z = X @ w + b
    return jnp.mean(jax.nn.softplus(z) - t * z)


def _autograd(anp: Any, X: Any, w: Any, b: Any, t: Any) -> Any:  # noqa: N803  # a matrix
    z = X @ w + b
    return anp.mean(anp.logaddexp(0, z) - t * z)


def _casadi(casadi: Any, X: Any, w: Any, b: Any, t: Any) -> Any:  # noqa: N803  # a matrix
    z = X @ w + b
    return casadi.sum1(casadi.log1p(casadi.exp(-casadi.fabs(z))) + casadi.fmax(z, 0) - t * z) / z.shape[0]


def _by_hand(X: Any, w: Any, b: Any, t: Any) -> Answer:  # noqa: N803  # a matrix
    z = X @ w + b
    small = np.exp(-np.abs(z))
    value = np.mean(np.log1p(small) + np.maximum(z, 0) - t * z)
    g = (np.where(z < 0, small, 1) / (1 + small) - t) / np.asarray(len(t), z.dtype)
    return [value, g @ X, g.sum()]


LOGISTIC = Work(
    letter="f",
    name="logistic",
    title=f"logistic regression on {_COLUMNS} columns, two gradients",
    text="loss = F.binary_cross_entropy_with_logits(X @ w + b, t)",
    wrt=("w", "b"),
    sizes=(1_000_000,),
    tiny=8,
    inputs=_inputs,
    amount=float,
    by_hand=_by_hand,
    losses={"torch": _torch, "jax": _jax, "autograd": _autograd, "casadi": _casadi},
    goals={"best": 0.8},
)
