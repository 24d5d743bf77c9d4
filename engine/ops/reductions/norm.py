"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ...graph import Attrs, DType, Example, Node, Op, Shape, add_row, as_node, make
from .. import kinks
from ..cotangent import flow
from ..fold import fold, fold_formula, folded_to_real, named, widen
from ..infer import axes_of, axis_of
from ..peak import largest
from ..questions import answered
from ..row import compose
from .extremes import same_value

_FAMILY = "reduction"
_SAFE = {4: (1e-30, 1e35), 8: (1e-280, 1e300)}
"""Between which sums of squares neither a square overflowed nor one that matters was lost, by bytes of the dtype."""


def euclidean(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The square root of the sum of squares over some axes; scaled where a square would overflow or vanish."""
    size = xp.abs(x)
    if size.dtype.kind != "f":
        size = size.astype(xp.float64)
    total = xp.sum(size * size, axis=dim, keepdims=keepdim)
    low, high = _SAFE[size.dtype.itemsize]
    if answered(xp, lambda: xp.all((total > low) & (total < high))):
        return xp.sqrt(total)
    return _scaled(xp, size, 2.0, dim, keepdim)


def _scaled(xp: Any, size: Any, p: float, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The p-norm of sizes that are divided by their largest first (by their smallest where p is negative)."""
    peak = largest(xp, size, dim, least=0, keepdims=True) if p > 0 else xp.min(size, axis=dim, keepdims=True)
    unit = xp.where((peak > 0) & xp.isfinite(peak), peak, size.dtype.type(1))
    total = xp.sum((size / unit) ** size.dtype.type(p), axis=dim, keepdims=True)
    result = unit * (xp.sqrt(total) if p == 2 else total ** size.dtype.type(1 / p))
    return result if keepdim else xp.squeeze(result, axis=dim)[()]


def _norm_kernel(xp: Any, x: Any, p: float, dim: tuple[int, ...], keepdim: bool) -> Any:
    if p == 2:
        return euclidean(xp, x, dim, keepdim)
    size = xp.abs(x)
    if size.dtype.kind != "f":
        size = size.astype(xp.float64)
    if p == 0:
        return xp.sum(size != 0, axis=dim, keepdims=keepdim, dtype=size.dtype)
    if p == 1:
        return xp.sum(size, axis=dim, keepdims=keepdim)
    if math.isinf(p):
        if p < 0:
            return xp.min(size, axis=dim, keepdims=keepdim)
        return largest(xp, size, dim, least=0.0, keepdims=keepdim)
    return _scaled(xp, size, p, dim, keepdim)


def _norm_formula(m: Any, row: list[Any], p: float) -> Any:
    sizes = [m.absolute(value) for value in row]
    if p == math.inf:
        return m.maximum(sizes) if sizes else m.number(0)
    if p == -math.inf:
        return m.minimum(sizes)
    if p == 0:
        zero = m.number(0)
        return m.total([m.where(m.equal(size, zero), lambda: m.number(0), lambda: m.number(1)) for size in sizes])
    if p == 1:
        return m.total(sizes)
    if p == 2:
        return m.sqrt(m.total([size * size for size in sizes]))
    exponent = m.number(p)
    return m.power(m.total([m.power(size, exponent) for size in sizes]), 1 / exponent)


def _direction(x: Node) -> Node:
    return make.sgn(x) if x.dtype.kind == "c" else make.sign(x)  # type: ignore[no-any-return]  # any row's call


def _norm_rule(node: Node, g: Node) -> list[Node | None]:
    (x,), p = node.args, node.attrs["p"]
    if p == 0:
        return [None]
    g, norm = widen(g, node), widen(node, node)
    if p == 1:
        return [flow(g, _direction(x))]
    if p == 2:
        return [flow(g, make.where(make.eq(norm, 0.0), 0.0, x / norm))]
    if math.isinf(p):
        ties = same_value(make.abs(x), norm)
        count = make.to(make.sum(ties, node.attrs["dim"], True), norm.dtype) if x.ndim else 1.0
        return [make.where(ties, flow(g / count, _direction(x)), 0.0)]
    flat = make.eq(norm, 0.0) if p > 1 else make.eq(x, 0.0)
    return [flow(g, make.where(flat, 0.0, _direction(x) * (make.abs(x) / norm) ** (p - 1.0)))]


def _vector_norm(
    input: Node,
    ord: float = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Node:
    input = as_node(input) if dtype is None else make.to(input, dtype)
    if math.isinf(ord) and not all(input.shape[axis] for axis in axes_of(dim, input.ndim)):
        raise _without_elements(ord)
    return fold(VECTOR_NORM, input, dim, keepdim, p=float(ord))


def _without_elements(ord: float) -> InputError:
    return InputError(
        f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation does not have an "
        "identity"
    )


def _norm_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    if attrs["p"] < 0 and not all(args[0].shape[axis] for axis in attrs["dim"]):
        raise _without_elements(attrs["p"])
    return folded_to_real(args, attrs)


VECTOR_NORM = add_row(
    Op(
        name="linalg.vector_norm",
        doc="The p-norm of all elements, or of those along some axes: p is any number, inf and -inf too.",
        family=_FAMILY,
        call=_vector_norm,
        forms=(
            "torch.linalg.vector_norm(x)",
            "torch.linalg.vector_norm(x, ord=1)",
            "torch.linalg.vector_norm(x, ord=inf, dim=0, keepdim=True)",
        ),
        aliases=("vector_norm",),
        method=False,
        infer=_norm_infer,
        kernel=_norm_kernel,
        formula=fold_formula(_norm_formula),
        rule=_norm_rule,
        examples=(
            Example("torch.linalg.vector_norm(x)", {"x": (3,)}),
            Example("torch.linalg.vector_norm(x, ord=3, dim=1)", {"x": (2, 3)}),
            Example("torch.linalg.vector_norm(x, ord=1)", {"x": (3,)}),
            Example("torch.linalg.vector_norm(x, ord=inf)", {"x": (3,)}),
            Example("torch.linalg.vector_norm(x, ord=-inf)", {"x": (3,)}),
        ),
        domain="all numbers, differentiable away from the zero vector (and from zero entries where p is at most 1)",
        at_kink=kinks.norm_at_kink,
        kink="0 at the zero vector and at a zero entry; for inf and -inf equal ones share evenly; p = 0 has none",
        grad_fn="LinalgVectorNormBackward0",
    )
)


def _two_axes(dim: Any, ndim: int) -> tuple[int, int]:
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise InputError(f"a matrix norm needs two dims, not {dim!r}")
    if ndim < 2:
        raise InputError(f"linalg.matrix_norm: The input tensor A must have at least 2 dimensions, but it has {ndim}")
    first, second = (axis_of(entry, ndim) for entry in dim)
    if first == second:
        raise InputError(f"linalg.matrix_norm: dims must be different, but both are {first}")
    return first, second


def _singular_norm(input: Node, ord: Any, axes: tuple[int, int], keepdim: bool) -> Node:
    """The norms that are sums or extremes of singular values."""
    order = (*(axis for axis in range(input.ndim) if axis not in axes), *axes)
    values = make.svdvals(make.permute(input, *order) if order != tuple(range(input.ndim)) else input)
    fold_away = make.sum if ord == "nuc" else make.amax if ord > 0 else make.amin
    result = fold_away(values, -1)
    if not keepdim:
        return result  # type: ignore[no-any-return]  # any row's call
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(input.shape))
    kept = make.reshape(result, shape)
    return named(kept, "PermuteBackward0" if ord == "nuc" else result.grad_fn or "")


def _matrix_norm(input: Node, ord: float | str = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False) -> Node:
    input = as_node(input)
    axes = _two_axes(dim, input.ndim)
    if ord == "fro":
        return _vector_norm(input, 2, axes, keepdim)
    if ord == "nuc" or (isinstance(ord, (int, float)) and abs(ord) == 2):
        return _singular_norm(input, ord, axes, keepdim)
    if not isinstance(ord, (int, float)) or abs(ord) not in (1, math.inf):
        raise InputError(
            f"linalg.matrix_norm: Order {ord} not supported.", hint="write 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2"
        )
    # Order 1 sums down the columns, order inf along the rows; then the largest (or smallest) sum counts.
    down, across = axes if abs(ord) == 1 else axes[::-1]
    sums = _vector_norm(input, 1, down, True)
    largest_of = make.amax if sums.shape[across] else make.sum  # of no sums the largest is 0: a norm is never below
    result = (largest_of if ord > 0 else make.amin)(sums, across, True)
    if keepdim:
        return result  # type: ignore[no-any-return]  # any row's call
    shape = tuple(size for axis, size in enumerate(input.shape) if axis not in axes)
    return named(make.reshape(result, shape), result.grad_fn or "")


MATRIX_NORM = compose(
    "linalg.matrix_norm",
    "A norm of a matrix: Frobenius, nuclear, or of order 1, 2, inf and their negatives.",
    family="linalg",
    aliases=("matrix_norm",),
    method=False,
    call=_matrix_norm,
    forms=(
        "torch.linalg.matrix_norm(A)",
        "torch.linalg.matrix_norm(A, ord=1)",
        "torch.linalg.matrix_norm(A, ord='nuc')",
    ),
    examples=(
        Example("torch.linalg.matrix_norm(A)", {"A": (2, 3)}),
        Example("torch.linalg.matrix_norm(A, ord=1)", {"A": (2, 3)}),
        Example("torch.linalg.matrix_norm(A, ord=-inf)", {"A": (2, 3)}),
    ),
    domain="all matrices, differentiable where the norm is: away from zero, and where no two candidates tie",
    kink="0 at the zero matrix; equal sums share evenly",
    grad_fn="LinalgVectorNormBackward0",
)


def _linalg_norm(
    input: Node, ord: float | str | None = None, dim: int | Sequence[int] | None = None, keepdim: bool = False
) -> Node:
    input = as_node(input)
    if ord is None:
        return _vector_norm(input, 2, dim, keepdim)
    if dim is None:
        if input.ndim > 2:
            raise InputError(
                f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {input.ndim}D.",
                hint="say dim=...",
            )
        dim = (-2, -1) if input.ndim == 2 else None
    if isinstance(dim, (tuple, list)) and len(dim) == 2:
        return _matrix_norm(input, ord, dim, keepdim)
    if isinstance(ord, str):
        raise InputError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.",
            hint=f"order {ord!r} is for matrices only" + ("" if input.ndim < 2 else ": give two dims"),
        )
    return _vector_norm(input, ord, dim, keepdim)


