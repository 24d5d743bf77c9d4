"""Convolutions: values by hand and by a plain loop, transposes, zero cotangents, messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError, ShapeError
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf, make
from agrad.engine.run.cpu import evaluate

Value = Callable[[Node], Any]


def random_leaf(random: np.random.Generator, *shape: int) -> Node:
    """A leaf of normal numbers that requires a gradient."""
    return leaf(random.standard_normal(shape), requires_grad=True)


def plain_convolution(
    x: Any, weight: Any, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int
) -> Any:
    """A convolution over two axes, entry by entry."""
    padded = np.pad(x, ((0, 0), (0, 0), *[(pad, pad) for pad in padding]))
    out, inside, height, width = weight.shape
    counts = [
        (padded.shape[2 + axis] - dilation[axis] * (size - 1) - 1) // stride[axis] + 1
        for axis, size in enumerate((height, width))
    ]
    result = np.zeros((x.shape[0], out, *counts))
    for n, o, i, j, c, a, b in np.ndindex(*result.shape, inside, height, width):
        channel = o // (out // groups) * inside + c
        row, column = i * stride[0] + a * dilation[0], j * stride[1] + b * dilation[1]
        result[n, o, i, j] += padded[n, channel, row, column] * weight[o, c, a, b]
    return result


def test_a_kernel_slides_without_being_turned(value: Value) -> None:
    """A convolution is a correlation: the kernel meets the entries in their order, and the bias is added."""
    x, weight = leaf(np.array([[[1.0, 2.0, 3.0, 4.0]]])), leaf(np.array([[[1.0, 10.0]]]))
    assert value(make.conv1d(x, weight)) == [[[21.0, 32.0, 43.0]]]
    assert value(make.conv1d(x, weight, leaf(np.array([0.5])), stride=2)) == [[[21.5, 43.5]]]
    assert value(make.conv1d(x, weight, padding="same")) == [[[21.0, 32.0, 43.0, 4.0]]]
    assert value(make.conv1d(x, weight, dilation=2, padding=1)) == [[[20.0, 31.0, 42.0, 3.0]]]


def test_a_transposed_convolution_spreads_the_kernel(value: Value) -> None:
    """Each entry adds its multiple of the kernel, stride apart; output_padding leaves room behind."""
    x, weight = leaf(np.array([[[1.0, 2.0]]])), leaf(np.array([[[1.0, 10.0]]]))
    assert value(make.conv_transpose1d(x, weight)) == [[[1.0, 12.0, 20.0]]]
    assert value(make.conv_transpose1d(x, weight, stride=2, output_padding=1)) == [[[1.0, 10.0, 2.0, 20.0, 0.0]]]
    assert value(make.conv_transpose1d(x, weight, padding=1)) == [[[12.0]]]


GEOMETRY = st.fixed_dictionaries(
    {
        "stride": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "padding": st.tuples(st.integers(0, 2), st.integers(0, 2)),
        "dilation": st.tuples(st.integers(1, 2), st.integers(1, 2)),
        "groups": st.integers(1, 2),
    }
)


@settings(max_examples=40, deadline=None)
@given(geometry=GEOMETRY, kernel=st.tuples(st.integers(1, 3), st.integers(1, 2)), seed=st.integers(0, 99))
def test_convolution_is_the_plain_loop(value: Value, geometry: Any, kernel: tuple[int, int], seed: int) -> None:
    """Any stride, padding, dilation and number of groups."""
    random = np.random.default_rng(seed)
    x, weight = random.standard_normal((2, 2, 5, 4)), random.standard_normal((4, 2 // geometry["groups"], *kernel))
    expected = plain_convolution(x, weight, **geometry)
    np.testing.assert_allclose(value(make.conv2d(leaf(x), leaf(weight), **geometry)), expected, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(geometry=GEOMETRY, seed=st.integers(0, 99))
def test_cotangents_are_transposes(pairings: Callable[..., list[float]], geometry: Any, seed: int) -> None:
    """A convolution and its transpose are linear in the input and in the weight, and carry cotangents back so."""
    random = np.random.default_rng(seed)
    x, weight = random_leaf(random, 1, 2, 5, 4), random_leaf(random, 2, 2 // geometry["groups"], 2, 2)
    for function in (make.conv2d, make.conv_transpose2d):
        one, other = pairings(lambda x, f=function: f(x, weight, **geometry), x.shape, seed)
        assert one == pytest.approx(other, rel=1e-10, abs=1e-10)
        one, other = pairings(lambda w, f=function: f(x, w, **geometry), weight.shape, seed)
        assert one == pytest.approx(other, rel=1e-10, abs=1e-10)


def test_transposed_convolution_is_the_cotangent_of_convolution() -> None:
    """conv_transpose applied to a cotangent is what the input of the convolution receives."""
    random = np.random.default_rng(3)
    x, weight = random_leaf(random, 2, 2, 7), random_leaf(random, 3, 2, 3)
    output = make.conv1d(x, weight, stride=2, padding=1)
    g = leaf(random.standard_normal(output.shape))
    back, expected = gradients([output], [g])[x], make.conv_transpose1d(g, weight, stride=2, padding=1)
    values = evaluate([back, expected])
    np.testing.assert_allclose(values[back], values[expected], atol=1e-12)


def test_unbatched_input_keeps_no_batch_axis() -> None:
    """An input without a batch axis is given one and loses it again, as PyTorch's names of the functions show."""
    random = np.random.default_rng(0)
    batched = make.conv2d(random_leaf(random, 1, 2, 4, 4), random_leaf(random, 3, 2, 3, 3))
    single = make.conv2d(random_leaf(random, 2, 4, 4), random_leaf(random, 3, 2, 3, 3))
    assert (batched.shape, batched.grad_fn) == ((1, 3, 2, 2), "ConvolutionBackward0")
    assert (single.shape, single.grad_fn) == ((3, 2, 2), "SqueezeBackward1")


