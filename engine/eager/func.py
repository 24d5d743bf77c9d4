"""`torch.func`: functions to functions, each the derivative of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import LEAF, ancestors
from . import autograd, dispatch
from .functional import _gradients, _jacobian_of
from .modes import Switch
from .tensor import Tensor

Function = Callable[..., Any]


def _variable(value: Any) -> Any:
    """A tensor as a variable of its own, tied to the outer level where there is one."""
    if not isinstance(value, Tensor):
        return value
    if not value.is_floating_point() and not value.is_complex():
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    if value.requires_grad:
        return dispatch.operate("alias", value)
    fresh = value.detach().requires_grad_()
    fresh._mapped = value._mapped
    return fresh


def _mapped(function: Callable[[Any], Any], values: Any) -> Any:
    """A function of each tensor in nested tuples, lists and dictionaries."""
    if isinstance(values, (tuple, list)):
        return type(values)(_mapped(function, value) for value in values)
    if isinstance(values, dict):
        return {name: _mapped(function, value) for name, value in values.items()}
    return function(values)


def _flat(values: Any) -> list[Tensor]:
    found: list[Tensor] = []
    _mapped(lambda value: found.append(value) if isinstance(value, Tensor) else None, values)
    return found


def _released(value: Any, variables: Sequence[Tensor]) -> Any:
    """A result without the level that is left: it depends on nothing where only that level's variables require it."""
    if not isinstance(value, Tensor) or not value.requires_grad:
        return value
    ours = [variable.node for variable in variables if variable.is_leaf]
    for node in ancestors([value.node]):
        if node.op is LEAF and node.requires_grad and not any(node is own for own in ours):
            return value
    return value.detach()


def _chosen(args: tuple[Any, ...], argnums: Any) -> tuple[list[Any], list[Tensor], Any]:
    """The arguments with those that are differentiated made variables, these, and as they were asked for."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    given = list(args)
    for number in numbers:
        given[number] = _mapped(_variable, given[number])
    asked = [given[number] for number in numbers]
    return given, _flat(asked), asked[0] if isinstance(argnums, int) else tuple(asked)


def _filled(asked: Any, parts: Sequence[Any]) -> Any:
    rest = iter(parts)
    return _mapped(lambda value: next(rest) if isinstance(value, Tensor) else value, asked)


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """The gradient and the value of a function with one number as its result."""

    def derived(*args: Any, **keywords: Any) -> Any:
        with Switch({"grad": True}):
            given, variables, asked = _chosen(args, argnums)
            output = func(*given, **keywords)
            aux = None
            if has_aux:
                output, aux = output
            if not isinstance(output, Tensor):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
                )
            if output.dim() != 0:
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                    f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            parts = _gradients([output], tuple(variables), create_graph=True)
        found = _filled(asked, [_released(part, variables) for part in parts])
        value = _released(output, variables)
        if has_aux:
            return found, (value, _mapped(lambda part: _released(part, variables), aux))
        return found, value

    return derived


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """The gradient of a function with one number as its result."""
    both = grad_and_value(func, argnums, has_aux)

    def derived(*args: Any, **keywords: Any) -> Any:
        found, value = both(*args, **keywords)
        return (found, value[1]) if has_aux else found

    return derived


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The result of a function, and the function that pulls weights of it back to the arguments."""
    with Switch({"grad": True}):
        variables = [_variable(value) for value in primals]
        output = func(*variables)
        aux = None
        if has_aux:
            output, aux = output

    def pullback(*cotangents: Any) -> Any:
        weights = _flat(cotangents)
        with Switch({"grad": True}):
            results = _flat(output)
            for index, (part, weight) in enumerate(zip(results, weights, strict=True)):
                autograd._cotangent(index, part, weight, False)
            parts = _gradients(results, tuple(variables), weights, create_graph=True)
        return tuple(_released(part, variables) for part in parts)

    value = _mapped(lambda part: _released(part, variables), output)
    return (value, pullback, aux) if has_aux else (value, pullback)


