"""Python's operators on tensors: each is a row of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph import TABLE
from . import dispatch, writing

if TYPE_CHECKING:
    from .tensor import Tensor

_OPERANDS = (*dispatch.NUMBERS, np.generic)


def _takes(other: Any) -> bool:
    return isinstance(other, (dispatch.tensor_class, *_OPERANDS))


def _binary(name: str) -> Any:
    def operator(self: Tensor, other: Any) -> Any:
        return dispatch.operate(name, self, other) if _takes(other) else NotImplemented

    return operator


def _reflected(name: str) -> Any:
    def operator(self: Tensor, other: Any) -> Any:
        return dispatch.operate(name, other, self) if _takes(other) else NotImplemented

    return operator


def _in_place(name: str) -> Any:
    def operator(self: Tensor, other: Any) -> Any:
        return writing.in_place(self, TABLE[name], (other,), {}) if _takes(other) else NotImplemented

    return operator


class Operators:
    """What Python's operators and brackets mean on a tensor."""

    __add__, __radd__, __iadd__ = _binary("add"), _reflected("add"), _in_place("add")
    __sub__, __rsub__, __isub__ = _binary("sub"), _reflected("sub"), _in_place("sub")
    __mul__, __rmul__, __imul__ = _binary("mul"), _reflected("mul"), _in_place("mul")
    __truediv__, __rtruediv__, __itruediv__ = _binary("div"), _reflected("div"), _in_place("div")
    __floordiv__, __rfloordiv__ = _binary("floor_divide"), _reflected("floor_divide")
    __ifloordiv__ = _in_place("floor_divide")
    __mod__, __rmod__, __imod__ = _binary("remainder"), _reflected("remainder"), _in_place("remainder")
    __pow__, __rpow__, __ipow__ = _binary("pow"), _reflected("pow"), _in_place("pow")
    __and__, __rand__ = _binary("bitwise_and"), _reflected("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or"), _reflected("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor"), _reflected("bitwise_xor")
    __lt__, __le__, __gt__, __ge__ = _binary("lt"), _binary("le"), _binary("gt"), _binary("ge")
    __eq__, __ne__ = _binary("eq"), _binary("ne")
    __hash__ = object.__hash__

    def __matmul__(self, other: Any) -> Any:
        return dispatch.operate("matmul", self, other) if isinstance(other, dispatch.tensor_class) else NotImplemented

    def __neg__(self) -> Any:
        return dispatch.operate("neg", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return dispatch.operate("abs", self)

    def __invert__(self) -> Any:
        return dispatch.operate("bitwise_not", self)

    def __getitem__(self, items: Any) -> Any:
        return dispatch.operate("getitem", self, items)

    def __setitem__(self: Any, items: Any, value: Any) -> None:
        writing.put(self, items, value)
