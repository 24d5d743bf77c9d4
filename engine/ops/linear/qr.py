"""QR factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InputError, NoGradientError
from ...graph import Attrs, DType, Example, Node, Op, Outputs, Shape, add_row, apply, leaf, make
from ..fold import named
from ..output import output, results_of, row_of_several
from ..row import compose
from .degenerate import adjoint
from .elimination import identity, stacked
from .linalg import product_of_cotangent
from .singular import matrices

_FAMILY = "linalg"
_ROUNDINGS = 2
"""How many roundings a column and dimension a diagonal entry may be away from zero and still count as zero."""
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
        pivot, below = upper[step, step], upper[step + 1 :, step].tolist()
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
    return [adjoint(make.solve_triangular(regular(r), adjoint(total), upper=True))]


def regular(triangle: Node) -> Node:
    """A triangular matrix with NaN for a zero on its diagonal: what is solved with it is then NaN, and no error.

    What is lost in the rounding of its column counts as zero: which of them LAPACK gives depends on the machine.
    """
    if not triangle.size:
        return triangle
    diagonal = leaf(np.eye(triangle.shape[-1], dtype=bool))
    sizes = make.abs(triangle)
    bound = make.amax(sizes, -2, True) * float(_ROUNDINGS * triangle.shape[-1] * np.finfo(triangle.dtype).eps)
    return make.where(make.logical_and(diagonal, make.le(sizes, bound)), float("nan"), triangle)  # type: ignore[no-any-return]  # any row's call


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


def _not_complete(_node: Node, _g: Node) -> list[Node | None]:
    raise NoGradientError(
        "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.",
        hint="mode='reduced' is: it leaves out the columns of Q that are free",
    )


COMPLETE: Op = add_row(
    Op(
        name="qr.complete",
        doc="The square Q of a matrix that is higher than wide.",
        family="cotangent",
        method=False,
        call=lambda x: apply(COMPLETE, (x,)),
        infer=lambda args, attrs: ((*args[0].shape[:-1], args[0].shape[-2]), args[0].dtype),  # noqa: ARG005  # takes attrs
        kernel=lambda xp, x: xp.linalg.qr(x, mode="complete")[0],
        formula=lambda m, x: stacked(lambda matrix: householder(m, matrix)[0], x),
        rule=_not_complete,
        differentiable=False,
        grad_fn="NotImplemented",
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
            q = named(apply(COMPLETE, (matrix,)), "LinalgQrBackward0")
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
