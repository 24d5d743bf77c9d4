"""Ops that only gradients are made of: the guarded product, and the undoing of broadcasting.

They have no calling form in the language; they are ops like all others, so that gradients can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph import FLOAT64, Attrs, DType, Node, Op, Shape, add_row, apply, as_node, leaf, make
from . import batch, infer

_ZERO = np.float64(0.0)


def _guarded(xp: Any, product: Any, stops: Any) -> Any:
    """A product, with zeros where `stops()` says so: one more pass only where something is not finite."""
    if getattr(product, "ndim", 0) == 0:
        if product - product == 0:
            return product
        return product.dtype.type(0) if stops() else product
    total = product.sum()
    if total - total == 0:  # finite; a sum that overflows only costs the second pass
        return product
    # Only NaN is replaced: so every entry depends on its own factors alone, whatever part of an array is multiplied.
    return xp.where((product != product) & stops(), product.dtype.type(0), product)


def _stopped(m: Any, x: Any, product: Any) -> Any:
    return m.where(m.equal(x, m.number(0)), lambda: m.number(0), product)


def _conjugate(node: Node) -> Node:
    """The factor that a complex product passes its cotangent on with (PyTorch's convention)."""
    if node.dtype.kind != "c":
        return node
    return make.conj(node)  # type: ignore[no-any-return]  # a row's call is of any type


FLOW: Op = add_row(
    Op(
        name="flow",
        doc="The cotangent times a local derivative, and exactly zero where the cotangent is zero.",
        family="cotangent",
        call=lambda g, slope: apply(FLOW, (as_node(g), as_node(slope))),
        method=False,
        infer=infer.same,
        kernel=lambda xp, g, slope: _guarded(xp, g * slope, lambda: g == 0),
        c="({0} == 0 && {0} * {1} != {0} * {1} ? 0 : {0} * {1})",
        formula=lambda m, g, slope: _stopped(m, g, lambda: g * slope),
        elementwise=True,
        # Where g is zero the result does not depend on the slope at all, whatever flows in from above: hence MEET.
        rule=lambda node, g: [flow(g, _conjugate(node.args[1])), apply(MEET, (_conjugate(node.args[0]), g))],
        grad_fn="MulBackward0",
    )
)

MEET: Op = add_row(
    Op(
        name="meet",
        doc="The product of two cotangents, and exactly zero where either is zero.",
        family="cotangent",
        call=lambda g, other: apply(MEET, (as_node(g), as_node(other))),
        method=False,
        infer=infer.same,
        kernel=lambda xp, g, other: _guarded(xp, g * other, lambda: (g == 0) | (other == 0)),
        c="(({0} == 0 || {1} == 0) && {0} * {1} != {0} * {1} ? 0 : {0} * {1})",
        formula=lambda m, g, other: _stopped(m, g, lambda: _stopped(m, other, lambda: g * other)),
        elementwise=True,
        rule=lambda node, g: [apply(MEET, (g, _conjugate(arg))) for arg in reversed(node.args)],
        grad_fn="MulBackward0",
    )
)


def flow(g: Node, slope: Node | complex | None) -> Node | None:
    """The cotangent that a local derivative passes on: zero means stop, even where the derivative is not finite.

    A slope that depends on no variable (a mask, a constant factor) and is zero is zero all around the point: it stops
    too, whatever the cotangent is.

    Args:
        g: the incoming cotangent.
        slope: the local derivative: a node, or a number, or None where nothing flows.
    """
    if slope is None:
        return None
    if not isinstance(slope, Node):
        if slope == 1:
            return g
        if slope == -1:
            return -g
        if slope == 0:
            return zeros(g.shape, g.dtype)
        return g * slope
    return apply(FLOW if slope.requires_grad else MEET, (g, slope))


def zeros(shape: Shape, dtype: DType = FLOAT64) -> Node:
    """Zeros of a shape, without memory of that size."""
    zero = leaf(_ZERO if dtype is FLOAT64 else dtype.type(0))
    if not shape:
        return zero
    return make.expand(zero, shape)  # type: ignore[no-any-return]  # a row's call is of any type


def _sum_to_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    return attrs["shape"], args[0].dtype


def _sum_to_kernel(xp: Any, g: Any, shape: Shape) -> Any:
    lead = g.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(axis for axis, size in enumerate(shape, lead) if size == 1 and g.shape[axis] != 1)
    result = xp.sum(g, axis=axes, keepdims=True)
    return result.reshape(shape) if lead else result


def _sum_to_formula(m: Any, g: Any, shape: Shape) -> Any:
    target = np.zeros(shape, dtype=object)
    wide = np.broadcast_to(np.arange(target.size).reshape(shape), g.shape)
    groups: list[list[Any]] = [[] for _ in range(target.size)]
    for position, value in zip(wide.ravel(), g.ravel(), strict=True):
        groups[position].append(value)
    target.ravel()[:] = [m.total(values) for values in groups]
    return target


SUM_TO: Op = add_row(
    Op(
        name="sum_to_size",
        doc="The sum over the axes along which a smaller shape was broadcast.",
        family="cotangent",
        call=lambda input, size: apply(SUM_TO, (input,), {"shape": tuple(size)}),
        infer=_sum_to_infer,
        batch=batch.summed_to,
        kernel=_sum_to_kernel,
        formula=_sum_to_formula,
        rule=lambda node, g: [make.expand(g, node.args[0].shape)],
        grad_fn="SumBackward1",
    )
)


def sum_to(g: Node, shape: Shape) -> Node:
    """A cotangent brought back to the shape of an argument that was broadcast."""
    return g if g.shape == shape else apply(SUM_TO, (g,), {"shape": shape})
