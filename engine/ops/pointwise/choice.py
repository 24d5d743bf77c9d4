"""Ops that choose between two tensors, or take the sign of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import InputError
from ...graph import Attrs, DType, Example, Interval, Node, Op, Shape, add_row, apply, as_node, make
from .. import infer, kinks
from ..row import binary

_FAMILY = "binary"

_ABOVE = Interval(0.1, 3.0)
_BELOW = Interval(-3.0, -0.1)


def _apart(form: str) -> tuple[Example, Example]:
    """Examples of a choice away from its ties: once the first is larger, once the second."""
    shapes = {"x": (3,), "y": (3,)}
    return (
        Example(form, shapes, {"x": _ABOVE, "y": _BELOW}),
        Example(form, shapes, {"x": _BELOW, "y": _ABOVE}),
    )


def _where_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    return infer.broadcast(*[arg.shape for arg in args]), infer.same(args[1:], attrs)[1]


def _where(condition: Node, input: Node, other: Node) -> Node:
    condition, input, other = as_node(condition), as_node(input), as_node(other)
    if condition.dtype.kind != "b" and input.dtype.kind == "b":
        condition, input = input, condition  # the form x.where(condition, other)
    if condition.dtype.kind != "b":
        raise InputError(
            f"where expected condition to be a boolean tensor, but got a tensor of {condition.dtype}",
            hint="write a comparison, such as x != 0",
        )
    return apply(WHERE, (condition, input, other))


def _where_rule(node: Node, g: Node) -> list[Node | None]:
    condition, x, y = node.args
    return [
        None,
        make.where(condition, g, 0.0) if x.requires_grad else None,
        make.where(condition, 0.0, g) if y.requires_grad else None,
    ]


WHERE = add_row(
    Op(
        name="where",
        doc="The second tensor where the condition holds, the third elsewhere.",
        family=_FAMILY,
        call=_where,
        forms=("torch.where(c, x, y)", "x.where(c, y)", "torch.where(c, x, 0.0)", "np.where(c, x, y)"),
        infer=_where_infer,
        kernel=lambda xp, condition, x, y: xp.where(condition, x, y)[()],
        c="({0} ? {1} : {2})",
        formula=lambda m, condition, x, y: m.where(condition, lambda: x, lambda: y),
        elementwise=True,
        rule=_where_rule,
        examples=(
            Example("torch.where(tensor([True, False, True]), x * y, y)", {"x": (3,), "y": (3,)}),
            Example("torch.where(x < y, x * y, y ** 2)", {"x": (3,), "y": (3,)}, {"x": _BELOW, "y": _ABOVE}),
        ),
        kink="the branch that is not taken stops the gradient, even where it is not finite; the condition has none",
        grad_fn="WhereBackward0",
    )
)

_Beaten = Callable[[Node, Node], Node]


def _extreme(name: str, doc: str, *, beaten: _Beaten, symbol: str, forms: tuple[str, ...], grad_fn: str) -> Op:
    """A row for maximum or minimum: NaN wins, and a tie is shared.

    Args:
        name, doc, forms, grad_fn: see `Op`.
        beaten: whether the first of two nodes loses against the second.
        symbol: that comparison in C.
    """

    def rule(node: Node, g: Node) -> list[Node | None]:
        x, y = node.args
        shared = make.where(make.eq(x, y), g * 0.5, g)
        return [
            make.where(beaten(x, y), 0.0, shared) if x.requires_grad else None,
            make.where(beaten(y, x), 0.0, shared) if y.requires_grad else None,
        ]

    return binary(
        name,
        doc,
        family=_FAMILY,
        real=True,
        forms=forms,
        kernel=lambda xp, x, y: getattr(xp, name)(x, y),
        c=f"({{0}} != {{0}} || {{1}} {symbol} {{0}} ? {{0}} : {{1}})",
        formula=lambda m, x, y: getattr(m, name)([x, y]),
        slopes=None,
        rule=rule,
        examples=_apart(forms[0]),
        domain="all real numbers; differentiable where the two differ",
        at_kink=kinks.at_bounds,
        kink="a tie gives 0.5 to each; where one is NaN, the value is NaN and both slopes are 1",
        grad_fn=grad_fn,
    )


MAXIMUM = _extreme(
    "maximum",
    "The larger of two tensors, NaN where either is.",
    beaten=lambda x, y: x < y,
    symbol="<",
    forms=("torch.maximum(x, y)", "x.maximum(y)", "torch.max(x, y)", "np.maximum(x, y)"),
    grad_fn="MaximumBackward0",
)

MINIMUM = _extreme(
    "minimum",
    "The smaller of two tensors, NaN where either is.",
    beaten=lambda x, y: x > y,
    symbol=">",
    forms=("torch.minimum(x, y)", "x.minimum(y)", "torch.min(x, y)", "np.minimum(x, y)"),
    grad_fn="MinimumBackward0",
)


def _number_wins(name: str, doc: str, *, extreme: str, wins: _Beaten, grad_fn: str) -> Op:
    """A row for fmax or fmin: a number wins against NaN, and the first argument a tie.

    Args:
        name, doc, grad_fn: see `Op`.
        extreme: the same op for numbers, in exact arithmetic.
        wins: whether the first of two nodes wins against the second.
    """

    def rule(node: Node, g: Node) -> list[Node | None]:
        x, y = node.args
        first = make.logical_or(wins(x, y), make.isnan(y))
        return [
            make.where(first, g, 0.0) if x.requires_grad else None,
            make.where(first, 0.0, g) if y.requires_grad else None,
        ]

    def formula(m: Any, x: Any, y: Any) -> Any:
        both = lambda: getattr(m, extreme)([x, y])
        return m.where(m.equal(x, x), lambda: m.where(m.equal(y, y), both, lambda: x), lambda: y)

    return binary(
        name,
        doc,
        family=_FAMILY,
        real=True,
        forms=(f"torch.{name}(x, y)", f"x.{name}(y)", f"np.{name}(x, y)"),
        kernel=lambda xp, x, y: getattr(xp, name)(x, y),
        c=f"{name}({{0}}, {{1}})",
        formula=formula,
        slopes=None,
        rule=rule,
        examples=_apart(f"torch.{name}(x, y)"),
        domain="all real numbers; differentiable where the two differ",
        at_kink=kinks.at_bounds,
        kink="a tie goes to the first; where one is NaN, the other gets all",
        grad_fn=grad_fn,
    )


FMAX = _number_wins(
    "fmax",
    "The larger of two tensors, the other one where one is NaN.",
    extreme="maximum",
    wins=lambda x, y: x >= y,
    grad_fn="FmaxBackward0",
)

FMIN = _number_wins(
    "fmin",
    "The smaller of two tensors, the other one where one is NaN.",
    extreme="minimum",
    wins=lambda x, y: x <= y,
    grad_fn="FminBackward0",
)


def _copysign_formula(m: Any, x: Any, y: Any) -> Any:
    # What is not a number has a sign in floating point only: none that anything follows from.
    signed = m.where(y < 0, lambda: -m.absolute(x), lambda: m.absolute(x))
    return m.where(m.equal(y, y), lambda: signed, m.undefined)


COPYSIGN = binary(
    "copysign",
    "The magnitude of the first tensor with the sign of the second.",
    family=_FAMILY,
    real=True,
    forms=("torch.copysign(x, y)", "x.copysign(y)", "x.copysign(-1.0)", "np.copysign(x, y)", "math.copysign(x, y)"),
    infer=infer.floating,
    kernel=lambda xp, x, y: xp.copysign(x, y),
    c="copysign({0}, {1})",
    formula=_copysign_formula,
    slopes=(lambda x, _y, z: make.sign(x) * make.sign(z), lambda _x, _y, _z: 0),
    examples=_apart("torch.copysign(x, y)"),
    domain="all real numbers; differentiable where neither is 0",
    at_kink=kinks.at_zero,
    kink="at x = 0 the slope of x is 0; that of y is 0 everywhere",
    grad_fn=lambda args, _attrs: "CopysignBackward1" if args[1].is_number else "CopysignBackward0",
)


def _heaviside(input: Node, values: Node) -> Node:
    return apply(HEAVISIDE, (as_node(input), as_node(values)))


def _heaviside_formula(m: Any, x: Any, values: Any) -> Any:
    positive = lambda: m.where(x > 0, lambda: m.number(1), lambda: x)  # x where it is NaN
    not_zero = lambda: m.where(x < 0, lambda: m.number(0), positive)
    return m.where(m.equal(x, m.number(0)), lambda: values, not_zero)


HEAVISIDE = binary(
    "heaviside",
    "0 below 0, 1 above, and the second tensor at 0; it has no derivative, as in PyTorch.",
    family=_FAMILY,
    real=True,
    call=_heaviside,
    forms=("torch.heaviside(x, y)", "x.heaviside(y)", "np.heaviside(x, y)"),
    infer=infer.floating,
    kernel=lambda xp, x, values: xp.heaviside(x, values),
    c="({0} != {0} ? {0} : {0} == 0 ? {1} : {0} > 0)",
    formula=_heaviside_formula,
    slopes=None,
    differentiable=False,
    examples=(Example("torch.heaviside(x, y)", {"x": (3,), "y": (3,)}, orders=0),),
    kink="none: asking for a gradient is an error",
    grad_fn="NotImplemented",
)
