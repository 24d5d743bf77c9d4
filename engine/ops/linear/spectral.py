"""Eigenvalues and eigenvectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...errors import InputError
from ...graph import (
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
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
    make,
)
from ..cotangent import zeros
from ..fold import flowing
from ..output import output, results_of, row_of_several
from ..row import as_float, compose
from .degenerate import adjoint, coupled, off_diagonal, over_gaps
from .determinant import square
from .elimination import stacked
from .linalg import product_of_cotangent
from .turned import Vectors, limit_of

_FAMILY = "linalg"
_PHASE = 1e-8
"""How much of a cotangent may lie along the phase of its vector and still count as rounding."""


def real_of(dtype: DType) -> DType:
    """The dtype of the absolute values of a dtype."""
    return FLOAT32 if dtype in (FLOAT32, COMPLEX64) else FLOAT64


def complex_of(dtype: DType) -> DType:
    """The complex dtype of the same precision."""
    return COMPLEX64 if dtype in (FLOAT32, COMPLEX64) else COMPLEX128


_ABSENT = 1e-20
"""The part of the largest entry of a matrix below which one is as good as none."""


def floats_of(matrix: Any) -> Any:
    """The nearest floats of an exact matrix: LAPACK's order and signs of vectors are a choice that only it can tell.

    What is nothing beside the largest entry is zero: LAPACK chooses other signs where there is the least of numbers.
    """
    entries = np.asarray(matrix, dtype=object)
    is_real = all(not getattr(entry, "imag", 0) for entry in entries.flat)
    floats = entries.astype(float if is_real else complex)
    floats[np.abs(floats) < np.max(np.abs(floats), initial=0.0) * _ABSENT] = 0.0
    return floats


def aligned(m: Any, vectors: Any, reference: Any) -> Any:
    """The factor for each column that turns it to the sign (of complex ones: the phase) of a reference."""
    factors = []
    for column in range(vectors.shape[1]):
        pairs = zip(vectors[:, column], reference[:, column].tolist(), strict=True)
        overlap = m.total([m.function("conj", x) * m.number(y) for x, y in pairs])
        size = m.absolute(overlap)
        factors.append(m.where(m.equal(size, m.number(0)), lambda: m.number(1), lambda o=overlap, s=size: o / s))
    return np.array([*factors, None], dtype=object)[:-1]


_ILL_DEFINED: Final = {
    "svd_backward": "svd_backward: The singular vectors in the complex case are specified up to multiplication by "
    "e^{i phi}. The specified loss function depends on this phase term, making it ill-defined.",
    **{
        name: f"{name}: The eigenvectors in the complex case are specified up to multiplication by e^{{i phi}}. The "
        "specified loss function depends on this quantity, so it is ill-defined."
        for name in ("linalg_eigh_backward", "linalg_eig_backward")
    },
}
"""PyTorch's words for a function of vectors that their phases change."""


def _phase_kernel(xp: Any, overlap: Any, what: str) -> Any:
    drift = xp.abs(xp.imag(xp.diagonal(overlap, 0, -2, -1)))
    if overlap.size and xp.any(drift > _PHASE * xp.max(xp.abs(overlap))):
        raise InputError(
            _ILL_DEFINED[what],
            hint="use the vectors only in ways that a phase does not change, as in abs(V) or V @ V.H",
        )
    return overlap


PHASE = add_row(
    Op(
        name="phase_free",
        doc="The cotangent of vectors in their own basis, if it does not depend on their phases.",
        family="cotangent",
        call=lambda overlap, what: phase_free(overlap, what),
        method=False,
        infer=lambda args, attrs: (args[0].shape, args[0].dtype),  # noqa: ARG005  # every `infer` takes attrs
        kernel=_phase_kernel,
        formula=lambda _m, overlap, what: overlap,  # noqa: ARG005  # the name is for the message
        rule=lambda _node, g: [g],
        grad_fn="CloneBackward0",
    )
)


def phase_free(overlap: Node, what: str) -> Node:
    """A cotangent in its own basis; an error where it is complex and depends on the phases of the vectors."""
    return apply(PHASE, (overlap,), {"what": what}) if overlap.dtype.kind == "c" else overlap


def _hermitian_part(xp: Any, x: Any) -> Any:
    return (x + xp.conj(xp.swapaxes(x, -1, -2))) * x.dtype.type(0.5)


def _eigh_results(args: Sequence[Node], attrs: Attrs) -> list[tuple[Shape, DType]]:  # noqa: ARG001  # takes attrs
    shape, dtype = args[0].shape, args[0].dtype
    return [(shape[:-1], real_of(dtype)), (shape, dtype)]


