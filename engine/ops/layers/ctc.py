"""Connectionist temporal classification: the loss of all alignments of a sequence of labels with a longer input."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Example, Node, as_node, leaf, make
from ..concrete import value_of
from ..fold import named
from ..row import compose
from .loss import reduced_loss

_NEVER: Final = -np.inf
"""The logarithm of the probability of what cannot be."""


def _integers(node: Node, what: str) -> Any:
    """The integers that a tensor holds, which an expression file may write as plain numbers.

    Raises:
        InputError: where one is none.
    """
    values = np.asarray(value_of(as_node(node)))
    whole = values.astype(np.int64)
    if values.dtype.kind == "b" or not np.array_equal(values, whole):
        raise InputError(f"ctc_loss: {what} must be integers")
    return whole


def _lengths(node: Node, what: str, batch: int, most: int) -> Any:
    """How many steps or labels each sequence of a batch has.

    Raises:
        InputError: where there is not one for each, or one is out of range.
    """
    lengths = _integers(node, what).reshape(-1)
    if lengths.size != batch:
        raise ShapeError(f"{what} must be of size batch_size", hint=f"the batch has {batch} sequences")
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= most:
        raise InputError(f"Expected {what} to have value at most {most}, but got value {lengths.max()}")
    return lengths


def _padded(labels: Any, lengths: Any, blank: int, classes: int) -> Any:
    """The labels of each sequence, a row for each, however they are given: in rows, or one sequence after another.

    Raises:
        InputError: where their number does not fit, or one is no class.
    """
    if labels.ndim == 1 and (len(lengths) > 1 or labels.size == lengths.sum()):
        if labels.size != lengths.sum():
            raise ShapeError(f"ctc_loss: {labels.size} targets in a row, and lengths of {lengths.sum()} in all")
        rows = np.full((len(lengths), lengths.max(initial=0)), blank)
        rows[np.arange(rows.shape[1]) < lengths[:, None]] = labels
    else:
        rows = labels.reshape(1, -1) if labels.ndim == 1 else labels
        if rows.ndim != 2 or len(rows) != len(lengths) or rows.shape[1] < lengths.max(initial=0):
            raise ShapeError(f"ctc_loss: targets of shape {list(labels.shape)} do not fit target_lengths {lengths}")
        rows = np.where(np.arange(rows.shape[1]) < lengths[:, None], rows, blank)[:, : lengths.max(initial=0)]
    if rows.size and not 0 <= rows.min() <= rows.max() < classes:
        raise InputError(f"ctc_loss: targets must be classes from 0 to {classes - 1}")
    return rows


def _ways_in(states: Any, blank: int) -> Any:
    """For each state (blank, label, blank ...) the three from which it is entered; the last column stands for none."""
    batch, count = states.shape
    places = np.arange(count)
    ways = np.broadcast_to(np.stack([places, places - 1, places - 2], 1), (batch, count, 3)).copy()
    skips = np.zeros((batch, count), bool)
    skips[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    ways[:, :, 2][~skips] = count
    ways[ways < 0] = count
    return ways


def _only(mask: Any, node: Node, other: Node | float) -> Node:
    """The node where a mask that is known holds, something else elsewhere."""
    return node if mask.all() else make.where(leaf(mask), node, other)


def _alignments(log_probs: Node, labels: Any, steps: Any, lengths: Any, blank: int) -> tuple[Node, Any]:
    """Minus the logarithm of the probability of all alignments for each sequence, and whether it has any.

    Source: Graves et al., "Connectionist Temporal Classification", 2006: the forward variables, as logarithms. The
    logarithm of a sum of nothing has no slope; such sums are known from the labels, and never taken.
    """
    batch = len(labels)
    states = np.full((batch, 2 * labels.shape[1] + 1), blank)
    states[:, 1::2] = labels
    emitted = make.gather(log_probs, 2, leaf(np.repeat(states[None], log_probs.shape[0], 0)))
    ways = _ways_in(states, blank)
    into = leaf(ways.reshape(batch, -1))
    none = leaf(np.full((batch, 1), _NEVER, log_probs.dtype))
    possible = np.broadcast_to(np.arange(states.shape[1]) < 2, states.shape)
    reached = _only(possible, make.select(emitted, 0, 0), _NEVER)
    for step in range(1, int(steps.max(initial=0))):
        before = make.reshape(make.gather(make.cat([reached, none], 1), 1, into), ways.shape)
        going = step < steps[:, None]
        open_ways = np.pad(possible, ((0, 0), (0, 1)))[np.arange(batch)[:, None, None], ways]
        after = make.logsumexp(_only(open_ways.any(2, keepdims=True), before, 0.0), 2) + make.select(emitted, 0, step)
        reached = _only(going, _only(open_ways.any(2), after, _NEVER), reached)
        possible = np.where(going, open_ways.any(2), possible)
    last = np.stack([2 * lengths, np.maximum(2 * lengths - 1, 0)], 1)
    ends = np.take_along_axis(possible, last, 1) & np.stack([lengths >= 0, lengths > 0], 1)
    sure = ends.any(1)
    chosen = _only(
        ends, make.gather(reached, 1, leaf(last)), leaf(np.where(sure[:, None], _NEVER, 0.0).astype(log_probs.dtype))
    )
    return -make.logsumexp(chosen, 1), sure


def _ctc_loss(
    log_probs: Node,
    targets: Node,
    input_lengths: Node,
    target_lengths: Node,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Node:
    log_probs = as_node(log_probs)
    batched = log_probs.ndim == 3
    if not (batched or log_probs.ndim == 2) or not log_probs.size or log_probs.dtype.kind != "f":
        raise ShapeError(f"ctc_loss expects floats of shape (T, N, C) or (T, C), not {list(log_probs.shape)}")
    if not batched:
        log_probs = make.unsqueeze(log_probs, 1)
    times, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise InputError("blank must be in label range", hint=f"the classes are 0 to {classes - 1}")
    steps = _lengths(input_lengths, "input_lengths", batch, times)
    labels = _integers(targets, "targets")
    lengths = _lengths(target_lengths, "target_lengths", batch, labels.shape[-1] if labels.ndim else 0)
    losses, sure = _alignments(log_probs, _padded(labels, lengths, blank, classes), steps, lengths, blank)
    # PyTorch's gradient is exp(log_probs) less the share of each state: that of the loss of normalised log_probs,
    # whose sum of probabilities is constant.
    sums = make.sum(_only(np.arange(times)[:, None, None] < steps[:, None], make.exp(log_probs), 0.0), (0, 2))
    losses = losses + (sums - make.detach(sums))
    # Infinite, with a slope that is not a number rather than a silent zero.
    losses = _only(sure, losses, -make.logsumexp(make.unsqueeze(sums + _NEVER, 1), 1))
    losses = _only(steps > 0, losses, leaf(np.where(lengths > 0, np.inf, 0.0).astype(losses.dtype)))
    losses = named(losses, "CtcLossBackward0")
    if zero_infinity:
        losses = _only(sure, losses, np.inf)
        losses = make.where(make.eq(losses, np.inf), 0.0, losses)
    if reduction == "mean":
        losses = losses / leaf(np.maximum(lengths, 1).astype(losses.dtype))
    losses = reduced_loss(losses, reduction)
    return losses if batched or reduction != "none" else make.squeeze(losses, 0)


_OVER_CLASSES: Final = "F.log_softmax(T, -1)"

CTC_LOSS = compose(
    "ctc_loss",
    "Minus the logarithm of the probability that steps of classes read as labels, once repeats and blanks are dropped.",
    family="loss",
    method=False,
    call=_ctc_loss,
    forms=(
        "F.ctc_loss(log_probs, targets, input_lengths, target_lengths)",
        "F.ctc_loss(log_probs, targets, input_lengths, target_lengths, reduction='none', zero_infinity=True)",
    ),
    examples=(
        Example(f"F.ctc_loss({_OVER_CLASSES}, [[1, 2], [1, 1]], [4, 3], [2, 2])", {"T": (4, 2, 3)}),
        Example(f"F.ctc_loss({_OVER_CLASSES}, [1, 2, 1], [3, 2], [2, 1], reduction='sum')", {"T": (3, 2, 3)}),
        Example(f"F.ctc_loss({_OVER_CLASSES}, [1], [3], [1], blank=2, reduction='none')", {"T": (3, 3)}),
    ),
    domain="logarithms of probabilities, as log_softmax gives them: those of a step add up to 1",
    kink="PyTorch's gradient is that for normalised log_probs, exp(log_probs) less each state's share; NaN where no "
    "alignment is possible and the loss is infinite, 0 there with zero_infinity=True",
    grad_fn="MeanBackward0",
)
