"""Images: resizing, moving channels into space, affine grids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Attrs, Example, Node, Op, Shape, apply, as_node, leaf, make
from .. import batch
from ..fold import named
from ..infer import integers
from ..leaves.creation import checked_size
from ..move import moving, shape_given
from ..row import compose
from .resampling import Axis, floating, resampled, resampling

_FAMILY: Final = "nn.functional"

# --- interpolate -------------------------------------------------------------------------------------------------

_KINDS: Final = {
    "nearest": ("nearest", (1, 2, 3), "Nearest"),
    "nearest-exact": ("nearest-exact", (1, 2, 3), "NearestExact"),
    "linear": ("linear", (1,), "Linear"),
    "bilinear": ("linear", (2,), "Bilinear"),
    "bicubic": ("cubic", (2,), "Bicubic"),
    "trilinear": ("linear", (3,), "Trilinear"),
}
"""For each mode: the kind along an axis, for how many axes it is, and PyTorch's word for it."""

_MODES: Final = "linear | bilinear | bicubic | trilinear"


def _checked_mode(mode: str, x: Node, align_corners: Any, antialias: bool) -> None:
    """Refuse a mode that does not fit the axes or the other parameters, in PyTorch's words.

    Raises:
        InputError: where it does not.
    """
    if x.ndim not in (3, 4, 5) or (mode not in _KINDS and mode != "area"):
        raise InputError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {x.ndim}D) for the modes: nearest | "
            f"{_MODES} | area | nearest-exact (got {mode})"
        )
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise InputError(f"align_corners option can only be set with the interpolating modes: {_MODES}")
    if mode in _KINDS and x.ndim - 2 not in _KINDS[mode][1]:
        needed = _KINDS[mode][1][0] + 2
        raise InputError(f"Got {x.ndim}D input, but {mode} mode needs {needed}D input")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise InputError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor")


def _new_sizes(x: Node, size: Any, scale_factor: Any) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """The sizes afterwards, and the factor of each axis where factors were given.

    Raises:
        InputError: where none or both are given, their number is wrong, or nothing is left.
    """
    if size is not None and scale_factor is not None:
        raise InputError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise InputError("either size or scale_factor should be defined")
    spatial = x.shape[2:]
    given = size if size is not None else scale_factor
    values = tuple(given) if isinstance(given, (tuple, list)) else (given,) * len(spatial)
    if len(values) != len(spatial):
        what = "output size of" if size is not None else "scale_factor of shape"
        short = "o" if size is not None else "s"
        name = "output size" if size is not None else "scale_factor"
        raise InputError(
            f"Input and {name if size is None else 'output'} must have the same number of spatial dimensions, but got "
            f"input with spatial dimensions of {list(spatial)} and {what} {values}. Please provide input tensor in "
            f"(N, C, d1, d2, ...,dK) format and {name} in ({short}1, {short}2, ...,{short}K) format."
        )
    factors: tuple[float | None, ...] = (None,) * len(spatial)
    if size is not None:
        sizes = integers(values, "size")
    else:
        if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in values):
            raise InputError(f"scale_factor must be numbers, not {values}")
        if not all(value > 0 and math.isfinite(value) for value in values):
            raise InputError(f"scale_factor must be positive, but got {values}")
        factors = tuple(float(value) for value in values)
        sizes = tuple(math.floor(length * factor) for length, factor in zip(spatial, values, strict=True))
    if min(sizes) < 1 or min(spatial) < 1:
        raise InputError(
            f"Input and output sizes should be greater than 0, but got input {list(spatial)} and output {list(sizes)}"
        )
    return sizes, factors


