"""Sums, means, products and counts: what folds axes away into one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph import BOOL, Attrs, DType, Example, Node, Op, Shape, add_row, as_node, make
from .. import batch
from ..cotangent import flow
from ..fold import (
    conjugate,
    counted,
    extent,
    fold,
    fold_formula,
    folded,
    folded_to_float,
    folded_to_int,
    folding,
    is_nan,
    named,
    spread,
    widen,
)
from ..infer import axis_of
from ..row import compose
from .others import others
from .scaled import product

_FAMILY = "reduction"


def _as_dtype(input: Node, dtype: DType | None) -> Node:
    input = as_node(input)
    return input if dtype is None or dtype == input.dtype else make.to(input, dtype)


def _sum(
    input: Node, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Node:
    whole = dim is None and not keepdim
    return fold(SUM, _as_dtype(input, dtype), dim, keepdim, grad_fn="SumBackward0" if whole else "SumBackward1")


SUM = add_row(
    Op(
        name="sum",
        doc="The sum of all elements, or of those along one or more axes.",
        family=_FAMILY,
        call=_sum,
        forms=(
            "torch.sum(x)",
            "x.sum()",
            "x.sum(0)",
            "x.sum(dim=1, keepdim=True)",
            "x.sum(dim=(0, 1))",
            "np.sum(x, axis=0)",
        ),
        infer=counted,
        batch=batch.along_axes,
        kernel=lambda xp, x, dim, keepdim: xp.sum(x, axis=dim, keepdims=keepdim),
        formula=fold_formula(lambda m, row: m.total(row)),
        rule=lambda node, g: [spread(g, node)],
        examples=(
            Example("torch.sum(x)", {"x": (3,)}),
            Example("x.sum(dim=1, keepdim=True)", {"x": (2, 3)}),
        ),
        domain="all numbers; of no elements it is 0",
        kink="none: linear",
        grad_fn="SumBackward0",
    )
)


def _mean(
    input: Node, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Node:
    whole = dim is None and not keepdim
    return fold(MEAN, _as_dtype(input, dtype), dim, keepdim, grad_fn="MeanBackward0" if whole else "MeanBackward1")


def mean_kernel(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The mean over some axes, of integers too; NaN of no elements."""
    total = xp.sum(x, axis=dim, keepdims=keepdim)
    count = 1
    for axis in dim:
        count *= x.shape[axis]
    return xp.divide(total, total.dtype.type(count))


MEAN = add_row(
    Op(
        name="mean",
        doc="The arithmetic mean of all elements, or of those along one or more axes.",
        family=_FAMILY,
        call=_mean,
        forms=("torch.mean(x)", "x.mean()", "x.mean(0)", "x.mean(dim=1, keepdim=True)", "np.mean(x, axis=0)"),
        infer=folded_to_float,
        batch=batch.along_axes,
        kernel=mean_kernel,
        formula=fold_formula(lambda m, row: m.total(row) / m.number(len(row)) if row else m.undefined()),
        rule=lambda node, g: [spread(g / float(extent(node) or 1), node)],
        examples=(
            Example("torch.mean(x)", {"x": (3,)}),
            Example("x.mean(dim=1, keepdim=True)", {"x": (2, 3)}),
        ),
        domain="all numbers; of no elements it is NaN",
        kink="none: linear",
        grad_fn="MeanBackward0",
    )
)


