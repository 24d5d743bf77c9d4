"""What stands beside a node once tensors compute: versions, hooks, what it saves; and values, computed at once."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..graph import LEAF, Node
from . import names

if TYPE_CHECKING:
    from .function import GradFunction
    from .tensor import Tensor

Hooks = dict[int, Callable[..., Any]]

VIEWS: Final = frozenset(
    (
        "alias",
        "as_strided",
        "detach",
        "diagonal",
        "expand",
        "imag",
        "permute",
        "real",
        "reshape",
        "select",
        "slice",
        "squeeze",
        "swapaxes",
        "transpose",
        "unfold",
        "unsqueeze",
        "view_as_complex",
        "view_as_real",
    )
)
"""Ops whose result shares its argument's memory where it can."""


class Version:
    """How often some memory was written in place; views of it share the counter."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Record:
    """What the tensors of the library keep beside a node.

    Attributes:
        version: the counter of the memory that holds its value; None for a node inside of a composed function.
        owner: the tensor that it is the node of, or None.
        function: the object that `grad_fn` shows; made when first asked for.
        saved: for each argument, and last for the result, the counter and what it stood at when the node was made.
        freed: whether what it saved was given up by a backward run.
        hooks: of the tensor, called with the gradient.
        place: where the script called it, in anomaly mode.
        saves: whether its rule needs values; None while unknown.
        inputs: of a function of several rows, what it was given, with counters and what they stood at.
        number: which of its function's results it is.
    """

    __slots__ = (
        "_owner",
        "freed",
        "function",
        "hooks",
        "inputs",
        "number",
        "place",
        "saved",
        "saves",
        "version",
    )

    def __init__(self, version: Version | None = None) -> None:
        self.version = version
        self._owner: Any = None
        self.function: GradFunction | None = None
        self.saved: tuple[tuple[Version, int] | None, ...] = ()
        self.freed = False
        self.hooks: Hooks = {}
        self.place: str | None = None
        self.saves: bool | None = None
        self.inputs: tuple[tuple[Node, Version, int], ...] = ()
        self.number = 0

    @property
    def owner(self) -> Tensor | None:
        """The tensor that the node belongs to, while it lives."""
        owner = self._owner
        return owner() if isinstance(owner, weakref.ref) else owner

    def belongs_to(self, tensor: Tensor, *, leaf: bool) -> None:
        """Tie it to a tensor: a leaf's gradient must find it, a result must not keep it alive."""
        self._owner = tensor if leaf else weakref.ref(tensor)


def _product(_xp: Any, g: Any, slope: Any) -> Any:
    return g * slope


_PLAIN: Final[dict[str, Callable[..., Any]]] = {"flow": _product, "meet": _product}
"""PyTorch multiplies plainly: there zero times infinity is NaN, and a script must see what PyTorch gives."""


def _is_reciprocal(slope: Node) -> bool:
    """Whether a slope is a number over a tensor: PyTorch divides by that, and rounds once less."""
    return slope.op.name == "div" and slope.args[0].is_number and slope.args[1].value is not None


def _operand(node: Node) -> Any:
    """A value as kernels want it: arrays without axes as scalars."""
    value = node.value
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def compute(node: Node) -> None:
    """Set a node's value from those of its arguments, in memory of its own unless its op is a view."""
    op = node.op
    kernel = _PLAIN.get(op.name) or op.kernel
    assert kernel is not None, op.name
    operands = [_operand(arg) for arg in node.args]
    if op.name in _PLAIN and _is_reciprocal(node.args[1]):
        over, under = node.args[1].args
        result = _operand(node.args[0]) * over.value / _operand(under)
    else:
        result = kernel(np, *operands, **node.attrs)
    if op.outputs > 1:
        node.value = tuple(np.asarray(part) for part in result)
        return
    array = np.asarray(result)
    if array.dtype != node.dtype:
        array = array.astype(node.dtype)
    if op.name not in VIEWS:
        if (
            (
                array.base is not None
                and any(np.may_share_memory(array, arg.value) for arg in node.args if _is_array(arg))
            )
            or not array.flags.writeable
            or any(array is arg.value for arg in node.args)
        ):
            array = array.copy()
    elif op.name == "diagonal" and array.base is not None and node.args[0].value.flags.writeable:
        array.flags.writeable = True  # NumPy's own caution: writing there is what a view is for
    elif array.ndim == 0 and not any(np.may_share_memory(array, a.value) for a in node.args if _is_array(a)):
        array = _seen_again(node, array)
    node.value = array


def _is_array(node: Node) -> bool:
    return isinstance(node.value, np.ndarray)


def _seen_again(node: Node, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A view without axes of memory that kernels, which see scalars there, have lost."""
    source = node.args[0].value
    if node.op.name == "select" and isinstance(source, np.ndarray):
        key = (*(slice(None),) * node.attrs["axis"], node.attrs["index"], ...)
        return source[key]  # type: ignore[no-any-return]  # an array of any dtype
    if source is not None and source.size == 1 and source.dtype == array.dtype:
        return source.reshape(())  # type: ignore[no-any-return]  # as above
    return array


def value_of(node: Node, *, recorded: bool = False) -> Any:
    """The value of a node: computed, with all that it needs, where it is not known yet.

    Args:
        node: any node.
        recorded: whether what is computed may be differentiated later.
    """
    if node.value is not None:
        return node.value
    stack = [node]
    with np.errstate(all="ignore"):
        while stack:
            top = stack[-1]
            if top.value is None:
                missing = [arg for arg in top.args if arg.value is None]
                if missing:
                    stack.extend(missing)
                    continue
                compute(top)
                if recorded and top.requires_grad:
                    record(top)
            stack.pop()
    return node.value


def record(node: Node) -> None:
    """Note at which version each value stood that the node's rule may need."""
    own = Record()
    own.saved = tuple(
        (arg.record.version, arg.record.version.count)
        if arg.record is not None and arg.record.version is not None
        else None
        for arg in node.args
    )
    if node.grad_fn in names.SAVES_INPUTS:
        own.inputs = tuple(
            (entry, entry.record.version, entry.record.version.count)
            for entry in entries(node)
            if entry.record is not None and entry.record.version is not None
        )
    node.record = own


def hidden(node: Node) -> bool:
    """Whether a node was never any tensor's: it stands inside of a function that is composed of rows."""
    return node.op is not LEAF and (node.record is None or node.record.version is None)


def entries(node: Node) -> list[Node]:
    """The nodes outside of a composed function that it is computed from, each once."""
    found: list[Node] = []
    for arg in node.args:
        if hidden(arg) and arg.requires_grad and arg.grad_fn not in names.WITHIN:
            found += [entry for entry in entries(arg) if not any(entry is other for other in found)]
        elif arg.requires_grad and not any(arg is other for other in found):
            found.append(arg)
    return found


def constant(array: np.ndarray[Any, Any], version: Version | None = None) -> Node:
    """A leaf of an array that requires no gradient."""
    node = Node(LEAF, (), {}, array.shape, array.dtype, False, None, array)
    if version is not None:
        node.record = Record(version)
    return node
