"""Copies, changes of dtype, and the cut that lets no gradient through."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import FLOAT32, FLOAT64, INT64, DType, Example, Node, Op, add_row, apply, as_node, make
from .. import infer
from ..row import compose, unary
from .bounds import truncated
from .comparison import is_condition, truth

_FAMILY = "elementwise"


def _to(
    input: Node,
    dtype: Node | np.dtype[Any] | str | None = None,
    copy: bool = False,
    device: str | None = None,  # noqa: ARG001  # the whole graph runs on one device, so a device changes nothing
    non_blocking: bool = False,  # noqa: ARG001  # as above
) -> Node:
    input = as_node(input)
    if isinstance(dtype, str):
        dtype = None if dtype.partition(":")[0] in ("cpu", "cuda") else np.dtype(dtype)
    wanted = dtype.dtype if isinstance(dtype, Node) else dtype
    if wanted is None or np.dtype(wanted) == input.dtype:
        return make.clone(input) if copy else input
    return apply(TO, (input,), {"dtype": np.dtype(wanted)})


def _to_kernel(xp: Any, x: Any, dtype: DType) -> Any:
    x = xp.asarray(x)
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real
    return x.astype(dtype)[()]


def _to_formula(m: Any, x: Any, dtype: DType) -> Any:
    if dtype.kind == "b":
        return truth(m, x)
    if is_condition(x):
        return m.where(x, lambda: m.number(1), lambda: m.number(0))
    if dtype.kind in "iu":
        return truncated(m, x)
    return x


TO = add_row(
    Op(
        name="to",
        doc="The same numbers in another dtype; the tensor itself where it has that dtype.",
        family=_FAMILY,
        call=_to,
        forms=("x.to(torch.float32)", "x.type(torch.float32)", "x.astype(np.float32)"),
        aliases=("type", "astype"),
        infer=lambda args, attrs: (args[0].shape, attrs["dtype"]),
        kernel=_to_kernel,
        c="({dtype}) {0}",
        formula=_to_formula,
        elementwise=True,
        slopes=(lambda _x, _y, dtype: 1,),  # noqa: ARG005  # a slope takes its row's attributes
        examples=(Example("x.to(torch.float64)", {"x": (3,)}),),
        kink="none: rounding to the dtype counts as the identity; integers and booleans carry no gradient",
        grad_fn="ToCopyBackward0",
    )
)


def _cast(name: str, dtype: DType, doc: str) -> Op:
    def call(input: Node) -> Node:
        return _to(input, dtype)

    return compose(
        name,
        doc,
        family=_FAMILY,
        call=call,
        forms=(f"x.{name}()",),
        examples=(Example(f"x.{name}()", {"x": (3,)}, {}, 3 if dtype == FLOAT64 else 0),),
        kink=TO.kink,
        grad_fn="ToCopyBackward0",
    )


FLOAT = _cast("float", FLOAT32, "The same numbers in 32 bits.")
DOUBLE = _cast("double", FLOAT64, "The same numbers in 64 bits.")
LONG = _cast("long", INT64, "The integer part of each element, as integers.")

CLONE = unary(
    "clone",
    "A copy: an op of its own in the graph.",
    family=_FAMILY,
    forms=("torch.clone(x)", "x.clone()", "np.copy(x)"),
    aliases=("copy",),
    infer=infer.same,
    kernel=lambda xp, x: xp.asarray(x)[()],
    c="{0}",
    formula=lambda _m, x: x,
    slope=lambda _x, _y: 1,
    grad_fn="CloneBackward0",
)


def _positive(input: Node) -> Node:
    return as_node(input)


POSITIVE_SIGN = compose(
    "positive",
    "The tensor itself: no op, no name of its own, as in PyTorch.",
    family=_FAMILY,
    call=_positive,
    forms=("+x", "torch.positive(x)", "x.positive()", "np.positive(x)"),
    examples=(Example("+x", {"x": (3,)}),),
)


def _detach(input: Node) -> Node:
    input = as_node(input)
    return Node(DETACH, (input,), {}, input.shape, input.dtype, False)


DETACH = unary(
    "detach",
    "The same numbers, cut off from the graph: no gradient flows back.",
    family=_FAMILY,
    call=_detach,
    forms=("x.detach()", "torch.detach(x)", "stop_gradient(x)"),
    aliases=("stop_gradient",),
    infer=infer.same,
    kernel=lambda xp, x: xp.asarray(x)[()],
    c="{0}",
    formula=lambda m, x: m.constant(x),
    slope=None,
    orders=0,
    kink="no derivative by definition: the result does not require a gradient",
    grad_fn="",
)