def _nansum_kernel(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    return xp.sum(xp.where(xp.isnan(x), x.dtype.type(0), x), axis=dim, keepdims=keepdim)


NANSUM = add_row(
    Op(
        name="nansum",
        doc="The sum of the elements that are not NaN.",
        family=_FAMILY,
        call=folding("nansum"),
        forms=("torch.nansum(x)", "x.nansum(0)", "np.nansum(x, axis=0)"),
        infer=counted,
        batch=batch.along_axes,
        kernel=_nansum_kernel,
        formula=fold_formula(lambda m, row: m.total([value for value in row if not is_nan(m, value)])),
        rule=lambda node, g: [make.where(make.isnan(node.args[0]), 0.0, spread(g, node))],
        examples=(Example("torch.nansum(x)", {"x": (3,)}), Example("x.nansum(0)", {"x": (2, 3)})),
        domain="all numbers; NaN counts as 0",
        kink="a NaN entry gets 0",
        grad_fn="NansumBackward0",
    )
)


def _nanmean(input: Node, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Node:
    input = as_node(input)
    present = make.sum(make.logical_not(make.isnan(input)), dim, keepdim)
    return make.nansum(input, dim, keepdim) / make.to(present, input.dtype)  # type: ignore[no-any-return]  # any row's call


NANMEAN = compose(
    "nanmean",
    "The mean of the elements that are not NaN.",
    family=_FAMILY,
    call=_nanmean,
    forms=("torch.nanmean(x)", "x.nanmean(0)", "np.nanmean(x, axis=0)"),
    examples=(Example("torch.nanmean(x)", {"x": (3,)}), Example("x.nanmean(0)", {"x": (2, 3)})),
    domain="all numbers; NaN does not count, and of nothing else the mean is NaN",
    kink="a NaN entry gets 0",
    grad_fn="DivBackward0",
)


def _prod(input: Node, dim: int | None = None, keepdim: bool = False, *, dtype: DType | None = None) -> Node:
    grad_fn = "ProdBackward0" if dim is None else "ProdBackward1"
    return fold(PROD, _as_dtype(input, dtype), dim, keepdim, grad_fn=grad_fn)


def _prod_rule(node: Node, g: Node) -> list[Node | None]:
    """Each element's cotangent is the product of all others: those before it times those after it, never a quotient."""
    x = conjugate(node.args[0])
    if not x.ndim:
        return [g]
    axes = node.attrs["dim"]
    flat = x if len(axes) == 1 else _joined(x, axes)
    axis = axes[0] if len(axes) == 1 else flat.ndim - 1
    rest = others(flat, axis)
    return [flow(widen(g, node), rest if flat is x else _parted(rest, x.shape, axes))]


def _joined(x: Node, axes: tuple[int, ...]) -> Node:
    """Several axes as one, the last."""
    order = (*(axis for axis in range(x.ndim) if axis not in axes), *axes)
    turned = make.permute(x, *order)
    return make.reshape(turned, (*turned.shape[: x.ndim - len(axes)], -1))  # type: ignore[no-any-return]  # any row's call


def _parted(x: Node, shape: Shape, axes: tuple[int, ...]) -> Node:
    """The last axis as the several that `_joined` made it of."""
    order = [*(axis for axis in range(len(shape)) if axis not in axes), *axes]
    apart = make.reshape(x, tuple(shape[axis] for axis in order))
    return make.permute(apart, *(order.index(axis) for axis in range(len(shape))))  # type: ignore[no-any-return]  # as above


PROD = add_row(
    Op(
        name="prod",
        doc="The product of all elements, or of those along an axis.",
        family=_FAMILY,
        call=_prod,
        forms=("torch.prod(x)", "x.prod()", "x.prod(0)", "x.prod(dim=1, keepdim=True)", "np.prod(x, axis=0)"),
        infer=counted,
        kernel=product,
        formula=fold_formula(lambda m, row: m.product(row)),
        rule=_prod_rule,
        examples=(
            Example("torch.prod(x)", {"x": (4,)}),
            Example("x.prod(0)", {"x": (3, 2)}),
            Example("torch.prod(x)", {"x": (2, 2)}),
        ),
        domain="all numbers; of no elements it is 1",
        kink="none: each derivative is the product of the other elements, zeros among them or not",
        grad_fn="ProdBackward0",
    )
)


def _count_row(name: str, doc: str, *, infer: Any, kernel: Any, formula: Any, forms: tuple[str, ...]) -> Op:
    """A row for a fold whose result is no float: it has no gradient."""
    row = Op(
        name=name,
        doc=doc,
        family=_FAMILY,
        call=folding(name),
        forms=forms,
        infer=infer,
        kernel=kernel,
        formula=fold_formula(formula),
        differentiable=False,
        examples=(Example(forms[0], {"x": (2, 3)}, orders=0),),
        domain="all numbers",
        kink="no gradient: the result is constant between jumps",
    )
    return add_row(row)


def _folded_to_bool(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    return folded(args, attrs)[0], BOOL


ALL = _count_row(
    "all",
    "Whether all elements are true (not zero).",
    infer=_folded_to_bool,
    kernel=lambda xp, x, dim, keepdim: xp.all(x, axis=dim, keepdims=keepdim),
    formula=lambda m, row: all(not m.boolean(m.equal(value, m.number(0))) for value in row),
    forms=("torch.all(x > 0)", "x.all(0)", "np.all(x, axis=0)"),
)

ANY = _count_row(
    "any",
    "Whether any element is true (not zero).",
    infer=_folded_to_bool,
    kernel=lambda xp, x, dim, keepdim: xp.any(x, axis=dim, keepdims=keepdim),
    formula=lambda m, row: any(not m.boolean(m.equal(value, m.number(0))) for value in row),
    forms=("torch.any(x > 0)", "x.any(0)", "np.any(x, axis=0)"),
)

COUNT_NONZERO = _count_row(
    "count_nonzero",
    "How many elements are not zero.",
    infer=folded_to_int,
    kernel=lambda xp, x, dim, keepdim: xp.sum(x != 0, axis=dim, keepdims=keepdim),
    formula=lambda m, row: sum(not m.boolean(m.equal(value, m.number(0))) for value in row),
    forms=("torch.count_nonzero(x)", "x.count_nonzero(0)", "np.count_nonzero(x, axis=0)"),
)


def _neighbours(y: Node, x: Node | None, dim: int) -> tuple[Node, Node | None]:
    """The sums of neighbours along an axis and, where places are given, the distances between them."""
    axis, gaps = axis_of(dim, y.ndim), max(y.shape[dim] - 1, 0)

    def later_and_earlier(of: Node, along: int) -> tuple[Node, Node]:
        return make.narrow(of, along, min(1, of.shape[along]), gaps), make.narrow(of, along, 0, gaps)

    later, earlier = later_and_earlier(y, axis)
    sums = later + earlier
    if x is None:
        return sums, None
    if x.ndim == 1:
        later, earlier = later_and_earlier(x, 0)
        return sums, make.reshape(later - earlier, (gaps,) + (1,) * (y.ndim - 1 - axis))
    later, earlier = later_and_earlier(x, axis)
    return sums, later - earlier


def _trapezoid(y: Node, x: Node | None = None, *, dx: float = 1.0, dim: int = -1) -> Node:
    y = as_node(y)
    sums, steps = _neighbours(y, None if x is None else as_node(x), dim)
    if steps is None:
        return named(make.sum(sums, dim) * (dx / 2), "MulBackward1")
    return named(make.sum(steps * sums, dim) / 2.0, "DivBackward1")


TRAPEZOID = compose(
    "trapezoid",
    "The integral along an axis by the trapezoidal rule.",
    family=_FAMILY,
    aliases=("trapz",),
    call=_trapezoid,
    forms=("torch.trapezoid(y)", "torch.trapezoid(y, x)", "torch.trapezoid(y, dx=0.5, dim=0)", "np.trapezoid(y, x)"),
    examples=(
        Example("torch.trapezoid(y)", {"y": (4,)}),
        Example("torch.trapezoid(y, x)", {"y": (2, 3), "x": (3,)}),
    ),
    method=False,
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="MulBackward1",
)


def _cumulative_trapezoid(y: Node, x: Node | None = None, *, dx: float = 1.0, dim: int = -1) -> Node:
    y = as_node(y)
    sums, steps = _neighbours(y, None if x is None else as_node(x), dim)
    if steps is None:
        return make.cumsum(sums * (dx / 2), dim)  # type: ignore[no-any-return]  # any row's call
    return named(make.cumsum(steps * sums, dim) / 2.0, "DivBackward1")


CUMULATIVE_TRAPEZOID = compose(
    "cumulative_trapezoid",
    "The running integral along an axis by the trapezoidal rule.",
    family=_FAMILY,
    call=_cumulative_trapezoid,
    forms=("torch.cumulative_trapezoid(y)", "torch.cumulative_trapezoid(y, x)"),
    examples=(Example("torch.cumulative_trapezoid(y)", {"y": (4,)}),),
    method=False,
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="CumsumBackward0",
)
