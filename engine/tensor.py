"""The library's front door: tensors that compute at once, and their gradients, as PyTorch has them.

`torch` is the whole namespace, as a script imports it; the names beside it are those that a program wants first.
"""

from __future__ import annotations

from .eager.autograd import backward, grad
from .eager.creation import arange, as_tensor, eye, from_numpy, full, linspace, ones, tensor, zeros
from .eager.custom import Function
from .eager.gradcheck import gradcheck, gradgradcheck
from .eager.modes import enable_grad, no_grad, set_detect_anomaly, set_grad_enabled
from .eager.namespace import torch
from .eager.tensor import Parameter, Tensor

__all__ = [
    "Function",
    "Parameter",
    "Tensor",
    "arange",
    "as_tensor",
    "backward",
    "enable_grad",
    "eye",
    "from_numpy",
    "full",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "linspace",
    "no_grad",
    "ones",
    "set_detect_anomaly",
    "set_grad_enabled",
    "tensor",
    "torch",
    "zeros",
]
