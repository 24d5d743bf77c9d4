"""Inverses, linear systems and Cholesky factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import (
    FLOAT64,
    POSITIVE,
    Attrs,
    DType,
    Example,
    Node,
    Op,
    Outputs,
    Shape,
    add_row,
    apply,
    as_node,
    leaf,
    make,
)
from .. import batch, infer
from ..fold import conjugate, flowing, in_floats, named
from ..row import compose, in_one_dtype
from .determinant import cofactor_kernel, det_kernel, square
from .elimination import cholesky_factor, identity, solved, stacked
from .linalg import product_of_cotangent, transposed

_FAMILY = "linalg"


def _adjoint(x: Node) -> Node:
    return transposed(conjugate(x))


def _like_matrix(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    dtype = args[0].dtype
    return args[0].shape, dtype if dtype.kind in "fc" else FLOAT64


def _given_up(xp: Any, x: Any, routine: str) -> tuple[str, int]:
    """Which matrix of a stack a routine of LAPACK gives up, in PyTorch's words, and at which step."""
    from scipy.linalg import get_lapack_funcs

    x = x if xp is np else xp.asnumpy(x)
    (factor,) = get_lapack_funcs((routine,), (x,))
    for place, matrix in enumerate(x.reshape(-1, *x.shape[-2:])):
        *_, step = factor(matrix)
        if step > 0:
            return f"(Batch element {place}): " if x.ndim > 2 else "", step
    return "", x.shape[-1]


def _inverse_kernel(xp: Any, x: Any, strict: bool = True) -> Any:
    try:
        return xp.linalg.inv(x)
    except np.linalg.LinAlgError:
        if strict:
            which, step = _given_up(xp, x, "getrf")
            raise InputError(
                f"linalg.inv: {which}The diagonal element {step} is zero, the inversion could not be completed because "
                "the input matrix is singular.",
                hint="torch.linalg.det and its gradient work for singular matrices too",
                code="singular",
            ) from None
    return xp.swapaxes(cofactor_kernel(xp, x), -1, -2) / det_kernel(xp, x)[..., None, None]


def _inverse_rule(node: Node, g: Node) -> list[Node | None]:
    adjoint = _adjoint(node)
    return [-product_of_cotangent(product_of_cotangent(adjoint, g, 1), adjoint, 0)]


def _inverse(input: Node) -> Node:
    return apply(INVERSE, (square(as_node(input), "linalg.inv"),))


INVERSE = add_row(
    Op(
        name="inverse",
        doc="The inverse of a square matrix, or of each of a stack of them.",
        family=_FAMILY,
        call=_inverse,
        forms=("torch.inverse(A)", "torch.linalg.inv(A)", "A.inverse()", "np.linalg.inv(A)"),
        aliases=("inv", "linalg.inv"),
        infer=_like_matrix,
        kernel=_inverse_kernel,
        formula=lambda m, x, strict=True: stacked(  # noqa: ARG005  # for singular matrices only
            lambda matrix: solved(m, matrix, identity(m, len(matrix))), x
        ),
        rule=_inverse_rule,
        examples=(Example("torch.inverse(A)", {"A": (2, 2)}), Example("torch.linalg.inv(A)", {"A": (3, 3)})),
        domain="square matrices that are not singular; an error where one is",
        kink="none: smooth",
        grad_fn="LinalgInvExBackward0",
    )
)


def _solve_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    matrix, right = args
    rows = right.shape[-1] if attrs["vector"] else right.shape[-2]
    if rows != matrix.shape[-1]:
        columns = (rows, 1) if attrs["vector"] else right.shape[-2:]
        raise ShapeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation AX = B "
            f"({'x'.join(map(str, matrix.shape[-2:]))} and {'x'.join(map(str, columns))})"
        )
    dtype = infer.promote(args)
    if attrs["vector"]:
        return (*infer.broadcast(matrix.shape[:-2], right.shape[:-1]), rows), dtype if dtype.kind in "fc" else FLOAT64
    batch = infer.broadcast(matrix.shape[:-2], right.shape[:-2])
    return (*batch, *right.shape[-2:]), dtype if dtype.kind in "fc" else FLOAT64


