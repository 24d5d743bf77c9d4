"""What ops that work along axes share: folding them away, and bringing a cotangent back over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import FLOAT64, INT64, Attrs, DType, Node, Op, Shape, apply, as_node, make
from .cotangent import flow
from .infer import axes_of, real_part_of, reduced


def fold(
    op: Op, input: Node, dim: Any = None, keepdim: bool = False, *, grad_fn: str | None = None, **attrs: Any
) -> Node:
    """The node of an op that folds one axis, several or (None) all away."""
    input = as_node(input)
    return apply(op, (input,), {"dim": axes_of(dim, input.ndim), "keepdim": keepdim, **attrs}, grad_fn=grad_fn)


def folding(name: str) -> Callable[..., Node]:
    """The call of a row that folds one axis, several or all away."""

    def call(input: Node, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Node:
        return fold(getattr(make, name), input, dim, keepdim)

    return call


def folded(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    """The shape without the folded axes, the same dtype."""
    return reduced(args[0].shape, attrs["dim"], attrs["keepdim"]), args[0].dtype


def folded_to_float(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    """The shape without the folded axes; integers and booleans become floats."""
    shape, dtype = folded(args, attrs)
    return shape, dtype if dtype.kind in "fc" else FLOAT64


def folded_to_real(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    """The shape without the folded axes; floats, of complex numbers too."""
    shape, dtype = folded_to_float(args, attrs)
    return shape, real_part_of(dtype)


def folded_to_int(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    """The shape without the folded axes; 64-bit integers."""
    return folded(args, attrs)[0], INT64


def counted(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    """The shape without the folded axes; integers and booleans become 64-bit integers, as in a sum."""
    shape, dtype = folded(args, attrs)
    return shape, dtype if dtype.kind in "fc" else INT64


def in_floats(x: Any) -> Any:
    """An array of floats or complex numbers as it is, another as float64: booleans have no difference."""
    return x if x.dtype.kind in "fc" else x * 1.0


def conjugate(x: Node) -> Node:
    """The complex conjugate of a complex node, any other node itself."""
    return make.conj(x) if x.dtype.kind == "c" else x


def named(node: Node, grad_fn: str) -> Node:
    """A node just made, with PyTorch's name for the function that it stands for."""
    if node.requires_grad:
        node.grad_fn = grad_fn
    return node


def flowing(g: Node, factor: Node) -> Node:
    """The cotangent times a factor that is a node: zero means stop."""
    part = flow(g, factor)
    if part is None:
        raise TypeError("a cotangent times a node is a node")
    return part


def extent(node: Node) -> int:
    """How many elements an op folds into one."""
    shape = node.args[0].shape
    count = 1
    for axis in node.attrs["dim"]:
        count *= shape[axis]
    return count


def widen(value: Node, node: Node) -> Node:
    """A value of the result's shape with the folded axes kept at length 1, so that it broadcasts over the argument."""
    shape = reduced(node.args[0].shape, node.attrs["dim"], True)
    return value if value.shape == shape else make.reshape(value, shape)


def spread(value: Node, node: Node) -> Node:
    """A value of the result's shape repeated over the folded axes."""
    shape = node.args[0].shape
    value = widen(value, node)
    return value if value.shape == shape else make.expand(value, shape)


def is_nan(m: Any, value: Any) -> bool:  # noqa: ARG001  # the arithmetic stands first in everything a formula calls
    """Whether an exact number stands for NaN."""
    return bool(value != value)  # NaN alone differs from itself


def groups(x: Any, dim: Sequence[int]) -> tuple[Any, Shape]:
    """An object array as rows, one for each entry of the folded result, and that result's shape."""
    x = np.asarray(x, dtype=object)
    kept = [axis for axis in range(x.ndim) if axis not in dim]
    shape = tuple(x.shape[axis] for axis in kept)
    count = 1
    for axis in dim:
        count *= x.shape[axis]
    size = 1
    for length in shape:
        size *= length
    return np.transpose(x, (*kept, *dim)).reshape(size, count), shape


def fold_formula(function: Callable[..., Any]) -> Callable[..., Any]:
    """A formula over object arrays from what `function(m, row, **attrs)` makes of the numbers folded into one."""

    def formula(m: Any, x: Any, dim: Sequence[int], keepdim: bool, **attrs: Any) -> Any:
        rows, shape = groups(x, dim)
        result = np.empty(len(rows), dtype=object)
        for position, row in enumerate(rows):
            result[position] = function(m, list(row), **attrs)
        return result.reshape(reduced(np.shape(x), dim, True) if keepdim else shape)

    return formula


def along_formula(function: Callable[..., Any]) -> Callable[..., Any]:
    """A formula over object arrays from what `function(m, row, **attrs)` makes of the numbers along axes: as many."""

    def formula(m: Any, x: Any, dim: Sequence[int], **attrs: Any) -> Any:
        x = np.asarray(x, dtype=object)
        rows, _ = groups(x, dim)
        result = np.empty(rows.shape, dtype=object)
        for position, row in enumerate(rows):
            for entry, value in enumerate(function(m, list(row), **attrs) if len(row) else ()):
                result[position, entry] = value
        kept = [axis for axis in range(x.ndim) if axis not in dim]
        order = [*kept, *dim]
        return (
            result.reshape([x.shape[axis] for axis in order]).transpose(np.argsort(order))
            if x.ndim
            else result.reshape(())
        )

    return formula
