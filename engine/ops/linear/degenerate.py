"""Eigenvalues and singular values that coincide: where a derivative exists, and NaN where none does.

The cotangent of a matrix, seen in its eigenbasis, is N_ij / (w_j - w_i) off the diagonal, where N is the skew part of
V^H gV. Where w_i = w_j that is 0/0 for every function that does not depend on the choice of eigenvectors; `turned.py`
finds what it is then. For any other function nothing exists, and the result is NaN, never a number made of rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from ...graph import BOOL, Node, Op, add_row, apply, leaf, make
from ..cotangent import flow
from ..fold import conjugate
from ..peak import largest
from .linalg import transposed

_ROUNDINGS: Final = 64
"""Two values closer than so many roundings, times their count, cannot be told apart."""
_NOISE: Final = 1_000
"""A skew part of so many roundings counts as zero."""
_MIXED: Final = 10_000
"""How many times the gap of two values, times the size of a cotangent, a turn of their vectors may show.

Generous, as what follows may amplify it: it only has to stay small beside what a dependence on the choice shows.
"""


class Limit(NamedTuple):
    """What a cotangent has between equal values.

    Attributes:
        entries: a matrix of it.
        drift: how much of it depends on the choice of vectors, as a matrix too.
    """

    entries: Node
    drift: Node


def adjoint(x: Node) -> Node:
    """The conjugate transpose of a matrix."""
    return transposed(conjugate(x))


def half_skew(x: Node) -> Node:
    """Half of what a matrix differs from its adjoint by."""
    return (x - adjoint(x)) * 0.5


def differences(values: Node) -> Node:
    """The matrix of value j minus value i."""
    return make.unsqueeze(values, -2) - make.unsqueeze(values, -1)  # type: ignore[no-any-return]  # any row's call


def _mask(name: str, doc: str, kernel: Callable[..., Any]) -> Op:
    """A row for a mask over the pairs of values, for gradients only."""

    def formula(m: Any, values: Any, *others: Any) -> Any:  # noqa: ARG001  # what a rounding is, no arithmetic says
        return kernel(np, *[np.asarray(part, dtype=complex) for part in (values, *others)])

    row = Op(
        name=name,
        doc=doc,
        family="cotangent",
        call=lambda *args: apply(row, args),
        method=False,
        infer=lambda args, attrs: ((*args[0].shape, args[0].shape[-1]), BOOL),  # noqa: ARG005  # every `infer` takes attrs
        kernel=kernel,
        formula=formula,
        differentiable=False,
    )
    return add_row(row)


def _gaps_and_scale(xp: Any, values: Any) -> tuple[Any, Any]:
    scale = largest(xp, xp.abs(values), -1, least=0)[..., None, None]
    return xp.abs(values[..., None, :] - values[..., :, None]), scale


def _distinct_kernel(xp: Any, values: Any) -> Any:
    gap, scale = _gaps_and_scale(xp, values)
    return gap > _ROUNDINGS * values.shape[-1] * xp.finfo(values.dtype).eps * scale


def near(xp: Any, values: Any) -> Any:
    """The pairs of values whose difference has lost more than half of its digits; not a value with itself."""
    gap, scale = _gaps_and_scale(xp, values)
    return (gap <= xp.sqrt(xp.finfo(values.dtype).eps) * scale) & ~xp.eye(values.shape[-1], dtype=bool)


DISTINCT = _mask("distinct_values", "Which pairs of values can be told apart.", _distinct_kernel)


def _settled_kernel(xp: Any, values: Any, overlap: Any, limit: Any, drift: Any) -> Any:
    skew = (overlap - xp.conj(xp.swapaxes(overlap, -1, -2))) / 2
    gap = values[..., None, :] - values[..., :, None]
    scale = largest(xp, xp.abs(values), -1, least=0)[..., None, None]
    peaks = [largest(xp, xp.abs(part), (-2, -1), least=0, keepdims=True) for part in (overlap, limit)]
    noise = _NOISE * xp.finfo(values.dtype).eps * (peaks[0] + peaks[1] * scale)
    # Between values that are equal but for a small gap a turn mixes a little of what is not equal.
    size = peaks[1] + peaks[0] / xp.where(scale > 0, scale, 1)
    mixed = noise + _MIXED * xp.abs(gap) * size
    return near(xp, values) & (xp.abs(skew - gap * limit) <= noise) & (xp.abs(drift) <= mixed)


def negligible(x: Node, values: Node) -> Node:
    """Where a tensor is lost in the rounding of some values, the largest of each row of which sets the scale."""
    largest = make.amax(values, -1, True) if values.shape[-1] else values
    bound = make.unsqueeze(largest, -1) * float(_ROUNDINGS * values.shape[-1] * np.finfo(values.dtype).eps)
    return make.le(x, bound)  # type: ignore[no-any-return]  # any row's call


SETTLED = _mask(
    "settled_pairs",
    "Which pairs of equal values have a derivative: where it does not depend on the choice of vectors.",
    _settled_kernel,
)

FIRST_ORDER: Op = add_row(
    Op(
        name="first_order",
        doc="A derivative that is known at this point only: one more derivative of it is NaN.",
        family="cotangent",
        call=lambda x: apply(FIRST_ORDER, (x,)),
        method=False,
        infer=lambda args, attrs: (args[0].shape, args[0].dtype),  # noqa: ARG005  # every `infer` takes attrs
        kernel=lambda _xp, x: x,
        formula=lambda _m, x: x,
        rule=lambda _node, g: [flow(g, leaf(g.dtype.type(np.nan)))],
        grad_fn="WhereBackward0",
    )
)


def off_diagonal(x: Node) -> Node:
    """A square matrix with zeros on its diagonal."""
    return make.where(leaf(np.eye(x.shape[-1], dtype=bool)), 0.0, x)  # type: ignore[no-any-return]  # any row's call


def over_gaps(values: Node, numerator: Node) -> Node:
    """A matrix over the (conjugate) gaps of values; NaN where two cannot be told apart, so on the diagonal too."""
    distinct = apply(DISTINCT, (values,))
    gap = make.where(distinct, conjugate(differences(values)), 1.0)
    return make.where(distinct, numerator / gap, float("nan"))  # type: ignore[no-any-return]  # any row's call


def coupled(values: Node, overlap: Node, limit: Limit | None) -> Node:
    """The off-diagonal part of a cotangent in its eigenbasis, with zeros on the diagonal.

    Args:
        values: the eigenvalues or singular values.
        overlap: V^H gV, whose skew part over the gaps it is.
        limit: what it is where values coincide, if that is known; see `limit_of`.
    """
    result = over_gaps(values, half_skew(overlap))
    if limit is not None:
        settled = apply(SETTLED, (values, overlap, *limit))
        result = make.where(settled, apply(FIRST_ORDER, (limit.entries,)), result)
    return off_diagonal(result)
