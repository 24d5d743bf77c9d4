"""Activation functions of neural networks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Example, Interval, Node, Op, apply, as_node, leaf, make
from .. import infer, kinks
from ..leaves.random import stream
from ..row import as_float, binary, compose, passing, unary
from .bounds import inside
from .elementwise import sigmoid_kernel
from .special import ndtr_kernel

_FAMILY = "activation"
_ABOVE = Interval(0.1, 3.0)


def _activation(name: str, doc: str, **fields: Any) -> Op:
    """A row for an activation: reached as `F.name(x)`, and by the methods that its own forms list."""
    fields.setdefault("forms", (f"F.{name}(x)",))
    fields.setdefault("method", any(form.startswith("x.") for form in fields["forms"]))
    return unary(name, doc, family=_FAMILY, **fields)


def _beyond(condition: Node, x: Node) -> Node:
    """0 where a condition holds and 1 elsewhere, at nan too, in the dtype of x."""
    return inside(make.logical_not(condition), x)


# Piecewise linear

RELU = _activation(
    "relu",
    "x where it is positive, 0 elsewhere.",
    forms=("F.relu(x)", "torch.relu(x)", "x.relu()"),
    call=passing("relu", "b"),
    infer=infer.same,
    kernel=lambda xp, x: xp.maximum(x, 0),
    c="({0} <= 0 ? 0 : {0})",
    formula=lambda m, x: m.maximum([x, m.number(0)]),
    slope=lambda x, _y: _beyond(x <= 0.0, x),
    within=_ABOVE,
    at_kink=kinks.at_zero,
    kink="0 at 0, 1 at nan",
    grad_fn="ReluBackward0",
)


def _leaky_relu(input: Node, negative_slope: float = 0.01) -> Node:
    return apply(LEAKY_RELU, (as_float(input),), {"negative_slope": negative_slope})


def _leaky_slope(x: Node, _y: Node, negative_slope: float) -> Node:
    return make.where(x > 0.0, 1.0, negative_slope)  # type: ignore[no-any-return]  # a row's call is of any type


LEAKY_RELU = _activation(
    "leaky_relu",
    "x where it is positive, a small multiple of it elsewhere.",
    call=_leaky_relu,
    forms=("F.leaky_relu(x)", "F.leaky_relu(x, 0.2)"),
    kernel=lambda xp, x, negative_slope: xp.where(x > 0, x, x * negative_slope)[()],
    c="({0} > 0 ? {0} : {0} * {negative_slope})",
    formula=lambda m, x, negative_slope: m.where(x > 0, lambda: x, lambda: x * m.number(negative_slope)),
    slope=_leaky_slope,
    within=_ABOVE,
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
    family=_FAMILY,
    call=_rrelu,
    forms=("F.rrelu(x)", "torch.rrelu(x)", "F.rrelu(x, training=True, seed=0)"),
    method=False,
    examples=(
        Example("F.rrelu(x)", {"x": (3,)}, {"x": _ABOVE}),
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
    family=_FAMILY,
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


HARDTANH = _activation(
    "hardtanh",
    "x brought between two numbers, -1 and 1 if not given.",
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
    family=_FAMILY,
    call=_relu6,
    forms=("F.relu6(x)",),
    method=False,
    examples=(Example("F.relu6(x)", {"x": (3,)}, {"x": _ABOVE}),),
    kink=HARDTANH.kink,
    grad_fn="HardtanhBackward0",
)

HARDSIGMOID = _activation(
    "hardsigmoid",
    "x/6 + 1/2 brought between 0 and 1: a sigmoid of three straight lines.",
    kernel=lambda xp, x: xp.minimum(xp.maximum(x + 3.0, 0.0), 6.0) / 6.0,
    c="({0} <= -3 ? 0.0 : {0} >= 3 ? 1.0 : ({0} + 3.0) / 6.0)",
    formula=lambda m, x: m.minimum([m.maximum([x + 3, m.number(0)]), m.number(6)]) / 6,
    slope=lambda x, _y: inside(x > -3.0, x) * inside(x < 3.0, x) * (1 / 6),
    within=Interval(-2.9, 2.9),
    at_kink=kinks.at(-3.0, 3.0),
    kink="0 at -3 and 3, and at nan",
    grad_fn="HardsigmoidBackward0",
)

HARDSWISH = _activation(
    "hardswish",
    "x times hardsigmoid(x).",
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

    row = _activation(
        name,
        doc,
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


THRESHOLD = _activation(
    "threshold",
    "x where it is above a threshold, a constant elsewhere.",
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


# Exponential on the negative side


def _elu_kernel(xp: Any, x: Any, alpha: float, scale: float, rate: float) -> Any:
    return xp.where(x > 0, scale * x, (scale * alpha) * xp.expm1(rate * x))[()]


def _elu_formula(m: Any, x: Any, alpha: float, scale: float, rate: float) -> Any:
    below = lambda: m.number(alpha) * (m.exp(m.number(rate) * x) - 1)
    return m.number(scale) * m.where(x > 0, lambda: x, below)


def _elu_slope(x: Node, _y: Node, alpha: float, scale: float, rate: float) -> Node:
    return make.where(x <= 0.0, (scale * alpha * rate) * make.exp(rate * x), scale)  # type: ignore[no-any-return]  # a row's call is of any type


def _elu(input: Node, alpha: float = 1.0) -> Node:
    return apply(ELU, (as_float(input),), {"alpha": alpha, "scale": 1.0, "rate": 1.0})


ELU = _activation(
    "elu",
    "x where it is positive, alpha*(exp(x) - 1) elsewhere.",
    call=_elu,
    forms=("F.elu(x)", "F.elu(x, alpha=0.5)"),
    kernel=_elu_kernel,
    c="({0} > 0 ? {scale} * {0} : {scale} * {alpha} * expm1({rate} * {0}))",
    formula=_elu_formula,
    slope=_elu_slope,
    examples=(
        Example("F.elu(x)", {"x": (3,)}, {"x": Interval(-3.0, -0.1)}),
        Example("F.elu(x, alpha=0.5)", {"x": (3,)}, {"x": _ABOVE}),
    ),
    at_kink=kinks.at_zero,
    kink="alpha at 0, 1 at nan",
    grad_fn="EluBackward0",
)

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805


def _selu(input: Node) -> Node:
    return apply(ELU, (as_float(input),), {"alpha": SELU_ALPHA, "scale": SELU_SCALE, "rate": 1.0})


SELU = compose(
    "selu",
    "The elu whose two constants keep mean 0 and variance 1 from layer to layer.",
    family=_FAMILY,
    call=_selu,
    forms=("F.selu(x)", "torch.selu(x)"),
    method=False,
    examples=(Example("F.selu(x)", {"x": (3,)}, {"x": Interval(-3.0, -0.1)}),),
    kink="1.7581 (the slope of the negative side) at 0",
    grad_fn="EluBackward0",
)


def _celu(input: Node, alpha: float = 1.0) -> Node:
    if alpha == 0:
        raise InputError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return apply(ELU, (as_float(input),), {"alpha": alpha, "scale": 1.0, "rate": 1 / alpha}, grad_fn="CeluBackward0")


CELU = compose(
    "celu",
    "x where it is positive, alpha*(exp(x/alpha) - 1) elsewhere: an elu whose slope is continuous.",
    family=_FAMILY,
    call=_celu,
    forms=("F.celu(x)", "F.celu(x, alpha=0.5)", "torch.celu(x)"),
    method=False,
    examples=(Example("F.celu(x, alpha=0.5)", {"x": (3,)}, {"x": Interval(-3.0, -0.1)}),),
    kink="none to first order; the second derivative at 0 is that of the negative side",
    grad_fn="CeluBackward0",
)


# Smooth


def _log_one_plus_exp(xp: Any, x: Any) -> Any:
    """log(1 + exp(x)) that does not overflow; of arrays several times as fast as the same by logaddexp."""
    return xp.maximum(x, 0.0) + xp.log1p(xp.exp(-xp.abs(x)))


def _silu_slope(x: Node, _y: Node) -> Node:
    return make.sigmoid(x) * (1.0 + x * make.sigmoid(-x))  # type: ignore[no-any-return]  # a row's call is of any type


SILU = _activation(
    "silu",
    "x times sigmoid(x), also called swish.",
    forms=("F.silu(x)", "swish(x)"),
    aliases=("swish",),
    kernel=lambda xp, x: x * sigmoid_kernel(xp, x),
    c="{0} * ({0} < 0 ? exp({0}) : 1.0) / (1.0 + exp(-fabs({0})))",
    formula=lambda m, x: x / (1 + m.exp(-x)),
    slope=_silu_slope,
    grad_fn="SiluBackward0",
)


def _mish_slope(x: Node, _y: Node) -> Node:
    softplus = make.softplus(x)
    return make.tanh(softplus) + x * make.sigmoid(x) * make.sech_squared(softplus)  # type: ignore[no-any-return]  # as above


MISH = _activation(
    "mish",
    "x times tanh(softplus(x)).",
    kernel=lambda xp, x: x * xp.tanh(_log_one_plus_exp(xp, x)),
    c="{0} * tanh(fmax({0}, 0.0) + log1p(exp(-fabs({0}))))",
    formula=lambda m, x: x * m.function("tanh", m.log(1 + m.exp(x))),
    slope=_mish_slope,
    grad_fn="MishBackward0",
)


def _gelu(input: Node, approximate: str = "none") -> Node:
    if approximate not in ("none", "tanh"):
        raise InputError("approximate argument must be either none or tanh.")
    return apply(GELU if approximate == "none" else GELU_TANH, (as_float(input),))


GELU = _activation(
    "gelu",
    "x times the distribution function of the standard normal distribution.",
    call=_gelu,
    forms=("F.gelu(x)", "F.gelu(x, approximate='tanh')"),
    kernel=lambda xp, x: x * ndtr_kernel(xp, x),
    c="0.5 * {0} * erfc(-0.7071067811865476 * {0})",
    formula=lambda m, x: x * m.function("erfc", -x / m.sqrt(m.number(2))) / 2,
    slope=lambda x, _y: make.ndtr(x) + x * make.exp(-0.5 * make.square(x)) * (1 / math.sqrt(2 * math.pi)),
    grad_fn="GeluBackward0",
)

_GELU_RATE = 2 * math.sqrt(2 / math.pi)
_GELU_CUBIC = _GELU_RATE * 0.044715


def _gelu_tanh_slope(x: Node, _y: Node) -> Node:
    square = make.square(x)
    inner = x * (_GELU_RATE + _GELU_CUBIC * square)
    turn = make.sigmoid(inner) * make.sigmoid(-inner)
    return make.sigmoid(inner) + make.flow(turn, x * (_GELU_RATE + 3 * _GELU_CUBIC * square))  # type: ignore[no-any-return]  # as above


def _gelu_tanh_formula(m: Any, x: Any) -> Any:
    inner = m.sqrt(2 / m.pi) * (x + m.ratio(44715, 10**6) * x**3)
    return x * (1 + m.function("tanh", inner)) / 2


GELU_TANH = _activation(
    "gelu.tanh",
    "The gelu with tanh in place of the error function, computed as x times a logistic function.",
    call=_gelu,
    forms=("F.gelu(x, approximate='tanh')",),
    kernel=lambda xp, x: x * sigmoid_kernel(xp, x * (_GELU_RATE + _GELU_CUBIC * (x * x))),
    c="{0} / (1.0 + exp(-({0} * (1.5957691216057308 + 0.07135481627260025 * ({0} * {0})))))",
    formula=_gelu_tanh_formula,
    slope=_gelu_tanh_slope,
    grad_fn="GeluBackward0",
)


def _softplus(input: Node, beta: float = 1.0, threshold: float = 20.0) -> Node:
    """From a threshold of 20 on, PyTorch's straight line is the function but for 3e-9: it is not drawn."""
    input = as_float(input)
    smooth = apply(SOFTPLUS, (input,), {"beta": beta})
    if threshold >= 20.0:
        return smooth
    return apply(make.where, (input * beta > threshold, input, smooth), grad_fn="SoftplusBackward0")


