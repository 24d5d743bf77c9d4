"""Losses: the distance of a prediction from a target, as a mean, a sum or one number each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import INT64, PROBABILITY, Example, Interval, Node, Op, add_row, apply, as_node, make
from .. import infer
from ..concrete import value_now
from ..fold import in_floats, named
from ..reductions.softmax import LOG_SOFTMAX
from ..row import compose

_FAMILY = "loss"
_SUMS = ("none", "mean", "sum")


def reduced_loss(values: Node, reduction: str, grad_fn: str | None = None) -> Node:
    """The losses of single elements, or their mean or sum."""
    if reduction not in _SUMS:
        raise InputError(
            f"{reduction} is not a valid value for reduction", hint=f"write one of {', '.join(_SUMS)}", code="value"
        )
    result = values if reduction == "none" else (make.mean if reduction == "mean" else make.sum)(values)
    return named(result, grad_fn) if grad_fn else result


def fitting(input: Node, target: Node) -> tuple[Node, Node]:
    """A prediction and its target, which broadcast."""
    input, target = as_node(input), as_node(target)
    infer.broadcast(input.shape, target.shape)
    return input, target


def elementwise_loss(name: str, doc: str, call: Any, grad_fn: str, *, kink: str = "none: smooth", **fields: Any) -> Op:
    """A row for a loss of each pair of elements."""
    form = f"F.{name}(x, y)"
    return compose(
        name,
        doc,
        family=_FAMILY,
        method=False,
        call=call,
        forms=fields.pop("forms", (form, f"F.{name}(x, y, reduction='sum')", f"F.{name}(x, y, reduction='none')")),
        examples=fields.pop("examples", (Example(form, {"x": (3,), "y": (3,)}),)),
        domain=fields.pop("domain", "all numbers"),
        kink=kink,
        grad_fn=grad_fn,
        **fields,
    )


def _mse_loss(input: Node, target: Node, reduction: str = "mean", *, weight: Node | None = None) -> Node:
    input, target = fitting(input, target)
    apart = input - target
    squares = apart * apart
    return reduced_loss(squares if weight is None else squares * as_node(weight), reduction, "MseLossBackward0")


MSE_LOSS = elementwise_loss("mse_loss", "The mean squared difference.", _mse_loss, "MseLossBackward0")


def _l1_loss(input: Node, target: Node, reduction: str = "mean") -> Node:
    input, target = fitting(input, target)
    return reduced_loss(make.abs(input - target), reduction)


L1_LOSS = elementwise_loss(
    "l1_loss", "The mean absolute difference.", _l1_loss, "MeanBackward0", kink="0 where the two are equal"
)


def _bowl(input: Node, target: Node, edge: float, scale: float) -> Node:
    """Quadratic up to an edge, linear beyond: scale * min(d**2 / 2, edge * |d| - edge**2 / 2)."""
    input, target = fitting(input, target)
    apart = input - target
    size = make.abs(apart)
    linear = (size - 0.5 * edge) * (edge * scale)
    return make.where(make.lt(size, edge), apart * apart * (0.5 * scale), linear)  # type: ignore[no-any-return]  # any row's call


def _smooth_l1_loss(input: Node, target: Node, reduction: str = "mean", *, beta: float = 1.0) -> Node:
    if beta < 0:
        raise InputError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return _l1_loss(input, target, reduction)
    return reduced_loss(_bowl(input, target, float(beta), 1 / beta), reduction, "SmoothL1LossBackward0")


SMOOTH_L1_LOSS = elementwise_loss(
    "smooth_l1_loss",
    "The mean difference, squared over 2 beta where it is below beta and absolute less beta/2 elsewhere.",
    _smooth_l1_loss,
    "SmoothL1LossBackward0",
    kink="the first derivative is continuous; the second is 0 at a difference of exactly beta",
)


def _huber_loss(input: Node, target: Node, reduction: str = "mean", delta: float = 1.0) -> Node:
    if delta <= 0:
        raise InputError("huber_loss does not support non-positive values for delta.")
    return reduced_loss(_bowl(input, target, float(delta), 1.0), reduction, "HuberLossBackward0")


HUBER_LOSS = elementwise_loss(
    "huber_loss",
    "The mean of half the squared difference where that is below delta, linear beyond.",
    _huber_loss,
    "HuberLossBackward0",
    kink="the first derivative is continuous; the second is 0 at a difference of exactly delta",
)


def _bce_kernel(xp: Any, p: Any, t: Any) -> Any:
    p, t = in_floats(p), in_floats(t)
    return -(t * xp.maximum(xp.log(p), -100.0) + (1 - t) * xp.maximum(xp.log1p(-p), -100.0))


def _bce_formula(m: Any, p: Any, t: Any) -> Any:
    least = m.number(-100)

    def clipped(x: Any) -> Any:
        return m.where(m.equal(x, m.number(0)), lambda: least, lambda: m.maximum([m.log(x), least]))

    return -(t * clipped(p) + (1 - t) * clipped(1 - p))


def _bce_slope(p: Node, t: Node, _y: Node) -> Node:
    """PyTorch's at 0 and 1; in between exact, where PyTorch counts p(1-p) as at least 1e-12 as well."""
    spread = p * (1.0 - p)
    inside = (p - t) / make.where(make.eq(spread, 0.0), 1e-12, spread)
    # Where log(p) is held at -100 it does not move with p.
    held = make.logical_and(p > 0.0, p < math.exp(-100.0))
    return make.where(held, (1.0 - t) / (1.0 - p), inside)  # type: ignore[no-any-return]  # any row's call


