"""Pooling: the average and the p-norm of each window."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ...errors import InputError
from ...graph import TABLE, Example, Interval, Node, as_node, make
from ..fold import named
from ..peak import unit_of
from ..row import compose
from .pools import (
    AXES,
    FAMILY,
    LINE,
    WHOLE,
    adaptive,
    along_one_axis,
    each_axis,
    one_size,
    pooled,
    sample_shape,
    sliding,
)
from .resampling import resampled, resampling


def _average_call(rank: int) -> Callable[..., Node]:
    def call(
        input: Node,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Node:
        name = f"avg_pool{rank}d"
        x = pooled(name, as_node(input), rank)
        axes = sliding(name, x, rank, kernel_size, stride, padding, ceil_mode, inclusive=count_include_pad)
        if divisor_override == 0:
            raise InputError("divisor must be not zero", hint="leave divisor_override out")
        return resampled(AVERAGE_POOLS[rank], x, axes, divisor_override)

    return call


def _adaptive_average_call(rank: int) -> Callable[..., Node]:
    def call(input: Node, output_size: Any) -> Node:
        name = f"adaptive_avg_pool{rank}d"
        x = pooled(name, as_node(input), rank)
        axes = adaptive(name, x, rank, output_size)
        if all(count == 1 for _, _, count in axes):
            return make.mean(x, dim=tuple(range(-rank, 0)), keepdim=True)  # type: ignore[no-any-return]  # any row's call
        return resampled(ADAPTIVE_AVERAGE_POOLS[rank], x, axes)

    return call


AVERAGE_POOLS: Final = {
    rank: resampling(
        f"avg_pool{rank}d",
        f"The average of each window over {AXES[rank]}; padding counts as zeros unless count_include_pad=False.",
        call=_average_call(rank),
        forms=(f"F.avg_pool{rank}d(x, 2, stride=1, padding=1)", f"F.avg_pool{rank}d(x, 2, count_include_pad=False)"),
        examples=(
            Example(f"F.avg_pool{rank}d(x, 2, stride=1, padding=1)", sample_shape(rank)),
            Example(f"F.avg_pool{rank}d(x, 2, padding=1, count_include_pad=False, ceil_mode=True)", sample_shape(rank)),
        ),
        grad_fn=f"AvgPool{rank}DBackward0",
    )
    for rank in (2, 3)
}

ADAPTIVE_AVERAGE_POOLS: Final = {
    rank: resampling(
        f"adaptive_avg_pool{rank}d",
        f"The average of each of so many parts, as even as they can be, of {AXES[rank]}.",
        call=_adaptive_average_call(rank),
        forms=(f"F.adaptive_avg_pool{rank}d(x, 2)", f"F.adaptive_avg_pool{rank}d(x, 1)"),
        examples=(Example(f"F.adaptive_avg_pool{rank}d(x, 2)", sample_shape(rank)),),
        grad_fn=f"AdaptiveAvgPool{rank}DBackward0",
    )
    for rank in (2, 3)
}

# --- one axis ---------------------------------------------------------------------------------------------------------


def _avg_pool1d(
    input: Node,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Node:
    name = "avg_pool1d"

    def pool(x: Node) -> Node:
        axes = sliding(name, x, 1, kernel_size, stride, padding, ceil_mode, inclusive=count_include_pad)
        return resampled(AVERAGE_POOLS[2], x, (WHOLE, *axes))

    return along_one_axis(name, input, pool)  # type: ignore[no-any-return]  # what `pool` gives


def _adaptive_avg_pool1d(input: Node, output_size: Any) -> Node:
    name = "adaptive_avg_pool1d"
    size = one_size(output_size, name, "output_size")
    pool = ADAPTIVE_AVERAGE_POOLS[2].call
    return along_one_axis(name, input, lambda x: pool(x, (1, size)))  # type: ignore[no-any-return]  # as above


compose(
    "avg_pool1d",
    "The average of each window along one axis; padding counts as zeros unless count_include_pad=False.",
    family=FAMILY,
    call=_avg_pool1d,
    forms=("F.avg_pool1d(x, 2)", "F.avg_pool1d(x, 3, stride=1, padding=1)"),
    method=False,
    examples=(Example("F.avg_pool1d(x, 3, stride=2, padding=1)", LINE),),
    domain="all numbers: linear",
    kink="none: linear",
    grad_fn="SqueezeBackward1",
)

compose(
    "adaptive_avg_pool1d",
    "The average of each of so many parts, as even as they can be, of one axis.",
    family=FAMILY,
    call=_adaptive_avg_pool1d,
    forms=("F.adaptive_avg_pool1d(x, 2)",),
    method=False,
    examples=(Example("F.adaptive_avg_pool1d(x, 2)", LINE),),
    domain="all numbers: linear",
    kink="none: linear",
    grad_fn="SqueezeBackward1",
)

# --- the p-norm --------------------------------------------------------------------------------------------------


_ORDINARY: Final = 90
"""The binary exponent of a power that is in the range of every dtype."""


def _norm_call(rank: int) -> Callable[..., Node]:
    def call(input: Node, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Node:
        name = f"lp_pool{rank}d"
        x = pooled(name, as_node(input), rank)
        if not norm_type:
            raise InputError(f"{name}: norm_type must not be 0", hint="2 gives the root of the sum of squares")
        count = math.prod(each_axis(kernel_size, rank, name, "kernel_size"))
        # Powers of numbers that are all huge, or all tiny, are out of range: they are taken in a unit of that size.
        unit = unit_of(make.amax(make.abs(x)), int(_ORDINARY / abs(norm_type))) if x.size else 1.0
        total = TABLE[f"avg_pool{rank}d"](make.pow(x / unit, norm_type), kernel_size, stride, 0, ceil_mode) * count
        # A window of zeros has the root of 0, whose slope is infinite: nothing flows into it.
        empty = make.eq(total, 0)
        root = make.pow(make.where(empty, 1.0, total), 1.0 / norm_type)
        return named(make.where(empty, 0.0, root) * unit, "PowBackward0")

    return call


for _rank in (1, 2, 3):
    compose(
        f"lp_pool{_rank}d",
        f"The p-th root of the sum of p-th powers in each window over {AXES[_rank]}.",
        family=FAMILY,
        call=_norm_call(_rank),
        forms=(f"F.lp_pool{_rank}d(x, 2.0, 2)", f"F.lp_pool{_rank}d(x, 3.0, 2, stride=1)"),
        method=False,
        examples=(Example(f"F.lp_pool{_rank}d(x, 3.0, 2)", sample_shape(_rank), {"x": Interval(0.2, 2.0)}),),
        domain="where the sum of powers is above 0; as PyTorch's, without absolute values in an odd power",
        kink="0 for a window of zeros",
        grad_fn="PowBackward0",
    )
