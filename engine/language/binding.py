"""The arguments of a call as its row wants them: plain values or tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..errors import InputError
from ..graph import INTEGERS, DType, Node, Op, Outputs, leaf
from .listing import Listing, described, has_nodes, stacked
from .names import nearest
from .signatures import Parameter, Signature, signature
from .written import NUMBERS

_RENAMED: Final = {
    "axis": ("dim", "dims"),
    "axes": ("dim", "dims"),
    "dim": ("axis", "dims"),
    "dims": ("dim",),
    "keepdims": ("keepdim",),
    "ddof": ("correction",),
    "x": ("input", "self"),
    "a": ("input",),
    "self": ("input",),
    "tensor": ("input",),
}
"""Keywords that NumPy or older PyTorch call otherwise, and the parameters that they may mean."""


class Converter:
    """Turns what the text gives into what parameters want.

    Args:
        dtype: the dtype of floats.
        integer_of: the integers that a tensor stands for as a plain value; None where it stands for none.
        constant_of: the value of a tensor that a parameter takes as a plain number.
        label_of: the tensor of integers that a tensor was written as, or itself.
        integral: told of each tensor that is made of a list of integers.
    """

    def __init__(
        self,
        dtype: DType,
        integer_of: Callable[[Node], Any],
        constant_of: Callable[[Node, str], Any],
        label_of: Callable[[Node], Node],
        integral: Callable[[Node], None],
    ) -> None:
        self.dtype = dtype
        self.integer_of = integer_of
        self.constant_of = constant_of
        self.label_of = label_of
        self.integral = integral

    def tensor(self, value: Any) -> Any:
        """A tensor of a tensor, a number or a list; other values stay as they are."""
        kind = type(value)
        if kind is Node:
            return value
        if kind in NUMBERS:
            return leaf(value)
        if kind is Listing:
            node = stacked(value, self.dtype)
            if value.integers:
                self.integral(node)
            return node
        return value

    def operand(self, value: Any) -> Any:
        """An operand that a row takes: a tensor or a number.

        Raises:
            InputError: where it is something else.
        """
        if type(value) is Node or type(value) in NUMBERS:
            return value
        if isinstance(value, Listing):
            return self.tensor(value)
        if isinstance(value, Outputs):
            raise InputError(
                "this call has several results", hint=f"choose one: .{', .'.join(value.names)}, or [0], [1]"
            )
        raise InputError(f"{described(value)} cannot be calculated with")

    def convert(self, op: Op, parameter: Parameter, value: Any) -> Any:
        """A value as its parameter wants it.

        Raises:
            InputError: where it cannot be, or is an integer beyond all sizes.
        """
        plain = self._converted(op, parameter, value)
        if type(plain) in _MAYBE_LARGE and parameter.types and _too_large(plain):
            if type(plain) is int and float in parameter.types:
                return leaf(plain).value
            raise InputError(f"{parameter.name} of {op.name} is too large", hint="the largest integer is 2**63 - 1")
        return plain

    def _converted(self, op: Op, parameter: Parameter, value: Any) -> Any:
        kind = type(value)
        if kind is Node:
            if parameter.label:
                return self.label_of(value)
            if parameter.place:
                integers = self.integer_of(value)
                if integers is not None:
                    return integers
            if parameter.node:
                return value
            if parameter.tensors:
                return value
            return self._plain(op, parameter, value)
        if parameter.tensors:
            if kind is Listing:
                return [self.tensor(item) for item in _rows(value)]
            if kind in NUMBERS or kind is str:
                raise self._wrong(op, parameter, value, "a list of tensors")
            return value
        if parameter.tensor:
            if kind in NUMBERS or kind is Listing:
                node = self.tensor(value)
                return self.label_of(node) if parameter.label else node
            if value is None and type(None) in parameter.types:
                return None
            raise self._wrong(op, parameter, value, "a tensor")
        if kind is Listing:
            if parameter.name == "data" and value.shape is not None:
                return np.array(value.items)
            if parameter.node and not parameter.listed and (value.shape is not None or has_nodes(value)):
                return self.tensor(value)
            if has_nodes(value):
                return self._with_nodes(op, parameter, value)
            if not parameter.listed:
                raise self._wrong(op, parameter, value, parameter.words)
            return value.plain()
        if parameter.types and not isinstance(value, parameter.types):
            raise self._wrong(op, parameter, value, parameter.words)
        return value

    def _with_nodes(self, op: Op, parameter: Parameter, value: Listing) -> Any:
        if parameter.types and not parameter.node:
            return tuple([self._plain(op, parameter, item) if type(item) is Node else item for item in value.items])
        return [item.plain() if type(item) is Listing else item for item in value.items]

    def _plain(self, op: Op, parameter: Parameter, node: Node) -> Any:
        """The plain value that a tensor stands for."""
        types = parameter.types
        where = f"{parameter.name} of {op.name}"
        if int in types or parameter.kind is inspect.Parameter.VAR_POSITIONAL or parameter.listed:
            integer = self.integer_of(node)
            if integer is not None and not (bool in types and int not in types):
                return integer
        if float in types or bool in types:
            constant = self.constant_of(node, where)
            if isinstance(constant, types):
                return constant
        raise self._wrong(op, parameter, node, parameter.words)

    def _wrong(self, op: Op, parameter: Parameter, value: Any, words: str) -> InputError:
        return InputError(f"{parameter.name} of {op.name} must be {words}, not {described(value)}")


_MAYBE_LARGE: Final = frozenset((int, tuple, list))


def _too_large(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_too_large(item) for item in value)
    return type(value) is int and not -INTEGERS <= value < INTEGERS


def _rows(listing: Listing) -> list[Any]:
    shape = listing.shape
    if shape is None or len(shape) == 1:
        return listing.items
    return [Listing(item, False, shape[1:], listing.rank) for item in listing.items]


def bind(
    op: Op, converter: Converter, positional: Sequence[Any], keywords: dict[str, Any], *, numpy: bool
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments with which a row's `call` is called.

    Raises:
        InputError: where arguments are missing, too many, unknown or of a wrong kind; `index` of the error is the
            place of the argument among all of them, or -1.
    """
    known = signature(op)
    arguments: list[Any] = []
    for index, value in enumerate(positional):
        if index < len(known.positional):
            parameter = known.positional[index]
        elif known.rest is not None:
            parameter = known.rest
        else:
            raise _too_many(op, known, len(positional))
        arguments.append(_located(converter, op, parameter, value, index))
    given = {p.name for p in known.positional[: len(arguments)]}
    named: dict[str, Any] = {}
    for index, (keyword, value) in enumerate(keywords.items(), len(positional)):
        name = _parameter_name(known, keyword)
        if name is None:
            if known.any_keyword:
                named[keyword] = value
                continue
            if keyword in ("out", "generator", "device", "layout", "pin_memory", "memory_format", "inplace"):
                continue
            raise _at(_unknown_keyword(op, known, keyword), index)
        if name in given or name in named:
            raise _at(InputError(f"{name} of {op.name} is given twice"), index)
        named[name] = _located(converter, op, known.by_name[name], value, index)
    if numpy:
        for name, value in op.numpy.items():
            if name not in given:
                named.setdefault(name, value)
    missing = [p.name for p in known.parameters if p.required and p.name not in given and p.name not in named]
    if missing and not (known.rest is not None and len(positional) > len(known.positional)):
        forms = f"it is called as {', '.join(op.forms[:3])}" if op.forms else ""
        plural = "s" if len(missing) > 1 else ""
        raise InputError(f"{op.name} misses its argument{plural} {', '.join(missing)}", hint=forms)
    return arguments, named


def _located(converter: Converter, op: Op, parameter: Parameter, value: Any, index: int) -> Any:
    try:
        return converter.convert(op, parameter, value)
    except InputError as error:
        raise _at(error, index) from None


def _at(error: InputError, index: int) -> InputError:
    error.argument = index  # type: ignore[attr-defined]  # the place is turned into a span where it is caught
    return error


def _parameter_name(known: Signature, keyword: str) -> str | None:
    if keyword in known.by_name:
        return keyword
    for name in _RENAMED.get(keyword, ()):
        if name in known.by_name:
            return name
    return None


def _too_many(op: Op, known: Signature, count: int) -> InputError:
    names = ", ".join([p.name for p in known.positional])
    takes = len(known.positional)
    plural = "s" if takes != 1 else ""
    return InputError(
        f"{op.name} takes {takes} positional argument{plural} ({names}), not {count}",
        hint=f"it is called as {', '.join(op.forms[:3])}" if op.forms else "",
    )


def _unknown_keyword(op: Op, known: Signature, keyword: str) -> InputError:
    names = [p.name for p in known.parameters]
    hint = nearest(keyword, names) or (f"its parameters are {', '.join(names)}" if names else "")
    return InputError(f"{op.name} has no parameter {keyword}", hint=hint)
