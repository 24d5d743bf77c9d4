"""Layer and batch normalisation of a table, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np

from .work import Answer, Inputs, Work, normal

_COLUMNS = 1000
_EPSILON = 1e-5


def _inputs(size: int, dtype: Any) -> Inputs:
    generator = np.random.default_rng(4)
    return {
        "x": 2 * normal(generator, dtype, size, _COLUMNS) + 1,
        "weight": normal(generator, dtype, _COLUMNS),
        "bias": normal(generator, dtype, _COLUMNS),
        "c": normal(generator, dtype, size, _COLUMNS),
    }


def _torch_layer(torch: Any, x: Any, weight: Any, bias: Any, c: Any) -> Any:
    return torch.sum(torch.nn.functional.layer_norm(x, (x.shape[1],), weight, bias) * c)


def _torch_batch(torch: Any, x: Any, weight: Any, bias: Any, c: Any) -> Any:
    y = torch.nn.functional.batch_norm(x, None, None, weight=weight, bias=bias, training=True)
    return torch.sum(y * c)


def _loss(axis: int) -> Any:
    def loss(xp: Any, x: Any, weight: Any, bias: Any, c: Any) -> Any:
        centred = x - xp.mean(x, axis=axis, keepdims=True)
        variance = xp.mean(centred**2, axis=axis, keepdims=True)
        return xp.sum((centred / xp.sqrt(variance + _EPSILON) * weight + bias) * c)

    return loss


def _casadi(axis: int) -> Any:
    def loss(casadi: Any, x: Any, weight: Any, bias: Any, c: Any) -> Any:
        total = casadi.sum1 if axis == 0 else casadi.sum2
        times = (x.shape[0], 1) if axis == 0 else (1, x.shape[1])
        centred = x - casadi.repmat(total(x) / x.shape[axis], *times)
        deviation = casadi.sqrt(total(centred**2) / x.shape[axis] + _EPSILON)
        weight, bias = (casadi.repmat(each.T, x.shape[0], 1) for each in (weight, bias))
        y = centred / casadi.repmat(deviation, *times) * weight + bias
        return casadi.sum1(casadi.sum2(y * c))

    return loss


def _by_hand(axis: int) -> Any:
    def answer(x: Any, weight: Any, bias: Any, c: Any) -> Answer:
        centred = x - x.mean(axis=axis, keepdims=True)
        deviation = np.sqrt(np.mean(centred**2, axis=axis, keepdims=True) + _EPSILON)
        unit = centred / deviation
        value = np.sum((unit * weight + bias) * c)
        g = c * weight
        slope = g - g.mean(axis=axis, keepdims=True) - unit * np.mean(g * unit, axis=axis, keepdims=True)
        return [value, slope / deviation, np.sum(c * unit, axis=0), np.sum(c, axis=0)]

    return answer


def _work(name: str, title: str, call: str, axis: int, torch: Any) -> Work:
    return Work(
        letter="d",
        name=name,
        title=f"{title} of rows of {_COLUMNS}, three gradients",
        text=f"loss = sum({call} * c)",
        wrt=("x", "weight", "bias"),
        sizes=(10_000,),
        tiny=5,
        inputs=_inputs,
        amount=float,
        by_hand=_by_hand(axis),
        losses={"torch": torch, "jax": _loss(axis), "autograd": _loss(axis), "casadi": _casadi(axis)},
        goals={"best": 0.6},
    )


LAYER_NORM = _work(
    "layer_norm", "layer normalisation", f"F.layer_norm(x, ({_COLUMNS},), weight, bias)", 1, _torch_layer
)
BATCH_NORM = _work(
    "batch_norm",
    "batch normalisation",
    "F.batch_norm(x, None, None, weight=weight, bias=bias, training=True)",
    0,
    _torch_batch,
)