def _solve_kernel(xp: Any, matrix: Any, right: Any, vector: bool) -> Any:
    columns = right[..., None] if vector else right
    if xp is not np and matrix.shape[:-2] != columns.shape[:-2]:  # NumPy broadcasts by itself
        batch = np.broadcast_shapes(matrix.shape[:-2], columns.shape[:-2])
        matrix, columns = (xp.broadcast_to(each, (*batch, *each.shape[-2:])) for each in (matrix, columns))
    try:
        result = xp.linalg.solve(matrix, columns)
    except np.linalg.LinAlgError:
        which, _ = _given_up(xp, matrix, "getrf")
        raise InputError(
            f"torch.linalg.solve: {which}The solver failed because the input matrix is singular.", code="singular"
        ) from None
    return result[..., 0] if vector else result


def _solve_formula(m: Any, matrix: Any, right: Any, vector: bool) -> Any:
    columns = right[..., None] if vector else right
    result = stacked(lambda one, other: solved(m, one, other), matrix, columns)
    return result[..., 0] if vector else result


def _outer_of_cotangent(g: Node, x: Node, vector: bool) -> Node:
    """The cotangent of a matrix that was solved with: g times the solution's adjoint."""
    if vector:
        return flowing(make.unsqueeze(g, -1), make.unsqueeze(conjugate(x), -2))
    return product_of_cotangent(g, _adjoint(x), 0)


def _solve_rule(node: Node, g: Node) -> list[Node | None]:
    vector = node.attrs["vector"]
    to_right = apply(SOLVE, (_adjoint(node.args[0]), g), {"vector": vector})
    return [-_outer_of_cotangent(to_right, node, vector), to_right]


def _solve(A: Node, B: Node, *, left: bool = True) -> Node:  # noqa: N803  # PyTorch's names
    matrix, right = in_one_dtype(square(as_node(A), "linalg.solve"), as_node(B))
    vector = right.ndim == 1 or (right.ndim == matrix.ndim - 1 and right.shape == matrix.shape[:-1])
    if left:
        return apply(SOLVE, (matrix, right), {"vector": vector})
    if vector:
        raise InputError("linalg.solve: Vector broadcasting of the left hand side is not supported for left=False")
    turned = apply(SOLVE, (transposed(matrix), transposed(right)), {"vector": False})
    return named(transposed(turned), "LinalgSolveExBackward0")


SOLVE = add_row(
    Op(
        name="linalg.solve",
        doc="X in A X = B, of a square matrix A and a vector or matrix B (or X A = B with left=False).",
        family=_FAMILY,
        aliases=("solve",),
        method=False,
        call=_solve,
        forms=(
            "torch.linalg.solve(A, b)",
            "torch.linalg.solve(A, B)",
            "torch.linalg.solve(A, B, left=False)",
            "np.linalg.solve(A, b)",
        ),
        infer=_solve_infer,
        batch=batch.solved,
        kernel=_solve_kernel,
        formula=_solve_formula,
        rule=_solve_rule,
        examples=(
            Example("torch.linalg.solve(A, b)", {"A": (2, 2), "b": (2,)}),
            Example("torch.linalg.solve(A, B)", {"A": (3, 3), "B": (3, 2)}),
        ),
        domain="square matrices that are not singular; an error where one is",
        kink="none: smooth",
        grad_fn="LinalgSolveExBackward0",
    )
)


def _triangle(xp: Any, matrix: Any, upper: bool, unit: bool) -> Any:
    kept = xp.triu(matrix, 1 if unit else 0) if upper else xp.tril(matrix, -1 if unit else 0)
    return kept + xp.eye(matrix.shape[-1], dtype=matrix.dtype) if unit else kept


