"""`torch.nn.init`: values for parameters, written where nothing is recorded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .modes import Switch
from .tensor import Tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Overwrite a tensor with one number."""
    with Switch({"grad": False}):
        return tensor.fill_(val)  # type: ignore[no-any-return]  # a tensor


def zeros_(tensor: Tensor) -> Tensor:
    """Overwrite a tensor with zeros."""
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Overwrite a tensor with ones."""
    return constant_(tensor, 1.0)


def eye_(tensor: Tensor) -> Tensor:
    """Overwrite a matrix with the unit matrix."""
    with Switch({"grad": False}):
        return tensor.copy_(Tensor._made(np.eye(*tensor.shape, dtype=tensor._array.dtype)))  # type: ignore[no-any-return]  # a tensor


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Overwrite a tensor with numbers evenly distributed between two."""
    with Switch({"grad": False}):
        return tensor.uniform_(a, b)  # type: ignore[no-any-return]  # a tensor


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Overwrite a tensor with normal numbers."""
    with Switch({"grad": False}):
        return tensor.normal_(mean, std)  # type: ignore[no-any-return]  # a tensor


def _fans(tensor: Tensor) -> tuple[int, int]:
    rest = math.prod(tensor.shape[2:])
    return tensor.shape[1] * rest, tensor.shape[0] * rest


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Overwrite weights with numbers whose spread fits both their fans."""
    bound = gain * math.sqrt(6.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Overwrite weights with normal numbers whose spread fits both their fans."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))))


FUNCTIONS: dict[str, Any] = {
    each.__name__: each for each in (constant_, zeros_, ones_, eye_, uniform_, normal_, xavier_uniform_, xavier_normal_)
}
"""The members of `torch.nn.init`."""