def test_a_zero_cotangent_stops_at_an_infinite_entry() -> None:
    """An infinite input outside of every window whose output counts makes no NaN in the weight's gradient."""
    x = leaf(np.array([[[1.0, 2.0, 3.0, np.inf]]]), requires_grad=True)
    weight = leaf(np.array([[[1.0, np.inf]]]), requires_grad=True)
    output = make.conv1d(x, weight)
    found = gradients([output], [leaf(np.array([[[1.0, 0.0, 0.0]]]))])
    values = evaluate([found[x], found[weight]])
    assert values[found[weight]].tolist() == [[[1.0, 2.0]]]
    assert values[found[x]].tolist() == [[[1.0, np.inf, 0.0, 0.0]]]


@pytest.mark.parametrize(
    ("shape", "weight", "options", "message"),
    [
        ((1, 3, 8), (3, 2, 3), {}, "to have 2 channels, but got 3 channels instead"),
        ((8,), (3, 2, 3), {}, r"Expected 2D \(unbatched\) or 3D \(batched\) input to conv1d"),
        ((1, 2, 2), (3, 2, 3), {}, "Kernel size can't be greater than actual input size"),
        ((1, 2, 8), (3, 1, 3), {"groups": 2}, "expected weight to be divisible by 2 at dimension 0"),
        ((1, 2, 8), (3, 2, 3), {"bias": np.zeros(2)}, "expected bias to be 1-dimensional with 3 elements"),
    ],
)
def test_shapes_that_do_not_fit(shape: Any, weight: Any, options: dict[str, Any], message: str) -> None:
    """The message is PyTorch's."""
    options = {name: leaf(entry) if name == "bias" else entry for name, entry in options.items()}
    with pytest.raises(ShapeError, match=message):
        make.conv1d(leaf(np.zeros(shape)), leaf(np.zeros(weight)), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stride": 0}, "non-positive stride is not supported"),
        ({"padding": -1}, "negative padding is not supported"),
        ({"padding": "same", "stride": 2}, "padding='same' is not supported for strided convolutions"),
        ({"padding": "big"}, "Invalid padding string: 'big'"),
        ({"stride": (1, 2)}, "expected stride to be a single integer value or a list of 1 values"),
        ({"groups": 0}, "non-positive groups is not supported"),
    ],
)
def test_parameters_out_of_range(options: dict[str, Any], message: str) -> None:
    """The message is PyTorch's."""
    with pytest.raises(InputError, match=message):
        make.conv1d(leaf(np.zeros((1, 2, 8))), leaf(np.zeros((3, 2, 3))), **options)
