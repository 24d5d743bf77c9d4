"""What PyTorch refuses or warns of before it computes a loss: sizes, labels, probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from ..graph import Node
from ..ops.concrete import value_of
from .dtypes import Size, of_numpy

Arguments = Mapping[str, Any]
"""The arguments of a call by the names of the row's parameters: tensors as nodes, the rest as it was given."""

_DEPTH: Final = 6
"""How far above a check the script stands."""


def _compared(arguments: Arguments) -> tuple[Node, Node, Size, Size]:
    """The prediction and the target, and their sizes.

    Raises:
        AttributeError: where one is no tensor, as where PyTorch asks for its size.
    """
    pair = arguments["input"], arguments["target"]
    for value in reversed(pair):
        if not isinstance(value, Node):
            raise AttributeError(f"'{type(value).__name__}' object has no attribute 'size'")
    return *pair, Size(pair[0].shape), Size(pair[1].shape)


def _labels(arguments: Arguments) -> None:
    scores, target = arguments["input"], arguments["target"]
    if not (isinstance(scores, Node) and isinstance(target, Node)):
        return
    if target.dtype.kind in "fc" and target.shape == scores.shape and scores.ndim:
        return  # probabilities of the classes
    if scores.ndim > 1 and target.ndim and scores.shape[0] != target.shape[0]:
        raise ValueError(
            f"Expected input batch_size ({scores.shape[0]}) to match target batch_size ({target.shape[0]})."
        )
    if target.dtype.name not in ("int64", "uint8"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {of_numpy(target.dtype).word}")


def _probabilities(arguments: Arguments) -> None:
    input, target, size, target_size = _compared(arguments)
    if size != target_size:
        raise ValueError(
            f"Using a target size ({target_size}) that is different to the input size ({size}) is "
            "deprecated. Please ensure they have the same size."
        )
    for name, node in (("input", input), ("target", target)):
        values = np.asarray(node.value if node.value is not None else value_of(node))
        if not np.all((values >= 0) & (values <= 1)):
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")


def _like_the_input(arguments: Arguments) -> None:
    _, _, size, target_size = _compared(arguments)
    if size != target_size:
        raise ValueError(f"Target size ({target_size}) must be the same as input size ({size})")


def _sizes(arguments: Arguments) -> None:
    _, _, size, target_size = _compared(arguments)
    if size != target_size:
        warnings.warn(
            f"Using a target size ({target_size}) that is different to the input size ({size}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=_DEPTH,
        )


def _kl_div(arguments: Arguments) -> None:
    if arguments.get("reduction", "mean") == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
            "same as 'batchmean' in the next major release.",
            stacklevel=_DEPTH,
        )


LOSSES: Final[dict[str, Callable[[Arguments], None]]] = {
    **dict.fromkeys(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"), _sizes),
    **dict.fromkeys(("nll_loss", "cross_entropy"), _labels),
    "binary_cross_entropy": _probabilities,
    "binary_cross_entropy_with_logits": _like_the_input,
    "kl_div": _kl_div,
}
"""By the name of a row, what is looked at before a loss is computed."""
