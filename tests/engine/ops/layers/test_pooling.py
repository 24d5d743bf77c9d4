"""Pooling: values by hand and by plain loops, cut windows, transposes, messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError, ShapeError
from agrad.engine.graph import Node, leaf, make

Value = Callable[[Node], Any]
Slopes = Callable[..., list[Any]]

LINE = np.array([[[3.0, 1.0, 4.0, 1.0, 5.0]]])


def test_average_of_each_window(value: Value) -> None:
    """Padding counts as zeros, or not at all; a divisor of one's own replaces the count."""
    x = leaf(LINE)
    assert value(make.avg_pool1d(x, 2)) == [[[2.0, 2.5]]]
    assert value(make.avg_pool1d(x, 2, padding=1)) == [[[1.5, 2.5, 3.0]]]
    assert value(make.avg_pool1d(x, 2, padding=1, count_include_pad=False)) == [[[3.0, 2.5, 3.0]]]
    square = leaf(np.arange(1.0, 10.0).reshape(1, 3, 3))
    assert value(make.avg_pool2d(square, 3)) == [[[5.0]]]
    assert value(make.avg_pool2d(square, 2, divisor_override=2)) == [[[6.0]]]
    assert value(make.avg_pool2d(square, 2, ceil_mode=True)) == [[[3.0, 4.5], [7.5, 9.0]]]


def test_adaptive_windows_divide_the_axis(value: Value) -> None:
    """Windows overlap where the sizes do not divide; one window is a mean, also in PyTorch's name of it."""
    x = leaf(LINE, requires_grad=True)
    assert value(make.adaptive_avg_pool1d(x, 2)) == [[[8 / 3, 10 / 3]]]
    assert value(make.adaptive_max_pool1d(x, 3)) == [[[3.0, 4.0, 5.0]]]
    square = leaf(np.ones((1, 2, 3, 3)), requires_grad=True)
    assert make.adaptive_avg_pool2d(square, 1).grad_fn == "MeanBackward1"
    assert make.adaptive_avg_pool2d(square, (None, 2)).shape == (1, 2, 3, 2)
    assert make.adaptive_avg_pool1d(x, 1).grad_fn == "SqueezeBackward1"


def test_norm_of_each_window(value: Value, slopes: Slopes) -> None:
    """The root of the sum of powers; nothing flows into a window of zeros, whose slope would be infinite."""
    x = [[[3.0, 4.0, 0.0, 0.0]]]
    assert value(make.lp_pool1d(leaf(np.array(x)), 2.0, 2)) == [[[5.0, 0.0]]]
    found = slopes(lambda x: make.lp_pool1d(x, 2.0, 2), x)[0]
    assert found[0][0] == pytest.approx([0.6, 0.8, 0.0, 0.0], rel=1e-14)


WINDOWS = st.fixed_dictionaries(
    {
        "kernel_size": st.tuples(st.integers(2, 3), st.integers(2, 3)),
        "stride": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "padding": st.tuples(st.integers(0, 1), st.integers(0, 1)),
        "ceil_mode": st.booleans(),
    }
)


@settings(max_examples=40, deadline=None)
@given(window=WINDOWS, include=st.booleans(), seed=st.integers(0, 99))
def test_pools_are_plain_loops(value: Value, window: Any, include: bool, seed: int) -> None:
    """The largest entry and the average of each window, entry by entry, in any geometry."""
    x = np.random.default_rng(seed).standard_normal((5, 4))
    average = make.avg_pool2d(leaf(x[None]), **window, count_include_pad=include)
    largest = make.max_pool2d(leaf(x[None]), **window)
    sizes = []
    for row, column in np.ndindex(*average.shape[1:]):
        begin = [
            at * step - pad for at, step, pad in zip((row, column), window["stride"], window["padding"], strict=True)
        ]
        end = [at + size for at, size in zip(begin, window["kernel_size"], strict=True)]
        reached = [min(e, n + p) - b for b, e, n, p in zip(begin, end, x.shape, window["padding"], strict=True)]
        inside = x[max(begin[0], 0) : end[0], max(begin[1], 0) : end[1]]
        sizes.append((inside.sum() / (np.prod(reached) if include else inside.size), inside.max()))
    expected = np.array(sizes).reshape(*average.shape[1:], 2)
    np.testing.assert_allclose(value(average)[0], expected[..., 0], atol=1e-12)
    assert value(largest)[0] == expected[..., 1].tolist()


@settings(max_examples=30, deadline=None)
@given(window=WINDOWS, include=st.booleans(), seed=st.integers(0, 99))
def test_averages_carry_cotangents_back_by_the_transpose(
    pairings: Callable[..., list[float]], window: Any, include: bool, seed: int
) -> None:
    """<average(x), g> is <x, cotangent>, for sliding and for adaptive windows."""
    for function in (
        lambda x: make.avg_pool2d(x, **window, count_include_pad=include),
        lambda x: make.adaptive_avg_pool2d(x, window["kernel_size"]),
    ):
        one, other = pairings(function, (2, 5, 4), seed)
        assert one == pytest.approx(other, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: make.max_pool2d(x, 2, padding=2), "pad should be at most half of effective kernel size"),
        (lambda x: make.max_pool2d(x, 2, stride=0), "stride should not be zero"),
        (lambda x: make.max_pool2d(x, (2, 2, 2)), "kernel_size must either be a single int, or a tuple of two ints"),
        (lambda x: make.avg_pool2d(x, 2, divisor_override=0), "divisor must be not zero"),
        (lambda x: make.adaptive_avg_pool2d(x, -1), "elements of output_size must be greater than or equal to 0"),
    ],
)
def test_parameters_out_of_range(call: Callable[[Node], Node], message: str) -> None:
    """The message is PyTorch's."""
    with pytest.raises(InputError, match=message):
        call(leaf(np.zeros((1, 2, 4, 4))))


def test_windows_larger_than_the_input() -> None:
    """The sizes before and after are told, as in PyTorch."""
    with pytest.raises(ShapeError, match=r"Given input size: \(2x2x2\). Calculated output size: \(2x0x0\)"):
        make.max_pool2d(leaf(np.zeros((1, 2, 2, 2))), 3)
    with pytest.raises(ShapeError, match="Expected 3D or 4D tensor"):
        make.avg_pool2d(leaf(np.zeros((2, 2))), 3)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_norms_of_windows_of_any_size(value: Value, slopes: Slopes, size: float) -> None:
    """The norm of a window grows with its numbers and its slopes do not change, where their powers are out of range."""
    x = np.array([[[1.0, 2.0, 1.0, 3.0]]])
    np.testing.assert_allclose(
        np.divide(value(make.lp_pool1d(leaf(x * size), 3.0, 2)), size), [[[9 ** (1 / 3), 28 ** (1 / 3)]]]
    )
    expected = [[[9 ** (-2 / 3), 4 * 9 ** (-2 / 3), 28 ** (-2 / 3), 9 * 28 ** (-2 / 3)]]]
    np.testing.assert_allclose(slopes(lambda x: make.lp_pool1d(x, 3.0, 2), x * size)[0], expected, rtol=1e-14)
