"""Losses with a margin: what is right by more than it costs nothing."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...graph import INT64, Example, Interval, Node, as_node, make
from ..row import compose
from .loss import class_weights, elementwise_loss, fitting, reduced_loss

_FAMILY = "loss"


def _hinge_embedding_loss(input: Node, target: Node, margin: float = 1.0, reduction: str = "mean") -> Node:
    input, target = fitting(input, target)
    far = make.where(make.eq(target, 1.0), 0.0, make.clamp(margin - input, 0.0))
    near = make.where(make.eq(target, -1.0), 0.0, input)
    return reduced_loss(far + near, reduction)


HINGE_EMBEDDING_LOSS = elementwise_loss(
    "hinge_embedding_loss",
    "The mean of x where the target is 1, and of max(0, margin - x) where it is -1.",
    _hinge_embedding_loss,
    "MeanBackward0",
    examples=(Example("F.hinge_embedding_loss(x, tensor([1.0, -1.0]))", {"x": (2,)}, {"x": Interval(0.1, 0.9)}),),
    kink="at a distance of exactly the margin the slope counts",
)


def _margin_ranking_loss(
    input1: Node, input2: Node, target: Node, margin: float = 0.0, reduction: str = "mean"
) -> Node:
    input1, input2 = fitting(input1, input2)
    return reduced_loss(make.clamp(-as_node(target) * (input1 - input2) + margin, 0.0), reduction)


MARGIN_RANKING_LOSS = compose(
    "margin_ranking_loss",
    "The mean of max(0, margin - target (x - y)): the first should rank above the second where the target is 1.",
    family=_FAMILY,
    method=False,
    call=_margin_ranking_loss,
    forms=("F.margin_ranking_loss(x, y, target)", "F.margin_ranking_loss(x, y, target, margin=0.5)"),
    examples=(Example("F.margin_ranking_loss(x, y, tensor([1.0, -1.0]), margin=9.0)", {"x": (2,), "y": (2,)}),),
    domain="all numbers, differentiable off the margin",
    kink="at exactly the margin the slope counts",
    grad_fn="MeanBackward0",
)


def _cosine_embedding_loss(
    input1: Node, input2: Node, target: Node, margin: float = 0.0, reduction: str = "mean"
) -> Node:
    input1, input2, target = as_node(input1), as_node(input2), as_node(target)
    # PyTorch adds 1e-12 to each squared length instead of a floor.
    lengths = [make.sum(x * x, -1) + 1e-12 for x in (input1, input2)]
    cosine = make.sum(input1 * input2, -1) / make.sqrt(lengths[0] * lengths[1])
    near = make.where(make.eq(target, 1.0), 1.0 - cosine, 0.0)
    far = make.where(make.eq(target, -1.0), make.clamp(cosine - margin, 0.0), 0.0)
    return reduced_loss(near + far, reduction)


COSINE_EMBEDDING_LOSS = compose(
    "cosine_embedding_loss",
    "The mean of 1 - cosine where the target is 1, and of max(0, cosine - margin) where it is -1.",
    family=_FAMILY,
    method=False,
    call=_cosine_embedding_loss,
    forms=("F.cosine_embedding_loss(x, y, target)",),
    examples=(Example("F.cosine_embedding_loss(x, y, tensor([1.0, 1.0]))", {"x": (2, 3), "y": (2, 3)}),),
    domain="all numbers, differentiable off the margin",
    kink="at exactly the margin the slope counts",
    grad_fn="MeanBackward0",
)


def _multi_margin_loss(
    input: Node,
    target: Node,
    p: int = 1,
    margin: float = 1.0,
    weight: Node | None = None,
    reduction: str = "mean",
) -> Node:
    if p not in (1, 2):
        raise InputError("multi_margin_loss: only p == 1 and p == 2 supported")
    input, target = as_node(input), as_node(target)
    if target.dtype.kind == "f":  # labels written as plain numbers in a file
        target = make.to(target, INT64)
    single = input.ndim == 1
    scores = make.unsqueeze(input, 0) if single else input
    labels = make.reshape(target, (-1, 1))
    classes = scores.shape[1]
    others = make.ne(labels, as_node(np.arange(classes)))
    gap = margin - make.gather(scores, 1, labels) + scores
    # Strictly inside of the margin: at its edge nothing flows, as in PyTorch.
    losses = make.where(make.gt(gap, 0.0), gap if p == 1 else gap * gap, 0.0)
    if weight is not None:
        losses = losses * make.unsqueeze(class_weights(as_node(weight), make.squeeze(labels, 1)), 1)
    rows = make.sum(make.where(others, losses, 0.0), 1) / float(classes)
    return reduced_loss(make.squeeze(rows, 0) if single else rows, reduction, "MultiMarginLossBackward0")


MULTI_MARGIN_LOSS = compose(
    "multi_margin_loss",
    "The mean over classes of max(0, margin - the labelled score + the score).",
    family=_FAMILY,
    method=False,
    call=_multi_margin_loss,
    forms=("F.multi_margin_loss(M, labels)", "F.multi_margin_loss(M, labels, p=2)"),
    examples=(Example("F.multi_margin_loss(M, tensor([2, 0]), margin=9.0)", {"M": (2, 3)}),),
    domain="all numbers, differentiable off the margin",
    kink="0 at exactly the margin",
    grad_fn="MultiMarginLossBackward0",
)


def _triplet_margin_loss(
    anchor: Node,
    positive: Node,
    negative: Node,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Node:
    near = make.pairwise_distance(anchor, positive, p, eps)
    far = make.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = make.minimum(far, make.pairwise_distance(positive, negative, p, eps))
    return reduced_loss(make.clamp(near - far + margin, 0.0), reduction)


TRIPLET_MARGIN_LOSS = compose(
    "triplet_margin_loss",
    "The mean of max(0, margin + distance to the positive - distance to the negative).",
    family=_FAMILY,
    method=False,
    call=_triplet_margin_loss,
    forms=("F.triplet_margin_loss(a, p, n)", "F.triplet_margin_loss(a, p, n, margin=0.5, swap=True)"),
    examples=(Example("F.triplet_margin_loss(a, p, n, margin=9.0)", {"a": (2, 3), "p": (2, 3), "n": (2, 3)}),),
    domain="all numbers, differentiable off the margin",
    kink="at exactly the margin the slope counts",
    grad_fn="MeanBackward0",
)


def _multilabel_margin_loss(input: Node, target: Node, reduction: str = "mean") -> Node:
    """Each label (a row's labels end at the first -1) should stand a margin of 1 above each class that is none."""
    input, target = fitting(input, target)
    if target.dtype.kind == "f":  # labels written as plain numbers in a file
        target = make.to(target, INT64)
    single = input.ndim == 1
    scores, labels = (make.unsqueeze(node, 0) if single else node for node in (input, target))
    classes = scores.shape[1]
    used = make.gt(make.cumprod(make.to(make.ge(labels, 0), INT64), 1), 0)
    chosen = make.gather(scores, 1, make.where(used, labels, 0))
    matches = make.eq(make.unsqueeze(labels, -1), as_node(np.arange(classes)))
    wanted = make.any(make.logical_and(make.unsqueeze(used, -1), matches), 1)
    gap = 1.0 - make.unsqueeze(chosen, -1) + make.unsqueeze(scores, 1)
    counts = make.logical_and(make.unsqueeze(used, -1), make.logical_not(make.unsqueeze(wanted, 1)))
    losses = make.where(make.logical_and(counts, make.gt(gap, 0.0)), gap, 0.0)
    rows = make.sum(losses, (1, 2)) / float(classes)
    return reduced_loss(make.squeeze(rows, 0) if single else rows, reduction, "MultilabelMarginLossBackward0")


MULTILABEL_MARGIN_LOSS = compose(
    "multilabel_margin_loss",
    "The mean over classes of max(0, 1 - a label's score + another class's score).",
    family=_FAMILY,
    method=False,
    call=_multilabel_margin_loss,
    forms=("F.multilabel_margin_loss(M, labels)",),
    examples=(Example("F.multilabel_margin_loss(M, tensor([[0, -1, -1], [1, 2, -1]]))", {"M": (2, 3)}),),
    domain="all numbers, differentiable off the margin; labels are integers, and end at the first -1",
    kink="0 at exactly the margin",
    grad_fn="MultilabelMarginLossBackward0",
)
