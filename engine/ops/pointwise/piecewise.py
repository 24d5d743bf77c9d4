"""Activation functions that are straight lines on each side of a kink."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Example, Interval, Node, Op, apply, leaf, make
from .. import infer, kinks
from ..leaves.random import stream
from ..row import as_float, binary, compose, passing
from .activation import ABOVE, FAMILY, activation
from .bounds import inside


def _beyond(condition: Node, x: Node) -> Node:
    """0 where a condition holds and 1 elsewhere, at nan too, in the dtype of x."""
    return inside(make.logical_not(condition), x)


RELU = activation(
    "relu",
    "x where it is positive, 0 elsewhere.",
    real=True,
    forms=("F.relu(x)", "torch.relu(x)", "x.relu()"),
    call=passing("relu", "b"),
    infer=infer.same,
    kernel=lambda xp, x: xp.maximum(x, 0),
    c="({0} <= 0 ? 0 : {0})",
    formula=lambda m, x: m.maximum([x, m.number(0)]),
    slope=lambda x, _y: _beyond(x <= 0.0, x),
    within=ABOVE,
    at_kink=kinks.at_zero,
    kink="0 at 0, 1 at nan",
    grad_fn="ReluBackward0",
)


def _leaky_relu(input: Node, negative_slope: float = 0.01) -> Node:
    return apply(LEAKY_RELU, (as_float(input),), {"negative_slope": negative_slope})


def _leaky_slope(x: Node, _y: Node, negative_slope: float) -> Node:
    return make.where(x > 0.0, 1.0, negative_slope)  # type: ignore[no-any-return]  # a row's call is of any type


LEAKY_RELU = activation(
    "leaky_relu",
    "x where it is positive, a small multiple of it elsewhere.",
    real=True,
    call=_leaky_relu,
    forms=("F.leaky_relu(x)", "F.leaky_relu(x, 0.2)"),
    kernel=lambda xp, x, negative_slope: xp.where(x > 0, x, x * negative_slope)[()],
    c="({0} > 0 ? {0} : {0} * {negative_slope})",
    formula=lambda m, x, negative_slope: m.where(x > 0, lambda: x, lambda: x * m.number(negative_slope)),
    slope=_leaky_slope,
    within=ABOVE,
    at_kink=kinks.at_zero,
    kink="the slope of the negative side at 0 and at nan",
    grad_fn="LeakyReluBackward0",
)


def _rrelu(
    input: Node, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *, seed: int | None = None
) -> Node:
    x = as_float(input)
    if lower > upper:
        raise InputError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return apply(LEAKY_RELU, (x,), {"negative_slope": (lower + upper) / 2}, grad_fn="RreluWithNoiseBackward0")
    noise = np.asarray(stream("rrelu", seed).uniform(lower, upper, x.shape)).astype(x.dtype)
    return apply(PRELU, (x, leaf(noise[()])), grad_fn="RreluWithNoiseBackward0")


RRELU = compose(
    "rrelu",
    "A leaky_relu whose slope is the mean of lower and upper, or with training=True drawn between them for each "
    "element; the stream is that of numpy.random.default_rng(seed).",
    family=FAMILY,
    call=_rrelu,
    forms=("F.rrelu(x)", "torch.rrelu(x)", "F.rrelu(x, training=True, seed=0)"),
    method=False,
    examples=(
        Example("F.rrelu(x)", {"x": (3,)}, {"x": ABOVE}),
        Example("F.rrelu(x, training=True, seed=0)", {"x": (3,)}, {"x": Interval(-3.0, -0.1)}),
    ),
    kink=LEAKY_RELU.kink,
    grad_fn="RreluWithNoiseBackward0",
)


def _prelu(input: Node, weight: Node) -> Node:
    input, weight = as_float(input), as_float(weight)
    if weight.size != 1:
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.ndim != 1 or weight.size != channels:
            raise ShapeError(
                f"Mismatch of parameter numbers and input channel size. "
                f"Found parameter numbers = {weight.size} and channel size = {channels}."
            )
        weight = make.reshape(weight, (channels,) + (1,) * (input.ndim - 2))
    elif weight.ndim > input.ndim:
        weight = make.reshape(weight, ())
    return apply(PRELU, (input, weight))


PRELU = binary(
    "prelu",
    "x where it is positive, a learned multiple of it elsewhere; several weights belong to the channels, axis 1.",
    family=FAMILY,
    real=True,
    call=_prelu,
    forms=("F.prelu(x, y)", "torch.prelu(x, y)", "x.prelu(y)"),
    kernel=lambda xp, x, weight: xp.where(x > 0, x, x * weight)[()],
    c="({0} > 0 ? {0} : {0} * {1})",
    formula=lambda m, x, weight: m.where(x > 0, lambda: x, lambda: x * weight),
    slopes=(
        lambda x, weight, _y: make.where(x > 0.0, 1.0, weight),
        lambda x, _weight, _y: make.where(x > 0.0, 0.0, x),
    ),
    examples=(Example("F.prelu(x, y)", {"x": (3,), "y": (1,)}, {"x": Interval(-3.0, -0.1)}),),
    at_kink=kinks.at_zero,
    kink="the slope of the negative side at 0 and at nan",
    grad_fn="PreluKernelBackward0",
)


def _clipped_slope(x: Node, _y: Node, min_val: float, max_val: float) -> Node:
    return _beyond(x <= min_val, x) * _beyond(x >= max_val, x)


def _hardtanh(input: Node, min_val: float = -1.0, max_val: float = 1.0) -> Node:
    return apply(HARDTANH, (as_float(input),), {"min_val": min_val, "max_val": max_val})


HARDTANH = activation(
    "hardtanh",
    "x brought between two numbers, -1 and 1 if not given.",
    real=True,
    call=_hardtanh,
    forms=("F.hardtanh(x)", "F.hardtanh(x, -2.0, 2.0)"),
    kernel=lambda xp, x, min_val, max_val: xp.minimum(xp.maximum(x, min_val), max_val),
    c="({0} < {min_val} ? {min_val} : {0} > {max_val} ? {max_val} : {0})",
    formula=lambda m, x, min_val, max_val: m.minimum([m.maximum([x, m.number(min_val)]), m.number(max_val)]),
    slope=_clipped_slope,
    within=Interval(-0.9, 0.9),
    at_kink=kinks.at_attributes("min_val", "max_val"),
    kink="0 at both bounds (unlike clamp), 1 at nan",
    grad_fn="HardtanhBackward0",
)


def _relu6(input: Node) -> Node:
    return _hardtanh(input, 0.0, 6.0)


RELU6 = compose(
    "relu6",
    "x brought between 0 and 6.",
    family=FAMILY,
    call=_relu6,
    forms=("F.relu6(x)",),
    method=False,
    examples=(Example("F.relu6(x)", {"x": (3,)}, {"x": ABOVE}),),
    kink=HARDTANH.kink,
    grad_fn="HardtanhBackward0",
)

HARDSIGMOID = activation(
    "hardsigmoid",
    "x/6 + 1/2 brought between 0 and 1: a sigmoid of three straight lines.",
    real=True,
    kernel=lambda xp, x: xp.minimum(xp.maximum(x + 3.0, 0.0), 6.0) / 6.0,
    c="({0} <= -3 ? 0.0 : {0} >= 3 ? 1.0 : ({0} + 3.0) / 6.0)",
    formula=lambda m, x: m.minimum([m.maximum([x + 3, m.number(0)]), m.number(6)]) / 6,
    slope=lambda x, _y: inside(x > -3.0, x) * inside(x < 3.0, x) * (1 / 6),
    within=Interval(-2.9, 2.9),
    at_kink=kinks.at(-3.0, 3.0),
    kink="0 at -3 and 3, and at nan",
    grad_fn="HardsigmoidBackward0",
)

HARDSWISH = activation(
    "hardswish",
    "x times hardsigmoid(x).",
    real=True,
    kernel=lambda xp, x: xp.where(x >= 3.0, x, x * xp.maximum(x + 3.0, 0.0) / 6.0)[()],
    c="({0} >= 3 ? {0} : {0} * ({0} <= -3 ? 0.0 : {0} + 3.0) / 6.0)",
    formula=lambda m, x: x * m.minimum([m.maximum([x + 3, m.number(0)]), m.number(6)]) / 6,
    slope=lambda x, _y: make.where(x <= -3.0, 0.0, make.where(x < 3.0, x / 3.0 + 0.5, 1.0)),
    within=Interval(-2.9, 2.9),
    at_kink=kinks.at(-3.0, 3.0),
    kink="0 at -3, 1 at 3 and at nan",
    grad_fn="HardswishBackward0",
)


def _shrinkage(name: str, doc: str, moved: Callable[[Any, Any], Any], c: str, grad_fn: str) -> Op:
    """A row for a function that is 0 from -lambd to lambd; `moved(x, shift)` beyond."""

    def call(input: Node, lambd: float = 0.5) -> Node:
        return apply(row, (as_float(input),), {"lambd": lambd})

    def kernel(xp: Any, x: Any, lambd: float) -> Any:
        beyond = xp.where(x > 0, moved(x, lambd), moved(x, -lambd))
        return xp.where((x >= -lambd) & (x <= lambd), beyond.dtype.type(0), beyond)[()]

    def formula(m: Any, x: Any, lambd: float) -> Any:
        bound = m.number(lambd)
        inner = lambda: m.where(x <= bound, lambda: m.number(0), lambda: x)  # x where it is NaN
        low = lambda: m.where(x < -bound, lambda: moved(x, -bound), inner)
        return m.where(x > bound, lambda: moved(x, bound), low)

    row = activation(
        name,
        doc,
        real=True,
        call=call,
        forms=(
            f"F.{name}(x)",
            f"F.{name}(x, 0.3)",
            *((f"torch.{name}(x)", "x.hardshrink()") if name[0] == "h" else ()),
        ),
        kernel=kernel,
        c=f"({{0}} >= -{{lambd}} && {{0}} <= {{lambd}} ? 0.0 : {c})",
        formula=formula,
        slope=lambda x, _y, lambd: _beyond(make.abs(x) <= lambd, x),
        within=Interval(0.6, 3.0),
        at_kink=kinks.at_attributes("lambd", signs=(1, -1)),
        kink="0 at -lambd and lambd, 1 at nan",
        grad_fn=grad_fn,
    )
    return row


HARDSHRINK = _shrinkage(
    "hardshrink", "x, but 0 from -lambd to lambd.", lambda x, _shift: x, "{0}", "HardshrinkBackward0"
)

SOFTSHRINK = _shrinkage(
    "softshrink",
    "x moved towards 0 by lambd, and 0 from -lambd to lambd.",
    lambda x, shift: x - shift,
    "{0} > 0 ? {0} - {lambd} : {0} + {lambd}",
    "SoftshrinkBackward0",
)


def _threshold(input: Node, threshold: float, value: float) -> Node:
    return apply(THRESHOLD, (as_float(input),), {"threshold": threshold, "value": value})


THRESHOLD = activation(
    "threshold",
    "x where it is above a threshold, a constant elsewhere.",
    real=True,
    call=_threshold,
    forms=("F.threshold(x, 0.4, 0.0)", "torch.threshold(x, 0.4, 0.0)"),
    kernel=lambda xp, x, threshold, value: xp.where(x <= threshold, value, x)[()],
    c="({0} <= {threshold} ? {value} : {0})",
    formula=lambda m, x, threshold, value: m.where(x <= m.number(threshold), lambda: m.number(value), lambda: x),
    slope=lambda x, _y, threshold, value: _beyond(x <= threshold, x),  # noqa: ARG005  # it takes its row's attributes
    within=Interval(0.5, 3.0),
    at_kink=kinks.at_attributes("threshold"),
    kink="0 at the threshold, 1 at nan",
    grad_fn="ThresholdBackward0",
)