def _substituted(matrix: Any, right: Any, upper: bool, unit: bool) -> Any:
    """By substitution: however the rows are scaled, it is as right as each of its steps, which no pivot reorders."""
    from scipy.linalg import solve_triangular  # takes longer to import than all else

    matrix, right = in_floats(matrix), in_floats(right)
    dtype = np.result_type(matrix.dtype, right.dtype)
    lead = np.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    matrices, columns = (np.broadcast_to(each, (*lead, *each.shape[-2:])).astype(dtype) for each in (matrix, right))
    result = np.empty(columns.shape, dtype)
    for place in np.ndindex(lead):
        result[place] = solve_triangular(
            matrices[place], columns[place], lower=not upper, unit_diagonal=unit, check_finite=False
        )
    return result


def _triangular_kernel(xp: Any, matrix: Any, right: Any, upper: bool, unit: bool) -> Any:
    try:
        if xp is np:
            return _substituted(matrix, right, upper, unit)
        return xp.linalg.solve(_triangle(xp, matrix, upper, unit), right)
    except np.linalg.LinAlgError:
        raise InputError("linalg.solve_triangular: the matrix is singular: it has a zero on its diagonal") from None


def _triangular_formula(m: Any, matrix: Any, right: Any, upper: bool, unit: bool) -> Any:
    def one(given: Any, columns: Any) -> Any:
        kept = identity(m, len(given)) if unit else given.copy()
        for row, column in np.ndindex(*given.shape):
            if (column > row) if upper else (column < row):
                kept[row, column] = given[row, column]
            elif row != column:
                kept[row, column] = m.number(0)
        return solved(m, kept, columns)

    return stacked(one, matrix, right)


def _triangular_rule(node: Node, g: Node) -> list[Node | None]:
    upper, unit = node.attrs["upper"], node.attrs["unit"]
    size = node.args[0].shape[-1]
    to_right = apply(SOLVE_TRIANGULAR, (_adjoint(node.args[0]), g), {"upper": not upper, "unit": unit})
    inside = (np.triu if upper else np.tril)(np.ones((size, size), dtype=bool), (1 if upper else -1) * unit)
    to_matrix = make.where(leaf(inside), -product_of_cotangent(to_right, _adjoint(node), 0), 0.0)
    return [to_matrix, to_right]


