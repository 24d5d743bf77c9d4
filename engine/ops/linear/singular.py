"""Singular values and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ShapeError
from ...graph import Attrs, DType, Example, Node, Outputs, Shape, apply, leaf, make
from ..cotangent import zeros
from ..fold import flowing, named
from ..output import output, results_of, row_of_several
from ..row import as_float, compose
from .degenerate import adjoint, coupled, half_skew, negligible
from .elimination import stacked
from .linalg import product_of_cotangent, svd
from .spectral import aligned, floats_of, phase_free, real_of
from .turned import Vectors, limit_of

_FAMILY = "linalg"


def matrices(input: Node, name: str) -> Node:
    """A node of floats that is a matrix or a stack of them.

    Raises:
        ShapeError: in PyTorch's words, where it is not.
    """
    node = as_float(input)
    if node.ndim < 2:
        raise ShapeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    return node


def _results(args: Sequence[Node], attrs: Attrs) -> list[tuple[Shape, DType]]:
    (*batch, rows, columns), dtype = args[0].shape, args[0].dtype
    count = min(rows, columns)
    left, right = (rows, columns) if attrs["full_matrices"] else (count, count)
    return [((*batch, rows, left), dtype), ((*batch, count), real_of(dtype)), ((*batch, right, columns), dtype)]


def _kernel(xp: Any, x: Any, full_matrices: bool) -> Any:
    return tuple(svd(xp, x, full_matrices=full_matrices))


def exact_singular(m: Any, matrix: Any) -> tuple[Any, Any, Any]:
    """U, the singular values and Vh of one matrix of exact numbers, with LAPACK's signs."""
    if not matrix.size:
        (rows, columns), none = matrix.shape, np.empty(0, dtype=object)
        return none.reshape(rows, 0), none, none.reshape(0, columns)
    left, values, right = m.matrix_function("svd", matrix)
    reference, _, _ = np.linalg.svd(floats_of(matrix), full_matrices=False)
    factors = aligned(m, left, reference)
    back = np.array([*(1 / factor for factor in factors), None], dtype=object)[:-1]
    return left * factors, values[:, 0], right * back[:, None]


def _formula(m: Any, x: Any, full_matrices: bool) -> Any:
    count = min(x.shape[-2:])

    def whole(matrix: Any) -> Any:
        left, values, right = exact_singular(m, matrix)
        return np.concatenate([left.ravel(), values, right.ravel()])[None, :]

    rows, columns = x.shape[-2:]
    flat = stacked(whole, x)[..., 0, :]
    batch = flat.shape[:-1]
    left = flat[..., : rows * count].reshape(*batch, rows, count)
    right = flat[..., (rows + 1) * count :].reshape(*batch, count, columns)
    if full_matrices and rows != columns:
        # What LAPACK adds to a basis is any basis of the rest; nothing that has a derivative depends on it.
        left = _filled(m, left, (*batch, rows, rows))
        right = _filled(m, right, (*batch, columns, columns))
    return left, flat[..., rows * count : (rows + 1) * count], right


def _filled(m: Any, part: Any, shape: Shape) -> Any:
    result = np.full(shape, m.undefined(), dtype=object)
    result[..., : part.shape[-2], : part.shape[-1]] = part
    return result


def _unresolved(g: Node, beyond: Node) -> Node:
    """A cotangent that is NaN for a matrix where something flows to vectors that no derivative exists for."""
    return g + make.sum(flowing(beyond, leaf(beyond.dtype.type(np.nan))), (-2, -1), True)  # type: ignore[no-any-return]  # any row's call


def _inside(node: Node, to_left: Node | None, to_values: Node | None, to_right: Node | None) -> Node:
    """The cotangent in the bases of singular vectors, and what leaves them, where the matrix is not square."""
    left, values, right = _thin(node)
    vectors = adjoint(right)
    count = values.shape[-1]
    stops = to_values is None
    of_left = _overlap(left, to_left, count)
    of_right = _overlap(vectors, None if to_right is None else adjoint(to_right), count)
    overlap = phase_free(of_left + of_right, "svd_backward")
    limit = None
    if node.args[0].shape[-1] == node.args[0].shape[-2] or not node.attrs["full_matrices"]:
        limit = limit_of(node, 1, to_values, _vectors(left, right, to_left, to_right))
    inner = coupled(values, overlap, limit)
    sums = make.unsqueeze(values, -2) + make.unsqueeze(values, -1)
    difference = half_skew(of_left - of_right)
    if difference.dtype.kind != "c":
        # A real skew matrix has no diagonal; there 0/0 must not arise.
        sums = sums + leaf(np.eye(count, dtype=sums.dtype))
    inner = inner + _over(difference, sums, negligible(sums, values), stops)
    if to_values is not None:
        inner = inner + make.diag_embed(to_values)
    result: Node = make.matmul(make.matmul(left, inner), right)
    inverse = make.unsqueeze(values, -2)
    lost = negligible(inverse, values)
    rows, columns = node.args[0].shape[-2:]
    if rows > count and to_left is not None:
        beyond = to_left - make.matmul(left, of_left)
        result = result + make.matmul(_over(beyond, inverse, lost, stops), right)
    if columns > count and to_right is not None:
        beyond = adjoint(to_right) - make.matmul(vectors, of_right)
        result = result + make.matmul(left, adjoint(_over(beyond, inverse, lost, stops)))
    return result


def _overlap(vectors: Node, g: Node | None, count: int) -> Node:
    return zeros((count, count), vectors.dtype) if g is None else product_of_cotangent(adjoint(vectors), g, 1)


