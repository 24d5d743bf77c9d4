"""Linear maps, normalisations and attention."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError, ShapeError
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]


def ones(*shape: int) -> Node:
    """A leaf of ones that requires a gradient."""
    return leaf(np.ones(shape), requires_grad=True)


@pytest.mark.parametrize(
    ("x", "weight", "bias", "name"),
    [
        ((2, 3), (4, 3), None, "MmBackward0"),
        ((2, 3), (4, 3), (4,), "AddmmBackward0"),
        ((3,), (4, 3), None, "SqueezeBackward4"),
        ((3,), (4, 3), (4,), "ViewBackward0"),
        ((2, 2, 3), (4, 3), (4,), "ViewBackward0"),
        ((3,), (3,), None, "DotBackward0"),
    ],
)
def test_linear_maps(x: tuple[int, ...], weight: tuple[int, ...], bias: tuple[int, ...] | None, name: str) -> None:
    """The name of grad_fn follows the ranks, and the value is that of x W^T + b."""
    node = make.linear(ones(*x), ones(*weight), None if bias is None else ones(*bias))
    assert node.grad_fn == name
    assert np.unique(evaluate([node])[node]).tolist() == [3.0 if bias is None else 4.0]


def test_the_second_derivative_of_layer_norm(curvature: Callable[..., Any]) -> None:
    """The recorded second derivative through a weighted layer norm is right."""
    weight = leaf(np.array([1.0, 3.0]))

    def function(t: Node) -> Node:
        return make.sum(make.layer_norm(make.stack([t, leaf(0.0)]), (2,), weight, eps=0.25))

    assert curvature(function, 0.4)[0][0] == pytest.approx(1.6560226353482628, rel=1e-13)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-5.0, 5.0), min_size=6, max_size=6))
def test_normalised_rows(entries: list[float]) -> None:
    """A normalised row has mean 0 and variance below 1, and its slopes sum to zero along the row."""
    x = leaf(np.reshape(entries, (2, 3)), requires_grad=True)
    node = make.layer_norm(x, (3,))
    g = gradients([node], [leaf(np.arange(6.0).reshape(2, 3))])[x]
    values = evaluate([node, g])
    np.testing.assert_allclose(values[node].mean(axis=1), 0.0, atol=1e-12)
    assert (values[node].var(axis=1) <= 1 + 1e-12).all()
    np.testing.assert_allclose(values[g].sum(axis=1), 0.0, atol=1e-9)


def test_batch_norm_in_training_and_out_of_it(value: Value) -> None:
    """Training takes the batch's statistics, evaluation the given ones; the name is the same."""
    x = leaf(np.array([[1.0, 10.0], [3.0, 30.0]]), requires_grad=True)
    trained = make.batch_norm(x, training=True, eps=0.0)
    assert trained.grad_fn == "NativeBatchNormBackward0"
    np.testing.assert_allclose(value(trained), [[-1.0, -1.0], [1.0, 1.0]])
    mean, variance = leaf(np.array([1.0, 10.0])), leaf(np.array([4.0, 100.0]))
    weight, bias = leaf(np.array([2.0, 1.0])), leaf(np.array([0.0, 5.0]))
    evaluated = make.batch_norm(x, mean, variance, weight, bias, eps=0.0)
    assert evaluated.grad_fn == "NativeBatchNormBackward0"
    np.testing.assert_allclose(value(evaluated), [[0.0, 5.0], [2.0, 7.0]])
    with pytest.raises(InputError, match="running_mean"):
        make.batch_norm(x)
    with pytest.raises(ShapeError, match="more than 1 value per channel"):
        make.batch_norm(leaf(np.ones((1, 2))), training=True)


