"""What the cotangent of a matrix is between equal eigenvalues, seen from turned eigenvectors.

A function that does not depend on the choice of eigenvectors has the same derivative in each basis of a common
eigenspace, and in each of them the cotangents of the eigenvalues are its diagonal: turning two vectors brings their
off-diagonal entry onto the diagonal. So the cotangents of the eigenvalues are computed once more from turned
eigenvectors, exactly, without any limit. What they give there also tells whether the function depends on the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...graph import LEAF, DType, Node, ancestors, leaf, make
from ..concrete import value_of
from ..cotangent import zeros
from ..output import OUTPUT, output
from .degenerate import Limit, differences, half_skew, near
from .linalg import transposed

_MOST_TURNS: Final = 256
"""So many turns are tried at most: a block of equal values takes one fewer than it has values."""

_COSINE, _SINE = 0.8, 0.6
"""Of the turn: an angle that no symmetry of a function is likely to have."""


class Vectors(NamedTuple):
    """The vectors of a decomposition, as far as equal values are concerned.

    Attributes:
        turned: from a turn to the results of the decomposition that it changes, by their index.
        overlap: from these results and from the cotangents of the vectors to V^H gV.
        cotangents: what flows to the vectors.
    """

    turned: Callable[[Node], Mapping[int, Node]]
    overlap: Callable[[Mapping[int, Node], Sequence[Node]], Node]
    cotangents: Sequence[Node]


def limit_of(source: Node, index: int, g: Node | None, vectors: Vectors) -> Limit | None:
    """The off-diagonal part of a cotangent between equal values; None where no two are equal or it is not known.

    Args:
        source: the decomposition.
        index: which of its results are the values.
        g: the cotangent of the values.
        vectors: its vectors.
    """
    values = output(source, index)
    close = near(np, np.asarray(value_of(values)))
    if not close.any() or not _alone(source, [*vectors.cotangents, *([] if g is None else [g])]):
        return None
    size = values.shape[-1]
    rounds = [pairs for pairs in _rounds(size) if any(close[..., i, j].any() for i, j in pairs)]
    if len(rounds) > _MOST_TURNS:
        return None
    dtype = vectors.cotangents[0].dtype
    entries = drift = zeros((*values.shape, size), dtype)
    for pairs in rounds:
        for phase in (1, 1j) if dtype.kind == "c" else (1,):
            part = _seen_turned(values, g, close, pairs, vectors, phase)
            entries, drift = entries + part.entries, drift + part.drift
    return Limit(entries, drift)


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


def _turn(close: Any, pairs: Sequence[tuple[int, int]], phase: complex, dtype: DType) -> Any:
    """The unitary matrix that turns the two vectors of each pair of equal values."""
    turn = np.broadcast_to(np.eye(close.shape[-1], dtype=dtype), close.shape).copy()
    for i, j in pairs:
        here = close[..., i, j]
        turn[here, i, i] = turn[here, j, j] = _COSINE
        turn[here, j, i], turn[here, i, j] = _SINE * phase, -_SINE * np.conj(phase)
    return turn


def _seen_turned(
    values: Node, g: Node | None, close: Any, pairs: Sequence[tuple[int, int]], vectors: Vectors, phase: complex
) -> Limit:
    """The limit for some pairs, seen from turned vectors: real parts where the phase is 1, imaginary ones for 1j.

    With a vector i turned to c i + s p j, the cotangent of its value is c^2 X_ii + s^2 X_jj + 2 c s Re(p X_ij).
    """
    dtype = vectors.cotangents[0].dtype
    changed = vectors.turned(leaf(_turn(close, pairs, phase, dtype)))
    again = _replaced([*vectors.cotangents, *([] if g is None else [g])], values.args[0], changed)
    swap, upper = np.zeros(close.shape[-2:]), np.zeros(close.shape[-2:])
    for i, j in pairs:
        swap[i, j] = swap[j, i] = upper[i, j] = 1
    overlap = vectors.overlap(changed, again[: len(vectors.cotangents)])
    drift = make.abs(half_skew(overlap)) * leaf(swap)
    if g is None:
        return Limit(zeros(overlap.shape, dtype), drift)
    turned = again[-1]
    straight = differences(g) * float(_COSINE**2 - _SINE**2)
    found = (differences(turned) - straight) * leaf((upper / (-4 * _COSINE * _SINE)).astype(g.dtype))
    # Times a value, to be of the dimension of an overlap.
    scale = make.unsqueeze(make.amax(make.abs(values), -1, True), -1)
    lost = make.abs(_sums(turned) - _sums(g)) * scale * leaf(swap.astype(g.dtype))
    # X is Hermitian, and Re(i X_ij) is minus its imaginary part.
    entries = found + transposed(found) if phase == 1 else (found - transposed(found)) * leaf(dtype.type(-1j))
    return Limit(entries, drift + lost)


def _sums(values: Node) -> Node:
    return make.unsqueeze(values, -2) + make.unsqueeze(values, -1)  # type: ignore[no-any-return]  # any row's call


def _replaced(targets: Sequence[Node], source: Node, replacements: Mapping[int, Node]) -> list[Node]:
    """Nodes computed once more, from other results of a decomposition."""
    new: dict[Node, Node] = {}
    for node in ancestors(targets):
        if node.op is OUTPUT and node.args[0] is source and node.attrs["index"] in replacements:
            new[node] = replacements[node.attrs["index"]]
        elif node.op is not LEAF and any(arg in new for arg in node.args):
            args = tuple(new.get(arg, arg) for arg in node.args)
            new[node] = Node(node.op, args, node.attrs, node.shape, node.dtype, node.requires_grad, node.grad_fn)
    return [new.get(target, target) for target in targets]
