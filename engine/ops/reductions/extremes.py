"""The largest and the smallest elements, and where they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import InputError
from ...graph import INT64, Attrs, DType, Example, Node, Op, Outputs, Shape, add_row, apply, make
from .. import infer, kinks
from ..cotangent import zeros
from ..fold import fold, fold_formula, folded, folding, named, widen
from ..row import compose

_FAMILY = "reduction"

SAME_VALUE = add_row(
    Op(
        name="same_value",
        doc="Whether two numbers are equal; NaN counts as equal to NaN.",
        family="cotangent",
        call=lambda x, y: same_value(x, y),
        method=False,
        infer=infer.boolean,
        kernel=lambda _xp, x, y: (x == y) | ((x != x) & (y != y)),  # NaN alone differs from itself
        c="({0} == {1} || ({0} != {0} && {1} != {1}))",
        formula=lambda m, x, y: m.equal(x, y),
        elementwise=True,
        differentiable=False,
    )
)


def same_value(x: Node, y: Node) -> Node:
    """Where two tensors are equal, or both NaN."""
    return apply(SAME_VALUE, (x, y))


def shared_rule(node: Node, g: Node) -> list[Node | None]:
    """The rule of an op that picks one value of many: all that have that value share evenly."""
    x = node.args[0]
    if not x.ndim:
        return [g]
    ties = same_value(x, widen(node, node))
    count = make.to(make.sum(ties, node.attrs["dim"], True), g.dtype)
    return [make.where(ties, widen(g, node) / count, 0.0)]


def _shared_extreme(name: str, word: str, grad_fn: str, **fields: Any) -> Op:
    """A row for the largest or smallest element over any axes, where equal ones share evenly."""
    larger = word == "largest"

    def kernel(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
        return (xp.max if larger else xp.min)(x, axis=dim, keepdims=keepdim)

    row = Op(
        name=name,
        family=_FAMILY,
        real=True,
        call=fields.pop("call", folding(name)),
        infer=folded_of_some(name),
        kernel=kernel,
        formula=fold_formula(lambda m, row: m.maximum(row) if larger else m.minimum(row)),
        rule=shared_rule,
        domain="all numbers, differentiable where no two are equal",
        at_kink=kinks.tied_for(largest=larger),
        kink="equal ones share evenly",
        grad_fn=grad_fn,
        **fields,
    )
    return add_row(row)


def folded_of_some(name: str) -> Callable[[Sequence[Node], Attrs], tuple[Shape, DType]]:
    """The shape without the folded axes, none of which may be empty; the same dtype."""
    function, _, part = name.partition(".")

    def infer_folded(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
        shape, axes = args[0].shape, attrs["dim"]
        empty = [axis for axis in axes if shape[axis] == 0]
        if empty and (part or len(axes) < len(shape)):
            raise InputError(
                f"{function}(): Expected reduction dim {empty[0]} to have non-zero size.",
                hint=f"there is no extreme of no elements: the shape is {list(shape)}",
                code="index",
            )
        if empty:
            raise InputError(
                f"{function}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
                "dim with the 'dim' argument.",
                hint=f"there is no extreme of no elements: the shape is {list(shape)}",
            )
        return folded(args, attrs)

    return infer_folded


AMAX, AMIN = (
    _shared_extreme(
        name,
        word,
        grad_fn,
        doc=f"The {word} element over some axes, or of all; equal ones share the gradient evenly.",
        forms=(f"torch.{name}(x)", f"x.{name}(0)", f"x.{name}(dim=(0, 1), keepdim=True)", f"np.{name}(x, axis=0)"),
        examples=(Example(f"torch.{name}(x)", {"x": (3,)}), Example(f"x.{name}(dim=1, keepdim=True)", {"x": (2, 3)})),
    )
    for name, word, grad_fn in (("amax", "largest", "AmaxBackward0"), ("amin", "smallest", "AminBackward0"))
)


def _aminmax(input: Node, *, dim: int | None = None, keepdim: bool = False) -> Outputs:
    parts = [named(row(input, dim, keepdim), "AminmaxBackward0") for row in (AMIN, AMAX)]
    return Outputs(("min", "max"), (parts[0], parts[1]))


AMINMAX = compose(
    "aminmax",
    "The smallest and the largest element over an axis, or of all.",
    family=_FAMILY,
    call=_aminmax,
    forms=("torch.aminmax(x).min", "torch.aminmax(x, dim=0).max"),
    examples=(Example("torch.aminmax(x).min", {"x": (3,)}), Example("torch.aminmax(x, dim=0).max", {"x": (2, 3)})),
    domain="all numbers, differentiable where no two are equal",
    kink="equal ones share evenly",
    grad_fn="AminmaxBackward0",
)


def _flat_index_kernel(find: str) -> Callable[..., Any]:
    def kernel(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
        if len(dim) == 1:
            return getattr(xp, find)(x, axis=dim[0], keepdims=keepdim)
        result = getattr(xp, find)(x)
        return result.reshape((1,) * x.ndim) if keepdim and x.ndim else result

    return kernel


def _position(name: str, word: str) -> Op:
    larger = word == "largest"

    def call(input: Node, dim: int | None = None, keepdim: bool = False) -> Node:
        if dim is not None and not isinstance(dim, int):
            raise InputError(f"{name} takes one dim, not {dim!r}")
        return fold(row, input, dim, keepdim)

    def infer_position(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
        if args[0].size == 0 and len(attrs["dim"]) == args[0].ndim:
            raise InputError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.", code="index")
        return folded_of_some(name)(args, attrs)[0], INT64

    row = Op(
        name=name,
        doc=f"The position of the {word} element along an axis, or of all in one row; the first of equals.",
        family=_FAMILY,
        real=True,
        call=call,
        forms=(f"torch.{name}(x)", f"x.{name}(dim=1)", f"np.{name}(x, axis=0)"),
        infer=infer_position,
        kernel=_flat_index_kernel(name),
        formula=fold_formula(lambda m, row: _first(m, row, larger)),
        differentiable=False,
        examples=(Example(f"torch.{name}(x)", {"x": (2, 3)}, orders=0),),
        domain="all numbers",
        kink="no gradient: a position",
    )
    return add_row(row)


def _first(m: Any, row: list[Any], larger: bool) -> int:
    best = 0
    for entry, value in enumerate(row):
        if m.boolean(value > row[best] if larger else value < row[best]):
            best = entry
    return best


ARGMAX = _position("argmax", "largest")
ARGMIN = _position("argmin", "smallest")


def chosen_along(
    name: str,
    doc: str,
    *,
    grad_fn: str,
    place: Callable[..., Any],
    choose: Callable[..., int],
    kink: str,
    forms: tuple[str, ...],
    **fields: Any,
) -> Callable[..., Outputs]:
    """Two rows, of values and of their positions, for an op that picks one element along an axis; gives the call.

    Args:
        name, doc, grad_fn, kink, forms, fields: of the row of values, see `Op`.
        place: `place(xp, x, **attrs)`, the position along the last axis.
        choose: `choose(m, row, **attrs)`, the same over exact numbers.
    """

    def position(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool, **attrs: Any) -> Any:
        if not dim:
            return xp.zeros((), dtype=xp.int64)[()]
        result = place(xp, xp.moveaxis(x, dim[0], -1), **attrs)
        return xp.expand_dims(result, dim[0]) if keepdim else result[()]

    def pick(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool, **attrs: Any) -> Any:
        if not dim:
            return x
        moved = xp.moveaxis(x, dim[0], -1)
        found = place(xp, moved, **attrs)
        result = xp.take_along_axis(moved, xp.asarray(found)[..., None], axis=-1)[..., 0]
        return xp.expand_dims(result, dim[0]) if keepdim else result[()]

    indices = add_row(
        Op(
            name=f"{name}.indices",
            doc=f"{doc[:-1]}: its position.",
            family=_FAMILY,
            real=True,
            call=lambda x, dim=-1, keepdim=False, **attrs: fold(indices, x, dim, keepdim, **attrs),
            forms=tuple(f"{form}.indices" for form in forms[:1]),
            method=False,
            infer=lambda args, attrs: (folded_of_some(f"{name}.indices")(args, attrs)[0], INT64),
            kernel=position,
            formula=fold_formula(choose),
            differentiable=False,
            examples=(Example(f"{forms[0]}.indices", {"x": (3,)}, orders=0),),
            domain="all numbers",
            kink="no gradient: a position",
        )
    )

    def rule(node: Node, g: Node) -> list[Node | None]:
        x = node.args[0]
        if not x.ndim:
            return [g]
        found = apply(indices, (x,), {**node.attrs, "keepdim": True})
        return [make.scatter_add(zeros(x.shape, g.dtype), node.attrs["dim"][0], found, widen(g, node))]

    values = add_row(
        Op(
            name=f"{name}.values",
            doc=doc,
            family=_FAMILY,
            real=True,
            call=lambda x, dim=-1, keepdim=False, **attrs: fold(values, x, dim, keepdim, **attrs),
            forms=tuple(f"{form}.values" for form in forms),
            method=False,
            infer=folded_of_some(f"{name}.values"),
            kernel=pick,
            formula=fold_formula(lambda m, row, **attrs: row[choose(m, row, **attrs)]),
            rule=rule,
            examples=(
                Example(f"{forms[0]}.values", {"x": (3,)}),
                Example(f"{forms[1]}.values", {"x": (2, 3)}),
            ),
            domain=fields.pop("domain", "all numbers, differentiable where no two are equal"),
            at_kink=kinks.tied,
            kink=kink,
            grad_fn=grad_fn,
            **fields,
        )
    )

    def call(input: Node, dim: Any, keepdim: bool, **attrs: Any) -> Outputs:
        if isinstance(dim, (tuple, list)):
            raise InputError(f"{name} takes one dim, not {dim!r}")
        nodes = (fold(values, input, dim, keepdim, **attrs), fold(indices, input, dim, keepdim, **attrs))
        return Outputs(("values", "indices"), nodes)

    return call


def _extreme(name: str, word: str) -> Op:
    larger = word == "largest"
    along = chosen_along(
        name,
        f"The {word} element along an axis.",
        grad_fn=f"{name.capitalize()}Backward0",
        place=lambda xp, x: (xp.argmax if larger else xp.argmin)(x, axis=-1),
        choose=lambda m, row: _first(m, row, larger),
        kink="the first of equal ones gets all",
        forms=(f"torch.{name}(x, 0)", f"x.{name}(dim=1, keepdim=True)"),
    )

    def call(
        input: Node,
        dim: Node | int | Sequence[int] | None = None,
        keepdim: bool = False,
        *,
        other: Node | None = None,
        values_only: bool = False,
    ) -> Node | Outputs:
        other = dim if isinstance(dim, Node) else other
        if other is not None:
            return (make.maximum if larger else make.minimum)(input, other)  # type: ignore[no-any-return]  # any row's call
        if dim is None or values_only:
            return fold(row, input, dim, keepdim)
        return along(input, dim, keepdim)

    row = _shared_extreme(
        name,
        word,
        f"{name.capitalize()}Backward1",
        doc=f"The {word} of all elements, of those along an axis (with their positions), or of pairs of two tensors.",
        call=call,
        numpy={"values_only": True},
        forms=(
            f"torch.{name}(x)",
            f"x.{name}()",
            f"x.{name}(0).values",
            f"torch.{name}(x, 0)[0]",
            f"torch.{name}(x, y)",
            f"np.{name}(x, axis=0)",
        ),
        examples=(Example(f"torch.{name}(x)", {"x": (3,)}), Example(f"torch.{name}(x)", {"x": (2, 3)})),
    )
    return row


MAX = _extreme("max", "largest")
MIN = _extreme("min", "smallest")
