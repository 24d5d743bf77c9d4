"""Functions of whole matrices: exponential, pseudo-inverse, least squares, condition and rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...errors import ShapeError
from ...graph import INT64, Attrs, DType, Example, Node, Op, Outputs, Shape, add_row, apply, leaf, make
from .. import batch
from ..cotangent import zeros
from ..fold import named
from ..peak import largest, unit_of
from ..row import as_float, compose
from .degenerate import adjoint
from .determinant import square
from .elimination import determinant, solved, stacked
from .linalg import product_of_cotangent, svd
from .singular import exact_singular, matrices

_FAMILY = "linalg"
_WELL_POSED: Final = 1e-18
"""A Gram matrix whose determinant is above this share of its trace's power has no singular value that counts as 0."""


def _like_matrix(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    return args[0].shape, args[0].dtype


def _expm_kernel(xp: Any, x: Any) -> Any:
    if xp is not np:
        from cupyx.scipy.linalg import expm  # on machines with CUDA only
    else:
        from scipy.linalg import expm
    return expm(x).astype(x.dtype, copy=False) if x.size else x


def _expm_rule(node: Node, g: Node) -> list[Node | None]:
    """The adjoint of the derivative: Higham, Functions of matrices, 2008, theorem 3.6, at the adjoint matrix.

    It is linear in g, and computed for a g that is as large as the matrix: a large one beside it would cost digits.
    """
    if not node.size:
        return [g]
    size = node.shape[-1]
    matrix = adjoint(node.args[0])
    peak = make.detach(make.amax(make.abs(g), (-2, -1), True))
    scale = make.where(peak > 0.0, peak, 1.0)
    upper = make.cat([matrix, g / scale], -1)
    lower = make.cat([leaf(np.zeros(node.shape, dtype=node.dtype)), matrix], -1)
    both = apply(MATRIX_EXP, (make.cat([upper, lower], -2),))
    return [make.narrow(make.narrow(both, -2, 0, size), -1, size, size) * scale]


def _matrix_exp(input: Node) -> Node:
    return apply(MATRIX_EXP, (square(as_float(input), "linalg.matrix_exp"),))


MATRIX_EXP: Op = add_row(
    Op(
        name="matrix_exp",
        doc="The exponential of a square matrix: the sum of its powers over factorials.",
        family=_FAMILY,
        aliases=("linalg.matrix_exp",),
        call=_matrix_exp,
        forms=("torch.linalg.matrix_exp(A)", "torch.matrix_exp(A)", "A.matrix_exp()"),
        infer=_like_matrix,
        batch=batch.trailing,
        kernel=_expm_kernel,
        formula=lambda m, x: stacked(lambda matrix: m.matrix_function("expm", matrix)[0] if matrix.size else matrix, x),
        rule=_expm_rule,
        examples=(Example("torch.linalg.matrix_exp(A)", {"A": (2, 2)}), Example("A.matrix_exp()", {"A": (3, 3)})),
        domain="all square matrices",
        kink="none: smooth",
        grad_fn="LinalgMatrixExpBackward0",
    )
)


def _tolerance(shape: Shape, dtype: DType) -> float:
    return max(shape[-2:]) * float(np.finfo(dtype).eps)


def _pinv_kernel(xp: Any, x: Any, absolute: float, relative: float) -> Any:
    left, values, right = svd(xp, x, full_matrices=False)
    bound = xp.maximum(absolute, relative * largest(xp, values, -1, least=0, keepdims=True))
    inverse = xp.where(values > bound, 1 / values, 0).astype(values.dtype)
    return xp.matmul(xp.conj(xp.swapaxes(right, -1, -2)) * inverse[..., None, :], xp.conj(xp.swapaxes(left, -1, -2)))


def _exact_adjoint(m: Any, matrix: Any) -> Any:
    result = np.empty(matrix.T.shape, dtype=object)
    for place in np.ndindex(result.shape):
        result[place] = m.function("conj", matrix.T[place])
    return result


def _pinv_formula(m: Any, x: Any, absolute: float, relative: float) -> Any:
    def whole(matrix: Any) -> Any:
        turned = _exact_adjoint(m, matrix)
        tall = len(matrix) >= len(turned)
        gram = turned @ matrix if tall else matrix @ turned
        bound = m.product([m.total(list(gram.diagonal()))] * len(gram)) * m.number(_WELL_POSED)
        if not absolute and relative <= 1e-10 and m.boolean(m.absolute(determinant(m, gram)) > m.absolute(bound)):
            return solved(m, gram, turned) if tall else _exact_adjoint(m, solved(m, gram, matrix))
        left, values, right = exact_singular(m, matrix)
        least = m.maximum([m.number(absolute), *[m.number(relative) * value for value in values[:1]]])
        kept = [place for place, value in enumerate(values) if m.boolean(value > least)]
        scaled = _exact_adjoint(m, right[kept]) / values[kept][None, :]
        return scaled @ _exact_adjoint(m, left[:, kept])

    return stacked(whole, x)


def _pinv_rule(node: Node, g: Node) -> list[Node | None]:
    """Golub and Pereyra, The differentiation of pseudo-inverses, 1973: for matrices of constant rank."""
    matrix, back = node.args[0], adjoint(node)
    if not node.size:
        return [adjoint(g)]
    outer = product_of_cotangent(product_of_cotangent(back, g, 1), back, 0)
    # (1 - A A+) G^H A+ A+^H and its mirror image, without forming the projections.
    turned = adjoint(g)
    right = make.matmul(product_of_cotangent(turned, node, 0), back)
    left = make.matmul(back, product_of_cotangent(node, turned, 1))
    # A and A+ meet at the same size: A+ times the cotangent alone may be too small, or too large, for its dtype.
    unit = unit_of(make.amax(make.abs(node), (-2, -1), True))
    matrix, inverse = matrix * unit, node / unit
    result = right - make.matmul(matrix, make.matmul(inverse, right)) - outer
    return [result + left - make.matmul(make.matmul(left, inverse), matrix)]


def _pinv(
    A: Node,  # noqa: N803  # PyTorch's name
    *,
    atol: float | None = None,
    rtol: float | None = None,
    rcond: float | None = None,
    hermitian: bool = False,  # noqa: ARG001  # a shortcut of the algorithm: the result is the same
) -> Node:
    matrix = matrices(A, "linalg.pinv")
    relative = rtol if rcond is None else rcond
    if relative is None:
        relative = 0.0 if atol else _tolerance(matrix.shape, matrix.dtype)
    attrs = {"absolute": float(atol or 0.0), "relative": float(relative)}
    return apply(PINV, (matrix,), attrs)


PINV = add_row(
    Op(
        name="linalg.pinv",
        doc="The pseudo-inverse of Moore and Penrose: singular values are inverted, those that count as zero are not.",
        family=_FAMILY,
        aliases=("pinv", "pinverse"),
        call=_pinv,
        forms=(
            "torch.linalg.pinv(A)",
            "torch.linalg.pinv(A, rtol=1e-10)",
            "torch.linalg.pinv(A, hermitian=True)",
            "torch.pinverse(A)",
            "np.linalg.pinv(A)",
        ),
        infer=lambda args, attrs: ((*args[0].shape[:-2], *args[0].shape[:-3:-1]), args[0].dtype),  # noqa: ARG005  # takes attrs
        kernel=_pinv_kernel,
        formula=_pinv_formula,
        rule=_pinv_rule,
        examples=(
            Example("torch.linalg.pinv(A)", {"A": (2, 2)}),
            Example("torch.linalg.pinv(A)", {"A": (3, 2)}),
            Example("torch.linalg.pinv(A)", {"A": (2, 3)}),
        ),
        domain="all matrices, differentiable while the rank does not change",
        kink="where a singular value counts as zero the derivative is that of matrices of the same rank",
        grad_fn="LinalgPinvBackward0",
    )
)


def _lstsq(
    A: Node,  # noqa: N803  # PyTorch's names
    B: Node,  # noqa: N803  # as above
    rcond: float | None = None,
    *,
    driver: str | None = None,  # noqa: ARG001  # the solution is the same for all
) -> Outputs:
    matrix, right = matrices(A, "linalg.lstsq"), as_float(B)
    vector = right.ndim == 1 or (right.ndim == matrix.ndim - 1 and right.shape == matrix.shape[:-1])
    columns = make.unsqueeze(right, -1) if vector else right
    if columns.shape[-2] != matrix.shape[-2]:
        raise ShapeError(
            f"torch.linalg.lstsq: input.size(-2) should match other.size(-2), but they are {matrix.shape[-2]} "
            f"and {columns.shape[-2]}"
        )
    inverse = _pinv(matrix, rcond=rcond)
    solution = make.matmul(inverse, columns)
    rows, unknowns = matrix.shape[-2:]
    shape = (*solution.shape[:-2], solution.shape[-1]) if rows > unknowns else (0,)
    rest = make.matmul(matrix, solution) - columns
    residuals = make.sum(make.abs(rest) ** 2, -2) if rows > unknowns else leaf(np.zeros(shape, dtype=rest.dtype))
    if vector:
        solution = make.squeeze(solution, -1)
    return Outputs(
        ("solution", "residuals", "rank", "singular_values"),
        (
            named(solution, "LinalgLstsqBackward0"),
            named(residuals, "LinalgLstsqBackward0"),
            _matrix_rank(matrix),
            make.svdvals(matrix),
        ),
    )


LSTSQ = compose(
    "linalg.lstsq",
    "The X of least length among those that bring A X nearest to B.",
    family=_FAMILY,
    aliases=("lstsq",),
    method=False,
    call=_lstsq,
    forms=("torch.linalg.lstsq(A, B).solution", "np.linalg.lstsq(A, b)[0]"),
    examples=(
        Example("torch.linalg.lstsq(A, B).solution", {"A": (3, 2), "B": (3, 2)}),
        Example("torch.linalg.lstsq(A, B).solution", {"A": (2, 3), "B": (2, 1)}),
        Example("np.linalg.lstsq(A, b)[0]", {"A": (3, 2), "b": (3,)}),
    ),
    domain="all matrices, differentiable while the rank does not change",
    kink="where a singular value counts as zero the derivative is that of matrices of the same rank",
    grad_fn="LinalgLstsqBackward0",
)


def _cond(A: Node, p: float | str | None = None) -> Node:  # noqa: N803  # PyTorch's name
    matrix = matrices(A, "linalg.cond")
    if p is None or p in (2, -2):
        values = make.svdvals(matrix)
        count = values.shape[-1]
        if not count:
            return zeros(values.shape[:-1], values.dtype)
        ends = (make.narrow(values, -1, 0, 1), make.narrow(values, -1, count - 1, 1))
        largest, smallest = ends if p != -2 else ends[::-1]
        return make.squeeze(largest / smallest, -1)  # type: ignore[no-any-return]  # any row's call
    inverse = make.inverse(square(matrix, "linalg.cond"))
    return make.matrix_norm(matrix, p) * make.matrix_norm(inverse, p)  # type: ignore[no-any-return]  # as above


COND = compose(
    "linalg.cond",
    "The condition number of a matrix: its largest singular value over its smallest, or a norm times the inverse's.",
    family=_FAMILY,
    aliases=("cond",),
    method=False,
    call=_cond,
    forms=("torch.linalg.cond(A)", "torch.linalg.cond(A, p='fro')", "np.linalg.cond(A)"),
    examples=(
        Example("torch.linalg.cond(A)", {"A": (2, 2)}),
        Example("torch.linalg.cond(A)", {"A": (3, 2)}),
        Example("torch.linalg.cond(A, p='fro')", {"A": (2, 2)}),
    ),
    domain="matrices of full rank, differentiable where the largest and the smallest singular value are simple",
    kink="where singular values coincide the first, or the last, in LAPACK's order counts",
    grad_fn="SqueezeBackward1",
)


def _rank_kernel(xp: Any, x: Any, absolute: float, relative: float) -> Any:
    values = svd(xp, x, compute_uv=False)
    bound = xp.maximum(absolute, relative * largest(xp, values, -1, least=0, keepdims=True))
    return xp.sum(values > bound, axis=-1, dtype=xp.int64)


def _rank_formula(m: Any, x: Any, absolute: float, relative: float) -> Any:
    def whole(matrix: Any) -> Any:
        _, values, _ = exact_singular(m, matrix)
        least = m.maximum([m.number(absolute), *[m.number(relative) * value for value in values[:1]]])
        return m.number(sum(m.boolean(value > least) for value in values))

    return stacked(whole, x)


def _matrix_rank(
    A: Node,  # noqa: N803  # PyTorch's name
    *,
    tol: float | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    hermitian: bool = False,  # noqa: ARG001  # the absolute eigenvalues are the singular values
) -> Node:
    matrix = matrices(A, "linalg.matrix_rank")
    absolute = atol if tol is None else tol
    relative = (0.0 if absolute else _tolerance(matrix.shape, matrix.dtype)) if rtol is None else rtol
    if tol is not None:
        relative = 0.0
    return apply(MATRIX_RANK, (matrix,), {"absolute": float(absolute or 0.0), "relative": float(relative)})


MATRIX_RANK = add_row(
    Op(
        name="linalg.matrix_rank",
        doc="How many singular values of a matrix count as more than zero.",
        family=_FAMILY,
        aliases=("matrix_rank",),
        method=False,
        call=_matrix_rank,
        forms=("torch.linalg.matrix_rank(A)", "torch.linalg.matrix_rank(A, tol=0.1)", "np.linalg.matrix_rank(A)"),
        infer=lambda args, attrs: (args[0].shape[:-2], INT64),  # noqa: ARG005  # every `infer` takes attrs
        kernel=_rank_kernel,
        formula=_rank_formula,
        differentiable=False,
        examples=(Example("torch.linalg.matrix_rank(A)", {"A": (3, 2)}, orders=0),),
        domain="all matrices",
        kink="an integer: it has no derivative",
    )
)
