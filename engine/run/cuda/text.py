"""C text of single values: the types, numbers and expressions that generated kernels are made of."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...graph import FLOAT32, FLOAT64, INT64, Attrs, DType, Op

TYPES: Final = {"bool": "bool", "int64": "long long", "int32": "int", "float32": "float", "float64": "double"}
"""The C type of each dtype that a kernel may hold; values of other dtypes go through the library."""

WRITTEN_POWERS: Final = {
    2: "{0} * {0}",
    3: "{0} * {0} * {0}",
    -1: "1.0 / {0}",
    -2: "(1.0 / {0}) * (1.0 / {0})",
    0.5: "sqrt({0})",
}
"""As the row's kernel: written exponents that need no power function."""

_NUMBER: Final = re.compile(r"(?<![\w.{])\d+\.\d+(?![\w.])")
_FIELD: Final = re.compile(r"\{(\w+)\}")


class Value(NamedTuple):
    """A value in a kernel.

    Attributes:
        text: its C text: a variable, or a number.
        dtype: its dtype.
        number: where it is a number written in the text, the number, which takes the dtype of what it meets.
    """

    text: str
    dtype: DType
    number: Any = None


def c_type(dtype: DType) -> str:
    """The C type of a dtype."""
    return TYPES[dtype.name]


def literal(value: Any, dtype: DType) -> str:
    """A number as C text that has exactly its value in a dtype."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if dtype.kind != "f":
        return _whole(int(value))
    suffix = "f" if dtype == FLOAT32 else ""
    with np.errstate(over="ignore"):
        number = float(dtype.type(value))
    if math.isnan(number):
        return f"(({c_type(dtype)}) NAN)"
    if math.isinf(number):
        return f"({'-' if number < 0 else ''}({c_type(dtype)}) INFINITY)"
    text = repr(abs(number))
    return f"(-{text}{suffix})" if math.copysign(1.0, number) < 0 else f"{text}{suffix}"


def _whole(value: int) -> str:
    if value == np.iinfo(INT64).min:
        return "(-9223372036854775807LL - 1)"
    text = f"{abs(value)}LL" if abs(value) > np.iinfo(np.int32).max else str(abs(value))
    return f"(-{text})" if value < 0 else text


def computed_in(op: Op, args: Sequence[Value], dtype: DType) -> DType:
    """The dtype that an op computes in: that of its result, or of what a comparison compares."""
    if dtype.kind == "f" and op.name != "to":
        return dtype
    kept = [arg.dtype for arg in args if arg.number is None] or [arg.dtype for arg in args]
    widest: DType = np.result_type(*kept)
    if widest.kind != "f" and any(arg.dtype.kind == "f" for arg in args):
        return FLOAT64
    return widest


def expression(op: Op, attrs: Attrs, args: Sequence[Value], dtype: DType) -> str:
    """The C text of one op on values.

    Args:
        op: its row, which has C text.
        attrs: its plain parameters.
        args: its arguments.
        dtype: of its result.
    """
    assert op.c is not None, op.name
    inner = computed_in(op, args, dtype)
    template = op.c
    if op.name == "pow" and inner.kind == "f" and args[0].number is None:
        template = WRITTEN_POWERS.get(args[1].number, template)
    if inner == FLOAT32:
        template = _NUMBER.sub(lambda found: found.group() + "f", template)
    fields = {str(index): _in_dtype(arg, inner) for index, arg in enumerate(args)}
    fields |= {name: _attribute(value, inner) for name, value in attrs.items()}
    return _FIELD.sub(lambda found: fields[found.group(1)], template)


def _in_dtype(arg: Value, dtype: DType) -> str:
    if arg.number is not None:
        return literal(arg.number, dtype)
    if arg.dtype == dtype or arg.dtype.kind == "b":
        return arg.text
    return f"(({c_type(dtype)}) {arg.text})"


def _attribute(value: Any, dtype: DType) -> str:
    if isinstance(value, np.dtype):
        return c_type(value)
    if isinstance(value, int) and not isinstance(value, bool):
        # An order or a count is a whole number to the function that takes it; beside floats C makes it one.
        return _whole(value)
    return literal(value, dtype if dtype.kind == "f" else FLOAT64)
