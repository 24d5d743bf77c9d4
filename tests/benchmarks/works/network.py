"""A network with one hidden layer, as for handwritten digits: 784-512-10."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cross_entropy import autograd_cross_entropy, casadi_cross_entropy, cross_entropy_by_hand, jax_cross_entropy
from .work import Answer, Inputs, Work, normal

_WIDTHS = (784, 512, 10)


def _inputs(size: int, dtype: Any) -> Inputs:
    generator = np.random.default_rng(5)
    first, hidden, last = _WIDTHS
    return {
        "X": normal(generator, dtype, size, first),
        "W1": normal(generator, dtype, first, hidden) / np.asarray(28, dtype),
        "b1": normal(generator, dtype, hidden),
        "W2": normal(generator, dtype, hidden, last) / np.asarray(20, dtype),
        "b2": normal(generator, dtype, last),
        "labels": generator.integers(0, last, size),
    }


def _torch(torch: Any, X: Any, W1: Any, b1: Any, W2: Any, b2: Any, labels: Any) -> Any:  # noqa: N803  # matrices
    return torch.nn.functional.cross_entropy(torch.relu(X @ W1 + b1) @ W2 + b2, labels)


def _jax(jnp: Any, X: Any, W1: Any, b1: Any, W2: Any, b2: Any, labels: Any) -> Any:  # noqa: N803  # matrices
    import jax

    return jax_cross_entropy(jnp, jax.nn.relu(X @ W1 + b1) @ W2 + b2, labels)


def _autograd(anp: Any, X: Any, W1: Any, b1: Any, W2: Any, b2: Any, labels: Any) -> Any:  # noqa: N803  # matrices
    return autograd_cross_entropy(anp, anp.maximum(X @ W1 + b1, 0) @ W2 + b2, labels)


def _casadi(casadi: Any, X: Any, W1: Any, b1: Any, W2: Any, b2: Any, labels: Any) -> Any:  # noqa: N803  # matrices
    rows = len(labels)
    hidden = casadi.fmax(X @ W1 + casadi.repmat(b1.T, rows, 1), 0)
    return casadi_cross_entropy(casadi, hidden @ W2 + casadi.repmat(b2.T, rows, 1), labels)


def _by_hand(X: Any, W1: Any, b1: Any, W2: Any, b2: Any, labels: Any) -> Answer:  # noqa: N803  # matrices
    hidden = np.maximum(X @ W1 + b1, 0)
    value, g = cross_entropy_by_hand(hidden @ W2 + b2, labels)
    inner = g @ W2.T * (hidden > 0)
    return [value, X.T @ inner, inner.sum(axis=0), hidden.T @ g, g.sum(axis=0)]


NETWORK = Work(
    letter="e",
    name="network",
    title="a network 784-512-10 with relu and cross-entropy, by batch, four gradients",
    text="hidden = relu(X @ W1 + b1)\nloss = F.cross_entropy(hidden @ W2 + b2, labels)",
    wrt=("W1", "b1", "W2", "b2"),
    sizes=(4096,),
    tiny=3,
    dtypes=("float32", "float64"),
    inputs=_inputs,
    amount=float,
    by_hand=_by_hand,
    losses={"torch": _torch, "jax": _jax, "autograd": _autograd, "casadi": _casadi},
    goals={"best": 1.0},
)