def _interpolate(
    input: Node,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Node:
    x = as_node(input)
    _checked_mode(mode, x, align_corners, antialias)
    sizes, factors = _new_sizes(x, size, scale_factor)
    rank = len(sizes)
    if mode == "area":
        name = f"adaptive_avg_pool{rank}d"
        return getattr(make, name)(x, sizes)  # type: ignore[no-any-return]  # any row's call
    if recompute_scale_factor:
        factors = (None,) * rank
    kind = _KINDS[mode][0] + ("-antialias" if antialias else "")
    axes: list[Axis] = [
        (kind, length, count, factor, bool(align_corners))
        for length, count, factor in zip(x.shape[2:], sizes, factors, strict=True)
    ]
    grad_fn = f"Upsample{_KINDS[mode][2]}{rank}D{'Aa' if antialias else ''}Backward0"
    return resampled(INTERPOLATE, floating(x), axes, grad_fn=grad_fn)


def _interpolate_grad_fn(args: Sequence[Node], attrs: Attrs) -> str:  # noqa: ARG001  # every `grad_fn` takes both
    rank = len(attrs["axes"])
    return f"UpsampleNearest{rank}DBackward0"


INTERPOLATE: Final[Op] = resampling(
    "interpolate",
    "Images resized to sizes or by factors: nearest, linear, bilinear, bicubic, trilinear, area.",
    call=_interpolate,
    forms=(
        "F.interpolate(x, scale_factor=2, mode='bilinear')",
        "F.interpolate(x, size=(3, 5), mode='bicubic', align_corners=True)",
        "F.interpolate(x, scale_factor=2, mode='nearest')",
    ),
    examples=(
        Example("F.interpolate(x, scale_factor=2, mode='bilinear')", {"x": (1, 1, 2, 3)}),
        Example("F.interpolate(x, size=(4, 3), mode='bilinear', align_corners=True)", {"x": (1, 1, 2, 2)}),
        Example("F.interpolate(x, size=(3, 5), mode='bicubic')", {"x": (1, 1, 2, 3)}),
        Example("F.interpolate(x, size=2, mode='linear')", {"x": (1, 1, 5)}),
        Example("F.interpolate(x, scale_factor=1.5)", {"x": (1, 1, 4)}),
        Example("F.interpolate(x, size=2, mode='bilinear', antialias=True)", {"x": (1, 1, 5, 4)}),
    ),
    grad_fn=_interpolate_grad_fn,
)

# --- channels and space ------------------------------------------------------------------------------------------


def _three_axes(x: Node, what: str) -> None:
    if x.ndim < 3:
        raise ShapeError(
            f"{what} expects input to have at least 3 dimensions, but got input with {x.ndim} dimension(s)",
            hint="the axes are (batch, channels, height, width)",
        )


def _factor(value: Any, what: str, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{what} expects a positive {name}, but got {value}")
    return value


def _shuffled(xp: Any, x: Any, shape: Shape, factor: int) -> Any:
    *lead, channels, height, width = x.shape
    parts = xp.reshape(x, (math.prod(lead), channels // factor**2, factor, factor, height, width))
    return xp.reshape(xp.transpose(parts, (0, 1, 4, 2, 5, 3)), shape)


def _unshuffled(xp: Any, x: Any, shape: Shape, factor: int) -> Any:
    *lead, channels, height, width = x.shape
    parts = xp.reshape(x, (math.prod(lead), channels, height // factor, factor, width // factor, factor))
    return xp.reshape(xp.transpose(parts, (0, 1, 3, 5, 2, 4)), shape)


def _pixel_shuffle(input: Node, upscale_factor: int) -> Node:
    x = as_node(input)
    _three_axes(x, "pixel_shuffle")
    factor = _factor(upscale_factor, "pixel_shuffle", "upscale_factor")
    *lead, channels, height, width = x.shape
    if channels % factor**2:
        raise ShapeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {factor**2}"
        )
    shape = (*lead, channels // factor**2, height * factor, width * factor)
    return apply(PIXEL_SHUFFLE, (x,), {"shape": shape, "factor": factor})


def _pixel_unshuffle(input: Node, downscale_factor: int) -> Node:
    x = as_node(input)
    _three_axes(x, "pixel_unshuffle")
    factor = _factor(downscale_factor, "pixel_unshuffle", "downscale_factor")
    *lead, channels, height, width = x.shape
    for word, size, axis in (("height", height, -2), ("width", width, -1)):
        if size % factor:
            raise ShapeError(
                f"pixel_unshuffle expects {word} to be divisible by downscale_factor, but input.size({axis})={size} "
                f"is not divisible by {factor}"
            )
    shape = (*lead, channels * factor**2, height // factor, width // factor)
    return apply(PIXEL_UNSHUFFLE, (x,), {"shape": shape, "factor": factor})


PIXEL_SHUFFLE: Final[Op] = moving(
    "pixel_shuffle",
    "Channels moved into space: groups of factor times factor channels become blocks of pixels.",
    family=_FAMILY,
    call=_pixel_shuffle,
    forms=("F.pixel_shuffle(x, 2)", "torch.pixel_shuffle(x, 2)"),
    method=False,
    inputs={"x": (1, 4, 1, 2)},
    infer=shape_given,
    batch=batch.items(4),
    kernel=_shuffled,
    rule=lambda node, g: [apply(PIXEL_UNSHUFFLE, (g,), {**node.attrs, "shape": node.args[0].shape})],
    grad_fn="PixelShuffleBackward0",
)

PIXEL_UNSHUFFLE: Final[Op] = moving(
    "pixel_unshuffle",
    "Blocks of pixels moved into channels: the inverse of pixel_shuffle.",
    family=_FAMILY,
    call=_pixel_unshuffle,
    forms=("F.pixel_unshuffle(x, 2)", "torch.pixel_unshuffle(x, 2)"),
    method=False,
    inputs={"x": (1, 1, 2, 4)},
    infer=shape_given,
    batch=batch.items(4),
    kernel=_unshuffled,
    rule=lambda node, g: [apply(PIXEL_SHUFFLE, (g,), {**node.attrs, "shape": node.args[0].shape})],
    grad_fn="PixelUnshuffleBackward0",
)


def _channel_shuffle(input: Node, groups: int) -> Node:
    x = as_node(input)
    if x.ndim < 3:
        raise ShapeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(x.shape)}")
    if isinstance(groups, bool) or not isinstance(groups, int) or groups < 1:
        raise InputError(f"Number of groups to divide channels in must be positive. Value of groups: {groups}")
    if x.shape[1] % groups:
        raise ShapeError(
            f"Number of channels must be divisible by groups. Got {x.shape[1]} channels and {groups} groups."
        )
    return apply(CHANNEL_SHUFFLE, (x,), {"shape": x.shape, "groups": groups})


def _channels_shuffled(xp: Any, x: Any, shape: Shape, groups: int) -> Any:
    parts = xp.reshape(x, (shape[0], groups, shape[1] // groups, *shape[2:]))
    return xp.reshape(xp.swapaxes(parts, 1, 2), shape)


CHANNEL_SHUFFLE: Final[Op] = moving(
    "channel_shuffle",
    "Channels dealt out among groups: the first of each group, then the second of each.",
    family=_FAMILY,
    call=_channel_shuffle,
    forms=("F.channel_shuffle(x, 2)",),
    method=False,
    inputs={"x": (1, 4, 2)},
    infer=shape_given,
    batch=batch.items(3),
    kernel=_channels_shuffled,
    # Dealing into the number of channels of a group undoes it.
    rule=lambda node, g: [
        apply(CHANNEL_SHUFFLE, (g,), {**node.attrs, "groups": max(node.shape[1] // node.attrs["groups"], 1)})
    ],
    grad_fn="ChannelShuffleBackward0",
)

# --- affine grids ------------------------------------------------------------------------------------------------


def _affine_grid(theta: Node, size: Any, align_corners: bool | None = None) -> Node:
    matrix = floating(as_node(theta))
    wanted = integers(size, "size")
    rank = len(wanted) - 2
    if rank not in (2, 3):
        raise InputError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{wanted}."
        )
    if min(wanted) < 1:
        raise InputError(f"Expected non-zero, positive output size. Got {wanted}")
    if matrix.ndim != 3 or matrix.shape[1:] != (rank, rank + 1):
        raise ShapeError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size {wanted}. Got "
            f"{list(matrix.shape)}."
        )
    if matrix.shape[0] != wanted[0]:
        raise ShapeError(
            f"affine_grid: theta holds {matrix.shape[0]} matrices, size asks for {wanted[0]}",
            hint="size is (batch, channels, sizes...), with one matrix for each of the batch",
        )
    checked_size((*wanted[2:], rank + 1), "affine_grid")
    lines = []
    for length in wanted[2:]:
        line = np.linspace(-1.0, 1.0, length) if length > 1 else np.zeros(1)
        lines.append(line if align_corners else line * ((length - 1) / length))
    # The first coordinate is that of the last axis.
    coordinates = [*reversed(np.meshgrid(*lines, indexing="ij")), np.ones(wanted[2:])]
    points = leaf(np.stack(coordinates, -1).reshape(-1, rank + 1).astype(matrix.dtype))
    grid = make.matmul(points, make.transpose(matrix, 1, 2))
    return named(make.reshape(grid, (*wanted[:1], *wanted[2:], rank)), "AffineGridGeneratorBackward0")


compose(
    "affine_grid",
    "The sampling grid of affine maps, for grid_sample: where each pixel of the result lies in the source.",
    family=_FAMILY,
    call=_affine_grid,
    forms=("F.affine_grid(x, (1, 1, 2, 3), align_corners=False)",),
    method=False,
    examples=(Example("F.affine_grid(x, (1, 1, 2, 3))", {"x": (1, 2, 3)}),),
    domain="all numbers: linear",
    kink="none: linear",
    grad_fn="AffineGridGeneratorBackward0",
)
