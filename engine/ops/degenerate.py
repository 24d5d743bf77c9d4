"""Eigenvalues and singular values that coincide: what a function of them keeps of its derivative there.

The cotangent of a matrix, seen in its eigenbasis, is N_ij / (w_j - w_i) off the diagonal, where N is the skew part of
V^H gV. Where w_i = w_j that is 0/0 for every function that does not depend on the choice of the eigenvectors. Such a
function has the same derivative in each basis of the common eigenspace, and in each of them the cotangents of the
eigenvalues are its diagonal: turning two vectors by 45 degrees brings their off-diagonal entry onto the diagonal. So the
cotangents of the eigenvalues are computed once more from turned eigenvectors, exactly, without any limit. Where the
function does depend on the choice, nothing exists, and the result is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph import BOOL, LEAF, DType, Node, Op, Shape, add_row, ancestors, apply, leaf, make
from .concrete import value_of
from .cotangent import flow, zeros
from .fold import conjugate, flowing
from .linalg import transposed
from .output import OUTPUT, output

_ROUNDINGS: Final = 64
"""Two values closer than so many roundings, times their count, cannot be told apart."""
_NOISE: Final = 1_000
"""A skew part of so many roundings counts as zero."""
_MOST_TURNS: Final = 64
"""So many turns are tried at most: a block of equal values takes one fewer than it has values."""

Turned = Callable[[Node], Mapping[int, Node]]
"""From a turn of the vectors to the results of the decomposition that it changes, by their index."""


def adjoint(x: Node) -> Node:
    """The conjugate transpose of a matrix."""
    return transposed(conjugate(x))


def half_skew(x: Node) -> Node:
    """Half of what a matrix differs from its adjoint by."""
    return (x - adjoint(x)) * 0.5


def gaps(values: Node) -> Node:
    """The matrix of differences: value j minus value i."""
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
    scale = xp.max(xp.abs(values), axis=-1, initial=0)[..., None, None]
    return xp.abs(values[..., None, :] - values[..., :, None]), scale


def _distinct_kernel(xp: Any, values: Any) -> Any:
    gap, scale = _gaps_and_scale(xp, values)
    return gap > _ROUNDINGS * values.shape[-1] * xp.finfo(values.dtype).eps * scale


def near(xp: Any, values: Any) -> Any:
    """The pairs of values whose difference has lost more than half of its digits; not a value with itself."""
    gap, scale = _gaps_and_scale(xp, values)
    return (gap <= xp.sqrt(xp.finfo(values.dtype).eps) * scale) & ~xp.eye(values.shape[-1], dtype=bool)


def _settled_kernel(xp: Any, values: Any, overlap: Any, limit: Any) -> Any:
    epsilon = xp.finfo(values.dtype).eps
    skew = (overlap - xp.conj(xp.swapaxes(overlap, -1, -2))) / 2
    gap = values[..., None, :] - values[..., :, None]
    scale = xp.max(xp.abs(values), axis=-1, initial=0)[..., None, None]
    largest = [xp.max(xp.abs(part), axis=(-2, -1), keepdims=True, initial=0) for part in (overlap, limit)]
    noise = _NOISE * epsilon * (largest[0] + largest[1] * scale)
    return near(xp, values) & (xp.abs(skew - gap * limit) <= noise)


DISTINCT = _mask("distinct_values", "Which pairs of values can be told apart.", _distinct_kernel)


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

FIRST_ORDER = add_row(
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
    gap = make.where(distinct, conjugate(gaps(values)), 1.0)
    return make.where(distinct, numerator / gap, float("nan"))  # type: ignore[no-any-return]  # any row's call


def coupled(values: Node, overlap: Node, limit: Node | None) -> Node:
    """The off-diagonal part of a cotangent in its eigenbasis, with zeros on the diagonal.

    Args:
        values: the eigenvalues or singular values.
        overlap: V^H gV, whose skew part over the gaps it is.
        limit: what it is where values coincide, if a derivative exists there; see `limit_of`.
    """
    result = over_gaps(values, half_skew(overlap))
    if limit is not None:
        result = make.where(apply(SETTLED, (values, overlap, limit)), apply(FIRST_ORDER, (limit,)), result)
    return off_diagonal(result)


def limit_of(source: Node, index: int, g: Node | None, others: Sequence[Node], turned: Turned) -> Node | None:
    """The off-diagonal part of a cotangent between equal values; None where no two are equal or it is not known.

    Args:
        source: the decomposition.
        index: which of its results are the values.
        g: the cotangent of the values.
        others: the cotangents of its other results.
        turned: what a turn makes of the vectors.
    """
    values = output(source, index)
    close = near(np, np.asarray(value_of(values)))
    if not close.any() or not _alone(source, [*others, *([] if g is None else [g])]):
        return None
    size = values.shape[-1]
    if g is None:
        return zeros((*values.shape, size), others[0].dtype)
    rounds = [pairs for pairs in _rounds(size) if any(close[..., i, j].any() for i, j in pairs)]
    if len(rounds) > _MOST_TURNS:
        return None
    parts = []
    for pairs in rounds:
        parts.append(_turned_part(source, g, close, pairs, turned, others[0].dtype, 1.0))
        if others[0].dtype.kind == "c":
            parts.append(_turned_part(source, g, close, pairs, turned, others[0].dtype, 1j))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _alone(source: Node, cotangents: Sequence[Node]) -> bool:
    """Whether cotangents depend on the decomposed matrix through this decomposition only.

    Otherwise a derivative by this decomposition alone need not exist, though that of the whole does.
    """
    varying = {node for node in ancestors([source.args[0]]) if node.requires_grad}
    seen: set[Node] = set()
    stack = list(cotangents)
    while stack:
        node = stack.pop()
        if node in seen or (node.op is OUTPUT and node.args[0] is source):
            continue
        if node in varying:
            return False
        seen.add(node)
        stack.extend(node.args)
    return True


def _rounds(size: int) -> list[list[tuple[int, int]]]:
    """All pairs of some places, in rounds in which each place stands once: a round-robin tournament."""
    places = list(range(size + size % 2))
    rounds = []
    for _ in range(len(places) - 1):
        facing = zip(places[: len(places) // 2], reversed(places), strict=False)
        rounds.append([(min(pair), max(pair)) for pair in facing if max(pair) < size])
        places.insert(1, places.pop())
    return rounds


def _turned_part(
    source: Node, g: Node, close: Any, pairs: Sequence[tuple[int, int]], turned: Turned, dtype: DType, phase: complex
) -> Node:
    """The entries of the limit for some pairs: real parts where the phase is 1, imaginary ones where it is 1j."""
    shape: Shape = close.shape
    turn = np.broadcast_to(np.eye(shape[-1], dtype=dtype), shape).copy()
    swap, side = np.zeros(shape[-2:]), np.zeros(shape[-1])
    root = np.sqrt(0.5)
    for i, j in pairs:
        block = root * np.array([[1, phase], [phase, 1]] if phase == 1j else [[1, -1], [1, 1]])
        here = close[..., i, j]
        for row, column in ((i, i), (i, j), (j, i), (j, j)):
            turn[here, row, column] = block[(i, j).index(row), (i, j).index(column)]
        swap[i, j] = swap[j, i] = 1
        side[i], side[j] = 0.5, -0.5
    again = _replaced(g, source, turned(leaf(turn)))
    swapped = make.squeeze(make.matmul(leaf(swap.astype(g.dtype)), make.unsqueeze(again, -1)), -1)
    entries = flowing(again - swapped, leaf(side.astype(g.dtype)))
    placed = make.unsqueeze(entries, -1) * leaf(swap.astype(g.dtype))
    # For a phase of 1j, entry (i, j) of a Hermitian matrix has the imaginary part -entries[i], and (j, i) its opposite.
    upper = np.triu(np.ones(shape[-2:]))
    return placed * leaf((-1j * (upper - upper.T)).astype(dtype)) if phase == 1j else placed


def _replaced(target: Node, source: Node, replacements: Mapping[int, Node]) -> Node:
    """A node computed once more, from other results of a decomposition."""
    new: dict[Node, Node] = {}
    for node in ancestors([target]):
        if node.op is OUTPUT and node.args[0] is source and node.attrs["index"] in replacements:
            new[node] = replacements[node.attrs["index"]]
        elif node.op is not LEAF and any(arg in new for arg in node.args):
            args = tuple(new.get(arg, arg) for arg in node.args)
            new[node] = Node(node.op, args, node.attrs, node.shape, node.dtype, node.requires_grad, node.grad_fn)
    return new.get(target, target)
