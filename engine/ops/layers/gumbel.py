"""A softmax that draws: with random numbers that a seed fixes."""

from __future__ import annotations

import numpy as np

from ...graph import Example, Node, leaf, make
from ..leaves.random import stream
from ..row import as_float, compose


def _gumbel_softmax(
    logits: Node, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1, *, seed: int | None = None
) -> Node:
    del eps  # PyTorch takes it and does not use it
    logits = as_float(logits)
    noise = np.asarray(stream("gumbel_softmax", seed).gumbel(size=logits.shape)).astype(logits.dtype)
    soft = make.softmax((logits + leaf(noise[()])) / tau, dim)
    if not hard:
        return soft  # type: ignore[no-any-return]  # a row's call is of any type
    chosen = make.to(make.first_largest(soft, dim), logits.dtype)
    return chosen + (soft - make.detach(soft))  # type: ignore[no-any-return]  # as above


GUMBEL_SOFTMAX = compose(
    "gumbel_softmax",
    "The softmax of x with Gumbel noise added, over tau; hard=True gives the one-hot draw, with its gradient; "
    "the stream is that of numpy.random.default_rng(seed).",
    family="nn.functional",
    method=False,
    call=_gumbel_softmax,
    forms=("F.gumbel_softmax(x, seed=0)", "F.gumbel_softmax(x, hard=True, seed=0)", "F.gumbel_softmax(x, 0.5, seed=0)"),
    examples=(
        Example("F.gumbel_softmax(x, seed=0)", {"x": (2, 3)}),
        Example("F.gumbel_softmax(x, tau=0.5, hard=True, seed=0)", {"x": (2, 3)}),
    ),
    domain="all numbers; tau above 0",
    kink="none: smooth; with hard=True the gradient is that of the softmax (straight through), not of the step",
    grad_fn="SoftmaxBackward0",
)
