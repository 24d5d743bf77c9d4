"""Determinants, right for singular matrices at every order of derivative."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import ShapeError
from ...graph import FLOAT64, Attrs, DType, Example, Node, Op, Outputs, Shape, add_row, apply, as_node, leaf, make
from ..cotangent import flow
from ..fold import conjugate, flowing
from ..infer import real_part_of
from ..row import compose
from .elimination import determinant, stacked
from .linalg import product_of_cotangent, svd, transposed

_FAMILY = "linalg"
_MINORS = 8
"""Up to this size second derivatives of a determinant come from its minors; beyond, from the inverse."""


def square(node: Node, what: str) -> Node:
    """A node that is a square matrix or a stack of them.

    Raises:
        ShapeError: in PyTorch's words, where it is not.
    """
    if node.ndim < 2:
        raise ShapeError(f"{what}: The input tensor A must have at least 2 dimensions.")
    if node.shape[-1] != node.shape[-2]:
        raise ShapeError(
            f"{what}: A must be batches of square matrices, but they are {node.shape[-2]} by {node.shape[-1]} matrices"
        )
    return node


def _of_square(name: str, what: str) -> Callable[..., Node]:
    """The call of a row that takes square matrices only."""

    def call(input: Node) -> Node:
        return apply(getattr(make, name), (square(as_node(input), what),))

    return call


def _scalar_of_matrix(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # `infer` takes attrs
    dtype = args[0].dtype
    return args[0].shape[:-2], dtype if dtype.kind in "fc" else FLOAT64


def _real_of_matrix(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape, dtype = _scalar_of_matrix(args, attrs)
    return shape, real_part_of(dtype)


def _over_matrix(g: Node) -> Node:
    """A number for each matrix of a stack, as a matrix of one element."""
    return make.reshape(g, (*g.shape, 1, 1))  # type: ignore[no-any-return]  # any row's call


def _as_float(xp: Any, x: Any) -> Any:
    return x if x.dtype.kind in "fc" else x.astype(xp.float64)


def det_kernel(xp: Any, x: Any) -> Any:
    """The determinant; of 2x2 matrices by its two products, so that a singular one of integers gives exactly 0."""
    x = _as_float(xp, x)
    if x.shape[-1] == 2:
        return x[..., 0, 0] * x[..., 1, 1] - x[..., 0, 1] * x[..., 1, 0]
    return xp.linalg.det(x)


DET = add_row(
    Op(
        name="det",
        doc="The determinant of a square matrix, or of each of a stack of them.",
        family=_FAMILY,
        call=_of_square("det", "linalg.det"),
        forms=("torch.det(A)", "torch.linalg.det(A)", "A.det()", "np.linalg.det(A)"),
        aliases=("linalg.det",),
        infer=_scalar_of_matrix,
        kernel=det_kernel,
        formula=lambda m, x: stacked(lambda matrix: determinant(m, matrix), x),
        rule=lambda node, g: [flow(_over_matrix(g), conjugate(cofactors(node.args[0])))],
        examples=(Example("torch.det(A)", {"A": (2, 2)}), Example("torch.linalg.det(A)", {"A": (3, 3)})),
        domain="all square matrices, singular ones too",
        kink="none: a polynomial",
        grad_fn="LinalgDetBackward0",
    )
)


def cofactor_kernel(xp: Any, x: Any) -> Any:
    """Minors for small matrices, singular values for others: neither divides by the determinant."""
    x = _as_float(xp, x)
    size = x.shape[-1]
    if size <= 4:
        minors = _minors_kernel(xp, x)
        values = det_kernel(xp, minors) if size > 1 else xp.ones_like(x)
        return values * xp.asarray(_signs(size), dtype=x.dtype)
    left, values, right = svd(xp, x)
    others = xp.where(xp.eye(size, dtype=bool), values.dtype.type(1), values[..., None, :]).prod(axis=-1)
    sign = xp.linalg.det(left) * xp.linalg.det(right)
    return sign[..., None, None] * xp.conj(xp.matmul(left * others[..., None, :], right))


def _signs(size: int) -> Any:
    places = np.arange(size)
    return np.where((places[:, None] + places) % 2, -1.0, 1.0)


def _cofactor_formula(m: Any, x: Any) -> Any:
    def one(matrix: Any) -> Any:
        size = len(matrix)
        result = np.empty((size, size), dtype=object)
        for row, column in np.ndindex(size, size):
            minor = np.delete(np.delete(matrix, row, axis=0), column, axis=1)
            result[row, column] = determinant(m, minor) * (-1 if (row + column) % 2 else 1)
        return result

    return stacked(one, x)


def _cofactor_rule(node: Node, g: Node) -> list[Node | None]:
    x = node.args[0]
    size = x.shape[-1]
    if size <= _MINORS:
        minors = apply(MINORS, (x,))
        weighted = g * leaf(_signs(size).astype(g.dtype))
        inner = flowing(make.reshape(weighted, (*g.shape, 1, 1)), conjugate(cofactors(minors)))
        return [apply(FROM_MINORS, (inner,)) if size > 1 else None]
    # d cof = det (tr(Y dA) Y' - (Y dA Y)') with Y the inverse.
    inverse, node = transposed(conjugate(inverse_of(x))), conjugate(node)
    overlap = make.sum(flowing(g, inverse), (-2, -1), True)
    turned = product_of_cotangent(product_of_cotangent(node, transposed(g), 1), inverse, 0)
    return [flowing(overlap, node) - turned]


COFACTOR = add_row(
    Op(
        name="cofactor",
        doc="The matrix of cofactors: the derivative of the determinant by each element.",
        family="cotangent",
        call=lambda x: cofactors(square(x, "cofactor")),
        method=False,
        infer=lambda args, attrs: (args[0].shape, _scalar_of_matrix(args, attrs)[1]),
        kernel=cofactor_kernel,
        formula=_cofactor_formula,
        rule=_cofactor_rule,
        grad_fn="LinalgDetBackward0",
    )
)


def cofactors(x: Node) -> Node:
    """The matrix of cofactors of a square matrix, or of each of a stack."""
    return apply(COFACTOR, (x,))


def _minors_kernel(xp: Any, x: Any) -> Any:
    size = x.shape[-1]
    others = np.array([[entry for entry in range(size) if entry != place] for place in range(size)], dtype=np.int64)
    others = xp.asarray(others.reshape(size, max(size - 1, 0)))
    return x[..., others[:, None, :, None], others[None, :, None, :]]


def _from_minors_kernel(xp: Any, minors: Any) -> Any:
    size = minors.shape[-3]
    result = xp.zeros((*minors.shape[:-4], size, size), dtype=minors.dtype)
    for row, column in np.ndindex(size, size):
        rows = xp.asarray([entry for entry in range(size) if entry != row])
        columns = xp.asarray([entry for entry in range(size) if entry != column])
        result[..., rows[:, None], columns] += minors[..., row, column, :, :]
    return result


def _exact_from_minors(m: Any, minors: Any) -> Any:
    size = minors.shape[-3]
    result = np.empty((*minors.shape[:-4], size, size), dtype=object)
    result[...] = m.number(0)
    for row, column in np.ndindex(size, size):
        rows = np.delete(np.arange(size), row)
        columns = np.delete(np.arange(size), column)
        result[..., rows[:, None], columns] += minors[..., row, column, :, :]
    return result


MINORS: Op = add_row(
    Op(
        name="minors",
        doc="For each place of a square matrix the matrix without that row and column.",
        family="cotangent",
        call=lambda x: apply(MINORS, (x,)),
        method=False,
        infer=lambda args, attrs: (  # noqa: ARG005  # every `infer` takes attrs
            (*args[0].shape, args[0].shape[-2] - 1, args[0].shape[-1] - 1),
            args[0].dtype,
        ),
        kernel=_minors_kernel,
        formula=lambda m, x: _minors_kernel(np, x),  # noqa: ARG005  # it only moves entries
        rule=lambda node, g: [apply(FROM_MINORS, (g,))],  # noqa: ARG005  # linear
        grad_fn="IndexBackward0",
    )
)

FROM_MINORS: Op = add_row(
    Op(
        name="from_minors",
        doc="The sum of smaller matrices, each put where its minor was taken from.",
        family="cotangent",
        call=lambda x: apply(FROM_MINORS, (x,)),
        method=False,
        infer=lambda args, attrs: (args[0].shape[:-2], args[0].dtype),  # noqa: ARG005  # every `infer` takes attrs
        kernel=_from_minors_kernel,
        formula=_exact_from_minors,
        rule=lambda node, g: [apply(MINORS, (g,))],  # noqa: ARG005  # linear
        grad_fn="IndexPutBackward0",
    )
)

LOGABSDET = add_row(
    Op(
        name="slogdet.logabsdet",
        doc="The logarithm of the determinant's absolute value.",
        family=_FAMILY,
        method=False,
        call=_of_square("slogdet.logabsdet", "linalg.slogdet"),
        forms=("torch.linalg.slogdet(A).logabsdet",),
        infer=_real_of_matrix,
        kernel=lambda xp, x: xp.linalg.slogdet(_as_float(xp, x))[1],
        formula=lambda m, x: stacked(lambda matrix: m.log(m.absolute(determinant(m, matrix))), x),
        rule=lambda node, g: [flow(_over_matrix(g), transposed(conjugate(inverse_of(node.args[0]))))],
        examples=(Example("torch.linalg.slogdet(A).logabsdet", {"A": (3, 3)}),),
        domain="square matrices that are not singular",
        kink="-inf where it is singular, with the cofactors over zero as derivative",
        grad_fn="LinalgSlogdetBackward0",
    )
)

SIGN_OF_DET = add_row(
    Op(
        name="slogdet.sign",
        doc="The sign of the determinant.",
        family=_FAMILY,
        real=True,
        method=False,
        call=_of_square("slogdet.sign", "linalg.slogdet"),
        forms=("torch.linalg.slogdet(A).sign",),
        infer=_scalar_of_matrix,
        kernel=lambda xp, x: xp.linalg.slogdet(_as_float(xp, x))[0],
        formula=lambda m, x: stacked(lambda matrix: m.function("sign", determinant(m, matrix)), x),
        rule=lambda node, g: [None],  # noqa: ARG005  # constant between jumps
        examples=(Example("torch.linalg.slogdet(A).sign", {"A": (3, 3)}, orders=0),),
        domain="square matrices that are not singular",
        kink="constant between jumps",
        grad_fn="LinalgSlogdetBackward0",
    )
)


def inverse_of(x: Node) -> Node:
    """The inverse; of a singular matrix the cofactors over zero instead of an error."""
    return apply(make.inverse, (x,), {"strict": False})


def _slogdet(input: Node) -> Outputs:
    input = square(as_node(input), "linalg.slogdet")
    # Of complex matrices the sign is a point of the unit circle, that moves.
    sign = make.sgn(make.det(input)) if input.dtype.kind == "c" else apply(SIGN_OF_DET, (input,))
    return Outputs(("sign", "logabsdet"), (sign, apply(LOGABSDET, (input,))))


SLOGDET = compose(
    "slogdet",
    "The sign of the determinant and the logarithm of its absolute value.",
    family=_FAMILY,
    aliases=("linalg.slogdet",),
    call=_slogdet,
    forms=("torch.linalg.slogdet(A).logabsdet", "torch.slogdet(A)[1]", "A.slogdet()", "np.linalg.slogdet(A)"),
    examples=(Example("torch.slogdet(A)[1]", {"A": (2, 2)}),),
    domain="square matrices that are not singular",
    kink="-inf where it is singular",
    grad_fn="LinalgSlogdetBackward0",
)


def _logdet(input: Node) -> Node:
    sign, size = _slogdet(input).nodes
    if sign.dtype.kind == "c":
        return make.log(sign) + size  # type: ignore[no-any-return]  # any row's call
    return make.where(make.lt(sign, 0.0), math.nan, size)  # type: ignore[no-any-return]  # any row's call


LOGDET = compose(
    "logdet",
    "The logarithm of the determinant; NaN where that is negative.",
    family=_FAMILY,
    aliases=("linalg.logdet",),
    call=_logdet,
    forms=("torch.logdet(A)", "A.logdet()"),
    examples=(Example("torch.logdet(A @ A.T + eye(2))", {"A": (2, 2)}),),
    domain="square matrices of positive determinant",
    kink="-inf where the matrix is singular, NaN with gradient 0 where the determinant is negative",
    grad_fn="WhereBackward0",
)
