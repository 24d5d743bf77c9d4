"""Dropout: PyTorch's names and scaling, masks that a seed fixes, whole channels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import InputError
from agrad.engine.graph import leaf, make
from agrad.engine.run.cpu import evaluate


def _leaf(*shape: int) -> Any:
    return leaf(np.arange(1.0, math.prod(shape) + 1).reshape(shape), requires_grad=True)


def _values(node: Any) -> Any:
    return evaluate([node])[node]


def test_dropping_scales_what_is_kept() -> None:
    """An element is 0 or divided by 1 - p; the mask is NumPy's stream, the same for the same seed."""
    x = _leaf(1000)
    result = make.dropout(x, 0.2, seed=3)
    kept = np.random.default_rng(3).random(1000) >= 0.2
    np.testing.assert_array_equal(_values(result), np.where(kept, x.value * (1 / 0.8), 0.0))
    assert result.grad_fn == "MulBackward0"


@pytest.mark.parametrize("options", [{"p": 0.0}, {"p": 0.5, "training": False}])
def test_nothing_dropped_is_the_tensor_itself(options: Any) -> None:
    """Without training, or with probability 0, no seed is needed and nothing is made."""
    x = _leaf(3)
    assert make.dropout(x, **options) is x


def test_all_dropped() -> None:
    """With probability 1 everything is 0, and nothing flows."""
    result = make.dropout(_leaf(3), 1.0)
    assert _values(result).tolist() == [0.0, 0.0, 0.0]
    assert result.grad_fn == "MulBackward0"


@pytest.mark.parametrize(
    ("name", "shape", "grad_fn"),
    [
        ("dropout1d", (4, 5, 3), "MulBackward0"),
        ("dropout1d", (5, 3), "SqueezeBackward1"),
        ("dropout2d", (4, 5, 2, 2), "MulBackward0"),
        ("dropout2d", (4, 5, 3), "MulBackward0"),
        ("dropout3d", (2, 4, 2, 2, 2), "MulBackward0"),
        ("dropout3d", (5, 2, 2, 2), "SqueezeBackward1"),
    ],
)
def test_whole_channels(name: str, shape: tuple[int, ...], grad_fn: str) -> None:
    """A channel is dropped as a whole: axis 1, or axis 0 where PyTorch takes the input for a single one."""
    x = _leaf(*shape)
    result = getattr(make, name)(x, 0.5, seed=0)
    factors = _values(result) / x.value
    channels = factors.reshape(-1, math.prod(shape[(1 if grad_fn[0] == "S" else 2) :]))
    assert {tuple(set(row)) for row in channels.tolist()} == {(0.0,), (2.0,)}
    assert result.grad_fn == grad_fn


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    """Of standard normal numbers the mean stays 0 and the variance 1; what is dropped gets one and the same number."""
    x = leaf(np.random.default_rng(0).standard_normal(20_000), requires_grad=True)
    result = make.alpha_dropout(x, 0.4, training=True, seed=1)
    values = _values(result)
    assert abs(values.mean()) < 0.03
    assert abs(values.var() - 1) < 0.03
    assert np.unique(values, return_counts=True)[1].max() > 7_000
    assert result.grad_fn == "AddBackward0"
    assert make.alpha_dropout(x) is x


def test_feature_alpha_dropout_drops_channels() -> None:
    """The same number in all places of a channel."""
    values = _values(make.feature_alpha_dropout(_leaf(4, 4, 3), 0.5, training=True, seed=0))
    assert sum(len(set(channel)) == 1 for channel in values.reshape(-1, 3).tolist()) in range(1, 16)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: make.dropout(x, 0.5), "dropout needs a seed"),
        (lambda x: make.dropout(x, 1.5, seed=0), "between 0 and 1, but got 1.5"),
        (lambda x: make.alpha_dropout(x, -0.5, True, seed=0), "between 0 and 1"),
        (lambda x: make.dropout1d(x, 0.5, seed=0), "Expected 2D or 3D input, but received a 1D input"),
        (lambda x: make.feature_alpha_dropout(x, 0.5, True, seed=0), "at least 2 dimensions"),
    ],
)
def test_bad_arguments(call: Any, message: str) -> None:
    """A missing seed, a wrong probability and a wrong shape are refused in words."""
    with pytest.raises(InputError, match=message):
        call(_leaf(3))