BCE_ELEMENT: Op = add_row(
    Op(
        name="binary_cross_entropy.element",
        doc="The cross entropy of a probability and a target, each logarithm at least -100.",
        family=_FAMILY,
        real=True,
        method=False,
        call=lambda p, t: apply(BCE_ELEMENT, (as_node(p), as_node(t))),
        forms=("F.binary_cross_entropy(p, t, reduction='none')",),
        infer=infer.floating,
        kernel=_bce_kernel,
        c="-({1} * (log({0}) < -100.0 ? -100.0 : log({0}))"
        " + (1 - {1}) * (log1p(-{0}) < -100.0 ? -100.0 : log1p(-{0})))",
        formula=_bce_formula,
        elementwise=True,
        slopes=(
            _bce_slope,
            lambda p, _t, _y: make.clamp(make.log1p(-p), -100.0) - make.clamp(make.log(p), -100.0),
        ),
        examples=(
            Example(
                "F.binary_cross_entropy(p, t, reduction='none')",
                {"p": (3,), "t": (3,)},
                {"p": PROBABILITY, "t": PROBABILITY},
            ),
        ),
        domain="probabilities between 0 and 1",
        kink="at 0 and 1 the divisor p(1-p) counts as 1e-12, so that the slope is finite",
        grad_fn="BinaryCrossEntropyBackward0",
    )
)


def _binary_cross_entropy(input: Node, target: Node, weight: Node | None = None, reduction: str = "mean") -> Node:
    input, target = as_node(input), as_node(target)
    if input.shape != target.shape:
        raise ShapeError(
            f"Using a target size ({list(target.shape)}) that is different to the input size ({list(input.shape)}) is "
            "deprecated. Please ensure they have the same size."
        )
    losses = apply(BCE_ELEMENT, (input, target))
    return reduced_loss(
        losses if weight is None else losses * as_node(weight), reduction, "BinaryCrossEntropyBackward0"
    )