def _softplus_kernel(xp: Any, x: Any, beta: float) -> Any:
    line = xp.maximum(x, 0.0) if beta > 0 else xp.minimum(x, 0.0)
    return line + xp.log1p(xp.exp(-xp.abs(x * beta))) / beta


SOFTPLUS = _activation(
    "softplus",
    "A smooth relu, log(1 + exp(beta*x))/beta; x itself where beta*x is above a threshold of less than 20.",
    call=_softplus,
    forms=("F.softplus(x)", "F.softplus(x, beta=2.0)", "F.softplus(x, beta=2.0, threshold=3.0)"),
    kernel=_softplus_kernel,
    c="(({beta} > 0 ? fmax({0}, 0.0) : fmin({0}, 0.0)) + log1p(exp(-fabs({0} * {beta}))) / {beta})",
    formula=lambda m, x, beta: m.log(1 + m.exp(x * m.number(beta))) / m.number(beta),
    slope=lambda x, _y, beta: make.sigmoid(x * beta),
    kink="none: smooth, also above PyTorch's default threshold of 20, where the difference to x is below 3e-9",
    grad_fn="SoftplusBackward0",
)

LOGSIGMOID = _activation(
    "logsigmoid",
    "The logarithm of the logistic function.",
    forms=("F.logsigmoid(x)", "log_sigmoid(x)"),
    aliases=("log_sigmoid",),
    kernel=lambda xp, x: xp.minimum(x, 0.0) - xp.log1p(xp.exp(-xp.abs(x))),
    c="fmin({0}, 0.0) - log1p(exp(-fabs({0})))",
    formula=lambda m, x: -m.log(1 + m.exp(-x)),
    slope=lambda x, _y: make.sigmoid(-x),
    grad_fn="LogSigmoidBackward0",
)

