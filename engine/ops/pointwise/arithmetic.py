"""`+ - * / // %`, negation and what PyTorch files beside them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InputError, NoGradientError
from ...graph import POSITIVE, Attrs, DType, Example, Interval, Node, Op, Shape, add_row, apply, as_node, make
from .. import infer, kinks
from ..row import binary, compose, unary

_FAMILY = "binary"

# Quotients between these lie strictly between 2 and 3 (or -3 and -2): no step of floor or trunc inside.
_DIVIDEND = Interval(3.2, 3.8)
_DIVIDEND_BELOW = Interval(-3.8, -3.2)
_DIVISOR = Interval(1.3, 1.55)


def _between_steps(form: str, orders: int = 3) -> tuple[Example, Example]:
    """Examples of an op with steps, away from them: a positive and a negative quotient."""
    shapes = {"x": (3,), "y": (3,)}
    return (
        Example(form, shapes, {"x": _DIVIDEND, "y": _DIVISOR}, orders),
        Example(form, shapes, {"x": _DIVIDEND_BELOW, "y": _DIVISOR}, orders),
    )


def _scaled(node: Node, alpha: float) -> Node:
    return node if alpha == 1 else node * alpha


def _add(input: Node, other: Node, *, alpha: float = 1) -> Node:
    return apply(ADD, (as_node(input), _scaled(as_node(other), alpha)))


ADD = binary(
    "add",
    "The sum of two tensors, the second times alpha.",
    family=_FAMILY,
    call=_add,
    forms=("x + y", "torch.add(x, y)", "x.add(y)", "x + 1.0", "1.0 + x", "torch.add(x, y, alpha=2)", "np.add(x, y)"),
    kernel=lambda _xp, x, y: x + y,
    c="{0} + {1}",
    formula=lambda _m, x, y: x + y,
    slopes=(lambda _x, _y, _z: 1, lambda _x, _y, _z: 1),
    grad_fn="AddBackward0",
)


def _sub_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape, dtype = infer.same(args, attrs)
    if dtype.kind == "b":
        raise InputError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
            if len(args) == 2
            else "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead.",
            hint="to invert a mask, write ~ or logical_not()",
        )
    return shape, dtype


def _sub_grad_fn(args: Sequence[Node], _attrs: Attrs) -> str:
    return "RsubBackward1" if args[0].is_number else "SubBackward0"


def _sub(input: Node, other: Node, *, alpha: float = 1) -> Node:
    return apply(SUB, (as_node(input), _scaled(as_node(other), alpha)))


SUB = binary(
    "sub",
    "The difference of two tensors, the second times alpha.",
    family=_FAMILY,
    call=_sub,
    forms=("x - y", "torch.sub(x, y)", "x.sub(y)", "x - 1.0", "1.0 - x", "torch.subtract(x, y)", "np.subtract(x, y)"),
    aliases=("subtract",),
    infer=_sub_infer,
    kernel=lambda _xp, x, y: x - y,
    c="{0} - {1}",
    formula=lambda _m, x, y: x - y,
    slopes=(lambda _x, _y, _z: 1, lambda _x, _y, _z: -1),
    grad_fn=_sub_grad_fn,
)


def _rsub(input: Node, other: Node, *, alpha: float = 1) -> Node:
    other = as_node(other)
    grad_fn = "RsubBackward1" if other.is_number else "RsubBackward0"
    return apply(SUB, (other, _scaled(as_node(input), alpha)), grad_fn=grad_fn)


RSUB = compose(
    "rsub",
    "The second tensor minus the first, the first times alpha.",
    family=_FAMILY,
    call=_rsub,
    forms=("torch.rsub(x, y)", "torch.rsub(x, 1.0)"),
    method=False,
    examples=(Example("torch.rsub(x, y, alpha=2)", {"x": (3,), "y": (3,)}),),
    grad_fn=lambda args, _attrs: "RsubBackward1" if args[1].is_number else "RsubBackward0",
)

MUL = binary(
    "mul",
    "The product of two tensors.",
    family=_FAMILY,
    forms=("x * y", "torch.mul(x, y)", "x.mul(y)", "2.0 * x", "x * 2.0", "torch.multiply(x, y)", "np.multiply(x, y)"),
    aliases=("multiply",),
    kernel=lambda _xp, x, y: x * y,
    c="{0} * {1}",
    formula=lambda _m, x, y: x * y,
    slopes=(lambda _x, y, _z: y, lambda x, _y, _z: x),
    grad_fn="MulBackward0",
)

NEG = unary(
    "neg",
    "Each element with the other sign.",
    family="elementwise",
    forms=("-x", "torch.neg(x)", "x.neg()", "torch.negative(x)", "np.negative(x)"),
    aliases=("negative",),
    infer=_sub_infer,
    kernel=lambda _xp, x: operator.neg(x),
    c="-{0}",
    formula=lambda _m, x: -x,
    slope=lambda _x, _y: -1,
    grad_fn="NegBackward0",
)


def _div_grad_fn(args: Sequence[Node], _attrs: Attrs) -> str:
    # PyTorch multiplies by the reciprocal there; one division is closer to the truth.
    return "MulBackward0" if args[0].is_number else "DivBackward0"


def _div(input: Node, other: Node, *, rounding_mode: str | None = None) -> Node:
    rows = {None: DIV, "floor": DIV_FLOOR, "trunc": DIV_TRUNC}
    if rounding_mode not in rows:
        raise InputError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}"
        )
    return apply(rows[rounding_mode], (as_node(input), as_node(other)))


def _reciprocal(y: Node) -> Node | complex:
    if not y.is_number:
        return 1.0 / y
    with np.errstate(all="ignore"):
        return np.divide(1.0, y.value).item()  # type: ignore[no-any-return]  # float or complex, as the number is


def _div_kernel(xp: Any, x: Any, y: Any) -> Any:
    if hasattr(x, "dtype") or hasattr(y, "dtype"):
        return x / y  # on single numbers much faster than the ufunc
    return xp.divide(x, y)


DIV = binary(
    "div",
    "The quotient of two tensors.",
    family=_FAMILY,
    call=_div,
    forms=(
        "x / y",
        "torch.div(x, y)",
        "x.div(y)",
        "x / 2.0",
        "1.0 / x",
        "torch.divide(x, y)",
        "torch.true_divide(x, y)",
        "np.divide(x, y)",
    ),
    aliases=("divide", "true_divide"),
    infer=infer.floating,
    kernel=_div_kernel,
    c="{0} / {1}",
    formula=lambda _m, x, y: x / y,
    slopes=(lambda _x, y, _z: _reciprocal(y), lambda _x, y, z: -z / y),
    within={"y": POSITIVE},
    domain="a divisor other than 0",
    kink="at divisor 0 the quotient and its derivatives are infinite, or NaN for 0/0",
    grad_fn=_div_grad_fn,
)


def _is_integer(value: Any) -> bool:
    dtype = getattr(value, "dtype", None)
    return isinstance(value, int) if dtype is None else dtype.kind in "iub"


def _refuse_integer_zero(xp: Any, op: str, x: Any, y: Any) -> None:
    """An integer divided by the integer 0 has no value, while NumPy would answer 0."""
    if _is_integer(y) and _is_integer(x) and not xp.all(y):
        raise InputError(f"{op}: integer division by zero", hint="write one of the numbers as a float: 0.0")


def _whole_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape, dtype = infer.same(args, attrs)
    if dtype.kind in "bc":
        raise InputError(f"whole quotients and remainders exist for integers and real numbers, not for {dtype}")
    return shape, dtype


def _floor_divide_kernel(xp: Any, x: Any, y: Any) -> Any:
    _refuse_integer_zero(xp, "floor_divide", x, y)
    return xp.floor_divide(x, y)


def _trunc_divide_kernel(xp: Any, x: Any, y: Any) -> Any:
    if not (_is_integer(x) and _is_integer(y)):
        return _whole_quotient(xp, x, y)
    _refuse_integer_zero(xp, "div", x, y)
    below = xp.floor_divide(x, y)
    return below + ((below < 0) & (xp.remainder(x, y) != 0))


def _whole_quotient(xp: Any, x: Any, y: Any) -> Any:
    """The whole part of the exact quotient: rounding lifts 3/0.05 to 60, but 0.05 is a little more than that."""
    quotient = xp.divide(x, y)
    whole = xp.trunc(quotient)
    short = xp.equal(whole, quotient) & (xp.abs(xp.fmod(x, y)) > xp.abs(y) / 2)
    # Larger ones have no digits behind the point to begin with.
    return whole - xp.sign(whole) * (short & (xp.abs(whole) * np.finfo(quotient.dtype).eps < 1))


def _floor_formula(m: Any, x: Any, y: Any) -> Any:
    return m.floor(x / y)


def _trunc_formula(m: Any, x: Any, y: Any) -> Any:
    quotient = x / y
    return m.where(quotient < 0, lambda: -m.floor(-quotient), lambda: m.floor(quotient))


_C_REMAINDER = (
    "(fmod({0}, {1}) == 0 ? copysign(0.0, {1}) : fmod({0}, {1}) + ((fmod({0}, {1}) < 0) != ({1} < 0) ? {1} : 0))"
)
_C_FLOOR_DIVIDE = "floor_divide({0}, {1})"

_STEPS = "a divisor other than 0, and a quotient that is no integer"

DIV_FLOOR = binary(
    "div_floor",
    "The quotient of two tensors, rounded down.",
    family=_FAMILY,
    real=True,
    forms=("torch.div(x, y, rounding_mode='floor')", "x.div(y, rounding_mode='floor')"),
    method=False,
    infer=_whole_infer,
    kernel=_floor_divide_kernel,
    c=_C_FLOOR_DIVIDE,
    formula=_floor_formula,
    slopes=(lambda _x, _y, _z: 0, lambda _x, _y, _z: 0),
    examples=_between_steps("torch.div(x, y, rounding_mode='floor')"),
    domain=_STEPS,
    at_kink=kinks.at_step,
    kink="the derivative is 0 everywhere, at the steps too",
    grad_fn="DivBackward2",
)

DIV_TRUNC = binary(
    "div_trunc",
    "The exact quotient of two tensors, rounded towards 0.",
    family=_FAMILY,
    real=True,
    forms=("torch.div(x, y, rounding_mode='trunc')", "x.div(y, rounding_mode='trunc')"),
    method=False,
    infer=_whole_infer,
    kernel=_trunc_divide_kernel,
    c="trunc_divide({0}, {1})",
    formula=_trunc_formula,
    slopes=(lambda _x, _y, _z: 0, lambda _x, _y, _z: 0),
    examples=_between_steps("torch.div(x, y, rounding_mode='trunc')"),
    domain=_STEPS,
    at_kink=kinks.at_step,
    kink="the derivative is 0 everywhere, at the steps too",
    grad_fn="DivBackward2",
)

FLOOR_DIVIDE = binary(
    "floor_divide",
    "The quotient of two tensors, rounded down; it has no derivative, as in PyTorch.",
    family=_FAMILY,
    real=True,
    forms=("x // y", "torch.floor_divide(x, y)", "x.floor_divide(y)", "np.floor_divide(x, y)"),
    infer=_whole_infer,
    kernel=_floor_divide_kernel,
    c=_C_FLOOR_DIVIDE,
    formula=_floor_formula,
    slopes=None,
    differentiable=False,
    examples=_between_steps("x // y", orders=0),
    domain="a divisor other than 0",
    kink="none: asking for a gradient is an error; torch.div(x, y, rounding_mode='floor') has the derivative 0",
    grad_fn="NotImplemented",
)


def _remainder_kernel(xp: Any, x: Any, y: Any) -> Any:
    _refuse_integer_zero(xp, "remainder", x, y)
    return xp.remainder(x, y)


def _remainder_grad_fn(args: Sequence[Node], _attrs: Attrs) -> str:
    if args[0].is_number:
        return "NotImplemented"
    return "RemainderBackward0" if args[1].is_number else "RemainderBackward1"


def _remainder_slope(x: Node, y: Node, z: Node) -> Node:
    """Minus the rounded quotient; PyTorch has none where a number is divided, and so this has none.

    Raises:
        NoGradientError: where the first argument is a written number.
    """
    if x.is_number:
        raise NoGradientError(
            "derivative for remainder is not implemented where the first argument is a written number",
            spans=(z.span,) if z.span else (),
            hint=f"write it as a tensor: tensor({x.value!r}) % ...",
        )
    return -make.div(x, y, rounding_mode="floor")  # type: ignore[no-any-return]  # a row's call is of any type


REMAINDER = binary(
    "remainder",
    "What is left of the first tensor after whole multiples of the second, with the sign of the second.",
    family=_FAMILY,
    real=True,
    forms=("x % y", "torch.remainder(x, y)", "x.remainder(y)", "x % 0.25", "np.remainder(x, y)", "np.mod(x, y)"),
    aliases=("mod",),
    infer=_whole_infer,
    kernel=_remainder_kernel,
    c=_C_REMAINDER,
    formula=lambda m, x, y: m.remainder(x, y),
    slopes=(lambda _x, _y, _z: 1, _remainder_slope),
    examples=_between_steps("x % y"),
    domain=_STEPS,
    at_kink=kinks.at_step,
    kink="at a step the slopes are those of the piece to the right: 1 and minus the rounded quotient",
    grad_fn=_remainder_grad_fn,
)


def _fmod_kernel(xp: Any, x: Any, y: Any) -> Any:
    _refuse_integer_zero(xp, "fmod", x, y)
    return xp.fmod(x, y)


def _fmod_formula(m: Any, x: Any, y: Any) -> Any:
    period = m.absolute(y)
    return m.where(x < 0, lambda: -m.remainder(-x, period), lambda: m.remainder(x, period))


FMOD = binary(
    "fmod",
    "What is left of the first tensor after whole multiples of the second, with the sign of the first.",
    family=_FAMILY,
    real=True,
    forms=("torch.fmod(x, y)", "x.fmod(y)", "x.fmod(0.25)", "np.fmod(x, y)", "math.fmod(x, y)"),
    infer=_whole_infer,
    kernel=_fmod_kernel,
    c="fmod({0}, {1})",
    formula=_fmod_formula,
    # fmod is exact while a quotient is rounded: (x - z)/y is the whole multiple, trunc(1/0.1) = 10 is not.
    slopes=(lambda _x, _y, _z: 1, lambda x, y, z: -make.round((x - z) / y)),
    examples=_between_steps("torch.fmod(x, y)"),
    domain=_STEPS,
    at_kink=kinks.at_step,
    kink="at a step the slopes are 1 and minus the quotient",
    grad_fn=lambda args, _attrs: "FmodBackward0" if args[1].is_number else "FmodBackward1",
)


def _lerp_kernel(xp: Any, x: Any, y: Any, w: Any) -> Any:
    # From the nearer end, so that weight 1 gives exactly the end.
    difference = y - x
    if not getattr(w, "shape", ()):
        return x + w * difference if w < 0.5 else y - (1 - w) * difference
    return xp.where(w < 0.5, x + w * difference, y - (1 - w) * difference)


def _lerp_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    infer.numeric("lerp")(args[:2], attrs)
    return infer.same(args, attrs)


def _lerp(input: Node, end: Node, weight: Node) -> Node:
    return apply(LERP, (as_node(input), as_node(end), as_node(weight)))


_THREE = {"x": (3,), "y": (3,), "w": (3,)}

LERP = add_row(
    Op(
        name="lerp",
        doc="The point between two tensors: the start plus weight times the way to the end.",
        family=_FAMILY,
        call=_lerp,
        forms=("torch.lerp(x, y, 0.3)", "torch.lerp(x, y, w)", "x.lerp(y, 0.3)"),
        infer=_lerp_infer,
        kernel=_lerp_kernel,
        c="({2} < 0.5 ? {0} + {2} * ({1} - {0}) : {1} - (1 - {2}) * ({1} - {0}))",
        formula=lambda _m, x, y, w: x + w * (y - x),
        elementwise=True,
        slopes=(
            lambda _x, _y, w, _z: 1 - w.value if w.is_number else 1 - w,
            lambda _x, _y, w, _z: w.value if w.is_number else w,
            lambda x, y, _w, _z: y - x,
        ),
        examples=(Example("torch.lerp(x, y, w)", _THREE), Example("torch.lerp(x, y, 0.3)", {"x": (3,), "y": (3,)})),
        grad_fn=lambda args, _attrs: "LerpBackward0" if args[2].is_number else "LerpBackward1",
    )
)


def _addcmul(input: Node, tensor1: Node, tensor2: Node, *, value: float = 1) -> Node:
    return apply(ADDCMUL, (as_node(input), as_node(tensor1), as_node(tensor2)), {"value": value})


ADDCMUL = add_row(
    Op(
        name="addcmul",
        doc="A tensor plus value times the product of two others.",
        family=_FAMILY,
        call=_addcmul,
        forms=("torch.addcmul(x, y, w)", "torch.addcmul(x, y, w, value=2)", "x.addcmul(y, w)"),
        infer=infer.numeric("addcmul"),
        kernel=lambda _xp, x, y, w, value: x + (y * w if value == 1 else value * y * w),
        c="{0} + {value} * {1} * {2}",
        formula=lambda m, x, y, w, value: x + m.number(value) * y * w,
        elementwise=True,
        slopes=(
            lambda _x, _y, _w, _z, value: 1,  # noqa: ARG005  # attributes are passed by name
            lambda _x, _y, w, _z, value: _scaled(w, value),
            lambda _x, y, _w, _z, value: _scaled(y, value),
        ),
        examples=(Example("torch.addcmul(x, y, w)", _THREE), Example("torch.addcmul(x, y, w, value=2)", _THREE)),
        grad_fn="AddcmulBackward0",
    )
)


def _addcdiv(input: Node, tensor1: Node, tensor2: Node, *, value: float = 1) -> Node:
    return apply(ADDCDIV, (as_node(input), as_node(tensor1), as_node(tensor2)), {"value": value})


ADDCDIV = add_row(
    Op(
        name="addcdiv",
        doc="A tensor plus value times the quotient of two others.",
        family=_FAMILY,
        call=_addcdiv,
        forms=("torch.addcdiv(x, y, w)", "torch.addcdiv(x, y, w, value=2)", "x.addcdiv(y, w)"),
        infer=infer.floating,
        kernel=lambda xp, x, y, w, value: x + value * xp.divide(y, w),
        c="{0} + {value} * ({1} / {2})",
        formula=lambda m, x, y, w, value: x + m.number(value) * y / w,
        elementwise=True,
        slopes=(
            lambda _x, _y, _w, _z, value: 1,  # noqa: ARG005  # attributes are passed by name
            lambda _x, _y, w, _z, value: value * _reciprocal(w),
            lambda _x, y, w, _z, value: -value * ((y / w) / w),
        ),
        examples=(
            Example("torch.addcdiv(x, y, w)", _THREE, {"w": POSITIVE}),
            Example("torch.addcdiv(x, y, w, value=2)", _THREE, {"w": POSITIVE}),
        ),
        domain="a divisor other than 0",
        kink="at divisor 0 the value and its derivatives are infinite, or NaN for 0/0",
        grad_fn="AddcdivBackward0",
    )
)
