"""LU factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InputError
from ...graph import Attrs, DType, Example, Node, Op, Outputs, Shape, apply, leaf, make
from ..fold import named
from ..output import output, results_of, row_of_several
from ..row import compose
from .degenerate import adjoint
from .elimination import identity, stacked
from .linalg import product_of_cotangent
from .qr import regular
from .singular import matrices

_FAMILY = "linalg"
_INT32 = np.dtype(np.int32)


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
        exchange[(*place, xp.asarray(order, dtype=xp.int64), xp.arange(rows))] = 1
    return both, exchange, pivots


def _getrf(xp: Any, matrix: Any) -> tuple[Any, Any]:
    if xp is not np:
        from cupyx.scipy.linalg import lu_factor  # on machines with CUDA only

        return tuple(lu_factor(matrix, check_finite=False))
    from scipy.linalg import get_lapack_funcs

    # Not scipy's lu_factor: it warns of singular matrices, whose factors are fine.
    (getrf,) = get_lapack_funcs(("getrf",), (matrix,))
    if not matrix.size:
        return matrix, np.zeros(0, dtype=np.int32)
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
    return adjoint(make.solve_triangular(regular(both), adjoint(x), upper=True))


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
