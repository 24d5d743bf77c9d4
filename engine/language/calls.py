"""Calls of functions and methods: the row, its arguments, and what stands for plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..derivatives.calls import FAMILY
from ..errors import InputError, Span
from ..graph import FLOAT64, LEAF, TABLE, DType, Node, Op, Outputs, ancestors, leaf
from . import names
from .attributes import MEASURES, measure
from .binding import Converter, bind
from .integers import Integers
from .listing import Listing, described
from .reads import Reads
from .signatures import signature
from .written import NUMBERS

_METHOD_ORDER: Final = {"where": (1, 0, 2)}
"""Methods whose receiver is not the first argument of the function."""


class Function:
    """A function that was found: its row (None: of plain values), whether NumPy's defaults apply, and whether one
    tensor is enough for it."""

    __slots__ = ("numpy", "one_tensor", "op")

    def __init__(self, op: Op | None, numpy: bool, one_tensor: bool) -> None:
        self.op = op
        self.numpy = numpy
        self.one_tensor = one_tensor


class Calls:
    """Calls functions and methods.

    Attributes:
        measured: whether a size, a shape or a number of axes was asked for since it was last set to False.
        explicit: the leaves whose constructor says `requires_grad=`.
        here: where the present call stands.
    """

    def __init__(self, dtype: DType, warn: Callable[[str, Span], None]) -> None:
        self.dtype = dtype
        self.warn = warn
        self.integers = Integers()
        self.reads = Reads()
        self.measured = False
        self.explicit: set[Node] = set()
        self.here = Span(0, 0)
        self.converter = Converter(dtype, self.integers.plain, self._constant, self.integers.twin, self.integers.add)
        self.functions: dict[tuple[str, ...], Function] = {}

    def function(self, path: tuple[str, ...]) -> Function | None:
        """What a dotted name calls; None where it is no function."""
        known = self.functions.get(path)
        if known is not None:
            return known
        found = names.function(path)
        if (found is None and path[-1] in MEASURES) or (len(path) == 1 and path[0] in _STATIC):
            known = Function(None, False, False)
        elif found is None:
            return None
        else:
            op, numpy = found
            known = Function(op, numpy, signature(op).one_tensor and not (numpy and op.numpy))
        self.functions[path] = known
        return known

    def call(self, found: Function, name: str, positional: list[Any], keywords: dict[str, Any]) -> Any:
        """The result of a function.

        Raises:
            InputError: where the arguments do not fit.
        """
        if found.op is None:
            return self._static(name, positional, keywords)
        return self._apply(found.op, positional, keywords, numpy=found.numpy)

    def method(self, name: str, values: list[Any], keywords: dict[str, Any]) -> Any:
        """The result of a method; the receiver is the first value.

        Raises:
            InputError: where there is no such method, or the arguments do not fit.
        """
        receiver = values[0]
        if isinstance(receiver, Listing) and not receiver.is_tuple:
            receiver = values[0] = self.converter.tensor(receiver)
        if isinstance(receiver, Outputs):
            raise InputError(
                "this call has several results", hint=f"choose one: .{', .'.join(receiver.names)}, or [0], [1]"
            )
        if not isinstance(receiver, Node):
            raise InputError(f"{described(receiver)} has no methods", hint=f"write {name}(...)")
        op = names.row(name)
        if op is not None and op.method:
            order = _METHOD_ORDER.get(name)
            if order is not None and len(values) == len(order):
                values = [values[place] for place in order]
            return self._apply(op, values, keywords, numpy=False)
        if name in MEASURES:
            self.measured = True
            return measure(name, receiver, values[1:])
        if name in names.FOREIGN_METHODS:
            raise InputError(f".{name}() has no place in an expression file", hint=names.FOREIGN_METHODS[name])
        if name.endswith("_") and names.row(name.rstrip("_")) is not None:
            raise InputError(
                f"unknown method .{name}()", hint=f"write x = x.{name.rstrip('_')}(...): nothing changes in place"
            )
        if op is not None:
            raise InputError(f"unknown method .{name}()", hint=f"write {name}(x, ...)")
        raise InputError(f"unknown method .{name}()", hint=names.nearest(name, [*names.method_names(), *MEASURES]))

    def _apply(self, op: Op, positional: list[Any], keywords: dict[str, Any], *, numpy: bool) -> Any:
        arguments, named = bind(op, self.converter, positional, keywords, numpy=numpy)
        if op.family != "creation":
            self._without_written_numbers(arguments)
        self.reads.begin()
        try:
            result = op.call(*arguments, **named)
        except InputError as error:
            result = self._with_labels(op, arguments, named)
            if result is None:
                raise error from None
        if op.family == FAMILY:
            self._warn_of_nothing(*[*arguments, *named.values()][:2])
        else:
            self.reads.end(result)
        if op.family == "creation" and type(result) is Node and result.op is LEAF:
            if "requires_grad" in named:
                self.explicit.add(result)
            if named.get("dtype") is None and result.dtype.kind == "f" and not _fractional(result):
                self.integers.add(result)
        return result

    def _warn_of_nothing(self, output: Any, by: Any) -> None:
        """Where what is differentiated does not depend on what it is differentiated by, the derivative is zero."""
        if by not in ancestors([output]):
            self.warn(f"{output.name or 'what is differentiated'} does not depend on {by.name}: zero", self.here)

    def _without_written_numbers(self, arguments: list[Any]) -> None:
        """Where a function's tensors are all written numbers, they are numbers of the dtype in force."""
        nodes = [argument for argument in arguments if type(argument) is Node]
        if not nodes or any(type(node.value) not in NUMBERS for node in nodes):
            return
        for index, argument in enumerate(arguments):
            if type(argument) is Node and type(argument.value) is not bool:
                value = argument.value
                arguments[index] = leaf(
                    self.dtype.type(value) if type(value) is not complex else np.result_type(self.dtype, 1j).type(value)
                )

    def _with_labels(self, op: Op, arguments: list[Any], named: dict[str, Any]) -> Any:
        """The result of a call whose tensors written as integers are labels; None where that does not help."""
        if not any(type(value) is Node and self.integers.written(value) for value in [*arguments, *named.values()]):
            return None
        label = self.integers.twin
        try:
            return op.call(
                *[label(value) if type(value) is Node else value for value in arguments],
                **{name: label(value) if type(value) is Node else value for name, value in named.items()},
            )
        except Exception:  # whatever it says, the first error is the one to report
            return None

    def _constant(self, node: Node, where: str) -> Any:
        value = self.integers.constant(node)
        if value is not None and node.name is not None and node.dtype.kind in "fc":
            self.warn(f"{node.name} is a plain number as {where}: no gradient flows to it there", Span(*self.here))
        return value

    def _static(self, name: str, values: list[Any], keywords: dict[str, Any]) -> Any:
        """Functions of plain values: `float("inf")`, `list(A)`, `len(x)`."""
        if name in MEASURES:
            if not values:
                raise InputError(f"{name}() needs a tensor")
            self.measured = True
            return measure(name, self.converter.tensor(values[0]), values[1:])
        if len(values) != 1 or keywords:
            raise InputError(f"{name}() takes one argument")
        return _STATIC[name](self, values[0])

    def unbound(self, value: Any) -> Any:
        """The parts of a value along its first axis."""
        if isinstance(value, Listing) and not value.is_tuple and value.shape is None:
            return value
        if isinstance(value, Outputs):
            return value
        result = TABLE["unbind"].call(self.converter.tensor(self.converter.operand(value)))
        return result if isinstance(result, Outputs) else Listing(list(result), True, None, -1)

    def _number(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip().lower().lstrip("+-") in ("inf", "infinity", "nan"):
            return float(value)
        if type(value) in NUMBERS and type(value) is not complex:
            return float(value)
        if type(value) is Node:
            return TABLE["to"].call(value, FLOAT64)
        raise InputError(f"float() takes a number or 'inf', not {described(value)}")

    def _integer(self, value: Any) -> Any:
        if type(value) in NUMBERS and type(value) is not complex and abs(value) < 2**1000:
            return int(value)
        integer = self.integers.plain(value) if type(value) is Node else None
        if type(integer) is int:
            return integer
        raise InputError(f"int() takes a written number, not {described(value)}")


_STATIC: Final[dict[str, Callable[[Calls, Any], Any]]] = {
    "float": Calls._number,
    "int": Calls._integer,
    "list": Calls.unbound,
    "tuple": Calls.unbound,
}


def _fractional(node: Node) -> bool:
    """Whether a leaf holds something else than integers (a large one is not asked)."""
    with np.errstate(all="ignore"):
        return node.size > 1_000_000 or not bool(np.all(np.trunc(node.value) == node.value))
