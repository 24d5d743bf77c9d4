"""What a plan computes: the nodes of a graph as values, each once, with what is known of them before anything runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from ..graph import LEAF, TABLE, Attrs, DType, Node, Op, Shape, attrs_key

_PASSING: Final = frozenset({"clone", "detach", "contiguous", "alias"})
"""Ops that give their argument's array itself: they are no values of their own."""


class Value:
    """One value of a plan: an op on other values, or a leaf. Equal ones are one object.

    Attributes:
        op: its row of the table, or a row of `rows.py`; `LEAF` for a leaf.
        args: the values it is computed from.
        attrs: the op's plain parameters.
        shape, dtype: as a node's.
        node: for a leaf, its node.
        known: the number that all its entries are, where that is known: a Python number where it promotes weakly.
        index: its place in the order in which values can be computed.
        name: the name that the text gives it.
    """

    __slots__ = ("args", "attrs", "dtype", "index", "known", "name", "node", "op", "shape")

    def __init__(self, op: Op, args: tuple[Value, ...], attrs: Attrs, shape: Shape, dtype: DType, index: int) -> None:
        self.op = op
        self.args = args
        self.attrs = attrs
        self.shape = shape
        self.dtype = dtype
        self.index = index
        self.node: Node | None = None
        self.known: Any = None
        self.name: str | None = None

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes its elements take."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def is_constant(self) -> bool:
        """Whether it is a number that is part of the plan."""
        return self.op is UNIFORM or (self.node is not None and self.node.is_number)

    def __repr__(self) -> str:
        return f"<value {self.index}: {self.op.name} {list(self.shape)} {self.dtype}>"


UNIFORM: Final = Op(
    name="uniform",
    doc="One number at every place, without memory of that size.",
    family="plan",
    call=lambda value: value,
    kernel=lambda xp, value, shape: xp.broadcast_to(xp.asarray(value), shape) if shape else value,
)


LARGE: Final = 16_384
"""Elements of its argument below which an op is left whole: its kernel is one call."""


class Values:
    """The values of a graph, made one after another: equal ones merged, constants folded.

    Attributes:
        large: elements of its argument from which an op is taken apart.
        order: all of them, arguments before results.
        assumed: leaves of which the number they hold was used: with another number the plan does not hold.
        noted: sums of exponentials but the largest's, and the exponentials, made already, by their rows and axes.
    """

    def __init__(self, varying: Iterable[Node] = (), large: int = LARGE) -> None:
        self.large = large
        self.order: list[Value] = []
        self.assumed: set[Node] = set()
        self.noted: dict[tuple[Value, tuple[int, ...]], tuple[Value, Value]] = {}
        self._varying = frozenset(varying)
        self._made: dict[tuple[Any, ...], Value] = {}
        self._sources: dict[Value, frozenset[Node]] = {}

    def leaf(self, node: Node) -> Value:
        """The value of a leaf."""
        number = node.is_number
        key = (LEAF, type(node.value), repr(node.value)) if number else (LEAF, id(node))
        value = self._made.get(key)
        if value is None:
            value = self._add(key, LEAF, (), {}, node.shape, node.dtype)
            value.node = node
            if number:
                value.known = node.value
            elif not node.shape and not node.requires_grad and node not in self._varying and node.dtype.kind in "fc":
                value.known = node.value
                self._sources[value] = frozenset((node,))
        return value

    def make(self, op: Op, args: Sequence[Value], attrs: Attrs, shape: Shape, dtype: DType) -> Value:
        """The value of an op on values, unless it is there or is simply another value."""
        args = tuple(args)
        if op.name in _PASSING:
            return args[0]
        same = _SIMPLER.get(op.name)
        if same is not None:
            simpler = same(self, args, shape, dtype)
            if simpler is not None:
                return simpler
        known = _folded(op, args, attrs, shape, dtype)
        if known is not None:
            value = self.uniform(known, shape, dtype)
            sources = frozenset().union(*[self._sources.get(arg, frozenset()) for arg in args])
            if sources:
                self._sources[value] = self._sources.get(value, sources) | sources
                self.assumed |= sources
            return value
        key = (op.name, args, shape, attrs_key(attrs))
        made = self._made.get(key)
        return self._add(key, op, args, attrs, shape, dtype) if made is None else made

    def uniform(self, known: Any, shape: Shape, dtype: DType) -> Value:
        """The value that is one number everywhere."""
        key = (UNIFORM, type(known), repr(known), shape, dtype)
        value = self._made.get(key)
        if value is None:
            value = self._add(key, UNIFORM, (), {"value": known, "shape": shape}, shape, dtype)
            value.known = known
        return value

    def assume(self, value: Value) -> None:
        """Note that the known number of a value was used."""
        self.assumed |= self._sources.get(value, frozenset())

    def _add(
        self, key: tuple[Any, ...], op: Op, args: tuple[Value, ...], attrs: Attrs, shape: Shape, dtype: DType
    ) -> Value:
        value = Value(op, args, attrs, shape, dtype, len(self.order))
        self.order.append(value)
        self._made[key] = value
        return value


