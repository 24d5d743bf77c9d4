"""Sorting, and the largest or smallest few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...errors import InputError
from ...graph import INT64, Attrs, DType, Example, Node, Op, Outputs, Shape, add_row, apply, as_node
from .. import kinks
from ..cotangent import zeros
from ..infer import axis_of
from ..move import joining, shape_kept
from .gather import SCATTER_ADD, gathered
from .slice import sliced

_FAMILY: Final = "index"
_KINK: Final = "equal entries keep their order, so that each gets the gradient of its own place"


def _order_kernel(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    x = xp.asarray(x)
    wide = xp.atleast_1d(x)
    if descending:  # sorted from behind, so that equal entries still keep their order
        order = wide.shape[axis] - 1 - xp.flip(xp.argsort(xp.flip(wide, axis), axis=axis, kind="stable"), axis)
    else:
        order = xp.argsort(wide, axis=axis, kind="stable")
    return order.reshape(x.shape)[()]


def _order_formula(m: Any, x: Any, axis: int, descending: bool) -> Any:
    x = np.asarray(x, dtype=object)
    lanes = np.moveaxis(np.atleast_1d(x), axis, -1)
    result = np.empty(lanes.shape, dtype=np.int64)
    for place in np.ndindex(lanes.shape[:-1]):
        lane = list(lanes[place])
        last = len(lane) - 1
        result[place] = [last - at for at in reversed(m.order(lane[::-1]))] if descending else list(m.order(lane))
    return np.moveaxis(result, -1, axis).reshape(x.shape)


def _order_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:  # noqa: ARG001  # every `infer` takes attrs
    return args[0].shape, INT64


def _argsort(input: Node, dim: int = -1, descending: bool = False, stable: bool = True) -> Node:  # noqa: ARG001  # always stable
    node = as_node(input)
    return apply(ARGSORT, (node,), {"axis": axis_of(dim, node.ndim), "descending": descending})


ARGSORT = add_row(
    Op(
        name="argsort",
        doc="The positions of the entries along a dimension from the smallest to the largest, equal ones in order.",
        family=_FAMILY,
        real=True,
        call=_argsort,
        forms=("torch.argsort(x)", "x.argsort()", "torch.argsort(A, 0, descending=True)", "np.argsort(x)"),
        infer=_order_infer,
        kernel=_order_kernel,
        formula=lambda m, x, axis, descending: _order_formula(m, x, axis, descending).astype(object),
        differentiable=False,
        examples=(Example("torch.argsort(x)", {"x": (4,)}, orders=0),),
        kink="none: positions are no numbers that could have a gradient",
    )
)


def _sort_kernel(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    x = xp.asarray(x)
    result = xp.sort(xp.atleast_1d(x), axis=axis)
    return (xp.flip(result, axis) if descending else result).reshape(x.shape)[()]


def _sort_formula(m: Any, x: Any, axis: int, descending: bool) -> Any:
    x = np.asarray(x, dtype=object)
    order = np.atleast_1d(_order_formula(m, x, axis, descending))
    return np.take_along_axis(np.atleast_1d(x), order, axis).reshape(x.shape)


def _sort_rule(node: Node, g: Node) -> list[Node | None]:
    x = node.args[0]
    order = apply(ARGSORT, (x,), node.attrs)
    return [apply(SCATTER_ADD, (zeros(x.shape, x.dtype), g, order), {"axis": node.attrs["axis"]})]


def _sorted_along(node: Node, dim: int, descending: bool) -> Node:
    return apply(SORT, (node,), {"axis": axis_of(dim, node.ndim), "descending": descending})


def _sort(
    input: Node, dim: int = -1, descending: bool = False, stable: bool = True, *, indices: bool = True
) -> Node | Outputs:
    node = as_node(input)
    values = _sorted_along(node, dim, descending)
    return Outputs(("values", "indices"), (values, _argsort(node, dim, descending, stable))) if indices else values


SORT = add_row(
    Op(
        name="sort",
        doc="The entries along a dimension from the smallest to the largest, and where they stood; NumPy's without the "
        "positions.",
        family=_FAMILY,
        real=True,
        call=_sort,
        forms=("torch.sort(x).values", "x.sort().values", "torch.sort(A, 0, descending=True)[0]", "np.sort(x)"),
        numpy={"indices": False},
        infer=shape_kept,
        kernel=_sort_kernel,
        formula=_sort_formula,
        rule=_sort_rule,
        examples=(
            Example("torch.sort(x).values", {"x": (4,)}),
            Example("torch.sort(A, 0, descending=True).values ** 2", {"A": (3, 2)}),
        ),
        domain="all numbers; differentiable where no two are equal",
        at_kink=kinks.tied_along,
        kink=_KINK,
        grad_fn="SortBackward0",
    )
)


def _msort(input: Node) -> Node:
    return _sorted_along(as_node(input), 0, descending=False)


joining(
    "msort",
    "The entries along the first dimension from the smallest to the largest.",
    family=_FAMILY,
    call=_msort,
    forms=("torch.msort(x)", "x.msort()"),
    inputs={"x": (4,)},
    domain="all numbers; differentiable where no two are equal",
    kink=_KINK,
    grad_fn="SortBackward0",
)


def _topk(input: Node, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Outputs:  # noqa: ARG001  # always sorted
    node = as_node(input)
    axis = axis_of(dim, node.ndim)
    if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k <= (node.shape[axis] if node.ndim else 1):
        size = node.shape[axis] if node.ndim else 1
        raise InputError("selected index k out of range", hint=f"dimension {axis} has size {size}, k is {k}")
    order = apply(ARGSORT, (node,), {"axis": axis, "descending": largest})
    indices = sliced(order, axis, 0, k) if node.ndim else order
    values = gathered(node, axis, indices, grad_fn="TopkBackward0")
    return Outputs(("values", "indices"), (values, indices))


joining(
    "topk",
    "The k largest entries along a dimension, or the smallest, and where they stood.",
    family=_FAMILY,
    call=_topk,
    forms=("torch.topk(x, 2).values", "x.topk(2).values", "torch.topk(A, 1, 0, largest=False)[0]"),
    inputs={"x": (4,)},
    domain="all numbers; differentiable where no two are equal",
    kink="of equal entries the first ones are taken, and get the gradient",
    grad_fn="TopkBackward0",
)
