"""`torch.nn`: modules, the few layers and losses that notes use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..graph import TABLE
from . import dispatch, dtypes
from .module import Module
from .random import rand, randn
from .tensor import Parameter, Tensor


class Linear(Module):
    """A matrix product with learned weights, and a learned shift."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        self.in_features = in_features
        self.out_features = out_features
        bound = 1 / math.sqrt(in_features) if in_features else 0.0
        self.weight = Parameter(_uniform((out_features, in_features), bound))
        self.bias = Parameter(_uniform((out_features,), bound)) if bias else None

    def forward(self, input: Tensor) -> Any:
        """The products, with the shift."""
        return dispatch.call(TABLE["linear"], (input, self.weight, self.bias), {})

    def extra_repr(self) -> str:
        """The sizes."""
        bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={bias}"


class Embedding(Module):
    """Learned rows, picked by number."""

    def __init__(self, num_embeddings: int, embedding_dim: int) -> None:
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.weight = Parameter(randn(num_embeddings, embedding_dim))

    def forward(self, input: Tensor) -> Any:
        """The rows of the numbers."""
        return dispatch.call(TABLE["embedding"], (input, self.weight), {})

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.num_embeddings}, {self.embedding_dim}"


class LayerNorm(Module):
    """The last dimensions brought to mean 0 and deviation 1, then scaled and shifted."""

    def __init__(self, normalized_shape: Any, eps: float = 1e-5) -> None:
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape = shape
        self.eps = eps
        self.weight = Parameter(Tensor._made(np.ones(shape, dtype=dtypes.default_float())))
        self.bias = Parameter(Tensor._made(np.zeros(shape, dtype=dtypes.default_float())))

    def forward(self, input: Tensor) -> Any:
        """The normalised numbers."""
        return dispatch.call(TABLE["layer_norm"], (input, self.normalized_shape, self.weight, self.bias, self.eps), {})

    def extra_repr(self) -> str:
        """The shape and the smallest variance."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine=True"


class Dropout(Module):
    """Entries dropped at random while training, the others scaled up."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Any:
        """The numbers that are left."""
        if not self.training or not self.p:
            return input
        kept = Tensor._made((rand(*input.shape)._array >= self.p).astype(input._array.dtype))
        return input * kept / (1 - self.p)

    def extra_repr(self) -> str:
        """The chance."""
        return f"p={self.p}, inplace={self.inplace}"


def _uniform(shape: tuple[int, ...], bound: float) -> Tensor:
    values = rand(*shape)._array
    return Tensor._made((values * np.float32(2 * bound) - np.float32(bound)).astype(values.dtype))


class Sequential(Module):
    """Modules one after another."""

    def __init__(self, *modules: Module) -> None:
        for index, module in enumerate(modules):
            setattr(self, str(index), module)

    def forward(self, input: Any) -> Any:
        """What the last module gives."""
        for module in self.children():
            input = module(input)
        return input

    def __getitem__(self, index: int) -> Module:
        return list(self.children())[index]

    def __len__(self) -> int:
        return len(list(self.children()))


__all__ = ["MODULES", "Dropout", "Embedding", "LayerNorm", "Linear", "Module", "Sequential"]

_ACTIVATIONS: Final = {
    "ReLU": "relu",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Softplus": "softplus",
    "LeakyReLU": "leaky_relu",
    "ELU": "elu",
    "GELU": "gelu",
    "SiLU": "silu",
    "Softmax": "softmax",
    "LogSoftmax": "log_softmax",
    "LogSigmoid": "logsigmoid",
    "Flatten": "flatten",
    "Identity": "positive",
}
_LOSSES: Final = {
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "HuberLoss": "huber_loss",
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "KLDivLoss": "kl_div",
}


_TOLD: Final = ("Softmax", "LogSoftmax")
"""Modules whose text names their options."""


def _stateless(name: str, function: Callable[..., Any]) -> type[Module]:
    """A module without parameters: a function with its options kept."""

    def start(self: Any, *args: Any, **options: Any) -> None:
        self._args = args
        self._options = {key: value for key, value in options.items() if key != "inplace"}

    def forward(self: Any, *inputs: Any) -> Any:
        return function(*inputs, *self._args, **self._options)

    def extra_repr(self: Any) -> str:
        return ", ".join(f"{key}={value}" for key, value in self._options.items()) if name in _TOLD else ""

    members = {"__init__": start, "forward": forward, "extra_repr": extra_repr, "__module__": "torch.nn"}
    return type(name, (Module,), members)


def _row(name: str) -> Callable[..., Any]:
    return lambda *args, **keywords: dispatch.call(TABLE[name], args, keywords, function=name)


MODULES: Final[dict[str, Any]] = {
    "Module": Module,
    "Linear": Linear,
    "Sequential": Sequential,
    "Embedding": Embedding,
    "LayerNorm": LayerNorm,
    "Dropout": Dropout,
    "Parameter": Parameter,
    **{name: _stateless(name, _row(row)) for name, row in _ACTIVATIONS.items()},
    **{name: _stateless(name, _row(row)) for name, row in _LOSSES.items()},
}
"""The members of `torch.nn`."""
MODULES["Flatten"] = _stateless("Flatten", lambda input: dispatch.call(TABLE["flatten"], (input, 1), {}))