def _eigh_kernel(xp: Any, x: Any) -> Any:
    try:
        return tuple(xp.linalg.eigh(_hermitian_part(xp, x)))
    except np.linalg.LinAlgError:
        raise InputError("linalg.eigh: the eigenvalues did not converge: is an element NaN or infinite?") from None


def _eigh_formula(m: Any, x: Any) -> Any:
    half = m.ratio(1, 2)

    def whole(matrix: Any) -> Any:
        if not matrix.size:
            return np.empty((1, 0), dtype=object)
        turned = np.array([[m.function("conj", entry) for entry in row] for row in matrix.T], dtype=object)
        part = (matrix + turned.reshape(matrix.shape)) * half
        values, vectors = m.matrix_function("eigh", part)
        _, reference = np.linalg.eigh(floats_of(part))
        return np.vstack([values.T, vectors * aligned(m, vectors, reference)])

    both = stacked(whole, x)
    return both[..., 0, :], both[..., 1:, :]


def _eigh_rule(node: Node, received: Sequence[Node | None]) -> list[Node | None]:
    """Giles, Collected matrix derivative results, 2008, section 3.1, made symmetric; see degenerate.py."""
    to_values, to_vectors = received
    values, vectors = output(node, 0), output(node, 1)
    if to_vectors is None:
        scaled = flowing(make.unsqueeze(to_values, -2), vectors)
        return [product_of_cotangent(scaled, adjoint(vectors), 0)]

    def overlap_of(results: Mapping[int, Node], cotangents: Sequence[Node]) -> Node:
        return product_of_cotangent(adjoint(results[1]), cotangents[0], 1)

    overlap = phase_free(overlap_of({1: vectors}, [to_vectors]), "linalg_eigh_backward")
    seen = Vectors(lambda turn: {1: make.matmul(vectors, turn)}, overlap_of, [to_vectors])
    inner = coupled(values, overlap, limit_of(node, 0, to_values, seen))
    if to_values is not None:
        inner = inner + make.diag_embed(to_values)
    return [make.matmul(make.matmul(vectors, inner), adjoint(vectors))]


def _checked(input: Node, name: str) -> Node:
    return square(as_float(input), name)


def _eigh(input: Node, UPLO: str = "L") -> Outputs:  # noqa: N803  # PyTorch's name
    if UPLO.upper() not in ("L", "U"):
        raise InputError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return results_of(apply(EIGH, (_checked(input, "linalg.eigh"),)), "eigenvalues", "eigenvectors")


EIGH = row_of_several(
    "linalg.eigh",
    "The ascending eigenvalues and orthonormal eigenvectors, as columns, of a Hermitian matrix.",
    family=_FAMILY,
    aliases=("eigh",),
    method=False,
    call=_eigh,
    forms=(
        "torch.linalg.eigh(A).eigenvalues",
        "torch.linalg.eigh(A).eigenvectors",
        "w, V = torch.linalg.eigh(A)",
        "np.linalg.eigh(A)",
    ),
    results=_eigh_results,
    outputs=2,
    kernel=_eigh_kernel,
    formula=_eigh_formula,
    rule=_eigh_rule,
    examples=(
        Example("torch.linalg.eigh(A).eigenvalues", {"A": (2, 2)}),
        Example("torch.linalg.eigh(A @ A.T).eigenvectors", {"A": (3, 3)}),
    ),
    domain="Hermitian matrices; of another matrix it is its Hermitian part (A + A^H)/2 that counts",
    kink="the gradient is Hermitian; where eigenvalues coincide it is right for what does not depend on the choice of "
    "eigenvectors (first order), each eigenvalue by itself has the slope along LAPACK's eigenvector, and anything "
    "else is NaN",
    grad_fn="LinalgEighBackward0",
)


def _eigvalsh(input: Node, UPLO: str = "L") -> Node:  # noqa: N803  # PyTorch's name
    return _eigh(input, UPLO).nodes[0]


EIGVALSH = compose(
    "linalg.eigvalsh",
    "The ascending eigenvalues of a Hermitian matrix.",
    family=_FAMILY,
    aliases=("eigvalsh",),
    method=False,
    call=_eigvalsh,
    forms=("torch.linalg.eigvalsh(A)", "np.linalg.eigvalsh(A)"),
    examples=(Example("torch.linalg.eigvalsh(A)", {"A": (3, 3)}),),
    domain="Hermitian matrices; of another matrix it is its Hermitian part (A + A^H)/2 that counts",
    kink="the gradient is Hermitian; where eigenvalues coincide each has the slope along LAPACK's eigenvector",
    grad_fn="LinalgEighBackward0",
)


