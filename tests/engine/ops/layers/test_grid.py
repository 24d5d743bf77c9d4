"""Sampling at the points of a grid: values by hand, both gradients, borders, messages."""

from __future__ import annotations

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

Value = Callable[[Node], Any]
Slopes = Callable[..., list[Any]]

SQUARE = [[[[1.0, 3.0], [5.0, 7.0]]]]


def at(x: float, y: float) -> Any:
    """A grid of one point: x runs along the last axis."""
    return [[[[x, y]]]]


@pytest.mark.parametrize(
    ("point", "options", "expected"),
    [
        ((0.0, 0.0), {}, 4.0),
        ((0.5, -0.5), {}, 3.0),
        ((1.0, 1.0), {"align_corners": True}, 7.0),
        ((1.0, 0.5), {}, 3.5),
        ((1.0, 0.5), {"padding_mode": "border"}, 7.0),
        ((2.5, 0.5), {"padding_mode": "reflection"}, 5.0),
        ((0.3, -0.3), {"mode": "nearest"}, 3.0),
        ((9.0, 0.0), {}, 0.0),
    ],
)
def test_samples(value: Value, point: tuple[float, float], options: dict[str, Any], expected: float) -> None:
    """Between pixels, at the borders and outside, in each way to continue an image."""
    sample = make.grid_sample(leaf(np.array(SQUARE)), leaf(np.array(at(*point))), **options)
    assert value(sample) == [[[[pytest.approx(expected)]]]]


def test_gradient_of_the_grid(slopes: Slopes) -> None:
    """The slope between neighbours times half the size; 0 where a coordinate is clipped, and for nearest."""
    both = slopes(make.grid_sample, SQUARE, at(0.1, 0.2))
    assert both[1] == [[[[pytest.approx(2.0), pytest.approx(4.0)]]]]
    clipped = slopes(lambda x, grid: make.grid_sample(x, grid, padding_mode="border"), SQUARE, at(3.0, 0.2))
    assert clipped[1] == [[[[0.0, pytest.approx(4.0)]]]]
    assert slopes(lambda x, grid: make.grid_sample(x, grid, mode="nearest"), SQUARE, at(0.1, 0.2))[1] == at(0.0, 0.0)


@settings(max_examples=30, deadline=None)
@given(
    mode=st.sampled_from(["bilinear", "nearest", "bicubic"]),
    padding_mode=st.sampled_from(["zeros", "border", "reflection"]),
    align_corners=st.booleans(),
    seed=st.integers(0, 99),
)
def test_cotangent_of_the_image_is_the_transpose(
    pairings: Callable[..., list[float]], seed: int, **options: Any
) -> None:
    """<samples(x), g> is <x, cotangent>, far outside too."""
    grid = leaf(np.random.default_rng(seed).uniform(-2.5, 2.5, (2, 2, 3, 2)))
    one, other = pairings(lambda x: make.grid_sample(x, grid, **options), (2, 2, 3, 4), seed)
    assert one == pytest.approx(other, rel=1e-10, abs=1e-10)


@settings(max_examples=20, deadline=None)
@given(
    mode=st.sampled_from(["bilinear", "bicubic"]),
    padding_mode=st.sampled_from(["zeros", "border", "reflection"]),
    align_corners=st.booleans(),
    seed=st.integers(0, 99),
)
def test_gradient_of_the_grid_is_the_difference_quotient(seed: int, **options: Any) -> None:
    """In each coordinate, away from the centres of pixels."""
    random = np.random.default_rng(seed)
    image, start = random.standard_normal((1, 2, 4, 3)), random.uniform(-1.6, 1.6, (1, 2, 2, 2))
    scale = 0.5 * (np.array([3, 4]) - options["align_corners"])
    offset = 0.0 if options["align_corners"] else 0.5
    part = ((start + 1) * scale - offset) % 0.5
    start = start + (np.clip(part, 0.05, 0.45) - part) / scale  # neither at a centre nor at an edge of a pixel
    grid = leaf(start, requires_grad=True)
    found = gradients([make.grid_sample(leaf(image), grid, **options)], [leaf(np.ones((1, 2, 2, 2)))])[grid]
    step = 1e-6
    for where in np.ndindex(*start.shape):
        moved = []
        for sign in (1, -1):
            point = start.copy()
            point[where] += sign * step
            node = make.grid_sample(leaf(image), leaf(point), **options)
            moved.append(np.sum(evaluate([node])[node]))
        assert evaluate([found])[found][where] == pytest.approx((moved[0] - moved[1]) / (2 * step), abs=1e-6)


def test_three_axes_and_a_point_that_is_nowhere(value: Value) -> None:
    """Volumes are sampled too; a coordinate that is NaN gives NaN, never a silent zero."""
    volume = leaf(np.arange(8.0).reshape(1, 1, 2, 2, 2))
    assert value(make.grid_sample(volume, leaf(np.zeros((1, 1, 1, 1, 3))))) == [[[[[3.5]]]]]
    for mode in ("bilinear", "nearest", "bicubic"):
        sample = make.grid_sample(leaf(np.array(SQUARE)), leaf(np.array(at(np.nan, 0.0))), mode=mode)
        assert np.isnan(value(sample)).all()


def test_shapes_and_words_that_do_not_fit() -> None:
    """The message is PyTorch's."""
    image = leaf(np.zeros((1, 2, 4, 4)))
    with pytest.raises(ShapeError, match="expected grid to have size 2 in last dimension"):
        make.grid_sample(image, leaf(np.zeros((1, 2, 2, 3))))
    with pytest.raises(ShapeError, match="expected grid and input to have same batch size"):
        make.grid_sample(image, leaf(np.zeros((2, 2, 2, 2))))
    with pytest.raises(InputError, match="expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: 'best'"):
        make.grid_sample(image, leaf(np.zeros((1, 2, 2, 2))), mode="best")
