"""Factors with a triangle: QR and LU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..graph import Attrs, DType, Example, Node, Op, Outputs, Shape, add_row, apply, leaf, make
from .degenerate import adjoint
from .elimination import identity, stacked
from .fold import named
from .linalg import product_of_cotangent
from .output import output, results_of, row_of_several
from .row import compose
from .singular import matrices

_FAMILY = "linalg"
_INT32 = np.dtype(np.int32)
_ABSENT = 1e-20
"""What is smaller than its pivot by this factor counts as zero when the sign of a diagonal entry is chosen."""


def _qr_results(args: Sequence[Node], attrs: Attrs) -> list[tuple[Shape, DType]]:  # noqa: ARG001  # takes attrs
    (*batch, rows, columns), dtype = args[0].shape, args[0].dtype
    return [((*batch, rows, columns), dtype), ((*batch, columns, columns), dtype)]


def _conjugated(m: Any, array: Any) -> Any:
    result = np.empty(array.shape, dtype=object)
    for place in np.ndindex(array.shape):
        result[place] = m.function("conj", array[place])
    return result


def householder(m: Any, matrix: Any) -> tuple[Any, Any]:
    """Q (square) and R of one matrix of exact numbers by reflections, with LAPACK's signs."""
    upper, turns = np.array(matrix, dtype=object), identity(m, len(matrix))
    for step in range(min(matrix.shape)):
        pivot, below = upper[step, step], upper[step + 1 :, step]
        size = m.absolute(pivot)
        length = m.sqrt(m.total([size * size, *(m.absolute(entry) ** 2 for entry in below)]))
        if m.boolean(m.equal(length, m.number(0))):
            continue
        beta = length * (-1 if m.boolean(m.function("re", pivot) >= m.number(0)) else 1)
        # As LAPACK's larfg: H = 1 - tau w w^H, of which H^H takes the column to (beta, 0, 0 ...).
        vector = np.array([m.number(1), *(entry / (pivot - beta) for entry in below)], dtype=object)
        tau, weights = (beta - pivot) / beta, _conjugated(m, vector)
        upper[step:] = upper[step:] - vector[:, None] * (m.function("conj", tau) * (weights @ upper[step:]))[None, :]
        turns[:, step:] = turns[:, step:] - (turns[:, step:] @ vector * tau)[:, None] * weights[None, :]
        tail = [*below, m.function("im", pivot)]
        if all(m.boolean(m.absolute(entry) <= size * m.number(_ABSENT)) for entry in tail):
            # LAPACK leaves a column alone that has nothing below its pivot.
            upper[step], turns[:, step] = -upper[step], -turns[:, step]
    return turns, upper


def _qr_formula(m: Any, x: Any) -> Any:
    columns = x.shape[-1]

    def whole(matrix: Any) -> Any:
        turns, upper = householder(m, matrix)
        return np.vstack([turns[:, :columns], upper[:columns]])

    both = stacked(whole, x)
    return both[..., : x.shape[-2], :], both[..., x.shape[-2] :, :]


def _qr_rule(node: Node, received: Sequence[Node | None]) -> list[Node | None]:
    """Walter and Lehmann, Algorithmic differentiation of linear algebra functions, 2010, section 3.2."""
    to_q, to_r = received
    q, r = output(node, 0), output(node, 1)
    inner: Node | None = None
    if to_r is not None:
        inner = product_of_cotangent(to_r, adjoint(r), 0)
    if to_q is not None:
        overlap = product_of_cotangent(adjoint(q), to_q, 1)
        inner = -overlap if inner is None else inner - overlap
    kept = make.triu(inner)
    half = leaf((np.ones(r.shape[-2:]) - 0.5 * np.eye(r.shape[-1])).astype(kept.dtype))
    total = make.matmul(q, (kept + adjoint(kept)) * half)
    if to_q is not None:
        total = total + to_q
    # What stands left of R^-H: solved from the other side.
    return [adjoint(make.solve_triangular(r, adjoint(total), upper=True))]


