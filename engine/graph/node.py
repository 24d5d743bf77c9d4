"""Nodes, each one value of the computation, and the one function that joins them."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable
from functools import lru_cache
from itertools import count
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np

from ..errors import InputError, LimitError, Span
from .op import TABLE, Attrs, DType, Op, Shape

BOOL: Final = np.dtype(np.bool_)
INT64: Final = np.dtype(np.int64)
FLOAT32: Final = np.dtype(np.float32)
FLOAT64: Final = np.dtype(np.float64)
COMPLEX64: Final = np.dtype(np.complex64)
COMPLEX128: Final = np.dtype(np.complex128)

INTEGERS: Final = 2**63
"""Tensors of integers hold numbers from minus this to one less than this; a larger one that is written is a float."""
LARGEST: int = 2**31
"""The most elements that one node may have: a larger one is refused before anything is allocated."""

_NO_ATTRS: Final[dict[str, Any]] = {}
_serials = count()


class _Make:
    """Every row of the table as a function that makes a node: `make.exp(x)`.

    Rules use it, so that a row may speak of rows of other families without importing them.
    """

    def __init__(self) -> None:
        self.__dict__ = TABLE  # whatever the table holds is an attribute, at the price of one

    def __getattr__(self, name: str) -> Op:
        return TABLE[name]


make: Final = _Make()


class Node:
    """One value of the computation. Its identity is the object; equal nodes are never merged here.

    Attributes:
        op: its row of the table; `LEAF` for a node without inputs.
        args: the nodes that it is computed from.
        attrs: the op's plain parameters (dim, keepdim ...), hashable values only.
        shape, dtype: of its value.
        requires_grad: as PyTorch's.
        grad_fn: PyTorch's name of the function that made it; None where it does not require a gradient or is a leaf.
        value: for a leaf, its value: an array, a NumPy scalar, or a plain Python number for a number written in the
            text (which then promotes weakly, as in PyTorch); of other nodes, their value where it is known already.
        name, span: the name that the text gives it and where it stands; set by the language once it is known.
        serial: grows with each node made: arguments come before results.
        record: what the tensors of the library keep beside it (engine/eager); None in expression files.
    """

    __slots__ = (
        "args",
        "attrs",
        "dtype",
        "grad_fn",
        "name",
        "op",
        "record",
        "requires_grad",
        "serial",
        "shape",
        "span",
        "value",
    )

    def __init__(
        self,
        op: Op,
        args: tuple[Node, ...],
        attrs: Attrs,
        shape: Shape,
        dtype: DType,
        requires_grad: bool,
        grad_fn: str | None = None,
        value: Any = None,
    ) -> None:
        self.op = op
        self.args = args
        self.attrs = attrs
        self.shape = shape
        self.dtype = dtype
        self.requires_grad = requires_grad
        self.grad_fn = grad_fn
        self.value = value
        self.name: str | None = None
        self.span: Span | None = None
        self.record: Any = None
        self.serial = next(_serials)

    @property
    def is_leaf(self) -> bool:
        """Whether PyTorch would call it a leaf: made by the user, or requiring no gradient."""
        return self.op is LEAF or not self.requires_grad

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def is_number(self) -> bool:
        """Whether it is a number written in the text (a Python scalar in PyTorch's sense, not a tensor)."""
        return type(self.value) in _NUMBERS

    def __repr__(self) -> str:
        return f"<node {self.name or self.serial}: {self.op.name} {list(self.shape)} {self.dtype}>"

    __hash__ = object.__hash__

    def __add__(self, other: Node | complex) -> Node:
        return TABLE["add"](self, other)  # type: ignore[no-any-return]  # a row's call is of any type

    def __radd__(self, other: complex) -> Node:
        return TABLE["add"](other, self)  # type: ignore[no-any-return]  # as above

    def __sub__(self, other: Node | complex) -> Node:
        return TABLE["sub"](self, other)  # type: ignore[no-any-return]  # as above

    def __rsub__(self, other: complex) -> Node:
        return TABLE["sub"](other, self)  # type: ignore[no-any-return]  # as above

    def __mul__(self, other: Node | complex) -> Node:
        return TABLE["mul"](self, other)  # type: ignore[no-any-return]  # as above

    def __rmul__(self, other: complex) -> Node:
        return TABLE["mul"](other, self)  # type: ignore[no-any-return]  # as above

    def __truediv__(self, other: Node | complex) -> Node:
        return TABLE["div"](self, other)  # type: ignore[no-any-return]  # as above

    def __rtruediv__(self, other: complex) -> Node:
        return TABLE["div"](other, self)  # type: ignore[no-any-return]  # as above

    def __pow__(self, other: Node | complex) -> Node:
        return TABLE["pow"](self, other)  # type: ignore[no-any-return]  # as above

    def __neg__(self) -> Node:
        return TABLE["neg"](self)  # type: ignore[no-any-return]  # as above

    def __lt__(self, other: Node | float) -> Node:
        return TABLE["lt"](self, other)  # type: ignore[no-any-return]  # as above

    def __le__(self, other: Node | float) -> Node:
        return TABLE["le"](self, other)  # type: ignore[no-any-return]  # as above

    def __gt__(self, other: Node | float) -> Node:
        return TABLE["gt"](self, other)  # type: ignore[no-any-return]  # as above

    def __ge__(self, other: Node | float) -> Node:
        return TABLE["ge"](self, other)  # type: ignore[no-any-return]  # as above


_NUMBERS: Final = frozenset({bool, int, float, complex})


class Outputs(NamedTuple):
    """The several results of one call, reached by position or by name (`torch.max(A, 0).values`)."""

    names: tuple[str, ...]
    nodes: tuple[Node, ...]


LEAF: Final = Op(name="leaf", doc="A value with no inputs.", family="leaf", call=lambda value: leaf(value))


def leaf(value: Any, *, requires_grad: bool = False) -> Node:
    """A node with no inputs.

    Args:
        value: a plain Python number (which stays one, and promotes weakly), a NumPy scalar or an array.
        requires_grad: as PyTorch's; only floats and complex numbers can.
    """
    kind = type(value)
    if kind is float:
        return Node(LEAF, (), _NO_ATTRS, (), FLOAT64, requires_grad, None, value)
    if kind is int:
        if not -INTEGERS <= value < INTEGERS:  # no tensor of integers holds it
            return leaf(_as_float(value), requires_grad=requires_grad)
        return Node(LEAF, (), _NO_ATTRS, (), INT64, False, None, value)
    if kind is bool:
        return Node(LEAF, (), _NO_ATTRS, (), BOOL, False, None, value)
    if kind is complex:
        return Node(LEAF, (), _NO_ATTRS, (), COMPLEX128, requires_grad, None, value)
    return Node(LEAF, (), _NO_ATTRS, value.shape, value.dtype, requires_grad, None, value)


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise LimitError("a number is too large for a float", hint="the largest float is 1.8e308") from None


def as_node(value: Any) -> Node:
    """The node of a value: itself, or a leaf of a number or an array."""
    if isinstance(value, Node):
        return value
    if type(value) in _NUMBERS and value:  # zero is left out: 0.0 and -0.0 are equal, and are not the same number
        return _number(value)
    return leaf(value)


@lru_cache(maxsize=1024, typed=True)
def _number(value: complex) -> Node:
    """One leaf for all places where a number is written: it has no name and no gradient: nothing tells them apart."""
    return leaf(value)


def apply(
    op: Op, args: Iterable[Node], attrs: Attrs = _NO_ATTRS, *, grad_fn: str | None = None, like: Node | None = None
) -> Node:
    """The node of an op on arguments: shape, dtype, `requires_grad` and `grad_fn` are set here, once.

    Args:
        op: the row.
        args: its arguments.
        attrs: its plain parameters, all hashable.
        grad_fn: PyTorch's name where this form has another than the row says.
        like: a node whose shape and dtype are known to be the result's, so that they are not inferred again.

    Raises:
        InputError: where an argument is complex and the op has no complex form.
        ShapeError: where the arguments do not fit.
        LimitError: where the result would have more than `LARGEST` elements.
    """
    args = tuple(args)
    if op.real:
        for arg in args:
            if arg.dtype.kind == "c":
                raise _without_complex_form(op, arg)
    if like is not None:
        shape, dtype = like.shape, like.dtype
    else:
        assert op.infer is not None, op.name
        shape, dtype = op.infer(args, attrs)
        if shape:
            require_room(op.name, shape, dtype)
    requires_grad = False
    for arg in args:
        if arg.requires_grad:
            requires_grad = dtype is FLOAT64 or dtype.kind in "fc"
            break
    if requires_grad and grad_fn is None:
        name = op.grad_fn
        grad_fn = name if isinstance(name, str) else name(args, attrs)
    if op.elementwise:
        for arg in args:
            if arg.dtype is not dtype:
                if dtype.kind == "f" and "dtype" not in attrs:
                    args = _in_dtype(args, dtype)
                break
    return Node(op, args, attrs, shape, dtype, requires_grad, grad_fn if requires_grad else None)


def require_room(what: str, shape: Shape, dtype: DType | None = None) -> None:
    """Refuse an array that would be too large, before anything is allocated.

    Args:
        what: what would make it, as the error names it.
        shape: its shape.
        dtype: its dtype, where the error is to say how many bytes it would take.

    Raises:
        LimitError: where it would have more than `LARGEST` elements.
    """
    size = math.prod(shape)
    if size > LARGEST:
        taking = f": {size * dtype.itemsize / 1e9:,.0f} GB" if dtype is not None else ""
        raise LimitError(
            f"{what} would make an array of shape {list(shape)}{taking}", hint=f"the limit is {LARGEST:,} elements"
        )


def _without_complex_form(op: Op, arg: Node) -> InputError:
    """The error of an op on numbers that it is not defined for, with PyTorch's wording."""
    kind = "ComplexFloat" if arg.dtype == COMPLEX64 else "ComplexDouble"
    return InputError(
        f"\"{op.name}\" not implemented for '{kind}'",
        hint=f"{op.name} takes real numbers: write real(x), imag(x) or abs(x)",
        code="dtype",
    )


def _in_dtype(args: tuple[Node, ...], dtype: DType) -> tuple[Node, ...]:
    """Arguments of an elementwise op brought to the dtype of its result, where NumPy would promote otherwise.

    Written numbers promote weakly by themselves, booleans beside floats are masks, and complex numbers stay.
    """
    kinds = "fiub" if all(arg.dtype.kind == "b" for arg in args) else "fiu"
    return tuple(
        arg if arg.dtype == dtype or arg.dtype.kind not in kinds or arg.is_number else make.to(arg, dtype)
        for arg in args
    )


def attrs_key(attrs: Attrs) -> str:
    """What two nodes of one op on the same arguments have in common if they have the same value.

    Parameters are equal when they are written equal: 0.0 is not -0.0, and 1 neither 1.0 nor True.
    """
    return repr(attrs) if attrs else ""


def ancestors(targets: Iterable[Node], *, beyond: Container[Node] = ()) -> list[Node]:
    """Every node that the targets are computed from, themselves included, arguments before results.

    Args:
        targets: some nodes.
        beyond: nodes that are left out with what they are computed from, where they are no targets.
    """
    found = list(dict.fromkeys(targets))
    seen = set(found)
    for node in found:  # it grows on the way
        for arg in node.args:
            if arg not in seen and arg not in beyond:
                seen.add(arg)
                found.append(arg)
    found.sort(key=attrgetter("serial"))
    return found