def jvp(func: Function, primals: Any, tangents: Any, *, has_aux: bool = False) -> Any:
    """The result of a function, and how it moves when its arguments move along the tangents."""
    for primal, tangent in zip(_flat(primals), _flat(tangents), strict=True):
        if primal.shape != tangent.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is "
                f"not supported. Tensor is of size {list(primal.shape)} while the given forward gradient is of size "
                f"{list(tangent.shape)}."
            )
    with Switch({"grad": True}):
        variables = [_variable(value) for value in primals]
        output = func(*variables)
        aux = None
        if has_aux:
            output, aux = output
        results = _flat(output)
        weights = tuple(Tensor._made(np.zeros_like(part._array), requires_grad=True) for part in results)
        pulled = _gradients(results, tuple(variables), weights, create_graph=True)
        products = _gradients(pulled, weights, list(tangents), create_graph=True)
    own = [*variables, *weights]
    value = _mapped(lambda part: _released(part, own), output)
    moved = _filled(output, [_released(part, own) for part in products])
    return (value, moved, aux) if has_aux else (value, moved)


def jacrev(func: Function, argnums: Any = 0, *, has_aux: bool = False, chunk_size: Any = None) -> Function:
    """The Jacobian of a function."""
    del chunk_size

    def derived(*args: Any, **keywords: Any) -> Any:
        with Switch({"grad": True}):
            given, variables, asked = _chosen(args, argnums)
            output = func(*given, **keywords)
            aux = None
            if has_aux:
                output, aux = output

            def of(part: Tensor) -> Any:
                found = _jacobian_of(part, tuple(variables), True)
                return _filled(asked, [_released(entry, variables) for entry in found])

            found = _mapped(of, output)
        return (found, aux) if has_aux else found

    return derived


def jacfwd(
    func: Function, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error", chunk_size: Any = None
) -> Function:
    """The Jacobian of a function; the same numbers as `jacrev`."""
    del randomness
    return jacrev(func, argnums, has_aux=has_aux, chunk_size=chunk_size)


def hessian(func: Function, argnums: Any = 0) -> Function:
    """The second derivatives of a function."""
    return jacfwd(jacrev(func, argnums), argnums)


def vmap(
    func: Function, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: Any = None
) -> Function:
    """A function over a batch: it runs once for each member, and the results are stacked."""
    del randomness, chunk_size

    def mapped(*args: Any, **keywords: Any) -> Any:
        dims = in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
        lengths = [arg.shape[dim] for arg, dim in zip(args, dims, strict=True) if dim is not None]
        if not lengths:
            raise ValueError("vmap(...)(<inputs>): at least one input must be mapped over")
        if len(set(lengths)) > 1:
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                f"{lengths} for the mapped dimension"
            )
        with Switch({"mapping": True}):
            rows = [
                func(*(_member(arg, dim, index) for arg, dim in zip(args, dims, strict=True)), **keywords)
                for index in range(lengths[0])
            ]
            found = _stacked(rows, out_dims)
        for tensor in _flat(found):
            tensor._mapped = False
        return found

    return mapped


def _member(arg: Any, dim: int | None, index: int) -> Any:
    """One member of a batch, whose values must not be asked for."""
    if dim is None:
        return arg
    member = arg.select(dim, index)
    member._mapped = True
    return member


def _stacked(rows: list[Any], out_dims: Any) -> Any:
    first = rows[0]
    if isinstance(first, (tuple, list)):
        dims = out_dims if isinstance(out_dims, (tuple, list)) else (out_dims,) * len(first)
        return type(first)(
            _stacked([row[place] for row in rows], dim) for place, dim in zip(range(len(first)), dims, strict=True)
        )
    if isinstance(first, dict):
        return {name: _stacked([row[name] for row in rows], out_dims) for name in first}
    return dispatch.operate("stack", rows, out_dims)