QR: Op = row_of_several(
    "qr.tall",
    "Q and R of a matrix that is not wider than high.",
    family="cotangent",
    method=False,
    call=lambda x: results_of(apply(QR, (x,)), "Q", "R"),
    results=_qr_results,
    outputs=2,
    kernel=lambda xp, x: tuple(xp.linalg.qr(x)),
    formula=_qr_formula,
    rule=_qr_rule,
    grad_fn="LinalgQrBackward0",
)

COMPLETE = add_row(
    Op(
        name="qr.complete",
        doc="The square Q of a matrix that is higher than wide.",
        family="cotangent",
        method=False,
        call=lambda x: apply(COMPLETE, (x,)),
        infer=lambda args, attrs: ((*args[0].shape[:-1], args[0].shape[-2]), args[0].dtype),  # noqa: ARG005  # takes attrs
        kernel=lambda xp, x: xp.linalg.qr(x, mode="complete")[0],
        formula=lambda m, x: stacked(lambda matrix: householder(m, matrix)[0], x),
        differentiable=False,
        grad_fn="LinalgQrBackward0",
    )
)


def _qr(A: Node, mode: str = "reduced") -> Outputs:  # noqa: N803  # PyTorch's name
    if mode not in ("reduced", "complete", "r"):
        raise InputError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced', 'r', or 'complete'")
    matrix = matrices(A, "linalg.qr")
    rows, columns = matrix.shape[-2:]
    if rows >= columns:
        q, r = results_of(apply(QR, (matrix,)), "Q", "R").nodes
        if mode == "complete" and rows > columns:
            q = apply(COMPLETE, (matrix,))
            below = leaf(np.zeros((*matrix.shape[:-2], rows - columns, columns), dtype=matrix.dtype))
            r = named(make.cat([r, below], -2), "LinalgQrBackward0")
    else:
        # The reflections come from the square part; the rest is only turned.
        q, square = results_of(apply(QR, (make.narrow(matrix, -1, 0, rows),)), "Q", "R").nodes
        rest = make.matmul(adjoint(q), make.narrow(matrix, -1, rows, columns - rows))
        r = named(make.cat([square, rest], -1), "LinalgQrBackward0")
    if mode == "r":
        q = leaf(np.zeros(0, dtype=matrix.dtype))
    return Outputs(("Q", "R"), (q, r))


LINALG_QR = compose(
    "linalg.qr",
    "Orthonormal Q and upper triangular R of a matrix: A = Q R.",
    family=_FAMILY,
    method=False,
    call=_qr,
    forms=(
        "torch.linalg.qr(A).Q",
        "torch.linalg.qr(A).R",
        "Q, R = torch.linalg.qr(A, mode='complete')",
        "np.linalg.qr(A)",
    ),
    examples=(
        Example("torch.linalg.qr(A).Q", {"A": (2, 2)}),
        Example("torch.linalg.qr(A).R", {"A": (3, 2)}),
        Example("torch.linalg.qr(A).R", {"A": (2, 3)}),
    ),
    domain="matrices whose first columns (as many as there are rows) are linearly independent",
    kink="none: smooth; the signs are LAPACK's; what mode='complete' adds to Q has no derivative",
    grad_fn="LinalgQrBackward0",
)


def _old_qr(input: Node, some: bool = True) -> Outputs:
    return _qr(input, "reduced" if some else "complete")


OLD_QR = compose(
    "qr",
    "Orthonormal Q and upper triangular R of a matrix: A = Q R.",
    family=_FAMILY,
    call=_old_qr,
    forms=("Q, R = torch.qr(A)", "A.qr()"),
    examples=(Example("torch.qr(A)[1]", {"A": (2, 2)}),),
    domain="matrices whose first columns (as many as there are rows) are linearly independent",
    kink="as linalg.qr",
    grad_fn="LinalgQrBackward0",
)


def _lu_results(args: Sequence[Node], attrs: Attrs) -> list[tuple[Shape, DType]]:  # noqa: ARG001  # takes attrs
    (*batch, rows, columns), dtype = args[0].shape, args[0].dtype
    return [(args[0].shape, dtype), ((*batch, rows, rows), dtype), ((*batch, min(rows, columns)), _INT32)]