def _folded(op: Op, args: Sequence[Value], attrs: Attrs, shape: Shape, dtype: DType) -> Any:
    """The number that an op gives everywhere, where its arguments are known numbers."""
    if not args or any(arg.known is None for arg in args):
        return None
    if op.name in ("expand", "reshape", "squeeze", "unsqueeze", "permute"):
        return args[0].known if shape == args[0].shape else dtype.type(args[0].known)
    if not op.elementwise or op.kernel is None:
        return None
    with np.errstate(all="ignore"):
        known = op.kernel(np, *[arg.known for arg in args], **attrs)
    if shape:
        return dtype.type(known)
    return known


_Simplify = Callable[[Values, tuple[Value, ...], Shape, DType], Value | None]


def _same(value: Value, shape: Shape, dtype: DType) -> bool:
    return value.shape == shape and value.dtype == dtype


def is_one(value: Value) -> bool:
    """Whether a value is 1 everywhere."""
    return value.known is not None and type(value.known) is not bool and bool(value.known == 1)


def _without_one(values: Values, args: tuple[Value, ...], shape: Shape, dtype: DType) -> Value | None:
    """A product with 1 is the other factor, bit by bit."""
    for one, other in (args, args[::-1]):
        if is_one(one) and _same(other, shape, dtype):
            values.assume(one)
            return other
    return None


def _by_one(values: Values, args: tuple[Value, ...], shape: Shape, dtype: DType) -> Value | None:
    if is_one(args[1]) and _same(args[0], shape, dtype):
        values.assume(args[1])
        return args[0]
    return None


def _product(values: Values, args: tuple[Value, ...], shape: Shape, dtype: DType) -> Value | None:
    """A guarded product of which nothing can stop: an ordinary one."""
    found = _without_one(values, args, shape, dtype)
    if found is not None:
        return found
    g, slope = args
    for number, stops in ((slope, False), (g, True)):
        if number.known is not None and np.isfinite(number.known) and (number.known != 0 or not stops):
            values.assume(number)
            return values.make(TABLE["mul"], args, {}, shape, dtype)
    return None


_SIMPLER: Final[dict[str, _Simplify]] = {
    "mul": _without_one,
    "flow": _product,
    "meet": lambda values, args, shape, dtype: (
        _without_one(values, args, shape, dtype)
        if any(arg.known == 0 for arg in args if arg.known is not None)
        else _product(values, args, shape, dtype)
    ),
    "div": _by_one,
    "neg": lambda _values, args, _shape, _dtype: args[0].args[0] if args[0].op.name == "neg" else None,
    "reshape": lambda _values, args, shape, _dtype: args[0] if args[0].shape == shape else None,
    "expand": lambda _values, args, shape, _dtype: args[0] if args[0].shape == shape else None,
    "sum_to_size": lambda _values, args, shape, _dtype: args[0] if args[0].shape == shape else None,
}
"""Ops that are simply one of their arguments where the others are trivial."""