BINARY_CROSS_ENTROPY = elementwise_loss(
    "binary_cross_entropy",
    "The mean cross entropy of probabilities and targets.",
    _binary_cross_entropy,
    "BinaryCrossEntropyBackward0",
    forms=("F.binary_cross_entropy(p, t)", "F.binary_cross_entropy(p, t, weight=w, reduction='sum')"),
    examples=(Example("F.binary_cross_entropy(p, t)", {"p": (3,), "t": (3,)}, {"p": PROBABILITY, "t": PROBABILITY}),),
    domain="probabilities between 0 and 1",
    kink="each logarithm is at least -100, and the slope at 0 and 1 is finite: p(1-p) counts as 1e-12 there",
)


def _bce_with_logits(
    input: Node,
    target: Node,
    weight: Node | None = None,
    reduction: str = "mean",
    pos_weight: Node | None = None,
) -> Node:
    input, target = as_node(input), as_node(target)
    if input.shape != target.shape:
        raise ShapeError(f"Target size ({list(target.shape)}) must be the same as input size ({list(input.shape)})")
    # Both parts are sums of positive numbers, so neither tail cancels.
    hit = target if pos_weight is None else target * as_node(pos_weight)
    losses = -(hit * make.logsigmoid(input) + (1.0 - target) * make.logsigmoid(-input))
    losses = losses if weight is None else losses * as_node(weight)
    return reduced_loss(losses, reduction, "BinaryCrossEntropyWithLogitsBackward0")


BCE_WITH_LOGITS = elementwise_loss(
    "binary_cross_entropy_with_logits",
    "The mean cross entropy of the sigmoids of logits and targets, right in both tails.",
    _bce_with_logits,
    "BinaryCrossEntropyWithLogitsBackward0",
    forms=(
        "F.binary_cross_entropy_with_logits(x, t)",
        "F.binary_cross_entropy_with_logits(x, t, pos_weight=w, reduction='sum')",
    ),
    examples=(Example("F.binary_cross_entropy_with_logits(x, t)", {"x": (3,), "t": (3,)}, {"t": PROBABILITY}),),
)


def _kl_div(input: Node, target: Node, reduction: str = "mean", *, log_target: bool = False) -> Node:
    input, target = fitting(input, target)
    values = make.exp(target) * (target - input) if log_target else make.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return make.sum(values) / float(values.shape[0] if values.ndim else 1)  # type: ignore[no-any-return]  # any row's call
    return reduced_loss(values, reduction)


KL_DIV = elementwise_loss(
    "kl_div",
    "The Kullback-Leibler divergence of a target distribution from one given by its logarithms.",
    _kl_div,
    "MeanBackward0",
    forms=("F.kl_div(x, y)", "F.kl_div(x, y, reduction='batchmean')", "F.kl_div(x, y, log_target=True)"),
    examples=(Example("F.kl_div(x, y, reduction='sum')", {"x": (3,), "y": (3,)}, {"y": PROBABILITY}),),
    domain="targets that are not negative",
    kink="a target of 0 adds 0",
)


def _class_axis(input: Node) -> int:
    if not input.ndim:
        raise ShapeError("nll_loss: the scores need an axis of classes")
    return 0 if input.ndim == 1 else 1


def _picked(scores: Node, target: Node, ignore_index: int) -> tuple[Node, Node, Node]:
    """The scores of the labelled classes, the labels without the ignored ones, and which are not ignored."""
    axis = _class_axis(scores)
    rest = tuple(size for place, size in enumerate(scores.shape) if place != axis)
    if target.shape != rest:
        raise ShapeError(
            f"Expected labels of shape {list(rest)} for scores of shape {list(scores.shape)}, got {list(target.shape)}"
        )
    if target.dtype.kind == "f":  # labels written as plain numbers in a file
        target = make.to(target, INT64)
    used = make.ne(target, ignore_index)
    labels = make.where(used, target, 0)
    numbers = np.asarray(value_now(labels))
    outside = (numbers < 0) | (numbers >= scores.shape[axis])
    if np.any(outside):
        raise InputError(
            f"Target {int(numbers[outside].ravel()[0])} is out of bounds.",
            hint=f"labels go from 0 to {scores.shape[axis] - 1}",
            code="index",
        )
    chosen = make.gather(scores, axis, make.unsqueeze(labels, axis))
    return make.squeeze(chosen, axis), labels, used


