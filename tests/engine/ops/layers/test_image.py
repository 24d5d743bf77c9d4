"""Resizing and rearranging images: values by hand, transposes, messages."""

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

LINE = np.array([[[0.0, 4.0, 8.0]]])


def test_modes_along_one_axis(value: Value) -> None:
    """Nearest takes the sample to the left, linear goes between centres or, aligned, between the outermost ones."""
    x = leaf(LINE)
    assert value(make.interpolate(x, scale_factor=2)) == [[[0.0, 0.0, 4.0, 4.0, 8.0, 8.0]]]
    assert value(make.interpolate(x, size=2, mode="nearest")) == [[[0.0, 4.0]]]
    assert value(make.interpolate(x, size=2, mode="nearest-exact")) == [[[0.0, 8.0]]]
    assert value(make.interpolate(x, scale_factor=2, mode="linear")) == [[[0.0, 1.0, 3.0, 5.0, 7.0, 8.0]]]
    assert value(make.interpolate(x, size=5, mode="linear", align_corners=True)) == [[[0.0, 2.0, 4.0, 6.0, 8.0]]]
    assert value(make.interpolate(x, size=1, mode="area")) == [[[4.0]]]


def test_cubic_weights_are_those_of_keys(value: Value) -> None:
    """Half-way between two samples the four weights are -3/32, 19/32, 19/32, -3/32."""
    x = leaf(np.eye(4).reshape(4, 1, 1, 4))
    middle = np.array(value(make.interpolate(x, size=(1, 7), mode="bicubic", align_corners=True)))[:, 0, 0, 3]
    assert middle.tolist() == [-0.09375, 0.59375, 0.59375, -0.09375]


def test_antialias_widens_the_kernel(value: Value) -> None:
    """Shrinking by two, the triangle reaches over four samples."""
    x = leaf(np.eye(4).reshape(4, 1, 1, 4))
    weights = np.array(value(make.interpolate(x, size=(1, 2), mode="bilinear", antialias=True)))[:, 0, 0, 0]
    assert weights.tolist() == pytest.approx([3 / 7, 3 / 7, 1 / 7, 0.0])


MODES = st.sampled_from(["nearest", "nearest-exact", "bilinear", "bicubic", "area"])


@settings(max_examples=50, deadline=None)
@given(mode=MODES, size=st.tuples(st.integers(1, 7), st.integers(1, 7)), aligned=st.booleans(), smooth=st.booleans())
def test_resizing_carries_cotangents_back_by_the_transpose(
    value: Value, pairings: Callable[..., list[float]], mode: str, size: tuple[int, int], aligned: bool, smooth: bool
) -> None:
    """<resized(x), g> is <x, cotangent>, and a constant image stays constant: weights sum to 1."""
    cubic = mode in ("bilinear", "bicubic")
    options: dict[str, Any] = {"align_corners": aligned, "antialias": smooth} if cubic else {}
    one, other = pairings(lambda x: make.interpolate(x, size=size, mode=mode, **options), (1, 2, 3, 4), 0)
    assert one == pytest.approx(other, rel=1e-10, abs=1e-10)
    constant = value(make.interpolate(leaf(np.ones((1, 1, 3, 4))), size=size, mode=mode, **options))
    np.testing.assert_allclose(constant, 1.0, rtol=1e-12)


def test_names_of_the_functions() -> None:
    """PyTorch's grad_fn tells the mode and the number of axes."""
    image = leaf(np.ones((1, 1, 2, 2)), requires_grad=True)
    assert make.interpolate(image, size=3, mode="bicubic").grad_fn == "UpsampleBicubic2DBackward0"
    assert make.interpolate(image, size=3, mode="bilinear", antialias=True).grad_fn == "UpsampleBilinear2DAaBackward0"
    line = leaf(np.ones((1, 1, 2)), requires_grad=True)
    assert make.interpolate(line, size=3, mode="nearest-exact").grad_fn == "UpsampleNearestExact1DBackward0"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either size or scale_factor should be defined"),
        ({"size": 3, "scale_factor": 2}, "only one of size or scale_factor should be defined"),
        ({"size": 3, "mode": "bilinear"}, "Got 3D input, but bilinear mode needs 4D input"),
        ({"size": 3, "align_corners": True}, "align_corners option can only be set with the interpolating modes"),
        ({"size": (3, 3)}, "must have the same number of spatial dimensions"),
        ({"size": 3, "mode": "best"}, r"\(got best\)"),
        ({"scale_factor": -1.0}, "scale_factor must be positive"),
    ],
)
def test_parameters_that_do_not_fit(options: dict[str, Any], message: str) -> None:
    """The message is PyTorch's where PyTorch has one."""
    with pytest.raises(InputError, match=message):
        make.interpolate(leaf(LINE), **options)


def test_channels_become_pixels_and_pixels_channels(value: Value) -> None:
    """pixel_unshuffle undoes pixel_shuffle; a channel of each group follows the other in channel_shuffle."""
    x = leaf(np.arange(8.0).reshape(1, 4, 1, 2))
    shuffled = make.pixel_shuffle(x, 2)
    assert value(shuffled) == [[[[0.0, 2.0, 1.0, 3.0], [4.0, 6.0, 5.0, 7.0]]]]
    assert value(make.pixel_unshuffle(shuffled, 2)) == value(x)
    assert value(make.channel_shuffle(leaf(np.arange(6.0).reshape(1, 6, 1)), 2))[0] == [
        [0.0],
        [3.0],
        [1.0],
        [4.0],
        [2.0],
        [5.0],
    ]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: make.pixel_shuffle(x, 2),
        lambda x: make.pixel_unshuffle(x, 2),
        lambda x: make.channel_shuffle(x, 2),
        lambda x: make.channel_shuffle(x, 4),
    ],
)
def test_rearranging_is_undone_backwards(pairings: Callable[..., list[float]], function: Any) -> None:
    """Each entry's cotangent goes back to where it came from."""
    one, other = pairings(function, (1, 8, 2, 4), 1)
    assert one == pytest.approx(other)


def test_sizes_that_do_not_divide() -> None:
    """The message is PyTorch's."""
    with pytest.raises(ShapeError, match="to be divisible by the square of upscale_factor"):
        make.pixel_shuffle(leaf(np.zeros((1, 3, 3, 3))), 2)
    with pytest.raises(ShapeError, match="expects height to be divisible by downscale_factor"):
        make.pixel_unshuffle(leaf(np.zeros((1, 2, 5, 6))), 2)
    with pytest.raises(ShapeError, match="Number of channels must be divisible by groups"):
        make.channel_shuffle(leaf(np.zeros((1, 3, 3))), 2)


def test_affine_grid_of_the_identity(value: Value, pairings: Callable[..., list[float]]) -> None:
    """The identity gives the centres of the pixels, the first coordinate running along the last axis."""
    theta = leaf(np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]))
    assert value(make.affine_grid(theta, (1, 1, 1, 2))) == [[[[-0.5, 0.0], [0.5, 0.0]]]]
    assert value(make.affine_grid(theta, (1, 1, 1, 2), align_corners=True)) == [[[[-1.0, 0.0], [1.0, 0.0]]]]
    one, other = pairings(lambda x: make.affine_grid(x, (2, 1, 2, 3, 2)), (2, 3, 4), 0)
    assert one == pytest.approx(other)
    with pytest.raises(ShapeError, match="Expected a batch of 2D affine matrices of shape Nx2x3"):
        make.affine_grid(leaf(np.zeros((2, 3))), (1, 1, 2, 2))
