"""Rows with mean 0 and variance 1, and the deviation that they are divided by, whatever the size of their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...graph import FLOAT64, Attrs, DType, Example, Node, Op, Shape, add_row, apply, as_node, make
from .. import batch
from ..cotangent import flow
from ..fold import along_formula, extent, fold_formula, folded_to_float, in_floats, widen
from ..infer import axes_of, integers
from ..peak import largest
from ..questions import answered
from ..reductions.reduction import mean_kernel
from ..reductions.variance import centered, centered_kernel

_SAFE: Final = {2: (1e-4, 6e4), 4: (1e-30, 1e35), 8: (1e-280, 1e300)}
"""Between which a mean of squares neither overflowed nor lost a square that matters, by bytes of the dtype."""


def is_in_range(total: Any) -> Any:
    """Whether a mean of squares neither overflowed nor lost a square that matters."""
    low, high = _SAFE[total.dtype.itemsize]
    return (total > low) & (total < high)


def root_mean_square(xp: Any, x: Any, dim: tuple[int, ...], eps: float) -> Any:
    """The root of the mean square plus eps over some axes, which are kept; scaled where a square overflows or vanishes.

    The unit is a power of two, so that numbers of which no square is lost have the same root in either way.
    """
    x = in_floats(x)
    total = mean_kernel(xp, xp.square(x), dim, True)
    total = total + total.dtype.type(eps)
    plain = is_in_range(total)
    if answered(xp, lambda: xp.all(plain)):
        return xp.sqrt(total)
    peak = xp.maximum(largest(xp, xp.abs(x), dim, least=0.0, keepdims=True), x.dtype.type(np.sqrt(eps)))
    ordinary = plain | ~((peak > 0) & xp.isfinite(peak))
    unit = xp.where(ordinary, x.dtype.type(1), xp.ldexp(x.dtype.type(1), xp.frexp(peak)[1] - 1))
    scaled = mean_kernel(xp, xp.square(x / unit), dim, True) + x.dtype.type(eps) / unit / unit
    return xp.where(ordinary, xp.sqrt(total), unit * xp.sqrt(scaled))


def deviation_kernel(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool, eps: float, about_mean: bool) -> Any:
    """The root of the mean square, about the mean or about 0, plus eps over some axes."""
    result = root_mean_square(xp, centered_kernel(xp, x, dim) if about_mean else x, dim, eps)
    return result if keepdim else xp.squeeze(result, axis=dim)[()]


def _deviation_row(m: Any, row: list[Any], eps: float, about_mean: bool) -> Any:
    count = m.number(len(row))
    mean = m.total(row) / count if about_mean else m.number(0)
    return m.sqrt(m.total([(value - mean) * (value - mean) for value in row]) / count + m.number(eps))


def _deviation_rule(node: Node, g: Node) -> list[Node | None]:
    """The elements, less their mean, over the deviation and their number."""
    x, dim, eps = node.args[0], node.attrs["dim"], node.attrs["eps"]
    parts = standardized(x, dim, eps, about_mean=node.attrs["about_mean"])
    return [flow(widen(g, node) / float(extent(node) or 1), parts)]


DEVIATION = add_row(
    Op(
        name="deviation",
        real=True,
        doc="The root of the mean square, about the mean or about 0, plus eps over some axes, which are kept.",
        family="cotangent",
        call=lambda x, dim, eps, about_mean=True: deviation(x, axes_of(dim, x.ndim), eps, about_mean=about_mean),
        method=False,
        infer=folded_to_float,
        kernel=deviation_kernel,
        formula=fold_formula(_deviation_row),
        rule=_deviation_rule,
        domain="all numbers; where eps is 0, rows that are not constant",
        grad_fn="SqrtBackward0",
    )
)


def deviation(x: Node, dim: tuple[int, ...], eps: float, *, about_mean: bool) -> Node:
    """The root of the mean square, about the mean or about 0, plus eps."""
    return apply(DEVIATION, (x,), {"dim": dim, "keepdim": True, "eps": eps, "about_mean": about_mean})


def _standardize_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # `infer` takes attrs
    dtype = args[0].dtype
    return args[0].shape, dtype if dtype.kind == "f" else FLOAT64


def _standardize_kernel(xp: Any, x: Any, dim: tuple[int, ...], eps: float, about_mean: bool) -> Any:
    apart = centered_kernel(xp, x, dim) if about_mean else x
    return apart / root_mean_square(xp, apart, dim, eps)


def _standardize_row(m: Any, row: list[Any], eps: float, about_mean: bool) -> list[Any]:
    mean = m.total(row) / m.number(len(row)) if about_mean else m.number(0)
    root = _deviation_row(m, row, eps, about_mean)
    return [(value - mean) / root for value in row]


def _standardize_rule(node: Node, g: Node) -> list[Node | None]:
    """The cotangent less its mean and less its part along the result, over the deviation."""
    x, dim, about_mean = node.args[0], node.attrs["dim"], node.attrs["about_mean"]
    along = make.mean(flow(g, node), dim, True)
    apart = (centered(g, dim) if about_mean else g) - node * along
    return [flow(apart, make.reciprocal(deviation(x, dim, node.attrs["eps"], about_mean=about_mean)))]


def _standardize(input: Node, dim: int | Sequence[int], eps: float = 1e-5, about_mean: bool = True) -> Node:
    return standardized(as_node(input), integers(dim, "dim"), eps, about_mean=about_mean)


STANDARDIZE = add_row(
    Op(
        name="standardize",
        doc="Each element, less the mean over some axes or as it is, divided by the root of the mean square plus eps.",
        family="nn.functional",
        real=True,
        method=False,
        call=_standardize,
        forms=("F.layer_norm(x, (3,))",),
        infer=_standardize_infer,
        batch=batch.along_axes,
        kernel=_standardize_kernel,
        formula=along_formula(_standardize_row),
        rule=_standardize_rule,
        examples=(Example("F.layer_norm(x, (3,))", {"x": (2, 3)}),),
        domain="all numbers; where eps is 0, rows that are not constant",
        kink="none: smooth",
        grad_fn="NativeLayerNormBackward0",
    )
)


def standardized(x: Node, dim: tuple[int, ...], eps: float, *, about_mean: bool = True) -> Node:
    """Each element less the mean over some axes, or as it is, divided by the root of the mean square plus eps."""
    axes = tuple(axis % max(x.ndim, 1) for axis in dim)
    return apply(STANDARDIZE, (x,), {"dim": axes, "eps": float(eps), "about_mean": about_mean})