SOFTSIGN = _activation(
    "softsign",
    "x divided by 1 + |x|.",
    kernel=lambda xp, x: x / (1.0 + xp.abs(x)),
    c="{0} / (1.0 + fabs({0}))",
    formula=lambda m, x: x / (1 + m.absolute(x)),
    slope=lambda x, _y: make.square(make.reciprocal(1.0 + make.abs(x))),
    within=_ABOVE,
    at_kink=kinks.at_zero,
    kink="none to first order; the second derivative is 0 at 0",
    grad_fn="DivBackward0",
)

_TANHSHRINK_SERIES = (1 / 3, -2 / 15, 17 / 315, -62 / 2835, 1382 / 155925, -21844 / 6081075, 929569 / 638512875)


def _tanhshrink_kernel(xp: Any, x: Any) -> Any:
    """x - tanh(x) cancels near 0: there by its series."""
    square = x * x
    series = 0.0 * square
    for coefficient in reversed(_TANHSHRINK_SERIES):
        series = series * square + coefficient
    return xp.where(xp.abs(x) < 0.1, series * square * x, x - xp.tanh(x))[()]


TANHSHRINK = _activation(
    "tanhshrink",
    "x - tanh(x), without cancellation near 0.",
    kernel=_tanhshrink_kernel,
    c="tanhshrink({0})",
    formula=lambda m, x: x - m.function("tanh", x),
    slope=lambda x, _y: make.square(make.tanh(x)),
    grad_fn="SubBackward0",
)


def _glu(input: Node, dim: int = -1) -> Node:
    input = as_node(input)
    axis = infer.axis_of(dim, input.ndim)
    if not input.shape:
        raise ShapeError("glu does not support 0-dimensional tensors")
    size = input.shape[axis]
    if size % 2:
        raise ShapeError(f"Halving dimension must be even, but dimension {axis} is size {size}")
    before = (slice(None),) * axis
    value = make.getitem(input, (*before, slice(0, size // 2)))
    gate = make.getitem(input, (*before, slice(size // 2, size)))
    return apply(make.mul, (value, make.sigmoid(gate)), grad_fn="GluBackward0")


GLU = compose(
    "glu",
    "The first half along an axis times the sigmoid of the second half.",
    family=_FAMILY,
    call=_glu,
    forms=("F.glu(x)", "F.glu(x, dim=0)"),
    method=False,
    examples=(Example("F.glu(x)", {"x": (2, 4)}), Example("F.glu(x, dim=0)", {"x": (2, 3)})),
    grad_fn="GluBackward0",
)