LINALG_NORM = compose(
    "linalg.norm",
    "A norm of a vector or a matrix: of matrices where ord is given and there are two axes.",
    family="linalg",
    method=False,
    call=_linalg_norm,
    forms=(
        "torch.linalg.norm(x)",
        "torch.linalg.norm(A, ord='fro')",
        "torch.linalg.norm(x, ord=1, dim=0)",
        "np.linalg.norm(A, axis=0)",
    ),
    examples=(
        Example("torch.linalg.norm(x)", {"x": (3,)}),
        Example("torch.linalg.norm(A, ord=1)", {"A": (2, 3)}),
        Example("torch.linalg.norm(A, dim=1)", {"A": (2, 3)}),
    ),
    domain="all numbers, differentiable away from zero",
    kink="0 at zero; equal candidates share evenly",
    grad_fn="LinalgVectorNormBackward0",
)


def _norm(
    input: Node,
    p: float | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Node:
    input = as_node(input) if dtype is None else make.to(input, dtype)
    if p == "nuc":
        return _matrix_norm(input, "nuc", (-2, -1) if dim is None or isinstance(dim, int) else dim, keepdim)
    if p in ("fro", None):
        p = 2
    if not isinstance(p, (int, float)):
        raise InputError(f"norm: p must be a number, 'fro' or 'nuc', not {p!r}")
    return _vector_norm(input, p, dim, keepdim)


NORM = compose(
    "norm",
    "The p-norm of all elements, or of those along some axes; of a matrix too it is that of its elements.",
    family=_FAMILY,
    call=_norm,
    forms=("torch.norm(x)", "x.norm()", "x.norm(1)", "x.norm(2, dim=0)", "torch.norm(x, dim=1, keepdim=True)"),
    examples=(
        Example("torch.norm(x)", {"x": (3,)}),
        Example("x.norm(1)", {"x": (3,)}),
        Example("x.norm(2, dim=0)", {"x": (2, 3)}),
    ),
    method=True,
    domain="all numbers, differentiable away from the zero vector",
    kink="0 at the zero vector and at a zero entry; for inf and -inf equal ones share evenly",
    grad_fn="LinalgVectorNormBackward0",
)


def _renorm(input: Node, p: float, dim: int, maxnorm: float) -> Node:
    input = as_node(input)
    axis = axis_of(dim, input.ndim)
    others = tuple(other for other in axes_of(None, input.ndim) if other != axis)
    length = _vector_norm(input, p, others, True)
    # PyTorch adds 1e-7 to the length it divides by.
    factor = make.where(make.gt(length, float(maxnorm)), float(maxnorm) / (length + 1e-7), 1.0)
    return named(input * factor, "RenormBackward0")


RENORM = compose(
    "renorm",
    "Each slice along an axis scaled down to a largest p-norm, where it is longer.",
    family=_FAMILY,
    call=_renorm,
    forms=("torch.renorm(A, 2, 0, 1.0)", "A.renorm(p=2, dim=0, maxnorm=1.0)"),
    examples=(Example("torch.renorm(A, 2, 0, 1.0)", {"A": (2, 3)}),),
    domain="all numbers, differentiable where no slice has exactly the largest norm",
    kink="a slice of exactly the largest norm counts as not scaled",
    grad_fn="RenormBackward0",
)
