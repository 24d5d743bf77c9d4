"""Softmax cross-entropy of labelled rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .work import Answer, Inputs, Work, normal

_CLASSES = 1000


def _inputs(size: int, dtype: Any) -> Inputs:
    generator = np.random.default_rng(3)
    return {"logits": 3 * normal(generator, dtype, size, _CLASSES), "labels": generator.integers(0, _CLASSES, size)}


def _torch(torch: Any, logits: Any, labels: Any) -> Any:
    return torch.nn.functional.cross_entropy(logits, labels)


def jax_cross_entropy(jnp: Any, logits: Any, labels: Any) -> Any:
    """The mean cross-entropy of rows of logits and labels in JAX's words."""
    import jax

    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))


def autograd_cross_entropy(anp: Any, logits: Any, labels: Any) -> Any:
    """The mean cross-entropy of rows of logits and labels in the words of HIPS autograd."""
    from autograd.scipy.special import logsumexp

    return anp.mean(logsumexp(logits, axis=1) - logits[np.arange(len(labels)), labels])


def casadi_cross_entropy(casadi: Any, logits: Any, labels: Any) -> Any:
    """The mean cross-entropy in CasADi's words: by columns, and not shifted, for it has no maximum of each row."""
    picked = casadi.vec(logits)[(labels * len(labels) + np.arange(len(labels))).tolist()]
    return casadi.sum1(casadi.log(casadi.sum2(casadi.exp(logits))) - picked) / len(labels)


def cross_entropy_by_hand(logits: Any, labels: Any) -> Answer:
    """The mean cross-entropy and its gradient by the logits."""
    rows = np.arange(len(labels))
    shifted = logits - logits.max(axis=1, keepdims=True)
    p = np.exp(shifted)
    total = p.sum(axis=1, keepdims=True)
    value = np.mean(np.log(total)[:, 0] - shifted[rows, labels])
    p /= total * len(labels)
    p[rows, labels] -= 1 / len(labels)
    return [value, p]


CROSS_ENTROPY = Work(
    letter="c",
    name="cross_entropy",
    title=f"softmax cross-entropy, rows of {_CLASSES} classes",
    text="loss = F.cross_entropy(logits, labels)",
    wrt=("logits",),
    sizes=(20_000,),
    tiny=4,
    inputs=_inputs,
    amount=float,
    by_hand=cross_entropy_by_hand,
    losses={
        "torch": _torch,
        "jax": jax_cross_entropy,
        "autograd": autograd_cross_entropy,
        "casadi": casadi_cross_entropy,
    },
    goals={"best": 0.45},
)
