"""Comparisons and logic; their results are booleans and carry no gradient."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import InputError
from ...graph import Attrs, DType, Example, Node, Op, Shape, add_row, apply, as_node
from .. import infer, kinks

_FAMILY = "comparison"

_INPUTS = ("x", "y")


def _row(
    name: str,
    doc: str,
    inputs: Sequence[str] = _INPUTS,
    *,
    c: str,
    formula: Callable[..., Any],
    symbol: str = "",
    infer: Callable[[Sequence[Node], Attrs], tuple[Shape, DType]] = infer.boolean,
    kernel: Callable[..., Any] | None = None,
    **fields: Any,
) -> Op:
    """A row without a gradient for a function of one or two tensors.

    Args:
        name, doc, c, formula, infer, fields: see `Op`.
        inputs: the names of the tensors in the forms.
        symbol: the operator for it, which is then the first form.
        kernel: see `Op`; NumPy's function of the same name where it is not given.
    """
    first, *rest = inputs
    names = ", ".join(inputs)
    forms = [f"torch.{name}({names})", f"{first}.{name}({', '.join(rest)})"]
    forms += [f"torch.{alias}({names})" for alias in fields.get("aliases", ())]
    if symbol:
        forms.insert(0, f"{first} {symbol} {rest[0]}")

    def call_one(input: Node) -> Node:
        return apply(row, (as_node(input),))

    def call_two(input: Node, other: Node) -> Node:
        return apply(row, (as_node(input), as_node(other)))

    row = Op(
        name=name,
        doc=doc,
        family=_FAMILY,
        call=fields.pop("call", call_two if rest else call_one),
        forms=fields.pop("forms", tuple(forms)),
        infer=infer,
        kernel=kernel or (lambda xp, *values: getattr(xp, name)(*values)),
        c=c,
        formula=formula,
        elementwise=True,
        differentiable=False,
        examples=fields.pop("examples", (Example(forms[0], dict.fromkeys(inputs, (3,)), orders=0),)),
        kink="none: the result is no number that could have a gradient",
        **fields,
    )
    return add_row(row)


def _compare(
    name: str,
    doc: str,
    symbol: str,
    compare: Callable[[Any, Any], Any],
    *aliases: str,
    formula: Callable[..., Any] | None = None,
) -> Op:
    """A row for one of the six comparisons; its formula is the comparison itself where it is not given."""
    return _row(
        name,
        doc,
        symbol=symbol,
        aliases=aliases,
        kernel=lambda _xp, x, y: compare(x, y),
        c=f"{{0}} {symbol} {{1}}",
        formula=formula or (lambda _m, x, y: compare(x, y)),
        real=name not in ("eq", "ne"),
        at_kink=kinks.at_bounds,
    )


LT = _compare("lt", "Whether the first is smaller.", "<", operator.lt, "less")
LE = _compare("le", "Whether the first is smaller or equal.", "<=", operator.le, "less_equal")
GT = _compare("gt", "Whether the first is larger.", ">", operator.gt, "greater")
GE = _compare("ge", "Whether the first is larger or equal.", ">=", operator.ge, "greater_equal")

# No alias `equal`: NumPy's means this row, PyTorch's says whether whole tensors are equal.
EQ = _compare("eq", "Whether the two are equal.", "==", operator.eq, formula=lambda m, x, y: m.equal(x, y))
NE = _compare(
    "ne",
    "Whether the two differ.",
    "!=",
    operator.ne,
    "not_equal",
    formula=lambda m, x, y: _negated(m.equal(x, y)),
)


def _negated(condition: Any) -> Any:
    """The opposite of a condition: of a Python boolean or of a SymPy relation."""
    return not condition if isinstance(condition, bool) else ~condition


def truth(m: Any, x: Any) -> Any:
    """A value as a condition: a number is true unless it is 0."""
    return x if is_condition(x) else _negated(m.equal(x, m.number(0)))


def is_condition(x: Any) -> bool:
    """Whether an exact value is a condition rather than a number."""
    return isinstance(x, bool) or bool(getattr(x, "is_Boolean", False))


def _logical(name: str, doc: str, c: str, combine: Callable[[Any, Any], Any]) -> Op:
    return _row(name, doc, c=c, formula=lambda m, x, y: combine(truth(m, x), truth(m, y)))


def _exclusive(x: Any, y: Any) -> Any:
    return (x & _negated(y)) | (_negated(x) & y)


LOGICAL_AND = _logical("logical_and", "Whether both are true, that is not 0.", "{0} && {1}", operator.and_)
LOGICAL_OR = _logical("logical_or", "Whether one or both are true, that is not 0.", "{0} || {1}", operator.or_)
LOGICAL_XOR = _logical("logical_xor", "Whether exactly one is true, that is not 0.", "!{0} != !{1}", _exclusive)

LOGICAL_NOT = _row(
    "logical_not",
    "Whether it is false, that is 0.",
    ("x",),
    c="!{0}",
    formula=lambda m, x: _negated(truth(m, x)),
)


def _bitwise_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape, dtype = infer.same(args, attrs)
    if dtype.kind not in "iub":
        raise InputError(
            f"bitwise operators work on booleans and integers, not on {dtype}",
            hint="combine comparisons in brackets: (x > 0) & (y > 0); for powers write **",
        )
    return shape, dtype


def _bitwise(
    name: str, doc: str, symbol: str, combine: Callable[[Any, Any], Any], on_conditions: Callable[[Any, Any], Any]
) -> Op:
    def formula(m: Any, x: Any, y: Any) -> Any:
        if is_condition(x) and is_condition(y):
            return on_conditions(x, y)
        return m.number(combine(int(x), int(y)))

    # In an expression file ^ is an error that says **, so that xor has its name only.
    operator_form = () if symbol == "^" else (f"(x > 0) {symbol} (y > 0)",)
    forms = (*operator_form, f"torch.{name}(x > 0, y > 0)", f"np.{name}(x > 0, y > 0)")
    return _row(
        name,
        doc,
        forms=forms,
        infer=_bitwise_infer,
        c=f"{{0}} {symbol} {{1}}",
        formula=formula,
        domain="booleans and integers",
        examples=(Example(forms[0], {"x": (3,), "y": (3,)}, orders=0),),
    )


BITWISE_AND = _bitwise("bitwise_and", "And, bit by bit.", "&", operator.and_, operator.and_)
BITWISE_OR = _bitwise("bitwise_or", "Or, bit by bit.", "|", operator.or_, operator.or_)
BITWISE_XOR = _bitwise("bitwise_xor", "Exclusive or, bit by bit.", "^", operator.xor, _exclusive)

BITWISE_NOT = _row(
    "bitwise_not",
    "Not, bit by bit.",
    ("x",),
    infer=_bitwise_infer,
    kernel=lambda xp, x: xp.invert(x),
    c="bitwise_not({0})",
    formula=lambda m, x: _negated(x) if is_condition(x) else m.number(~int(x)),
    domain="booleans and integers",
    aliases=("invert",),
    forms=("~x", "torch.bitwise_not(x)", "x.bitwise_not()", "np.invert(x)"),
    examples=(Example("~(x > 0)", {"x": (3,)}, orders=0),),
)

ISNAN = _row(
    "isnan",
    "Whether it is not a number.",
    ("x",),
    c="{0} != {0}",
    formula=lambda m, x: _negated(m.equal(x, x)),
)

ISINF = _row(
    "isinf",
    "Whether it is infinite, of either sign.",
    ("x",),
    c="isinf({0})",
    formula=lambda m, x: m.equal(m.absolute(x), m.inf),
)

ISFINITE = _row(
    "isfinite",
    "Whether it is a number and not infinite.",
    ("x",),
    c="isfinite({0})",
    formula=lambda m, x: m.absolute(x) < m.inf,
)

ISPOSINF = _row(
    "isposinf",
    "Whether it is plus infinity.",
    ("x",),
    real=True,
    c="isinf({0}) && {0} > 0",
    formula=lambda m, x: m.equal(x, m.inf),
)

ISNEGINF = _row(
    "isneginf",
    "Whether it is minus infinity.",
    ("x",),
    real=True,
    c="isinf({0}) && {0} < 0",
    formula=lambda m, x: m.equal(x, -m.inf),
)

SIGNBIT = _row(
    "signbit",
    "Whether the sign is minus; of the two zeros, -0.0 has it.",
    ("x",),
    real=True,
    c="signbit({0})",
    formula=lambda _m, x: x < 0,
)


def _isclose(input: Node, other: Node, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Node:
    attrs = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
    return apply(ISCLOSE, (as_node(input), as_node(other)), attrs)


def _isclose_formula(m: Any, x: Any, y: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    close = m.absolute(x - y) <= m.number(atol) + m.number(rtol) * m.absolute(y)
    if equal_nan:
        close = close | (_negated(m.equal(x, x)) & _negated(m.equal(y, y)))
    return close | m.equal(x, y)


ISCLOSE = _row(
    "isclose",
    "Whether the two differ by at most atol + rtol*|y|.",
    c="({0} == {1} || (isfinite({1}) && fabs({0} - {1}) <= {atol} + {rtol} * fabs({1}))"
    " || ({equal_nan} && {0} != {0} && {1} != {1}))",
    call=_isclose,
    forms=("torch.isclose(x, y)", "torch.isclose(x, y, rtol=1e-6)", "x.isclose(y)", "np.isclose(x, y)"),
    kernel=lambda xp, x, y, rtol, atol, equal_nan: xp.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan),
    formula=_isclose_formula,
)
