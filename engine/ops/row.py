"""How rows of the table are made: constructors for the common kinds, so that a row says only what is its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..graph import FLOAT64, REAL, Attrs, DType, Example, Interval, Node, Op, Shape, add_row, apply, as_node, make
from . import infer as rules_of_shape

Infer = Callable[[Sequence[Node], Attrs], tuple[Shape, DType]]


def as_float(value: Any) -> Node:
    """As `as_node`, but integers and booleans become floats (of booleans, NumPy alone would make half floats)."""
    node = as_node(value)
    return node if node.dtype.kind in "fc" else make.to(node, rules_of_shape.default_dtype())


def in_one_dtype(*args: Node) -> tuple[Node, ...]:
    """Tensors with the integers among them in the dtype of the floats: a product of both would be wider in NumPy."""
    dtype = rules_of_shape.promote(args)
    if dtype.kind not in "fc":
        return args
    return tuple([make.to(arg, dtype) if arg.dtype.kind in "biu" else arg for arg in args])


def passing(name: str, kinds: str) -> Callable[[Node], Node]:
    """The call of a row without parameters that gives back tensors of some kinds of dtype as they are."""

    def call(input: Node) -> Node:
        input = as_node(input)
        return make.clone(input) if input.dtype.kind in kinds else apply(getattr(make, name), (input,))

    return call


def unary(
    name: str,
    doc: str,
    *,
    family: str,
    kernel: Callable[..., Any],
    slope: Callable[..., Any] | None,
    formula: Callable[..., Any],
    grad_fn: str,
    c: str | None = None,
    infer: Infer = rules_of_shape.floating,
    within: Interval = REAL,
    orders: int = 3,
    **fields: Any,
) -> Op:
    """A row for an elementwise function of one tensor, without parameters.

    Args:
        name, doc, family, kernel, formula, grad_fn, c, infer, fields: see `Op`.
        slope: `slope(x, y)`, the local derivative as a node or number; None where none exists.
        within: where its argument is sampled.
        orders: the highest order of derivative that exists inside of `within`.
    """

    def call(input: Node) -> Node:
        if infer is not rules_of_shape.floating:
            return apply(row, (as_node(input),))
        if type(input) is Node and input.dtype is FLOAT64:
            return apply(row, (input,), like=input)
        return apply(row, (as_float(input),))

    return_form = fields.pop("forms", (f"torch.{name}(x)", f"x.{name}()"))
    row = Op(
        name=name,
        doc=doc,
        family=family,
        call=fields.pop("call", call),
        forms=return_form,
        infer=infer,
        kernel=kernel,
        c=c,
        formula=formula,
        elementwise=True,
        slopes=(slope,) if slope is not None else None,
        examples=fields.pop("examples", (Example(return_form[0], {"x": (3,)}, {"x": within}, orders),)),
        grad_fn=grad_fn,
        **fields,
    )
    return add_row(row)


def binary(
    name: str,
    doc: str,
    *,
    family: str,
    kernel: Callable[..., Any],
    slopes: tuple[Callable[..., Any], Callable[..., Any]] | None,
    formula: Callable[..., Any],
    grad_fn: str | Callable[[Sequence[Node], Attrs], str],
    c: str | None = None,
    infer: Infer = rules_of_shape.same,
    within: Mapping[str, Interval] | None = None,
    orders: int = 3,
    **fields: Any,
) -> Op:
    """A row for an elementwise function of two tensors, without parameters.

    Args:
        name, doc, family, kernel, formula, grad_fn, c, infer, fields: see `Op`.
        slopes: `slope(x, y, z)` for the first and for the second argument.
        within: where `x` and `y` are sampled.
        orders: the highest order of derivative that exists inside of `within`.
    """

    def call(input: Node, other: Node) -> Node:
        return apply(row, (as_node(input), as_node(other)))

    forms = fields.pop("forms", (f"torch.{name}(x, y)", f"x.{name}(y)"))
    row = Op(
        name=name,
        doc=doc,
        family=family,
        call=fields.pop("call", call),
        forms=forms,
        infer=infer,
        kernel=kernel,
        c=c,
        formula=formula,
        elementwise=True,
        slopes=slopes,
        examples=fields.pop("examples", (Example(forms[0], {"x": (3,), "y": (3,)}, within or {}, orders),)),
        grad_fn=grad_fn,
        **fields,
    )
    return add_row(row)


def compose(name: str, doc: str, *, family: str, call: Callable[..., Any], **fields: Any) -> Op:
    """A row that only joins others: its value, its derivative and its meaning are those of the ops that it joins."""
    return add_row(Op(name=name, doc=doc, family=family, call=call, **fields))
