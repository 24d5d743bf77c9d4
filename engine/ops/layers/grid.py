"""Images sampled at the points of a grid.

A sample is a sum of entries times weights, and a weight depends on the grid alone. The op `grid_sample` takes for each
coordinate the order of the derivative of its weights; `grid_spread` is its transpose in the image. The two, with higher
orders, are each other's derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...errors import InputError, ShapeError
from ...graph import Attrs, DType, Example, Interval, Node, Op, Shape, add_row, apply, as_node, make
from .. import batch, infer
from ..cotangent import flow, zeros
from ..fold import conjugate
from .resampling import floating
from .sampling import sampled, sampled_formula, spread, spread_formula

_FAMILY: Final = "nn.functional"
_ORDERS: Final = {"nearest": 0, "bilinear": 1, "bicubic": 3}
"""The highest order in which the weights have a derivative that is not zero everywhere."""

# --- derivatives -------------------------------------------------------------------------------------------------


def _higher(attrs: Attrs, coordinate: int) -> dict[str, Any] | None:
    """The attributes with one more derivative in a coordinate; None where it is zero everywhere."""
    orders = list(attrs["orders"])
    orders[coordinate] += 1
    if orders[coordinate] > _ORDERS[attrs["mode"]]:
        return None
    return {**{name: attrs[name] for name in ("mode", "padding", "align")}, "orders": tuple(orders)}


def _to_grid(grid: Node, image: Node, weight: Node, attrs: Attrs, cotangent: int) -> Node:
    """The cotangent of the grid: for each coordinate, the image's slope there times a weight, over all channels.

    Args:
        grid: the grid.
        image, weight: (batch, channel, *size) and (batch, channel, *points); one of them is the incoming cotangent.
        attrs: of the op.
        cotangent: 0 where the image is it, 1 where the weight is.
    """
    parts = []
    for coordinate in range(grid.shape[-1]):
        higher = _higher(attrs, coordinate)
        if higher is None:
            parts.append(zeros(grid.shape[:-1], grid.dtype))
            continue
        slope = apply(GRID_SAMPLE, (image, grid), higher)
        both = flow(slope, conjugate(weight)) if cotangent == 0 else flow(weight, conjugate(slope))
        parts.append(make.sum(both, dim=1))
    return make.stack(parts, -1)  # type: ignore[no-any-return]  # any row's call


def _sample_rule(node: Node, g: Node) -> list[Node | None]:
    x, grid = node.args
    to_x = to_grid = None
    if x.requires_grad:
        to_x = apply(GRID_SPREAD, (g, grid), {"size": x.shape[2:], **node.attrs})
    if grid.requires_grad:
        to_grid = _to_grid(grid, x, g, node.attrs, 1)
    return [to_x, to_grid]


def _spread_rule(node: Node, g: Node) -> list[Node | None]:
    inner, grid = node.args
    attrs = {name: value for name, value in node.attrs.items() if name != "size"}
    to_inner = to_grid = None
    if inner.requires_grad:
        to_inner = apply(GRID_SAMPLE, (g, grid), attrs)
    if grid.requires_grad:
        to_grid = _to_grid(grid, g, inner, attrs, 0)
    return [to_inner, to_grid]


def _sample_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    x, grid = args
    return (*x.shape[:2], *grid.shape[1:-1]), x.dtype


def _grid_sample(
    input: Node,
    grid: Node,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Node:
    x, points = floating(as_node(input)), floating(as_node(grid))
    what = "nn.functional.grid_sample(): expected"
    if mode not in _ORDERS:
        raise InputError(f"{what} mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise InputError(f"{what} padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'")
    shapes = f"but got input with sizes {list(x.shape)} and grid with sizes {list(points.shape)}"
    if x.ndim not in (4, 5) or points.ndim != x.ndim:
        raise ShapeError(
            f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, {shapes}",
            hint="the axes are (batch, channels, height, width) and (batch, height, width, 2)",
        )
    if points.shape[0] != x.shape[0]:
        raise ShapeError(f"grid_sampler(): expected grid and input to have same batch size, {shapes}")
    if points.shape[-1] != x.ndim - 2:
        raise ShapeError(
            f"grid_sampler(): expected grid to have size {x.ndim - 2} in last dimension, but got grid with sizes "
            f"{list(points.shape)}"
        )
    if min(x.shape[2:]) < 1:
        raise ShapeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but got {list(x.shape)}"
        )
    if mode == "bicubic" and x.ndim == 5:
        raise InputError("grid_sampler(): bicubic interpolation only supports 4D input")
    dtype = infer.promote((x, points))
    x, points = (node if node.dtype == dtype else make.to(node, dtype) for node in (x, points))
    orders = (0,) * (x.ndim - 2)
    attrs = {"mode": mode, "padding": padding_mode, "align": bool(align_corners), "orders": orders}
    return apply(GRID_SAMPLE, (x, points), attrs)


def _grid_grad_fn(args: Sequence[Node], attrs: Attrs) -> str:  # noqa: ARG001  # every `grad_fn` takes both
    return f"GridSampler{args[0].ndim - 2}DBackward0"


_CELL: Final = {"x": (1, 1, 2, 2), "grid": (1, 1, 2, 2)}
_OFF_BORDERS: Final = {"grid": Interval(0.05, 0.45)}

GRID_SAMPLE: Final[Op] = add_row(
    Op(
        name="grid_sample",
        doc="Images sampled at the points of a grid, whose coordinates run from -1 to 1, the last axis first.",
        family=_FAMILY,
        real=True,
        call=_grid_sample,
        forms=(
            "F.grid_sample(x, grid, align_corners=False)",
            "F.grid_sample(x, grid, mode='bicubic', padding_mode='border')",
            "F.grid_sample(x, grid, mode='nearest', padding_mode='reflection', align_corners=True)",
        ),
        method=False,
        infer=_sample_infer,
        kernel=sampled,
        formula=sampled_formula,
        rule=_sample_rule,
        examples=(
            Example("F.grid_sample(x, grid, align_corners=False)", _CELL, _OFF_BORDERS),
            Example("F.grid_sample(x, grid, padding_mode='border')", _CELL, {"grid": Interval(0.55, 0.9)}),
            Example("F.grid_sample(x, grid, padding_mode='reflection')", _CELL, {"grid": Interval(1.1, 1.4)}),
            Example("F.grid_sample(x, grid, mode='bicubic')", _CELL, _OFF_BORDERS),
            Example("F.grid_sample(x, grid, mode='nearest')", _CELL, _OFF_BORDERS),
        ),
        domain="points that lie between the centres of pixels; for mode='nearest' not half-way",
        kink="at a pixel's centre the slope of the piece on its right; for mode='nearest', and at a clipped border, 0",
        grad_fn=_grid_grad_fn,
    )
)

GRID_SPREAD: Final[Op] = add_row(
    Op(
        name="grid_spread",
        doc="The transpose of grid_sample in the image: each sample's cotangent spread over the entries that made it.",
        family="cotangent",
        call=lambda g, grid, **attrs: apply(GRID_SPREAD, (g, grid), attrs),
        method=False,
        infer=lambda args, attrs: ((*args[0].shape[:2], *attrs["size"]), args[0].dtype),
        batch=batch.items(4),
        kernel=spread,
        formula=spread_formula,
        rule=_spread_rule,
        domain="as grid_sample",
        kink="as grid_sample",
        grad_fn="GridSampler2DBackward0",
    )
)
