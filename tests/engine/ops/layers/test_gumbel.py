"""The softmax that draws, soft and hard."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import InputError
from agrad.engine.graph import leaf, make
from agrad.engine.run.cpu import evaluate

X = np.array([[0.5, -1.0, 2.0], [0.0, 0.25, 0.5]])


def test_soft() -> None:
    """It is the softmax of the logits and NumPy's Gumbel noise, over tau."""
    result = make.gumbel_softmax(leaf(X, requires_grad=True), tau=0.5, seed=4)
    noisy = (X + np.random.default_rng(4).gumbel(size=X.shape)) / 0.5
    weights = np.exp(noisy - noisy.max(1, keepdims=True))
    np.testing.assert_allclose(evaluate([result])[result], weights / weights.sum(1, keepdims=True), rtol=1e-13)
    assert result.grad_fn == "SoftmaxBackward0"


def test_hard_is_one_hot_with_the_soft_gradient(slopes: Any) -> None:
    """The value is exactly 0 or 1, at the largest weight; the gradient is the softmax's."""
    weights = leaf(np.arange(6.0).reshape(2, 3))
    hard = make.gumbel_softmax(leaf(X, requires_grad=True), hard=True, seed=4)
    values = evaluate([hard])[hard]
    assert sorted(values.ravel().tolist()) == [0.0] * 4 + [1.0] * 2
    soft = make.gumbel_softmax(leaf(X), seed=4)
    assert values.argmax(1).tolist() == evaluate([soft])[soft].argmax(1).tolist()
    assert hard.grad_fn == "AddBackward0"
    both = [slopes(lambda x, hard=hard: make.gumbel_softmax(x, hard=hard, seed=4) * weights, X) for hard in (0, 1)]
    assert both[0] == both[1]


def test_a_seed_is_needed() -> None:
    """Without one the result could not be checked."""
    with pytest.raises(InputError, match="gumbel_softmax needs a seed"):
        make.gumbel_softmax(leaf(X))