def _solve_triangular(
    A: Node,  # noqa: N803  # PyTorch's names
    B: Node,  # noqa: N803  # as above
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> Node:
    matrix, right = in_one_dtype(square(as_node(A), "linalg.solve_triangular"), as_node(B))
    if right.ndim < 2:
        raise ShapeError("linalg.solve_triangular: The input tensor B must have at least 2 dimensions.")
    if left:
        return apply(SOLVE_TRIANGULAR, (matrix, right), {"upper": upper, "unit": unitriangular})
    args = (transposed(matrix), transposed(right))
    turned = apply(SOLVE_TRIANGULAR, args, {"upper": not upper, "unit": unitriangular})
    return named(transposed(turned), "LinalgSolveTriangularBackward0")


SOLVE_TRIANGULAR = add_row(
    Op(
        name="linalg.solve_triangular",
        doc="X in A X = B, of a triangular matrix A of which only one triangle is read.",
        family=_FAMILY,
        aliases=("solve_triangular",),
        method=False,
        call=_solve_triangular,
        forms=(
            "torch.linalg.solve_triangular(L, B, upper=False)",
            "torch.linalg.solve_triangular(U, B, upper=True, left=False)",
        ),
        infer=lambda args, attrs: _solve_infer(args, {**attrs, "vector": False}),
        batch=batch.solved,
        kernel=_triangular_kernel,
        formula=_triangular_formula,
        rule=_triangular_rule,
        examples=(
            Example("torch.linalg.solve_triangular(L, B, upper=False)", {"L": (2, 2), "B": (2, 2)}, {"L": POSITIVE}),
            Example("torch.linalg.solve_triangular(L, B, upper=True, unitriangular=True)", {"L": (3, 3), "B": (3, 1)}),
        ),
        domain="triangular matrices without a zero on the diagonal",
        kink="none: smooth",
        grad_fn="LinalgSolveTriangularBackward0",
    )
)


def _triangular_solve(
    b: Node,
    A: Node,  # noqa: N803  # PyTorch's names
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Outputs:
    matrix = as_node(A)
    used = transposed(matrix) if transpose else matrix
    solution = _solve_triangular(used, b, upper=upper != transpose, unitriangular=unitriangular)
    return Outputs(("solution", "cloned_coefficient"), (named(solution, "TriangularSolveBackward0"), matrix))


TRIANGULAR_SOLVE = compose(
    "triangular_solve",
    "X in A X = b, of a triangular matrix A, in the order of arguments of old programs.",
    family=_FAMILY,
    call=_triangular_solve,
    forms=("torch.triangular_solve(b, A, upper=False)[0]",),
    examples=(Example("torch.triangular_solve(b, A)[0]", {"b": (2, 1), "A": (2, 2)}, {"A": POSITIVE}),),
    domain="triangular matrices without a zero on the diagonal",
    kink="none: smooth",
    grad_fn="TriangularSolveBackward0",
)


def _cholesky_kernel(xp: Any, x: Any) -> Any:
    symmetric = (x + xp.conj(xp.swapaxes(x, -1, -2))) * x.dtype.type(0.5)
    try:
        return xp.linalg.cholesky(symmetric)
    except np.linalg.LinAlgError:
        which, step = _given_up(xp, symmetric, "potrf")
        raise InputError(
            f"linalg.cholesky: {which}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {step} is not positive-definite).",
            code="singular",
        ) from None


def _cholesky_rule(node: Node, g: Node) -> list[Node | None]:
    """The symmetric derivative: Murray, Differentiation of the Cholesky decomposition, 2016, section 3."""
    size = node.shape[-1]
    half = np.tril(np.ones((size, size)), -1) + 0.5 * np.eye(size)
    adjoint = _adjoint(node)
    inner = product_of_cotangent(adjoint, g, 1) * leaf(half.astype(g.dtype))
    upper = {"upper": True, "unit": False}
    once = apply(SOLVE_TRIANGULAR, (adjoint, inner), upper)
    whole = _adjoint(apply(SOLVE_TRIANGULAR, (adjoint, _adjoint(once)), upper))
    return [(whole + _adjoint(whole)) * 0.5]


def _cholesky(input: Node, *, upper: bool = False) -> Node:
    return _cholesky_of(input, upper, "LinalgCholeskyExBackward0")


CHOLESKY = add_row(
    Op(
        name="linalg.cholesky",
        doc="The lower triangular factor L of the symmetric part of a positive definite matrix: A = L L^T.",
        family=_FAMILY,
        method=False,
        call=_cholesky,
        forms=("torch.linalg.cholesky(A)", "torch.linalg.cholesky(A, upper=True)", "np.linalg.cholesky(A)"),
        infer=_like_matrix,
        kernel=_cholesky_kernel,
        formula=lambda m, x: stacked(lambda matrix: cholesky_factor(m, matrix), x),
        rule=_cholesky_rule,
        examples=(
            Example("torch.linalg.cholesky(A @ A.T + eye(2))", {"A": (2, 2)}),
            Example("torch.linalg.cholesky(A @ A.T + eye(3))", {"A": (3, 3)}),
        ),
        domain="positive definite matrices; an error elsewhere",
        kink="none: smooth; the gradient is symmetric",
        grad_fn="LinalgCholeskyExBackward0",
    )
)


def _cholesky_of(input: Node, upper: bool, grad_fn: str) -> Node:
    factor = apply(CHOLESKY, (square(as_node(input), "linalg.cholesky"),), grad_fn=grad_fn)
    return named(_adjoint(factor), grad_fn) if upper else factor


def _old_cholesky(input: Node, upper: bool = False) -> Node:
    return _cholesky_of(input, upper, "CholeskyBackward0")


OLD_CHOLESKY = compose(
    "cholesky",
    "The lower triangular factor L of a positive definite matrix: A = L L^T.",
    family=_FAMILY,
    call=_old_cholesky,
    forms=("torch.cholesky(A)", "A.cholesky()"),
    examples=(Example("torch.cholesky(A @ A.T + eye(2))", {"A": (2, 2)}),),
    domain="positive definite matrices; an error elsewhere",
    kink="none: smooth; the gradient is symmetric",
    grad_fn="CholeskyBackward0",
)


def _cholesky_solve(B: Node, L: Node, upper: bool = False) -> Node:  # noqa: N803  # PyTorch's names
    factor = as_node(L)
    lower = _adjoint(factor) if upper else factor
    inner = _solve_triangular(lower, B, upper=False)
    return named(_solve_triangular(_adjoint(lower), inner, upper=True), "CholeskySolveBackward0")


CHOLESKY_SOLVE = compose(
    "cholesky_solve",
    "X in A X = B, where A is given by its Cholesky factor, of which one triangle is read.",
    family=_FAMILY,
    call=_cholesky_solve,
    forms=("torch.cholesky_solve(B, L)", "torch.cholesky_solve(B, U, upper=True)"),
    examples=(Example("torch.cholesky_solve(B, L)", {"B": (2, 2), "L": (2, 2)}, {"L": POSITIVE}),),
    domain="factors without a zero on the diagonal",
    kink="none: smooth; the triangle that is not read gets 0",
    grad_fn="CholeskySolveBackward0",
)


def _cholesky_inverse(L: Node, upper: bool = False) -> Node:  # noqa: N803  # PyTorch's name
    factor = square(as_node(L), "cholesky_inverse")
    identity_leaf = leaf(np.eye(factor.shape[-1], dtype=factor.dtype))
    return named(_cholesky_solve(identity_leaf, factor, upper), "CholeskyInverseBackward0")


CHOLESKY_INVERSE = compose(
    "cholesky_inverse",
    "The inverse of a matrix given by its Cholesky factor, of which one triangle is read.",
    family=_FAMILY,
    call=_cholesky_inverse,
    forms=("torch.cholesky_inverse(L)",),
    examples=(Example("torch.cholesky_inverse(L)", {"L": (2, 2)}, {"L": POSITIVE}),),
    domain="factors without a zero on the diagonal",
    kink="none: smooth; the triangle that is not read gets 0",
    grad_fn="CholeskyInverseBackward0",
)


def _matrix_power(input: Node, n: int) -> Node:
    matrix = square(as_node(input), "linalg.matrix_power")
    if n == 0:
        everywhere = leaf(np.ones(matrix.shape[-2:], dtype=bool))
        return named(
            make.where(everywhere, leaf(np.eye(matrix.shape[-1], dtype=matrix.dtype)), matrix), "CopyBackwards"
        )
    if n == 1:
        return named(matrix * 1.0, "CloneBackward0")
    base = apply(INVERSE, (matrix,)) if n < 0 else matrix
    result = base
    for bit in bin(abs(n))[3:]:
        result = make.matmul(result, result)
        if bit == "1":
            result = make.matmul(result, base)
    return result


MATRIX_POWER = compose(
    "matrix_power",
    "A square matrix multiplied with itself, or its inverse where the power is negative.",
    family=_FAMILY,
    aliases=("linalg.matrix_power",),
    call=_matrix_power,
    forms=("torch.linalg.matrix_power(A, 3)", "A.matrix_power(-1)", "np.linalg.matrix_power(A, 2)"),
    examples=(Example("torch.linalg.matrix_power(A, 3)", {"A": (2, 2)}), Example("A.matrix_power(-1)", {"A": (2, 2)})),
    domain="square matrices; for negative powers those that are not singular",
    kink="none: smooth",
    grad_fn="MmBackward0",
)
