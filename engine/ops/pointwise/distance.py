"""Lengths and angles of two tensors: hypot, atan2, dist."""

from __future__ import annotations

from typing import Any

from ...graph import Example, Interval, Node, Op, add_row, apply, as_node, make
from .. import infer, kinks
from ..fold import named
from ..row import binary, compose

_FAMILY = "binary"


def _direction_kernel(xp: Any, x: Any, y: Any) -> Any:
    length = xp.hypot(x, y)
    far = xp.isinf(length)
    if xp.any(far):
        # The length of two finite numbers may be too large, while their direction is an ordinary number.
        x, y = xp.where(far, xp.multiply(x, 0.25), x), xp.where(far, xp.multiply(y, 0.25), y)
        length = xp.hypot(x, y)
        along = xp.logical_and(xp.isinf(x), xp.isfinite(y))
        return xp.where(along, xp.sign(x), xp.where(length == 0, length, xp.divide(x, length)))[()]
    return xp.where(length == 0, length, xp.divide(x, length))[()]


def _direction(x: Node, y: Node) -> Node:
    args = as_node(x), as_node(y)
    dtype = infer.floating(args, {})[1]
    # A single number of a wider dtype is as wide as the rest; NumPy would widen the rest.
    return apply(DIRECTION, [arg if arg.is_number or arg.dtype == dtype else make.to(arg, dtype) for arg in args])


DIRECTION = add_row(
    Op(
        name="direction",
        real=True,
        doc="The first coordinate of the unit vector along (x, y), and 0 at the origin.",
        family="cotangent",
        call=_direction,
        method=False,
        infer=infer.floating,
        kernel=_direction_kernel,
        c="({0} == 0 && {1} == 0 ? 0 : isfinite(hypot({0}, {1})) ? {0} / hypot({0}, {1})"
        " : isinf({0}) && isfinite({1}) ? copysign(1.0, {0}) : 0.25 * {0} / hypot(0.25 * {0}, 0.25 * {1}))",
        formula=lambda m, x, y: m.where(
            m.both(m.equal(x, m.number(0)), m.equal(y, m.number(0))),
            lambda: m.number(0),
            lambda: x / m.sqrt(x * x + y * y),
        ),
        elementwise=True,
        # Products only: 1 - (x/r)**2 would lose every digit where y is much smaller than x.
        slopes=(
            lambda x, y, _u: _direction(y, x) * (_direction(y, x) / make.hypot(x, y)),
            lambda x, y, u: -u * (_direction(y, x) / make.hypot(x, y)),
        ),
        kink="0 at the origin, with slopes NaN",
        grad_fn="DivBackward0",
    )
)

_POINTS = {"x": (3,), "y": (3,)}

HYPOT = binary(
    "hypot",
    "The length of the vector of two tensors, without overflow on the way.",
    family=_FAMILY,
    real=True,
    forms=("torch.hypot(x, y)", "x.hypot(y)", "np.hypot(x, y)", "math.hypot(x, y)"),
    infer=infer.floating,
    kernel=lambda xp, x, y: xp.hypot(x, y),
    c="hypot({0}, {1})",
    formula=lambda m, x, y: m.sqrt(x * x + y * y),
    slopes=(lambda x, y, _z: _direction(x, y), lambda x, y, _z: _direction(y, x)),
    examples=(Example("torch.hypot(x, y)", _POINTS, {"x": Interval(0.1, 3.0)}),),
    domain="all real numbers; differentiable away from the origin",
    at_kink=kinks.both_zero,
    kink="at the origin both slopes are 0, the smallest subgradient; PyTorch gives NaN",
    grad_fn="HypotBackward0",
)

ATAN2 = binary(
    "atan2",
    "The angle of the point with ordinate x and abscissa y, between -pi and pi.",
    family=_FAMILY,
    real=True,
    forms=("torch.atan2(x, y)", "x.atan2(y)", "torch.arctan2(x, y)", "np.arctan2(x, y)", "math.atan2(x, y)"),
    aliases=("arctan2",),
    infer=infer.floating,
    kernel=lambda xp, x, y: xp.arctan2(x, y),
    c="atan2({0}, {1})",
    formula=lambda m, x, y: m.function("atan2", x, y),
    slopes=(
        lambda x, y, _z: _over_length(_direction(y, x), x, y),
        lambda x, y, _z: -_over_length(_direction(x, y), x, y),
    ),
    examples=(
        Example("torch.atan2(x, y)", _POINTS, {"y": Interval(0.1, 3.0)}),
        Example("torch.atan2(x, y)", _POINTS, {"x": Interval(0.1, 3.0)}),
        Example("torch.atan2(x, y)", _POINTS, {"x": Interval(-3.0, -0.1), "y": Interval(-3.0, -0.1)}),
    ),
    domain="all points but the origin; the value jumps across the negative axis of y, its slopes do not",
    at_kink=kinks.both_zero,
    kink="at the origin, where no derivative exists, both slopes are 0",
    grad_fn="Atan2Backward0",
)


def _over_length(direction: Node, x: Node, y: Node) -> Node:
    """A direction over the length, and 0 at the origin."""
    length = make.hypot(x, y)
    return make.where(make.eq(length, 0), 0.0, direction / length)  # type: ignore[no-any-return]  # a row's call


def _dist(input: Node, other: Node, p: float = 2) -> Node:
    return named(make.vector_norm(as_node(input) - as_node(other), p), "DistBackward0")


DIST = compose(
    "dist",
    "The p-norm of the difference of two tensors, over all elements.",
    family=_FAMILY,
    call=_dist,
    forms=("torch.dist(x, y)", "torch.dist(x, y, p=1)", "x.dist(y)"),
    examples=(
        Example("torch.dist(x, y)", _POINTS),
        Example("torch.dist(x, y, p=1)", _POINTS, {"x": Interval(0.1, 3.0), "y": Interval(-3.0, -0.1)}),
        Example("torch.dist(x, y, p=3)", _POINTS, {"x": Interval(0.1, 3.0), "y": Interval(-3.0, -0.1)}),
    ),
    domain="all real numbers; differentiable where the two differ (for p of 1 or less in every element)",
    kink="0 where the two are equal; for p = inf equal largest elements share evenly",
    grad_fn="DistBackward0",
)
