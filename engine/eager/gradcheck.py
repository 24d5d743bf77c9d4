"""`gradcheck`: analytical gradients against difference quotients, with PyTorch's tolerances and words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..printing.tensors import tensor_text
from . import dtypes
from .autograd import grad
from .exceptions import GradcheckError
from .modes import Switch
from .random import randn
from .tensor import Tensor
from .views import overlaps

Function = Callable[..., Any]

_NOT_REENTRANT: Final = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
    "values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism was {}.\n\n"
    "NOTE: If your op relies on non-deterministic operations i.e., it is listed here:\n"
    "https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html\n"
    "this failure might be expected.\n\n"
    "If you are adding a new operator, please file an issue and then use one of the\n"
    "workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.\n"
    "If the test\n"
    "- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck\n"
    "  with `nondet_tol=<tol>` as a keyword argument.\n"
    "- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test\n"
    "  to have `gradcheck_nondet_tol=<tol>`.\n"
    "- is a Module test (e.g., in common_nn.py), then modify the corresponding\n"
    "  module_test entry to have `gradcheck_nondet_tol=<tol>`\n"
)
Array = np.ndarray[Any, Any]


def _listed(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (tuple, list)) else [values]


def _checked(inputs: Sequence[Any]) -> None:
    some = False
    for index, tensor in enumerate(inputs):
        if not isinstance(tensor, Tensor) or not tensor.requires_grad:
            continue
        some = True
        if tensor._array.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=3,
            )
        if overlaps(tensor._array):
            raise RuntimeError(
                f"The {index}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck."
            )
    if not some:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


def _differentiable(outputs: Any) -> list[Tensor]:
    return [output for output in _listed(outputs) if isinstance(output, Tensor) and output.requires_grad]


def _numerical(func: Function, inputs: Sequence[Any], tensor: Tensor, index: int, eps: float) -> Array:
    """The difference quotients of one result: a row for each entry of the input."""
    rows = []
    flat = tensor._array.reshape(-1) if tensor._array.flags.c_contiguous else None
    with Switch({"grad": False}):
        for place in range(tensor.numel()):
            key = np.unravel_index(place, tensor._array.shape) if flat is None else place
            memory: Array = tensor._array if flat is None else flat
            kept = memory[key]
            memory[key] = kept - eps
            low = np.array(_listed(func(*inputs))[index]._array)
            memory[key] = kept + eps
            high = np.array(_listed(func(*inputs))[index]._array)
            memory[key] = kept
            with np.errstate(all="ignore"):
                rows.append(((high - low) / (2 * eps)).astype(high.dtype).reshape(-1))
    return np.stack(rows) if rows else np.zeros((0, 0))


def _analytical(output: Tensor, inputs: Sequence[Tensor]) -> list[Array]:
    """The gradients of each entry of a result, one column each."""
    columns: list[list[Array]] = [[] for _ in inputs]
    for place in range(output.numel()):
        weight = np.zeros_like(output._array)
        weight.reshape(-1)[place] = 1
        found = grad(output, inputs, Tensor._made(weight), retain_graph=True, allow_unused=True)
        for column, part, tensor in zip(columns, found, inputs, strict=True):
            column.append(np.zeros(tensor.numel()) if part is None else part._array.reshape(-1))
    return [np.stack(column, axis=1).astype(output._array.dtype) for column in columns]


def _mismatch(first: int, second: int, numerical: Array, analytical: Array) -> str:
    def text(array: Array) -> str:
        return tensor_text(array, default_dtype=dtypes.default_float())

    return (
        f"Jacobian mismatch for output {first} with respect to input {second},\n"
        f"numerical:{text(numerical)}\nanalytical:{text(analytical)}\n"
    )


def gradcheck(
    func: Function,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    **_: Any,
) -> bool:
    """Whether the gradients of a function agree with its difference quotients.

    Raises:
        GradcheckError: where they do not, unless `raise_exception` is False.
    """
    try:
        _check(func, _listed(inputs), eps, atol, rtol, nondet_tol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check(func: Function, inputs: list[Any], eps: float, atol: float, rtol: float, nondet_tol: float) -> None:
    _checked(inputs)
    variables = [tensor for tensor in inputs if isinstance(tensor, Tensor) and tensor.requires_grad]
    with Switch({"grad": True}):
        results = _listed(func(*inputs))
        for index, output in enumerate(results):
            if not isinstance(output, Tensor) or not output.requires_grad:
                continue
            analytical = _analytical(output, variables)
            for place, tensor in enumerate(variables):
                numerical = _numerical(func, inputs, tensor, index, eps)
                if not np.allclose(analytical[place], numerical, rtol=rtol, atol=atol):
                    raise GradcheckError(_mismatch(index, place, numerical, analytical[place]))
            again = _analytical(output, variables)
            for one, other in zip(analytical, again, strict=True):
                if np.abs(one - other).max(initial=0.0) > nondet_tol:
                    raise GradcheckError(_NOT_REENTRANT.format(nondet_tol))


def gradgradcheck(
    func: Function, inputs: Any, grad_outputs: Any = None, *, raise_exception: bool = True, **options: Any
) -> bool:
    """Whether the second derivatives of a function agree with difference quotients of the first.

    Raises:
        GradcheckError: where they do not, unless `raise_exception` is False.
    """
    given = _listed(inputs)
    outputs = _differentiable(func(*given))
    if grad_outputs is None:
        weights = [randn(*output.shape, dtype=output.dtype, requires_grad=True) for output in outputs]
    else:
        weights = _listed(grad_outputs)

    def gradient(*args: Any) -> Any:
        own = args[: len(given)]
        variables = [tensor for tensor in own if isinstance(tensor, Tensor) and tensor.requires_grad]
        with Switch({"grad": True}):
            found = grad(
                _differentiable(func(*own)), variables, args[len(given) :], create_graph=True, allow_unused=True
            )
        return tuple(part for part in found if part is not None)

    return gradcheck(gradient, (*given, *weights), raise_exception=raise_exception, **options)
