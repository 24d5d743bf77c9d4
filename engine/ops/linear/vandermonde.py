"""Matrices of powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ...graph import Example, Node, leaf, make
from ..row import as_float, compose

_FAMILY = "linalg"


def _powers(x: Node, count: Any, *, increasing: bool, name: str) -> Node:
    if count is None:
        count = x.shape[-1]
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(f"{name}: N must be greater than 0, not {count!r}")
    ones = leaf(np.ones((*x.shape, 1), dtype=x.dtype))
    if count == 1:
        return ones
    # Running products rather than powers: right at zero, for every order of derivative.
    powers = make.cumprod(make.expand(make.unsqueeze(x, -1), (*x.shape, count - 1)), -1)
    return make.cat([ones, powers] if increasing else [make.flip(powers, (-1,)), ones], -1)  # type: ignore[no-any-return]  # any row's call


def _linalg_vander(x: Node, *, N: int | None = None) -> Node:  # noqa: N803  # PyTorch's name
    node = as_float(x)
    if not node.ndim:
        raise InputError("linalg.vander: the input must have at least one axis")
    return _powers(node, N, increasing=True, name="linalg.vander")


LINALG_VANDER = compose(
    "linalg.vander",
    "The powers of each element of a vector, from 0 to N - 1, as the rows of a matrix.",
    family=_FAMILY,
    method=False,
    call=_linalg_vander,
    forms=("torch.linalg.vander(x)", "torch.linalg.vander(x, N=4)"),
    examples=(Example("torch.linalg.vander(x)", {"x": (3,)}), Example("torch.linalg.vander(x, N=4)", {"x": (2,)})),
    domain="all numbers",
    kink="none: polynomials",
    grad_fn="CatBackward0",
)


def _vander(x: Node, N: int | None = None, increasing: bool = False) -> Node:  # noqa: N803  # PyTorch's name
    node = as_float(x)
    if node.ndim != 1:
        raise InputError(f"vander: x must be a one-dimensional tensor, not {node.ndim}D")
    return _powers(node, N, increasing=increasing, name="vander")


VANDER = compose(
    "vander",
    "The powers of each element of a vector, from N - 1 down to 0, as the rows of a matrix.",
    family=_FAMILY,
    method=False,
    call=_vander,
    forms=("torch.vander(x)", "torch.vander(x, 4, increasing=True)", "np.vander(x)"),
    examples=(Example("torch.vander(x, 4, increasing=True)", {"x": (2,)}), Example("np.vander(x)", {"x": (3,)})),
    domain="all numbers",
    kink="none: polynomials",
    grad_fn="CatBackward0",
)
