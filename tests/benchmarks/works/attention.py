"""Scaled dot-product attention of eight heads of width 64."""

from __future__ import annotations

from typing import Any

import numpy as np

from .work import Answer, Inputs, Work, normal

_HEADS, _WIDTH = 8, 64


def _inputs(size: int, dtype: Any) -> Inputs:
    generator = np.random.default_rng(7)
    return {name: normal(generator, dtype, _HEADS, size, _WIDTH) for name in ("q", "k", "v", "c")}


def _torch(torch: Any, q: Any, k: Any, v: Any, c: Any) -> Any:
    # With an axis for the batch, as PyTorch's fast kernels want it.
    y = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])
    return torch.sum((y[0] - c) ** 2) / 2


def _jax(jnp: Any, q: Any, k: Any, v: Any, c: Any) -> Any:
    import jax

    weights = jax.nn.softmax(q @ jnp.swapaxes(k, 1, 2) / _WIDTH**0.5, axis=-1)
    return jnp.sum((weights @ v - c) ** 2) / 2


def _autograd(anp: Any, q: Any, k: Any, v: Any, c: Any) -> Any:
    scores = q @ anp.swapaxes(k, 1, 2) / _WIDTH**0.5
    e = anp.exp(scores - anp.max(scores, axis=-1, keepdims=True))
    return anp.sum(((e / anp.sum(e, axis=-1, keepdims=True)) @ v - c) ** 2) / 2


def _by_hand(q: Any, k: Any, v: Any, c: Any) -> Answer:
    scale = np.asarray(_WIDTH**-0.5, q.dtype)
    p = q @ k.swapaxes(1, 2) * scale
    p -= p.max(axis=-1, keepdims=True)
    np.exp(p, out=p)
    p /= p.sum(axis=-1, keepdims=True)
    missed = p @ v - c
    value = np.sum(missed**2) / 2
    g = missed @ v.swapaxes(1, 2)
    g -= np.sum(g * p, axis=-1, keepdims=True)
    g *= p
    g *= scale
    return [value, g @ k, g.swapaxes(1, 2) @ q, p.swapaxes(1, 2) @ missed]


ATTENTION = Work(
    letter="g",
    name="attention",
    title=f"attention of {_HEADS} heads of width {_WIDTH}, by length, three gradients",
    text="loss = sum((F.scaled_dot_product_attention(q, k, v) - c)**2) / 2",
    wrt=("q", "k", "v"),
    sizes=(512,),
    tiny=3,
    dtypes=("float32", "float64"),
    inputs=_inputs,
    amount=lambda size: float(size) ** 2,
    by_hand=_by_hand,
    losses={"torch": _torch, "jax": _jax, "autograd": _autograd},
    goals={"best": 1.0},
)
