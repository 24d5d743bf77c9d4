"""What PyTorch refuses or warns of before it computes, where a formula is free: dtypes, sizes, arguments left out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..graph import DType, Node, Op
from ..language.signatures import signature
from .dtypes import of_numpy
from .loss_checks import LOSSES, Arguments
from .modes import warn_once

_DEPTH: Final = 5
"""How far above a check the script stands."""
_IN_CPP: Final = {
    "float16": "c10::Half",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "bool": "bool",
}
"""How messages of matrix products call a type of elements."""


def word(dtype: DType) -> str:
    """How messages call a type of elements: Float, Long."""
    return of_numpy(dtype).word


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=_DEPTH)


# Types of elements ----------------------------------------------------------------------------------------------------


def _one_dtype(left: Any, right: Any) -> None:
    """The two sides of a product of matrices must have one type of elements."""
    if not (isinstance(left, Node) and isinstance(right, Node)) or left.dtype == right.dtype:
        return
    if left.is_number or right.is_number or not (left.ndim and right.ndim):
        return
    one, two = word(left.dtype), word(right.dtype)
    if left.ndim == right.ndim == 1:
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {one} and {two}")
    if right.ndim == 1:
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {two}, {one}, and {two}")
    if right.ndim > 2:
        raise RuntimeError(f"expected scalar type {one} but found {two}")
    raise RuntimeError(
        f"expected m1 and m2 to have the same dtype, but got: {_IN_CPP[left.dtype.name]} != {_IN_CPP[right.dtype.name]}"
    )


def _product(arguments: Arguments) -> None:
    left, right, *_ = arguments.values()
    _one_dtype(left, right)


def _mean(arguments: Arguments) -> None:
    dtype, what = arguments["input"].dtype, "Input"
    if isinstance(arguments.get("dtype"), np.dtype):
        dtype, what = arguments["dtype"], "Optional"
    if dtype.kind not in "fc":
        raise RuntimeError(
            f"mean(): could not infer output dtype. {what} dtype must be either a floating point or complex dtype. "
            f"Got: {word(dtype)}"
        )


def _spread(name: str) -> Callable[[Arguments], None]:
    def check(arguments: Arguments) -> None:
        node = arguments["input"]
        if node.dtype.kind not in "fc":
            raise RuntimeError("std and var only support floating point and complex dtypes")
        dim, correction = arguments.get("dim"), arguments.get("correction")
        if correction is None:
            correction = 0 if arguments.get("unbiased") is False or dim is False else 1
        dims = (
            range(node.ndim) if dim is None or isinstance(dim, bool) else dim if isinstance(dim, Sequence) else (dim,)
        )
        count = math.prod(node.shape[axis] for axis in dims if -node.ndim <= axis < node.ndim)
        if count - correction <= 0:
            _warn(
                f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
                "(input numel divided by output numel)."
            )

    return check


def _condition(arguments: Arguments) -> None:
    condition = next(iter(arguments.values()))
    if isinstance(condition, Node) and condition.dtype.kind != "b" and "b" not in _kinds(arguments):
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {word(condition.dtype)}"
        )


def _kinds(arguments: Arguments) -> list[str]:
    return [value.dtype.kind if isinstance(value, Node) else "" for value in arguments.values()]


def _floats(name: str) -> Callable[[Arguments], None]:
    """The function wants floats, where a formula would convert integers."""

    def check(arguments: Arguments) -> None:
        node = next(iter(arguments.values()))
        if isinstance(node, Node) and node.dtype.kind not in "fc":
            raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {word(node.dtype)}")

    return check


def _no_kernel(kernel: str) -> Callable[[Arguments], None]:
    """PyTorch has no kernel for integers, where a formula would convert them."""

    def check(arguments: Arguments) -> None:
        nodes = [value for value in arguments.values() if isinstance(value, Node)]
        if arguments.get("dtype") is None and nodes and all(node.dtype.kind not in "fc" for node in nodes):
            name = kernel
            if "{}" in kernel:
                ndim, dim = nodes[0].ndim, arguments.get("dim")
                name = kernel.format(
                    "_lastdim" if not ndim or (isinstance(dim, int) and dim % ndim == ndim - 1) else ""
                )
            raise NotImplementedError(f"\"{name}\" not implemented for '{word(nodes[0].dtype)}'")

    return check


def _both(*checks: Callable[[Arguments], None]) -> Callable[[Arguments], None]:
    def check(arguments: Arguments) -> None:
        for each in checks:
            each(arguments)

    return check


def _subtraction(arguments: Arguments) -> None:
    kinds = _kinds(arguments)[:2]
    if "b" in kinds and kinds != ["b", "b"]:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead."
        )


# Arguments left out ---------------------------------------------------------------------------------------------------


def _implicit_dim(name: str) -> Callable[[Arguments], None]:
    def check(arguments: Arguments) -> None:
        if arguments.get("dim") is None:
            _warn(
                f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
                "argument."
            )

    return check


def _cross(arguments: Arguments) -> None:
    if arguments.get("dim") is None:
        warn_once(
            "Using torch.cross without specifying the dim arg is deprecated.\n"
            "Please either pass the dim explicitly or simply use torch.linalg.cross.\n"
            "The default value of dim will change to agree with that of linalg.cross in a future release.",
            _DEPTH,
        )


def _transposed(attribute: str) -> Callable[[Arguments], None]:
    def check(arguments: Arguments) -> None:
        ndim = next(iter(arguments.values())).ndim
        if ndim == 0:
            warn_once(
                f"Tensor.{attribute} is deprecated on 0-D tensors. This function is the identity in these cases.",
                _DEPTH,
            )
        elif attribute == "T" and ndim != 2:
            warn_once(
                "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it "
                "will throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
                "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
                _DEPTH,
            )

    return check


_OF_FLOATS: Final = (
    *("cholesky", "det", "inverse", "qr", "slogdet", "svd"),
    *("linalg.cholesky", "linalg.eig", "linalg.eigh", "linalg.eigvals", "linalg.eigvalsh"),
    *("linalg.pinv", "linalg.qr", "linalg.solve", "linalg.svd", "linalg.svdvals"),
)
"""Rows of linear algebra that take floats only."""

CHECKS: Final[dict[str, Callable[[Arguments], None]]] = {
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot", "vdot", "linear"), _product),
    **{name: _spread(name) for name in ("std", "var", "std_mean", "var_mean")},
    **{name: _floats(f"linalg.{name.removeprefix('linalg.').replace('inverse', 'inv')}") for name in _OF_FLOATS},
    **dict.fromkeys(("norm", "linalg.norm", "linalg.vector_norm"), _floats("linalg.vector_norm")),
    **LOSSES,
    "mse_loss": _both(LOSSES["mse_loss"], _no_kernel("mse_cpu")),
    "softmax": _both(_implicit_dim("softmax"), _no_kernel("softmax{}_kernel_impl")),
    "log_softmax": _both(_implicit_dim("log_softmax"), _no_kernel("log_softmax{}_kernel_impl")),
    "softmin": _both(_implicit_dim("softmin"), _no_kernel("softmax{}_kernel_impl")),
    "gelu": _no_kernel("GeluKernelImpl"),
    "softplus": _no_kernel("softplus_cpu"),
    "silu": _no_kernel("silu_cpu"),
    "leaky_relu": _no_kernel("leaky_relu_cpu"),
    "logsigmoid": _no_kernel("log_sigmoid_cpu"),
    **dict.fromkeys(("elu", "selu", "celu"), _no_kernel("elu_cpu")),
    **{name: _transposed(name) for name in ("T", "mT")},
    "mean": _mean,
    "where": _condition,
    "sub": _subtraction,
    "rsub": _subtraction,
    "cross": _cross,
}
"""By the name of a row, what is looked at before it is called."""


def before(op: Op, arguments: Sequence[Any], named: Arguments) -> None:
    """Refuse and warn as PyTorch does before an op computes.

    Args:
        op: the row that is called.
        arguments, named: as the row takes them.
    """
    check = CHECKS.get(op.name)
    if check is not None:
        names = [parameter.name for parameter in signature(op).positional]
        check({**dict(zip(names, arguments, strict=False)), **named})