def _lu_kernel(xp: Any, x: Any) -> Any:
    (*batch, rows, columns) = x.shape
    both, exchange = xp.empty_like(x), xp.zeros((*batch, rows, rows), dtype=x.dtype)
    pivots = xp.empty((*batch, min(rows, columns)), dtype=xp.int32)
    for place in np.ndindex(*batch):
        both[place], steps = _getrf(xp, x[place])
        pivots[place] = steps + 1
        order = list(range(rows))
        for row, other in enumerate(steps.tolist()):
            order[row], order[other] = order[other], order[row]
        exchange[(*place, xp.asarray(order), xp.arange(rows))] = 1
    return both, exchange, pivots


def _getrf(xp: Any, matrix: Any) -> tuple[Any, Any]:
    if xp is not np:
        from cupyx.scipy.linalg import lu_factor  # on machines with CUDA only

        return tuple(lu_factor(matrix, check_finite=False))  # type: ignore[return-value]  # CuPy has no types
    from scipy.linalg import get_lapack_funcs

    # Not scipy's lu_factor: it warns of singular matrices, whose factors are fine.
    (getrf,) = get_lapack_funcs(("getrf",), (matrix,))
    both, steps, _ = getrf(matrix)
    return both, steps


def _eliminated(m: Any, matrix: Any) -> tuple[Any, list[int], list[int]]:
    """Both factors of one matrix of exact numbers, the order of its rows, and the exchanges in LAPACK's counting."""
    both, order, steps = np.array(matrix, dtype=object), list(range(len(matrix))), []
    for step in range(min(matrix.shape)):
        sizes = [m.absolute(m.function("re", x)) + m.absolute(m.function("im", x)) for x in both[step:, step]]
        best = step
        for row, size in enumerate(sizes, step):
            if m.boolean(size > sizes[best - step]):
                best = row
        steps.append(best + 1)
        both[[step, best]] = both[[best, step]]
        order[step], order[best] = order[best], order[step]
        if not m.boolean(m.equal(both[step, step], m.number(0))):
            both[step + 1 :, step] = both[step + 1 :, step] / both[step, step]
        both[step + 1 :, step + 1 :] -= both[step + 1 :, step, None] * both[step, None, step + 1 :]
    return both, order, steps


def _lu_formula(m: Any, x: Any) -> Any:
    rows, columns = x.shape[-2:]

    def whole(matrix: Any) -> Any:
        both, order, steps = _eliminated(m, matrix)
        exchange = identity(m, rows)[:, order]
        numbers = np.array([*map(m.number, steps), None], dtype=object)[:-1]
        return np.concatenate([both.ravel(), exchange.ravel(), numbers])[None, :]

    flat = stacked(whole, x)[..., 0, :]
    batch, cut, end = flat.shape[:-1], rows * columns, rows * (columns + rows)
    return flat[..., :cut].reshape(x.shape), flat[..., cut:end].reshape(*batch, rows, rows), flat[..., end:]


def _lu_rule(node: Node, received: Sequence[Node | None]) -> list[Node | None]:
    """As PyTorch's: de Hoog, Anderssen and Lukas, Differentiation of matrix functionals, 2011, section 4.

    In the order of the rows that the product has: A1 = L1 U1, and below or beside it A2 = L2 U1 or A2 = L1 U2.
    """
    g = received[0]
    if g is None:
        return [None]
    both, exchange = output(node, 0), _constant(output(node, 1))
    rows, columns = both.shape[-2:]
    count = min(rows, columns)
    top, to_top = (make.narrow(make.narrow(part, -2, 0, count), -1, 0, count) for part in (both, g))
    to_lower = product_of_cotangent(adjoint(_unit_lower(top)), make.tril(to_top, -1), 1)
    to_upper = product_of_cotangent(make.triu(to_top), adjoint(make.triu(top)), 0)
    rest: Node | None = None
    if rows > columns:
        below, to_below = (make.narrow(part, -2, count, rows - count) for part in (both, g))
        to_upper = to_upper - product_of_cotangent(adjoint(below), to_below, 1)
        rest = _over_upper(top, to_below)
    elif columns > rows:
        beside, to_beside = (make.narrow(part, -1, count, columns - count) for part in (both, g))
        to_lower = to_lower - product_of_cotangent(to_beside, adjoint(beside), 0)
        rest = _under_lower(top, to_beside)
    result = _over_upper(top, _under_lower(top, make.tril(to_lower, -1) + make.triu(to_upper)))
    if rest is not None:
        result = make.cat([result, rest], -2 if rows > columns else -1)
    return [make.matmul(exchange, result)]