def _eig_results(args: Sequence[Node], attrs: Attrs) -> list[tuple[Shape, DType]]:  # noqa: ARG001  # takes attrs
    shape, dtype = args[0].shape, complex_of(args[0].dtype)
    return [(shape[:-1], dtype), (shape, dtype)]


def _eig_kernel(xp: Any, x: Any) -> Any:
    try:
        values, vectors = xp.linalg.eig(x)
    except np.linalg.LinAlgError:
        raise InputError("linalg.eig: the eigenvalues did not converge: is an element NaN or infinite?") from None
    dtype = complex_of(x.dtype)
    return values.astype(dtype), vectors.astype(dtype)


def _eig_formula(m: Any, x: Any) -> Any:
    def whole(matrix: Any) -> Any:
        if not matrix.size:
            return np.empty((1, 0), dtype=object)
        values, vectors = m.matrix_function("eig", matrix)
        reference, directions = np.linalg.eig(floats_of(matrix))
        left = list(range(len(values)))
        order = []
        for value in reference.tolist():
            order.append(min(left, key=lambda place: m.absolute(values[place, 0] - m.number(complex(value)))))
            left.remove(order[-1])
        chosen = vectors[:, order]
        squares = [m.total([m.absolute(entry) ** 2 for entry in column]) for column in chosen.T]
        unit = chosen / np.array([*(m.sqrt(total) for total in squares), None], dtype=object)[:-1]
        return np.vstack([values.T[:, order], unit * aligned(m, unit, directions.astype(complex))])

    both = stacked(whole, x)
    return both[..., 0, :], both[..., 1:, :]


def _eig_rule(node: Node, received: Sequence[Node | None]) -> list[Node | None]:
    """Boeddeker et al., On the computation of complex-valued gradients, 2017, with vectors of length 1."""
    to_values, to_vectors = received
    values, vectors = output(node, 0), output(node, 1)
    inner = zeros(vectors.shape, vectors.dtype) if to_values is None else make.diag_embed(to_values)
    if to_vectors is not None:
        back = adjoint(vectors)
        overlap = phase_free(product_of_cotangent(back, to_vectors, 1), "linalg_eig_backward")
        along = make.unsqueeze(make.real(make.diagonal(overlap, 0, -2, -1)), -2)
        rest = overlap - make.matmul(back, flowing(along, vectors))
        inner = inner + off_diagonal(over_gaps(values, rest))
    back = adjoint(vectors)
    return [make.solve(back, product_of_cotangent(inner, back, 0))]


def _eig(input: Node) -> Outputs:
    return results_of(apply(EIG, (_checked(input, "linalg.eig"),)), "eigenvalues", "eigenvectors")


EIG = row_of_several(
    "linalg.eig",
    "The complex eigenvalues and eigenvectors of length 1, as columns, of a square matrix.",
    family=_FAMILY,
    aliases=("eig",),
    method=False,
    call=_eig,
    forms=("torch.linalg.eig(A).eigenvalues", "w, V = torch.linalg.eig(A)", "np.linalg.eig(A)"),
    results=_eig_results,
    outputs=2,
    kernel=_eig_kernel,
    formula=_eig_formula,
    rule=_eig_rule,
    examples=(
        Example("torch.real(torch.linalg.eig(A).eigenvalues)", {"A": (2, 2)}, {"A": POSITIVE}),
        Example("torch.abs(torch.linalg.eig(A).eigenvectors)", {"A": (2, 2)}, {"A": POSITIVE}),
    ),
    domain="square matrices whose eigenvalues are all different; the order is LAPACK's",
    kink="where eigenvalues coincide their own slopes are those along LAPACK's eigenvectors, and those of eigenvectors "
    "are NaN; an error where the result depends on the phases of eigenvectors",
    grad_fn="LinalgEigBackward0",
)


def _eigvals(input: Node) -> Node:
    return _eig(input).nodes[0]


EIGVALS = compose(
    "linalg.eigvals",
    "The complex eigenvalues of a square matrix.",
    family=_FAMILY,
    aliases=("eigvals",),
    method=False,
    call=_eigvals,
    forms=("torch.linalg.eigvals(A)", "np.linalg.eigvals(A)"),
    examples=(Example("torch.real(torch.linalg.eigvals(A))", {"A": (2, 2)}, {"A": POSITIVE}),),
    domain="square matrices whose eigenvalues are all different; the order is LAPACK's",
    kink="where eigenvalues coincide their slopes are those along LAPACK's eigenvectors",
    grad_fn="LinalgEigBackward0",
)
