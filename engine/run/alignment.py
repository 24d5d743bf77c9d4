"""How the rows of a value depend on the rows of its arguments: what a fused run may do block by block.

The rows of a value are its entries along its first axes, as many of them as the run takes together. A value belongs to
a run if its rows i to j can be computed from the rows i to j of some arguments and from the whole of others.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import Final, NamedTuple

from ..graph import LEAF, Shape
from .rows import ADDED, CONTRACTED, FIRST, LARGEST_PLACE, MEANS, MOMENTS, PLACED, ROOT_IN_RANGE, SLIM, TAKEN
from .values import UNIFORM, Value


class Kind(Enum):
    """What a value is to a fused run."""

    ROWS = "rows"
    """Row by row: it may be a member."""
    ENDING = "ending"
    """A reduction over the rows: it may end a run."""
    STEP = "step"
    """Anything else: a step of its own."""


class Edge(NamedTuple):
    """How a value sees one of its arguments.

    Attributes:
        rows: whether its rows need the same rows of the argument only, and not all of it.
        axes: how many first axes may be taken together at most, so that this holds.
    """

    rows: bool
    axes: int


class Alignment(NamedTuple):
    """How a value sees its arguments.

    Attributes:
        kind: what it is to a run.
        edges: one for each argument.
        axes: how many first axes may be taken together at most.
    """

    kind: Kind
    edges: tuple[Edge, ...]
    axes: int


STEP: Final = Alignment(Kind.STEP, (), 0)

_VIEWS: Final = frozenset({"reshape", "squeeze", "unsqueeze"})

_ALONG: Final = frozenset(
    {
        FIRST.name,
        LARGEST_PLACE.name,
        PLACED.name,
        ADDED.name,
        TAKEN.name,
        ROOT_IN_RANGE.name,
        "first_largest",
        "gather",
        "scatter",
        "scatter_add",
        "shift",
        "select",
        "select_scatter",
        "slice",
        "slice_scatter",
        "cat",
        "stack",
        "cumsum",
        "cumprod",
        "logcumsumexp",
        "cummax",
        "cummin",
        "cummax.indices",
        "cummin.indices",
        "sum",
        "sum_to_size",
        "mean",
        "nansum",
        "prod",
        "all",
        "any",
        "count_nonzero",
        "amax",
        "amin",
        "linalg.vector_norm",
        "logsumexp",
        "softmax",
        "log_softmax",
        "standardize",
        "deviation",
        "centered",
        "var",
        "std",
    }
)
"""Ops that work along the axes of their attribute `dim` or `axis`, each lane for itself."""

ENDINGS: Final = frozenset({"sum", "sum_to_size", "amax", "amin", MEANS.name, MOMENTS.name, CONTRACTED.name})
"""Reductions whose parts, one a block, combine to the whole."""


def alignment(value: Value) -> Alignment:
    """How a value may take part in a fused run."""
    op = value.op
    if op is LEAF or op is UNIFORM or not value.args:
        return STEP
    if op.elementwise or op.name == "expand":
        return _pointwise(value)
    if op.name in _VIEWS:
        axes = _common(value.args[0].shape, value.shape)
        return Alignment(Kind.ROWS, (Edge(True, axes),), axes) if axes else STEP
    if op.name in ENDINGS:
        ending = _ending(value)
        if ending is not None:
            return ending
    if op.name in _ALONG:
        return _along(value)
    if op.name == "matmul":
        return _matmul(value)
    return STEP


def _pointwise(value: Value) -> Alignment:
    if not value.shape:
        return STEP
    edges = tuple([_broadcast(arg, value.shape) for arg in value.args])
    return Alignment(Kind.ROWS, edges, min(edge.axes for edge in edges))


def _broadcast(arg: Value, shape: Shape) -> Edge:
    """An argument that is broadcast: by rows where its first axes are those of the result, whole where they are 1."""
    own = arg.shape
    lead = len(shape) - len(own)
    whole = lead
    while whole < len(shape) and own[whole - lead] == 1:
        whole += 1
    alike = _common(own, shape) if not lead else 0
    return Edge(True, alike) if alike > whole or (alike and alike == len(shape)) else Edge(False, whole)


def _common(one: Shape, other: Shape) -> int:
    """How many first axes two shapes have in common."""
    axes = 0
    for size, want in zip(one, other, strict=False):
        if size != want:
            break
        axes += 1
    return axes


def folded_axes(value: Value) -> tuple[int, ...]:
    """The axes that an ending folds away; one of length 1 counts as folded."""
    shape = value.args[0].shape
    if value.op is CONTRACTED:
        return (0,)
    if value.op.name == "sum_to_size":
        target = value.attrs["shape"]
        lead = len(shape) - len(target)
        return tuple(axis for axis in range(len(shape)) if axis < lead or target[axis - lead] == 1)
    return tuple(axis for axis, size in enumerate(shape) if axis in value.attrs["dim"] or size == 1)


def _ending(value: Value) -> Alignment | None:
    """A reduction over the first axes at least, and of something."""
    source = value.args[0]
    if not source.size:
        return None
    if value.op is CONTRACTED:
        return Alignment(Kind.ENDING, (Edge(True, 1), Edge(True, 1)), 1)
    folded = folded_axes(value)
    axes = 0
    while axes in folded:
        axes += 1
    if math.prod(source.shape[:axes]) < 2:
        return None
    return Alignment(Kind.ENDING, (Edge(True, axes),), axes)


def _matmul(value: Value) -> Alignment:
    """Rows times a small matrix: memory is what it costs, and the rows are in the cache while a run has them."""
    left, right = value.args
    if len(left.shape) != 2 or len(right.shape) > 2 or right.shape[0] == 1 or right.size > SLIM * left.shape[1]:
        return STEP
    return Alignment(Kind.ROWS, (Edge(True, 1), Edge(False, 1)), 1)


def _along(value: Value) -> Alignment:
    attrs = value.attrs
    if value.op.name == "sum_to_size":
        lanes = folded_axes(value)
    else:
        lanes = attrs["dim"] if "dim" in attrs else (attrs["axis"],)
    shape = value.args[0].shape
    axes = min(lanes, default=0)
    for other in (value, *value.args[1:]):
        if other.known is None or other.shape:
            axes = min(axes, _common(shape, other.shape))
    if not axes:
        return STEP
    edges = tuple([Edge(bool(arg.shape), axes) for arg in value.args])
    return Alignment(Kind.ROWS, edges, axes)
