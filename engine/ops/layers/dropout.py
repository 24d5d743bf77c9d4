"""Dropout and its kin: a random mask that a seed fixes, times what is left."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Example, Node, Op, Shape, leaf, make
from ..leaves.random import stream
from ..row import as_float, compose

_FAMILY: Final = "nn.functional"
_FLOOR: Final = -1.7580993408473766
"""What selu tends to at minus infinity: alpha_dropout puts it where it drops."""
_STREAM: Final = "the stream is that of numpy.random.default_rng(seed)"


def _kept(name: str, shape: Shape, p: float, seed: int | None) -> Any:
    """1.0 where an element is kept, 0.0 where it is dropped, with probability p."""
    return (stream(name, seed).random(shape) >= p).astype(np.float64)


def _refuse_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise InputError(f"dropout probability has to be between 0 and 1, but got {p}", code="value")


def _mask_shape(name: str, x: Node, by_channel: bool) -> Shape:
    """The shape of the mask: the tensor's, or one entry for each of its channels, axis 1."""
    if not by_channel:
        return x.shape
    if x.ndim < 2:
        raise ShapeError(
            "Feature dropout requires at least 2 dimensions in the input",
            hint=f"{name} drops whole channels, the second dimension; F.dropout drops elements",
        )
    return (*x.shape[:2], *(1,) * (x.ndim - 2))


def _dropped(name: str, x: Node, p: float, training: bool, seed: int | None, by_channel: bool = False) -> Node:
    _refuse_probability(p)
    if p == 0 or not training or not x.size:
        return x
    shape = _mask_shape(name, x, by_channel)
    if p == 1:
        return x * leaf(np.zeros(shape, x.dtype)[()])
    return x * leaf((_kept(name, shape, p, seed) / (1 - p)).astype(x.dtype)[()])


def _alpha_dropped(name: str, x: Node, p: float, training: bool, seed: int | None, by_channel: bool = False) -> Node:
    """As `_dropped`, with selu's floor in place of what is dropped, scaled so that mean and variance stay 0 and 1.

    Source: Klambauer et al., "Self-Normalizing Neural Networks", 2017.
    """
    if p in (0, 1) or not training or not x.size:
        return _dropped(name, x, p, training, seed, by_channel)
    _refuse_probability(p)
    kept = _kept(name, _mask_shape(name, x, by_channel), p, seed)
    scale = 1 / math.sqrt((_FLOOR * _FLOOR * p + 1) * (1 - p))
    shift = ((1 - kept) - p) * (_FLOOR * scale)
    return x * leaf((kept * scale).astype(x.dtype)[()]) + leaf(shift.astype(x.dtype)[()])


def _row(name: str, doc: str, call: Any, form: str, shape: Shape, grad_fn: str = "MulBackward0", **fields: Any) -> Op:
    """A row for one kind of dropout; without training it is the tensor itself, with no name of its own."""
    return compose(
        name,
        f"{doc}; {_STREAM}.",
        family=_FAMILY,
        method=False,
        call=call,
        forms=fields.pop("forms", (form, f"F.{name}(x, training=False)")),
        examples=(Example(form, {"x": shape}),),
        kink="none: linear for a given seed; what is dropped gets 0",
        grad_fn=grad_fn,
        **fields,
    )


def _dropout(input: Node, p: float = 0.5, training: bool = True, *, seed: int | None = None) -> Node:
    return _dropped("dropout", as_float(input), p, training, seed)


def _alpha_dropout(input: Node, p: float = 0.5, training: bool = False, *, seed: int | None = None) -> Node:
    return _alpha_dropped("alpha_dropout", as_float(input), p, training, seed)


def _feature_alpha_dropout(input: Node, p: float = 0.5, training: bool = False, *, seed: int | None = None) -> Node:
    return _alpha_dropped("feature_alpha_dropout", as_float(input), p, training, seed, by_channel=True)


def _by_channel(axes: int, single: int) -> Any:
    """The call that drops whole channels of inputs with so many axes beyond them.

    Args:
        axes: how many axes a channel has.
        single: the number of dimensions that means one input instead of a batch; 0 where none does, as in PyTorch.
    """
    name = f"dropout{axes}d"

    def call(input: Node, p: float = 0.5, training: bool = True, *, seed: int | None = None) -> Node:
        x = as_float(input)
        if x.ndim not in (axes + 1, axes + 2):
            raise ShapeError(
                f"{name}: Expected {axes + 1}D or {axes + 2}D input, but received a {x.ndim}D input",
                hint=f"channels and {axes} more axes, and a batch before them; F.dropout takes every shape",
            )
        if x.ndim != single:
            return _dropped(name, x, p, training, seed, by_channel=True)
        batch = _dropped(name, make.unsqueeze(x, 0), p, training, seed, by_channel=True)
        return make.squeeze(batch, 0)  # type: ignore[no-any-return]  # a row's call is of any type

    return call


DROPOUT = _row(
    "dropout",
    "The tensor with elements set to 0 at random, with probability p, and the others divided by 1 - p",
    _dropout,
    "F.dropout(x, 0.5, seed=0)",
    (4,),
    forms=(
        "F.dropout(x, 0.5, training=True, seed=0)",
        "F.dropout(x, 0.0)",
        "F.dropout(x, 0.5, training=False)",
        "torch.dropout(x, 0.5, True, seed=0)",
    ),
)
ALPHA_DROPOUT = _row(
    "alpha_dropout",
    "The tensor with elements set to selu's floor at random, scaled so that a mean of 0 and a variance of 1 stay",
    _alpha_dropout,
    "F.alpha_dropout(x, 0.5, training=True, seed=0)",
    (4,),
    "AddBackward0",
)
FEATURE_ALPHA_DROPOUT = _row(
    "feature_alpha_dropout",
    "As alpha_dropout, for whole channels, axis 1",
    _feature_alpha_dropout,
    "F.feature_alpha_dropout(x, 0.5, training=True, seed=0)",
    (2, 2, 2),
    "AddBackward0",
)
for _axes, _single in ((1, 2), (2, 0), (3, 4)):
    _row(
        f"dropout{_axes}d",
        "The tensor with whole channels, axis 1, set to 0 at random, and the others divided by 1 - p",
        _by_channel(_axes, _single),
        f"F.dropout{_axes}d(x, 0.5, seed=0)",
        (2, 3, *(2,) * _axes),
        aliases=("feature_dropout",) if _axes == 2 else (),
    )