def _nll_loss(
    input: Node, target: Node, weight: Node | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Node:
    scores, target = as_node(input), as_node(target)
    chosen, labels, used = _picked(scores, target, ignore_index)
    share = (
        make.where(used, 1.0, 0.0) if weight is None else make.where(used, class_weights(as_node(weight), labels), 0.0)
    )
    share = make.to(share, scores.dtype)
    losses = make.where(used, -chosen if weight is None else -chosen * share, 0.0)
    grad_fn = "NllLoss2DBackward0" if scores.ndim > 2 else "NllLossBackward0"
    if reduction == "mean":
        return named(make.sum(losses) / make.sum(share), grad_fn)
    return reduced_loss(losses, reduction, grad_fn)


def class_weights(weight: Node, labels: Node) -> Node:
    """The weight of each label's class."""
    flat = make.gather(weight, 0, make.reshape(labels, (-1,)))
    return make.reshape(flat, labels.shape)  # type: ignore[no-any-return]  # any row's call


NLL_LOSS = compose(
    "nll_loss",
    "Minus the mean of the labelled classes' log-probabilities.",
    family=_FAMILY,
    method=False,
    call=_nll_loss,
    forms=("F.nll_loss(M, labels)", "F.nll_loss(M, labels, weight=w, ignore_index=-1)"),
    examples=(Example("F.nll_loss(M, tensor([2, 0]))", {"M": (2, 3)}),),
    domain="all numbers; labels are integers",
    kink="none: linear; ignored labels get 0",
    grad_fn="NllLossBackward0",
)


def _cross_entropy(
    input: Node,
    target: Node,
    weight: Node | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Node:
    input, target = as_node(input), as_node(target)
    axis = _class_axis(input)
    scores = apply(LOG_SOFTMAX, (input,), {"dim": (axis,)})
    if target.dtype.kind == "f" and target.shape == input.shape:
        return _soft_cross_entropy(scores, target, axis, weight, reduction, label_smoothing)
    hard = _nll_loss(scores, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return hard
    classes = scores.shape[axis]
    shape = tuple(classes if place == axis else 1 for place in range(scores.ndim))
    weighted = scores if weight is None else scores * make.reshape(as_node(weight), shape)
    _, labels, used = _picked(scores, target, ignore_index)
    smooth = make.where(used, -make.sum(weighted, axis), 0.0)
    if reduction == "mean":
        share = make.where(used, 1.0 if weight is None else class_weights(as_node(weight), labels), 0.0)
        smooth = make.sum(smooth) / make.to(make.sum(share), scores.dtype)
    else:
        smooth = reduced_loss(smooth, reduction)
    return named(hard * (1 - label_smoothing) + smooth * (label_smoothing / classes), "AddBackward0")


def _soft_cross_entropy(
    scores: Node, target: Node, axis: int, weight: Node | None, reduction: str, label_smoothing: float
) -> Node:
    """The cross entropy with probabilities of classes as targets."""
    classes = scores.shape[axis]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    products = scores * target
    if weight is not None:
        products = products * make.reshape(
            as_node(weight), tuple(classes if a == axis else 1 for a in range(scores.ndim))
        )
    if reduction == "none":
        return -make.sum(products, axis)  # type: ignore[no-any-return]  # any row's call
    total = -make.sum(products)
    if reduction == "sum":
        return total  # type: ignore[no-any-return]  # any row's call
    return named(total / (float(scores.size // classes) if classes else 0.0), "DivBackward1")


CROSS_ENTROPY = compose(
    "cross_entropy",
    "Minus the mean log-softmax of the labelled classes, or weighted by the classes' probabilities.",
    family=_FAMILY,
    method=False,
    call=_cross_entropy,
    forms=(
        "F.cross_entropy(M, labels)",
        "F.cross_entropy(M, probabilities)",
        "F.cross_entropy(M, labels, label_smoothing=0.1)",
    ),
    examples=(
        Example("F.cross_entropy(M, tensor([2, 0]))", {"M": (2, 3)}),
        Example("F.cross_entropy(M, t)", {"M": (2, 3), "t": (2, 3)}, {"t": PROBABILITY}),
        Example("F.cross_entropy(M, tensor([2, 0]), label_smoothing=0.1)", {"M": (2, 3)}),
    ),
    domain="all numbers; labels are integers",
    kink="none: smooth; NaN with gradient 0 where all labels are ignored",
    grad_fn="NllLossBackward0",
)


def _soft_margin_loss(input: Node, target: Node, reduction: str = "mean") -> Node:
    input, target = fitting(input, target)
    return reduced_loss(-make.logsigmoid(target * input), reduction, "SoftMarginLossBackward0")


SOFT_MARGIN_LOSS = elementwise_loss(
    "soft_margin_loss", "The mean of log(1 + exp(-y x)).", _soft_margin_loss, "SoftMarginLossBackward0"
)


def _poisson_nll_loss(
    input: Node,
    target: Node,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Node:
    input, target = fitting(input, target)
    losses = make.exp(input) - target * input if log_input else input - target * make.log(input + eps)
    if full:
        stirling = make.xlogy(target, target) - target + 0.5 * make.log(2 * math.pi * target)
        losses = losses + make.where(make.gt(target, 1.0), stirling, 0.0)
    return reduced_loss(losses, reduction)


POISSON_NLL_LOSS = elementwise_loss(
    "poisson_nll_loss",
    "The mean negative log-likelihood of counts under Poisson distributions given by their log-rates.",
    _poisson_nll_loss,
    "MeanBackward0",
)


def _gaussian_nll_loss(
    input: Node, target: Node, var: Node, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Node:
    input, target = fitting(input, target)
    spread = as_node(var)
    if spread.ndim == input.ndim - 1 and spread.shape == input.shape[:-1]:
        spread = make.unsqueeze(spread, -1)
    floor = make.clamp(spread, eps)
    # PyTorch clamps the value only: below eps the gradient passes as if it had not.
    safe = floor if not spread.requires_grad else spread + make.detach(floor - spread)
    apart = input - target
    losses = 0.5 * (make.log(safe) + apart * apart / safe)
    return reduced_loss(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


GAUSSIAN_NLL_LOSS = compose(
    "gaussian_nll_loss",
    "The mean negative log-likelihood of targets under normal distributions of given means and variances.",
    family=_FAMILY,
    method=False,
    call=_gaussian_nll_loss,
    forms=("F.gaussian_nll_loss(x, y, v)", "F.gaussian_nll_loss(x, y, v, full=True)"),
    examples=(Example("F.gaussian_nll_loss(x, y, v)", {"x": (3,), "y": (3,), "v": (3,)}, {"v": Interval(0.2, 3.0)}),),
    domain="variances above eps",
    kink="a variance below eps counts as eps, with the slope of the logarithm there",
    grad_fn="MeanBackward0",
)


def _multilabel_soft_margin_loss(
    input: Node, target: Node, weight: Node | None = None, reduction: str = "mean"
) -> Node:
    input, target = fitting(input, target)
    losses = -(target * make.logsigmoid(input) + (1.0 - target) * make.logsigmoid(-input))
    if weight is not None:
        losses = losses * as_node(weight)
    return reduced_loss(make.sum(losses, -1) / float(input.shape[-1]), reduction)


MULTILABEL_SOFT_MARGIN_LOSS = elementwise_loss(
    "multilabel_soft_margin_loss",
    "The mean cross entropy of the sigmoids of each class's score.",
    _multilabel_soft_margin_loss,
    "MeanBackward0",
    examples=(Example("F.multilabel_soft_margin_loss(x, y)", {"x": (2, 3), "y": (2, 3)}, {"y": PROBABILITY}),),
)