def _vectors(left: Node, right: Node, to_left: Node | None, to_right: Node | None) -> Vectors:
    def overlap(results: Mapping[int, Node], cotangents: Sequence[Node]) -> Node:
        parts = []
        if to_left is not None:
            parts.append(product_of_cotangent(adjoint(results[0]), cotangents[0], 1))
        if to_right is not None:
            parts.append(product_of_cotangent(results[2], adjoint(cotangents[-1]), 1))
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    def turned(turn: Node) -> Mapping[int, Node]:
        return {0: make.matmul(left, turn), 2: make.matmul(adjoint(turn), right)}

    return Vectors(turned, overlap, [g for g in (to_left, to_right) if g is not None])


def _over(numerator: Node, denominator: Node, lost: Node, stops: bool) -> Node:
    """A quotient that is NaN where the denominator is lost in rounding.

    Zero means stop only where nothing flows to the singular values: else 0/0 has a limit, which is not zero.
    """
    factor = make.where(lost, float("nan"), 1.0 / make.where(lost, 1.0, denominator))
    return flowing(numerator, factor) if stops else numerator * factor


def _thin(node: Node) -> tuple[Node, Node, Node]:
    left, values, right = (output(node, index) for index in range(3))
    count = values.shape[-1]
    if left.shape[-1] > count:
        left = make.narrow(left, -1, 0, count)
    if right.shape[-2] > count:
        right = make.narrow(right, -2, 0, count)
    return left, values, right


def _rule(node: Node, received: Sequence[Node | None]) -> list[Node | None]:
    """Townsend, Differentiating the singular value decomposition, 2016, with the poles split: see degenerate.py.

    (P_ij s_j + s_i Q_ij) / (s_j^2 - s_i^2) is half of (P + Q) / (s_j - s_i) + (P - Q) / (s_j + s_i).
    """
    to_left, to_values, to_right = received
    if not node.args[0].size:
        return [zeros(node.args[0].shape, node.args[0].dtype)]
    left, values, right = _thin(node)
    if to_left is None and to_right is None:
        return [product_of_cotangent(flowing(make.unsqueeze(to_values, -2), left), right, 0)]
    count = values.shape[-1]
    beyond = []
    if to_left is not None and to_left.shape[-1] > count:
        beyond.append(make.narrow(to_left, -1, count, to_left.shape[-1] - count))
        to_left = make.narrow(to_left, -1, 0, count)
    if to_right is not None and to_right.shape[-2] > count:
        beyond.append(make.narrow(to_right, -2, count, to_right.shape[-2] - count))
        to_right = make.narrow(to_right, -2, 0, count)
    result = _inside(node, to_left, to_values, to_right)
    for part in beyond:
        result = _unresolved(result, part)
    return [result]


def _svd(
    A: Node,  # noqa: N803  # PyTorch's name
    full_matrices: bool = True,
    *,
    driver: str | None = None,  # noqa: ARG001  # of CUDA's libraries only
) -> Outputs:
    node = apply(SVD, (matrices(A, "linalg.svd"),), {"full_matrices": full_matrices})
    return results_of(node, "U", "S", "Vh")


SVD = row_of_several(
    "linalg.svd",
    "Orthonormal U, descending singular values S and orthonormal Vh of a matrix: A = U diag(S) Vh.",
    family=_FAMILY,
    method=False,
    call=_svd,
    forms=(
        "torch.linalg.svd(A).S",
        "torch.linalg.svd(A, full_matrices=False).U",
        "U, S, Vh = torch.linalg.svd(A, full_matrices=False)",
        "np.linalg.svd(A)",
    ),
    results=_results,
    outputs=3,
    kernel=_kernel,
    formula=_formula,
    rule=_rule,
    examples=(
        Example("torch.linalg.svd(A).S", {"A": (2, 2)}),
        Example("torch.linalg.svd(A, full_matrices=False).U", {"A": (3, 2)}),
        Example("torch.linalg.svd(A, full_matrices=False).Vh", {"A": (2, 3)}),
    ),
    domain="all matrices, differentiable where the singular values are different and not zero",
    kink="where singular values coincide it is right for what does not depend on the choice of vectors (first order), "
    "each singular value by itself (a zero one too) has the slope along LAPACK's vectors, and anything else is NaN; so "
    "are the vectors that full_matrices adds",
    grad_fn="LinalgSvdBackward0",
)


def _old_svd(input: Node, some: bool = True) -> Outputs:
    results = _svd(input, not some)
    return Outputs(("U", "S", "V"), (*results.nodes[:2], named(adjoint(results.nodes[2]), "ConjBackward0")))


OLD_SVD = compose(
    "svd",
    "Orthonormal U, descending singular values S and orthonormal V of a matrix: A = U diag(S) V^H.",
    family=_FAMILY,
    call=_old_svd,
    forms=("U, S, V = torch.svd(A)", "A.svd()"),
    examples=(Example("torch.svd(A)[1]", {"A": (2, 3)}),),
    domain="all matrices, differentiable where the singular values are different and not zero",
    kink="as linalg.svd",
    grad_fn="LinalgSvdBackward0",
)


def _svdvals(A: Node, *, driver: str | None = None) -> Node:  # noqa: ARG001, N803  # of CUDA only; PyTorch's name
    return _svd(A, False).nodes[1]


SVDVALS = compose(
    "linalg.svdvals",
    "The descending singular values of a matrix.",
    family=_FAMILY,
    aliases=("svdvals",),
    method=False,
    call=_svdvals,
    forms=("torch.linalg.svdvals(A)", "np.linalg.svdvals(A)"),
    examples=(Example("torch.linalg.svdvals(A)", {"A": (2, 3)}),),
    domain="all matrices, differentiable where the singular values are different and not zero",
    kink="where singular values coincide, or are zero, each has the slope along LAPACK's vectors",
    grad_fn="LinalgSvdBackward0",
)
