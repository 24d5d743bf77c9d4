"""A chain of thirty mixed elementwise ops over a table, a row and a column."""

from __future__ import annotations

from typing import Any

import numpy as np

from .work import Answer, Inputs, Work, normal

_COLUMNS = 1000
_TEXT = """
a = tanh(x * r + c)
b = a * x
d = sqrt((exp(-b) + r)**2 + 1)
e = sin(d / (c**2 + 2)) * a
f = sigmoid(where(x > 0, e, 0.1*e))
g = log1p(relu(f - b))
h = cos(g * r) + 0.01*a
i = h**2
loss = sum(abs(i / (1 + i) - c))
"""


def _inputs(size: int, dtype: Any) -> Inputs:
    generator = np.random.default_rng(2)
    columns = min(_COLUMNS, size // 5)
    rows = size // columns
    return {
        "x": normal(generator, dtype, rows, columns),
        "r": normal(generator, dtype, columns),
        "c": normal(generator, dtype, rows, 1),
    }


def _chain(xp: Any, sigmoid: Any, relu: Any, x: Any, r: Any, c: Any) -> Any:
    a = xp.tanh(x * r + c)
    b = a * x
    d = xp.sqrt((xp.exp(-b) + r) ** 2 + 1)
    e = xp.sin(d / (c**2 + 2)) * a
    f = sigmoid(xp.where(x > 0, e, 0.1 * e))
    g = xp.log1p(relu(f - b))
    h = xp.cos(g * r) + 0.01 * a
    i = h**2
    return xp.sum(xp.abs(i / (1 + i) - c))


def _torch(torch: Any, x: Any, r: Any, c: Any) -> Any:
    return _chain(torch, torch.sigmoid, torch.relu, x, r, c)


def _jax(jnp: Any, x: Any, r: Any, c: Any) -> Any:
    import jax

    return _chain(jnp, jax.nn.sigmoid, jax.nn.relu, x, r, c)


def _autograd(anp: Any, x: Any, r: Any, c: Any) -> Any:
    from autograd.scipy.special import expit

    return _chain(anp, expit, lambda u: anp.maximum(u, 0), x, r, c)


def _casadi(casadi: Any, x: Any, r: Any, c: Any) -> Any:
    rows, columns = x.shape
    r, c = casadi.repmat(r.T, rows, 1), casadi.repmat(c, 1, columns)
    a = casadi.tanh(x * r + c)
    b = a * x
    d = casadi.sqrt((casadi.exp(-b) + r) ** 2 + 1)
    e = casadi.sin(d / (c**2 + 2)) * a
    f = 1 / (1 + casadi.exp(-casadi.if_else(x > 0, e, 0.1 * e)))
    g = casadi.log1p(casadi.fmax(f - b, 0))
    h = casadi.cos(g * r) + 0.01 * a
    i = h**2
    return casadi.sum1(casadi.sum2(casadi.fabs(i / (1 + i) - c)))


def _by_hand(x: Any, r: Any, c: Any) -> Answer:
    a = np.tanh(x * r + c)
    b = a * x
    m = np.exp(-b)
    p = m + r
    d = np.sqrt(p**2 + 1)
    width = c**2 + 2
    q = d / width
    s = np.sin(q)
    e = s * a
    slope = np.where(x > 0, 1, 0.1).astype(x.dtype)
    f = 1 / (1 + np.exp(-slope * e))
    k = np.maximum(f - b, 0)
    g = np.log1p(k)
    h = np.cos(g * r) + 0.01 * a
    i = h**2
    u = i / (1 + i) - c
    du = np.sign(u)
    dc = -du
    dh = du * 2 * h / (1 + i) ** 2
    da = 0.01 * dh
    dg = -dh * np.sin(g * r)
    dr = dg * g
    dg *= r
    dk = np.where(k > 0, dg / (1 + k), 0)
    de = dk * f * (1 - f) * slope
    db = -dk
    da += de * s
    dq = de * a * np.cos(q)
    dc -= dq * q * 2 * c / width
    dp = dq / width * p / d
    dr += dp
    db -= dp * m
    da += db * x
    dt = da * (1 - a**2)
    dx = db * a + dt * r
    dr += dt * x
    dc += dt
    return [np.sum(np.abs(u)), dx, dr.sum(axis=0), dc.sum(axis=1, keepdims=True)]


CHAIN = Work(
    letter="b",
    name="chain",
    title="a chain of 30 elementwise ops with broadcasts, three gradients",
    text=_TEXT,
    wrt=("x", "r", "c"),
    sizes=(1_000_000, 10_000_000),
    tiny=60,
    inputs=_inputs,
    amount=float,
    by_hand=_by_hand,
    losses={"torch": _torch, "jax": _jax, "autograd": _autograd, "casadi": _casadi},
    goals={"best": 0.5},
)
