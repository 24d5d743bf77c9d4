"""Operators of a snippet, each after a look at how large its value would be."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from .formatting import percent

if TYPE_CHECKING:
    from .limits import Meter


def compute(meter: Meter, kind: type[ast.operator], left: Any, right: Any, *, in_place: bool = False) -> Any:
    """The value of an operator, after a look at how large it would be."""
    if kind is ast.Mod and type(left) is str:
        return percent(left, right, meter)
    check = _CHECKS.get(kind)
    if check is not None:
        check(meter, left, right)
    if in_place and type(left) is list and kind is ast.Add:
        right = meter.gathered(right)
    return (_IN_PLACE if in_place else _BINARY)[kind](left, right)


def _check_product(meter: Meter, left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        meter.product(left, right)
    elif isinstance(left, (str, list, tuple, bytes)) or isinstance(right, (str, list, tuple, bytes)):
        meter.repetition(left, right)


def _check_power(meter: Meter, left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        meter.power(left, right)


def _check_shift(meter: Meter, left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        meter.shift(left, right)


_CHECKS: Final[Mapping[type[ast.operator], Callable[[Meter, Any, Any], None]]] = {
    ast.Mult: _check_product,
    ast.Pow: _check_power,
    ast.LShift: _check_shift,
}
_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.MatMult: operator.matmul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_IN_PLACE: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.iadd,
    ast.Sub: operator.isub,
    ast.Mult: operator.imul,
    ast.MatMult: operator.imatmul,
    ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv,
    ast.Mod: operator.imod,
    ast.Pow: operator.ipow,
    ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift,
    ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior,
    ast.BitXor: operator.ixor,
}
UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda value, values: value in values,
    ast.NotIn: lambda value, values: value not in values,
}
