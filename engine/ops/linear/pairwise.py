"""Distances of points: each of one set to each of another, and of one set among themselves."""

from __future__ import annotations

import math

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Example, Interval, Node, leaf, make
from ..fold import fold, named
from ..reductions.norm import VECTOR_NORM
from ..row import as_float, compose

_FAMILY = "linalg"
_DOMAIN = "all points, differentiable where no two coincide (for p of 1 or less, in no coordinate)"
_KINK = "0 where two points coincide; for p = inf equal largest coordinates share evenly"
_COMPUTE_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)
_LEFT, _RIGHT = Interval(-3.0, -0.1), Interval(0.1, 3.0)


def _length(difference: Node, p: float) -> Node:
    return fold(VECTOR_NORM, difference, -1, p=float(p))


def _order(p: float, name: str) -> float:
    if isinstance(p, bool) or not isinstance(p, (int, float)) or math.isnan(p) or p < 0:
        raise InputError(f"{name} only supports non-negative p values, not {p!r}")
    return float(p)


def _cdist(
    x1: Node,
    x2: Node,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Node:
    first, second = as_float(x1), as_float(x2)
    if compute_mode not in _COMPUTE_MODES:
        raise InputError(f"{compute_mode} is not a valid value for compute_mode", hint="leave it out")
    for which, points in (("X1", first), ("X2", second)):
        if points.ndim < 2:
            raise ShapeError(f"cdist only supports at least 2D tensors, {which} got: {points.ndim}D")
    if first.shape[-1] != second.shape[-1]:
        raise ShapeError(
            f"X1 and X2 must have the same number of columns. X1: {first.shape[-1]} X2: {second.shape[-1]}"
        )
    difference = make.unsqueeze(first, -2) - make.unsqueeze(second, -3)
    return named(_length(difference, _order(p, "cdist")), "CdistBackward0")


CDIST = compose(
    "cdist",
    "The p-norm distance of each point (row) of one matrix to each of another.",
    family=_FAMILY,
    method=False,
    call=_cdist,
    forms=("torch.cdist(A, B)", "torch.cdist(A, B, p=1)"),
    examples=(
        Example("torch.cdist(A, B)", {"A": (2, 3), "B": (3, 3)}),
        Example("torch.cdist(A, B, p=1)", {"A": (2, 2), "B": (2, 2)}, {"A": _LEFT, "B": _RIGHT}),
        Example("torch.cdist(A, B, p=3)", {"A": (2, 2), "B": (2, 2)}, {"A": _LEFT, "B": _RIGHT}),
        Example("torch.cdist(A, B, p=inf)", {"A": (2, 2), "B": (2, 2)}),
    ),
    domain=_DOMAIN,
    kink=_KINK,
    grad_fn="CdistBackward0",
)


def _pdist(input: Node, p: float = 2.0) -> Node:
    points = as_float(input)
    if points.ndim != 2:
        raise ShapeError(f"pdist only supports 2D tensors, got: {points.ndim}D")
    ones, others = (leaf(places) for places in np.triu_indices(points.shape[0], 1))
    difference = make.index_select(points, 0, ones) - make.index_select(points, 0, others)
    return named(_length(difference, _order(p, "pdist")), "PdistBackward0")


PDIST = compose(
    "pdist",
    "The p-norm distances of all pairs of points (rows) of a matrix, in the order (0, 1), (0, 2) ... (1, 2) ...",
    family=_FAMILY,
    method=False,
    call=_pdist,
    forms=("torch.nn.functional.pdist(A)", "torch.pdist(A, p=1)"),
    examples=(
        Example("torch.nn.functional.pdist(A)", {"A": (3, 2)}),
        Example("torch.pdist(A, p=1)", {"A": (3, 2)}),
    ),
    domain=_DOMAIN,
    kink=_KINK,
    grad_fn="PdistBackward0",
)
