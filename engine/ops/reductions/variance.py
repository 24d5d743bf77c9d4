"""Variances, standard deviations, covariances and correlations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...graph import Example, Node, Op, Outputs, add_row, apply, as_node, make
from .. import batch, kinks
from ..cotangent import flow
from ..fold import along_formula, fold, fold_formula, folded_to_float, folded_to_real, in_floats, named, spread, widen
from ..infer import axes_of
from ..row import compose
from .norm import euclidean
from .reduction import mean_kernel

_FAMILY = "reduction"


def _correction(unbiased: bool | None, correction: float | None) -> float:
    if unbiased is not None:
        return 1 if unbiased else 0
    return 1 if correction is None else correction


def _spread_of(name: str) -> Any:
    def call(
        input: Node,
        dim: int | bool | Sequence[int] | None = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Node:
        if isinstance(dim, bool):  # torch.var(x, False)
            dim, unbiased = None, dim
        return fold(getattr(make, name), input, dim, keepdim, correction=_correction(unbiased, correction))

    return call


def centered_kernel(xp: Any, x: Any, dim: tuple[int, ...]) -> Any:
    """The elements less their mean over some axes, measured from the first: equal ones give exactly 0."""
    first = x[tuple(slice(0, 1) if axis in dim else slice(None) for axis in range(x.ndim))] if x.ndim else x
    x, first = in_floats(x), in_floats(first)
    if first.size < 1:
        return x
    apart = x - first
    return apart - mean_kernel(xp, apart, dim, True)


CENTERED = add_row(
    Op(
        name="centered",
        doc="The elements less their mean over some axes.",
        family="cotangent",
        call=lambda x, dim: centered(x, axes_of(dim, x.ndim)),
        method=False,
        infer=lambda args, attrs: (args[0].shape, folded_to_float(args, {**attrs, "keepdim": True})[1]),
        batch=batch.along_axes,
        kernel=centered_kernel,
        formula=along_formula(lambda m, row: [value - m.total(row) / m.number(len(row)) for value in row]),
        rule=lambda node, g: [centered(g, node.attrs["dim"])],
        grad_fn="SubBackward0",
    )
)


def centered(x: Node, dim: tuple[int, ...]) -> Node:
    """The elements less their mean over some axes."""
    return apply(CENTERED, (x,), {"dim": dim})


def _freedom(x: Any, dim: tuple[int, ...], correction: float) -> float:
    """The divisor of a variance: the count of elements less the correction, never below 0."""
    count = 1
    for axis in dim:
        count *= x.shape[axis]
    return max(count - correction, 0)


def _var_kernel(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool, correction: float) -> Any:
    total = xp.sum(xp.square(xp.abs(centered_kernel(xp, x, dim))), axis=dim, keepdims=keepdim)
    return xp.divide(total, total.dtype.type(_freedom(x, dim, correction)))


def _var_formula(m: Any, row: list[Any], correction: float) -> Any:
    freedom = len(row) - correction
    if freedom <= 0:
        return m.undefined()
    mean = m.total(row) / m.number(len(row))
    apart = [value - mean for value in row]
    return m.total([value * m.function("conj", value) for value in apart]) / m.number(freedom)


def _deviation(node: Node) -> Node:
    return centered(node.args[0], node.attrs["dim"])


def _var_rule(node: Node, g: Node) -> list[Node | None]:
    freedom = _freedom(node.args[0], node.attrs["dim"], node.attrs["correction"])
    return [flow(widen(g, node), _deviation(node) * (2.0 / freedom if freedom else float("nan")))]


def _std_kernel(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool, correction: float) -> Any:
    root = math.sqrt(_freedom(x, dim, correction))
    length = euclidean(xp, centered_kernel(xp, x, dim), dim, keepdim)
    return xp.divide(length, length.dtype.type(root))


def _std_rule(node: Node, g: Node) -> list[Node | None]:
    freedom = _freedom(node.args[0], node.attrs["dim"], node.attrs["correction"])
    if not freedom:
        return [flow(widen(g, node), spread(node, node))]
    std = widen(node, node)
    slope = make.where(make.eq(std, 0.0), 0.0, _deviation(node) / (std * float(freedom)))
    return [flow(widen(g, node), slope)]


def _deviation_forms(name: str) -> tuple[str, ...]:
    return (
        f"torch.{name}(x)",
        f"x.{name}()",
        f"x.{name}(0)",
        f"x.{name}(unbiased=False)",
        f"x.{name}(dim=1, correction=0, keepdim=True)",
        f"np.{name}(x, axis=0)",
    )


VAR = add_row(
    Op(
        name="var",
        doc="The variance: the mean squared distance from the mean, over the count less a correction: 1, with np. 0.",
        family=_FAMILY,
        call=_spread_of("var"),
        forms=_deviation_forms("var"),
        numpy={"correction": 0},
        infer=folded_to_real,
        kernel=_var_kernel,
        formula=fold_formula(_var_formula),
        rule=_var_rule,
        examples=(
            Example("torch.var(x)", {"x": (3,)}),
            Example("x.var(dim=1, correction=0, keepdim=True)", {"x": (2, 3)}),
        ),
        domain="all numbers; NaN where there are no more elements than the correction",
        kink="none: smooth",
        grad_fn="VarBackward0",
    )
)

STD = add_row(
    Op(
        name="std",
        doc="The square root of the variance, which is over the count less a correction: 1, with np. 0.",
        family=_FAMILY,
        call=_spread_of("std"),
        forms=_deviation_forms("std"),
        numpy={"correction": 0},
        infer=folded_to_real,
        kernel=_std_kernel,
        formula=fold_formula(lambda m, row, correction: m.sqrt(_var_formula(m, row, correction))),
        rule=_std_rule,
        examples=(
            Example("torch.std(x)", {"x": (3,)}),
            Example("x.std(dim=1, correction=0, keepdim=True)", {"x": (2, 3)}),
        ),
        domain="all numbers, differentiable unless all are equal; NaN where there are no more than the correction",
        at_kink=kinks.constant_along,
        kink="0 where all elements are equal",
        grad_fn="StdBackward0",
    )
)


def _with_mean(name: str) -> Any:
    def call(
        input: Node,
        dim: int | bool | Sequence[int] | None = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Outputs:
        if isinstance(dim, bool):  # torch.var_mean(x, False)
            dim, unbiased = None, dim
        first = _spread_of(name)(input, dim, unbiased, keepdim, correction=correction)
        grad_fn = f"{name.capitalize()}MeanBackward0"
        return Outputs((name, "mean"), (named(first, grad_fn), named(make.mean(input, dim, keepdim), grad_fn)))

    return call


VAR_MEAN, STD_MEAN = (
    compose(
        f"{name}_mean",
        f"The {words} and the mean.",
        family=_FAMILY,
        call=_with_mean(name),
        forms=(f"torch.{name}_mean(x)", f"torch.{name}_mean(x, 0)"),
        method=False,
        examples=(Example(f"torch.{name}_mean(x)[0]", {"x": (3,)}), Example(f"torch.{name}_mean(x)[1]", {"x": (3,)})),
        domain=f"as {name}",
        kink=f"as {name}",
        grad_fn=f"{name.capitalize()}MeanBackward0",
    )
    for name, words in (("var", "variance"), ("std", "standard deviation"))
)


def _cov(input: Node, *, correction: float = 1) -> Node:
    rows = as_node(input)
    single = rows.ndim < 2
    if single:
        rows = make.reshape(rows, (1, -1))
    freedom = max(rows.shape[1] - correction, 0)
    apart = centered(rows, (1,))
    products = make.matmul(
        apart, make.conj(make.transpose(apart, 0, 1)) if rows.dtype.kind == "c" else make.transpose(apart, 0, 1)
    )
    result = products / float(freedom)
    return named(make.reshape(result, ()) if single else result, "SqueezeBackward0")


COV = compose(
    "cov",
    "The covariance matrix of variables (rows) over observations (columns).",
    family=_FAMILY,
    call=_cov,
    forms=("torch.cov(M)", "M.cov()", "torch.cov(M, correction=0)", "np.cov(M)"),
    examples=(Example("torch.cov(M)", {"M": (2, 3)}), Example("torch.cov(x)", {"x": (3,)})),
    domain="all numbers; NaN or infinite where there are no more observations than the correction",
    kink="none: smooth",
    grad_fn="SqueezeBackward0",
)


def _corrcoef(input: Node) -> Node:
    matrix = _cov(input)
    if not matrix.ndim:
        return matrix / matrix
    deviation = make.sqrt(make.diagonal(matrix))
    scaled = matrix / make.unsqueeze(deviation, 1) / make.unsqueeze(deviation, 0)
    if scaled.dtype.kind == "c":
        return make.complex(_bounded(make.real(scaled)), _bounded(make.imag(scaled)))  # type: ignore[no-any-return]  # any row's call
    return named(_bounded(scaled), "ClampBackward1")


def _bounded(scaled: Node) -> Node:
    """Between -1 and 1; a correlation that is not defined stays NaN, in its derivative too."""
    return make.where(make.isnan(scaled), scaled, make.clamp(scaled, -1.0, 1.0))  # type: ignore[no-any-return]  # any row's call


CORRCOEF = compose(
    "corrcoef",
    "The matrix of Pearson's correlation coefficients of variables (rows) over observations (columns).",
    family=_FAMILY,
    call=_corrcoef,
    forms=("torch.corrcoef(M)", "M.corrcoef()", "np.corrcoef(M)"),
    examples=(Example("torch.corrcoef(M)[0, 1]", {"M": (2, 4)}),),
    domain="rows that are not constant; NaN elsewhere",
    kink="1 passes at the bounds -1 and 1",
    grad_fn="ClampBackward1",
)