def _unit_lower(both: Node) -> Node:
    return make.tril(both, -1) + leaf(np.eye(*both.shape[-2:], dtype=both.dtype))  # type: ignore[no-any-return]  # any row's call


def _over_upper(both: Node, x: Node) -> Node:
    """x U^-H, of the upper factor in a matrix of both."""
    return adjoint(make.solve_triangular(both, adjoint(x), upper=True))


def _under_lower(both: Node, x: Node) -> Node:
    """L^-H x, of the lower factor in a matrix of both."""
    return make.solve_triangular(adjoint(both), x, upper=True, unitriangular=True)  # type: ignore[no-any-return]  # any row's call


def _constant(node: Node) -> Node:
    """A result that has no derivative, as PyTorch has it: it requires no gradient."""
    node.requires_grad, node.grad_fn = False, None
    return node


LU: Op = row_of_several(
    "lu.both",
    "The factors of a matrix with rows exchanged, in one matrix, and the exchange in two ways.",
    family="cotangent",
    method=False,
    call=lambda x: results_of(apply(LU, (x,)), "LU", "P", "pivots"),
    results=_lu_results,
    outputs=3,
    kernel=_lu_kernel,
    formula=_lu_formula,
    rule=_lu_rule,
    grad_fn="LinalgLuFactorExBackward0",
)


def _factored(A: Node, pivot: bool, name: str) -> Node:  # noqa: N803  # PyTorch's name
    if not pivot:
        raise InputError(f"{name}: LU without pivoting is not implemented on the CPU")
    return apply(LU, (matrices(A, name),))


def _lu_factor(A: Node, *, pivot: bool = True) -> Outputs:  # noqa: N803  # PyTorch's name
    node = _factored(A, pivot, "linalg.lu_factor")
    return Outputs(("LU", "pivots"), (output(node, 0), output(node, 2)))


LU_FACTOR = compose(
    "linalg.lu_factor",
    "L and U of a matrix with rows exchanged, in one matrix, and the row (from 1) exchanged with each.",
    family=_FAMILY,
    aliases=("lu_factor",),
    method=False,
    call=_lu_factor,
    forms=("torch.linalg.lu_factor(A).LU", "LU, pivots = torch.linalg.lu_factor(A)"),
    examples=(Example("torch.linalg.lu_factor(A).LU", {"A": (3, 3)}),),
    domain="matrices of full rank, away from those where two rows tie for a pivot",
    kink="where two rows tie LAPACK takes the first",
    grad_fn="LinalgLuFactorExBackward0",
)


def _lu(A: Node, *, pivot: bool = True) -> Outputs:  # noqa: N803  # PyTorch's name
    node = _factored(A, pivot, "linalg.lu")
    both = output(node, 0)
    count = min(both.shape[-2:])
    lower = named(_unit_lower(make.narrow(both, -1, 0, count)), "LinalgLuBackward0")
    upper = named(make.triu(make.narrow(both, -2, 0, count)), "LinalgLuBackward0")
    return Outputs(("P", "L", "U"), (_constant(output(node, 1)), lower, upper))


LINALG_LU = compose(
    "linalg.lu",
    "A permutation P, a lower triangular L with ones on its diagonal and an upper triangular U: A = P L U.",
    family=_FAMILY,
    method=False,
    call=_lu,
    forms=("torch.linalg.lu(A).L", "torch.linalg.lu(A).U", "P, L, U = torch.linalg.lu(A)"),
    examples=(
        Example("torch.linalg.lu(A).L", {"A": (3, 3)}),
        Example("torch.linalg.lu(A).U", {"A": (3, 2)}),
        Example("torch.linalg.lu(A).U", {"A": (2, 3)}),
    ),
    domain="matrices of full rank, away from those where two rows tie for a pivot",
    kink="where two rows tie LAPACK takes the first; P is constant",
    grad_fn="LinalgLuBackward0",
)
