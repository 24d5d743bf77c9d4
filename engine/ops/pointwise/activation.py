"""Smooth activation functions of neural networks, and those with an exponential on the negative side."""

from __future__ import annotations

import math
from typing import Any

from ...errors import InputError, ShapeError
from ...graph import Example, Interval, Node, Op, apply, as_node, make
from .. import infer, kinks
from ..fold import named
from ..row import as_float, compose, unary
from .elementwise import sigmoid_kernel
from .normal import ndtr_kernel

FAMILY = "activation"
ABOVE = Interval(0.1, 3.0)
"""Where activations that bend at 0 are sampled."""


def activation(name: str, doc: str, **fields: Any) -> Op:
    """A row for an activation: reached as `F.name(x)`, and by the methods that its own forms list."""
    fields.setdefault("forms", (f"F.{name}(x)",))
    fields.setdefault("method", any(form.startswith("x.") for form in fields["forms"]))
    return unary(name, doc, family=FAMILY, **fields)


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


ELU = activation(
    "elu",
    "x where it is positive, alpha*(exp(x) - 1) elsewhere.",
    real=True,
    call=_elu,
    forms=("F.elu(x)", "F.elu(x, alpha=0.5)"),
    kernel=_elu_kernel,
    c="({0} > 0 ? {scale} * {0} : {scale} * {alpha} * expm1({rate} * {0}))",
    formula=_elu_formula,
    slope=_elu_slope,
    examples=(
        Example("F.elu(x)", {"x": (3,)}, {"x": Interval(-3.0, -0.1)}),
        Example("F.elu(x, alpha=0.5)", {"x": (3,)}, {"x": ABOVE}),
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
    family=FAMILY,
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
    family=FAMILY,
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


SILU = activation(
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


MISH = activation(
    "mish",
    "x times tanh(softplus(x)).",
    real=True,
    kernel=lambda xp, x: x * xp.tanh(_log_one_plus_exp(xp, x)),
    c="{0} * tanh(fmax({0}, 0.0) + log1p(exp(-fabs({0}))))",
    formula=lambda m, x: x * m.function("tanh", m.logaddexp(m.number(0), x)),
    slope=_mish_slope,
    grad_fn="MishBackward0",
)


def _gelu(input: Node, approximate: str = "none") -> Node:
    if approximate not in ("none", "tanh"):
        raise InputError("approximate argument must be either none or tanh.")
    return apply(GELU if approximate == "none" else GELU_TANH, (as_float(input),))


GELU = activation(
    "gelu",
    "x times the distribution function of the standard normal distribution.",
    real=True,
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


GELU_TANH = activation(
    "gelu.tanh",
    "The gelu with tanh in place of the error function, computed as x times a logistic function.",
    real=True,
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


SOFTPLUS = activation(
    "softplus",
    "A smooth relu, log(1 + exp(beta*x))/beta; x itself where beta*x is above a threshold of less than 20.",
    real=True,
    call=_softplus,
    forms=("F.softplus(x)", "F.softplus(x, beta=2.0)", "F.softplus(x, beta=2.0, threshold=3.0)"),
    kernel=_softplus_kernel,
    c="(({beta} > 0 ? fmax({0}, 0.0) : fmin({0}, 0.0)) + log1p(exp(-fabs({0} * {beta}))) / {beta})",
    formula=lambda m, x, beta: m.logaddexp(m.number(0), x * m.number(beta)) / m.number(beta),
    slope=lambda x, _y, beta: make.sigmoid(x * beta),
    kink="none: smooth, also above PyTorch's default threshold of 20, where the difference to x is below 3e-9",
    grad_fn="SoftplusBackward0",
)

LOGSIGMOID = activation(
    "logsigmoid",
    "The logarithm of the logistic function.",
    real=True,
    forms=("F.logsigmoid(x)", "log_sigmoid(x)"),
    aliases=("log_sigmoid",),
    kernel=lambda xp, x: xp.minimum(x, 0.0) - xp.log1p(xp.exp(-xp.abs(x))),
    c="fmin({0}, 0.0) - log1p(exp(-fabs({0})))",
    formula=lambda m, x: -m.logaddexp(m.number(0), -x),
    slope=lambda x, _y: make.sigmoid(-x),
    grad_fn="LogSigmoidBackward0",
)


def _softsign(input: Node) -> Node:
    input = as_float(input)
    if input.dtype.kind == "c":  # the absolute value of a complex number has a derivative of its own
        return named(input / (1.0 + make.abs(input)), "DivBackward0")
    return apply(SOFTSIGN, (input,))


SOFTSIGN: Op = activation(
    "softsign",
    "x divided by 1 + |x|.",
    real=True,
    call=_softsign,
    kernel=lambda xp, x: x / (1.0 + xp.abs(x)),
    c="{0} / (1.0 + fabs({0}))",
    formula=lambda m, x: x / (1 + m.absolute(x)),
    slope=lambda x, _y: make.square(make.reciprocal(1.0 + make.abs(x))),
    within=ABOVE,
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


TANHSHRINK = activation(
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
    family=FAMILY,
    call=_glu,
    forms=("F.glu(x)", "F.glu(x, dim=0)"),
    method=False,
    examples=(Example("F.glu(x)", {"x": (2, 4)}), Example("F.glu(x, dim=0)", {"x": (2, 3)})),
    grad_fn="GluBackward0",
)