def test_other_norms(value: Value) -> None:
    """Group norm of one group per channel is instance norm; rms norm divides by the root mean square."""
    x = np.arange(12.0).reshape(1, 2, 6) ** 2
    grouped, single = make.group_norm(leaf(x), 2), make.instance_norm(leaf(x))
    np.testing.assert_allclose(value(grouped), value(single))
    np.testing.assert_allclose(
        value(make.rms_norm(leaf(np.array([3.0, 4.0])), (2,))), np.array([3.0, 4.0]) / math.sqrt(12.5)
    )
    assert make.rms_norm(ones(2, 3), (3,)).grad_fn == "MulBackward0"
    with pytest.raises(ShapeError, match="divisible"):
        make.group_norm(leaf(x), 3)
    with pytest.raises(ShapeError, match="normalized_shape"):
        make.layer_norm(leaf(x), (5,))


def test_directions_of_zero_vectors(value: Value, slopes: Slopes) -> None:
    """At the zero vector normalize divides by eps, in value and slope, as PyTorch does."""
    assert slopes(lambda x: make.normalize(x, dim=0), [0.0, 0.0]) == [[1e12, 1e12]]
    assert value(make.normalize(leaf(np.array([3.0, 4.0])), dim=0)) == pytest.approx([0.6, 0.8])
    found = slopes(lambda x, y: make.cosine_similarity(x, y, 0), [0.0, 0.0], [1.0, 2.0])
    np.testing.assert_allclose(found[0], [4.47214e7, 8.94427e7], rtol=1e-5)
    assert found[1] == [0.0, 0.0]


def test_attention_looks_only_where_it_may(value: Value) -> None:
    """A causal row does not see later values, and a row that may see nothing gives 0, also in its slope."""
    q = k = leaf(np.zeros((2, 2)))
    v = leaf(np.array([[1.0, 2.0], [3.0, 4.0]]), requires_grad=True)
    causal = make.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert causal.grad_fn == "MmBackward0"
    assert value(causal) == [[1.0, 2.0], [2.0, 3.0]]
    blind = leaf(np.array([[False, False], [True, True]]))
    node = make.scaled_dot_product_attention(q, k, v, blind)
    assert value(node) == [[0.0, 0.0], [2.0, 3.0]]
    g = gradients([node], [leaf(np.ones((2, 2)))])[v]
    assert value(g) == [[0.5, 0.5], [0.5, 0.5]]
    heads = ones(1, 2, 3, 4)
    fused = make.scaled_dot_product_attention(heads, heads, heads)
    assert fused.grad_fn == "ScaledDotProductFlashAttentionForCpuBackward0"
    with pytest.raises(InputError, match="dropout_p"):
        make.scaled_dot_product_attention(q, k, v, dropout_p=0.5)


def test_distances_and_neighbours(value: Value, slopes: Slopes) -> None:
    """Equal rows have distance eps per element; local response norm divides by the window's mean square."""
    found = slopes(make.pairwise_distance, [[1.0, 1.0]], [[1.0, 1.0]])
    np.testing.assert_allclose(found, [[[0.707107, 0.707107]], [[-0.707107, -0.707107]]], rtol=1e-6)
    x = leaf(np.array([[[1.0], [2.0], [3.0]]]))
    window = np.array([1.0 / 2, 5.0 / 2, 13.0 / 2])
    expected = np.array([1.0, 2.0, 3.0]) / (1.0 + window) ** 0.5
    np.testing.assert_allclose(np.ravel(value(make.local_response_norm(x, 2, alpha=1.0, beta=0.5))), expected)


def test_rows_whose_squares_overflow_are_normalised(value: Value) -> None:
    """Numbers beyond the root of the largest double; rows beside them are as they were."""
    rows = np.array([[1e300, -1e300, 0.0], [1.0, 2.0, 4.0]])
    huge, ordinary = value(make.layer_norm(leaf(rows), 3))
    np.testing.assert_allclose(huge, [1.5**0.5, -(1.5**0.5), 0.0], rtol=1e-14)
    assert ordinary == value(make.layer_norm(leaf(rows[1:]), 3))[0]
    assert np.isnan(value(make.layer_norm(leaf(np.array([np.inf, 1.0])), 2))).all()
