"""`torch.autograd.functional`: Jacobians, Hessians and products with them, of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dispatch
from .autograd import grad
from .modes import Switch
from .tensor import Tensor

Function = Callable[..., Any]


def _tuple(values: Any, what: str, name: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether several were given, and all of them as a tuple."""
    several = isinstance(values, (tuple, list))
    listed = tuple(values) if several else (values,)
    for index, value in enumerate(listed):
        if isinstance(value, Tensor):
            continue
        if several:
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the value at index "
                f"{index} has type {type(value)}."
            )
        raise TypeError(
            f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the given {what} has type "
            f"{type(value)}."
        )
    return several, listed


def _fresh(inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """The inputs as new variables; tied to the old ones where the result is to be differentiated again."""
    if create_graph:
        return tuple(
            dispatch.operate("alias", tensor) if tensor.requires_grad else tensor.detach().requires_grad_()
            for tensor in inputs
        )
    return tuple(tensor.detach().requires_grad_() for tensor in inputs)


def _called(func: Function, inputs: tuple[Tensor, ...], name: str, strict: bool) -> tuple[bool, tuple[Tensor, ...]]:
    several, outputs = _tuple(func(*inputs), "outputs of the user-provided function", name)
    if strict:
        for index, output in enumerate(outputs):
            if not output.requires_grad:
                raise RuntimeError(
                    f"Output {index} of the user-provided function does not require gradients. The outputs must be "
                    "computed in a differentiable manner from the input when running in strict mode."
                )
    return several, outputs


def _gradients(
    outputs: Any, inputs: tuple[Tensor, ...], weights: Any = None, *, create_graph: bool, keep: bool = True
) -> list[Tensor]:
    """Gradients with zeros where nothing flows."""
    pairs = [
        (output, None if weights is None else weights[index])
        for index, output in enumerate(outputs)
        if output.requires_grad
    ]
    if not pairs:
        return [Tensor._made(np.zeros_like(tensor._array)) for tensor in inputs]
    found = grad(
        [output for output, _ in pairs],
        inputs,
        None if weights is None else [weight for _, weight in pairs],
        retain_graph=keep,
        create_graph=create_graph,
        allow_unused=True,
    )
    return [
        Tensor._made(np.zeros_like(tensor._array)) if part is None else part
        for part, tensor in zip(found, inputs, strict=True)
    ]


def _ended(values: Any, several: bool, create_graph: bool) -> Any:
    listed = tuple(value if create_graph else value.detach() for value in values)
    return listed if several else listed[0]


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of each entry of each result with respect to each entry of each input."""
    del vectorize, strategy
    with Switch({"grad": True}):
        many, given = _tuple(inputs, "inputs", "jacobian")
        variables = _fresh(given, create_graph)
        several, outputs = _called(func, variables, "jacobian", strict)
        found = [_jacobian_of(output, variables, create_graph) for output in outputs]
    rows = [_ended(row, many, create_graph) for row in found]
    return tuple(rows) if several else rows[0]


def _jacobian_of(output: Tensor, inputs: tuple[Tensor, ...], create_graph: bool) -> list[Tensor]:
    columns: list[list[Tensor]] = [[] for _ in inputs]
    flat = output.reshape(-1)
    for index in range(output.numel()):
        parts = _gradients([flat[index]], inputs, create_graph=create_graph)
        for column, part in zip(columns, parts, strict=True):
            column.append(part)
    found = []
    for column, tensor in zip(columns, inputs, strict=True):
        shape = (*output.shape, *tensor.shape)
        if not column:
            found.append(Tensor._made(np.zeros(shape, dtype=tensor._array.dtype)))
        else:
            found.append(dispatch.operate("stack", column).view(*shape) if shape else column[0])
    return found


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with a single result."""
    del vectorize, outer_jacobian_strategy
    many, given = _tuple(inputs, "inputs", "hessian")

    def gradient(*variables: Tensor) -> Any:
        output = _scalar(func(*variables), "hessian")
        if strict and not output.requires_grad:
            raise RuntimeError(
                "Output 0 of the user-provided function does not require gradients. The outputs must be computed in a "
                "differentiable manner from the input when running in strict mode."
            )
        parts = _gradients([output], variables, create_graph=True)
        if strict:
            for index, part in enumerate(parts):
                if not part.requires_grad:
                    raise RuntimeError(
                        "While computing the hessian, found that the jacobian of the user-provided function with "
                        f"respect to input {index} is independent of the input. This is not allowed in strict mode. "
                        "You should ensure that your function is twice differentiable and that the jacobian depends on "
                        "the inputs (this would be violated by a linear function for example)."
                    )
        return tuple(parts)

    found = jacobian(gradient, tuple(given), create_graph=create_graph)
    return found if many else found[0][0]


def _scalar(output: Any, name: str) -> Tensor:
    if not isinstance(output, Tensor):
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if output.numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return output


def _direction(v: Any, like: tuple[Tensor, ...], name: str, single: str) -> tuple[Tensor, ...]:
    """The vectors of a product, or ones where there is but one number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {single} is a single Tensor with a single element."
                if name != "vjp"
                else "The vector v can only be None if the user-provided function returns a single Tensor with a "
                "single element."
            )
        return (Tensor._made(np.ones_like(like[0]._array)),)
    _, vectors = _tuple(v, "v", name)
    if len(vectors) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}.")
    for index, (vector, tensor) in enumerate(zip(vectors, like, strict=True)):
        if vector.shape != tensor.shape:
            entry = f"Entry {index} in v" if len(vectors) > 1 else "v"
            raise RuntimeError(f"{entry} has invalid size: should be {tensor.shape} but got {vector.shape}.")
    return vectors


def vjp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The result of a function, and the product of a vector with its Jacobian."""
    with Switch({"grad": True}):
        many, given = _tuple(inputs, "inputs", "vjp")
        variables = _fresh(given, create_graph)
        several, outputs = _called(func, variables, "vjp", strict)
        vectors = _direction(v, outputs, "vjp", "")
        products = _gradients(outputs, variables, vectors, create_graph=create_graph)
    return _ended(outputs, several, create_graph), _ended(products, many, create_graph)


def jvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The result of a function, and the product of its Jacobian with a vector: by two backward runs."""
    with Switch({"grad": True}):
        _, given = _tuple(inputs, "inputs", "jvp")
        vectors = _direction(v, given, "jvp", "input to the user-provided function")
        variables = _fresh(given, create_graph)
        several, outputs = _called(func, variables, "jvp", strict)
        weights = tuple(Tensor._made(np.zeros_like(output._array), requires_grad=True) for output in outputs)
        pulled = _gradients(outputs, variables, weights, create_graph=True)
        products = _gradients(pulled, weights, vectors, create_graph=create_graph)
    return _ended(outputs, several, create_graph), _ended(products, several, create_graph)


def vhp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The result of a function with one number, and the product of a vector with its Hessian."""
    del strict
    with Switch({"grad": True}):
        many, given = _tuple(inputs, "inputs", "vhp")
        vectors = _direction(v, given, "vhp", "input to the user-provided function")
        variables = _fresh(given, create_graph)
        output = _scalar(func(*variables), "vhp")
        first = _gradients([output], variables, create_graph=True)
        products = _gradients(first, variables, vectors, create_graph=create_graph)
    return _ended([output], False, create_graph), _ended(products, many, create_graph)


def hvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """The result of a function with one number, and the product of its Hessian with a vector."""
    return vhp(func, inputs, v, create_graph, strict)
