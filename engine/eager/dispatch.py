"""From a call on tensors to the row of the table: operands become nodes, results become tensors with values."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .. import ops as _ops  # noqa: F401  # fills the table
from ..errors import AgradError
from ..graph import TABLE, Node, Op, Outputs, leaf
from ..language.binding import Converter, bind
from ..language.signatures import Parameter
from ..ops.infer import with_default_dtype
from . import checks, dtypes, misfits
from .exceptions import as_python
from .function import function_of
from .modes import State
from .record import VIEWS, Version, constant, value_of

if TYPE_CHECKING:
    from .tensor import Tensor

NUMBERS: Final = (bool, int, float, complex)
_INFERENCE: Final = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
    "autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
)

STALE: Final = (
    "A view was created in no_grad mode and its base or another view of its base has been modified inplace with grad "
    "mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code "
    "by moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be "
    "tracked) or both outside (if you want the inplace to be tracked)."
)

tensor_class: type[Tensor] = None  # type: ignore[assignment]  # set by its module, which needs this one
"""The class of tensors."""


class Operands:
    """The tensors that take part in one call, with the nodes that stand for them in it."""

    __slots__ = ("pairs",)

    def __init__(self) -> None:
        self.pairs: list[tuple[Node, Tensor]] = []

    def node(self, tensor: Tensor) -> Node:
        """A tensor's node; while nothing is recorded, one without a past."""
        node = tensor.node
        if node.requires_grad:
            if not State.grad:
                node = constant(tensor._array)
            elif tensor._stale:
                raise RuntimeError(STALE)
        self.pairs.append((node, tensor))
        return node

    def plain(self, value: Any) -> Any:
        """A value with nodes and NumPy types in the place of tensors and dtypes, also inside of lists."""
        if isinstance(value, tensor_class):
            return self.node(value)
        if isinstance(value, dtypes.dtype):
            return value.numpy
        if isinstance(value, (list, tuple)):
            return (
                type(value)(map(self.plain, value)) if type(value) in (list, tuple) else tuple(map(self.plain, value))
            )
        if isinstance(value, slice):
            return slice(_index(value.start), _index(value.stop), _index(value.step))
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            return leaf(value)
        return value


def _index(end: Any) -> Any:
    return int(end) if isinstance(end, (tensor_class, np.integer)) else end


class _Arguments(Converter):
    """Arguments of a script as a row's parameters want them."""

    def __init__(self, operands: Operands, *, function: str | None) -> None:
        self._operands = operands
        self._function = function
        self._place = 0

    def convert(self, op: Op, parameter: Parameter, value: Any) -> Any:
        """A value as its parameter wants it."""
        self._place += 1
        if isinstance(value, tensor_class):
            takes_nodes = parameter.node or parameter.tensor or parameter.tensors
            if parameter.tensors and not (parameter.node or parameter.tensor):
                name = self._function or op.name
                raise TypeError(
                    f"{name}(): argument '{parameter.name}' (position {self._place}) must be tuple of Tensors, "
                    "not Tensor"
                )
            if not takes_nodes or (parameter.place and value.dtype.numpy.kind in "iu"):
                return value.tolist()
            return self._operands.node(value)
        if parameter.tensor and not parameter.tensors:
            self._check(op, parameter, value)
        if parameter.tensors and isinstance(value, (list, tuple)):
            self._check_list(value)
        if parameter.types == (int,) and isinstance(value, float):
            name = self._function or op.name
            raise TypeError(f"{name}(): argument '{parameter.name}' (position {self._place}) must be int, not float")
        if value in (float, int, bool) and isinstance(value, type):
            return dtypes.as_numpy(value)
        return self._operands.plain(value)

    @staticmethod
    def _check_list(tensors: Sequence[Any]) -> None:
        for place, each in enumerate(tensors):
            if not isinstance(each, (tensor_class, np.ndarray)):
                raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(each).__name__}")

    def _check(self, op: Op, parameter: Parameter, value: Any) -> None:
        number = isinstance(value, (*NUMBERS, np.generic))
        if isinstance(value, np.ndarray) or (value is None and not parameter.required):
            return
        first = self._place == 1 and self._function is not None and op.name not in misfits.NUMBER_FIRST
        if (
            not number
            or (first and parameter.name in ("input", "tensor", "mat1", "mat2", "vec", "A"))
            or op.name in misfits.TENSORS_ONLY
        ):
            name = self._function or op.name
            raise TypeError(
                f"{name}(): argument '{parameter.name}' (position {self._place}) must be Tensor, "
                f"not {type(value).__name__}"
            )


def call(op: Op, args: Sequence[Any], keywords: dict[str, Any], *, function: str | None = None) -> Any:
    """Run a row on tensors.

    Args:
        op: the row.
        args, keywords: as a script gives them.
        function: the name under which it was called as a function; None for a method, whose first argument is known.
    """
    operands = Operands()
    try:
        with with_default_dtype(dtypes.default_float()):
            misfits.refuse_keywords(op, args, keywords, function)
            arguments, named = bind(op, _Arguments(operands, function=function), args, keywords, numpy=False)
            checks.before(op, arguments, named)
            return results(op.call(*arguments, **named), operands, op.name)
    except (AgradError, TypeError) as error:
        raise misfits.in_words(error, op, args, keywords, function) from None


def operate(name: str, *args: Any) -> Any:
    """Run an operator: its operands are tensors and numbers, and need no binding."""
    operands = Operands()
    try:
        with with_default_dtype(dtypes.default_float()):
            arguments = [operands.plain(arg) for arg in args]
            checks.before(TABLE[name], arguments, {})
            return results(TABLE[name].call(*arguments), operands, name)
    except AgradError as error:
        raise as_python(error) from None


def results(made: Any, operands: Operands, name: str) -> Any:
    """What the call of a row of a name gave, as tensors."""
    if isinstance(made, Node):
        return result(made, operands)
    if isinstance(made, Outputs):
        parts = [result(node, operands) for node in made.nodes]
        if made.names[0] != "0":
            return _return_type(name.replace(".", "_"), made.names)(*parts)
        for number, part in enumerate(parts):
            if part._base is not None:
                part._from_many = True
            if part.requires_grad and part.node.grad_fn == parts[0].node.grad_fn:
                part.node.record.function = function_of(parts[0].node)
                part.node.record.number = number
        return tuple(parts)
    if isinstance(made, (list, tuple)):
        return type(made)(results(part, operands, name) for part in made)
    return made


def result(node: Node, operands: Operands) -> Tensor:
    """The tensor of a node; in a function over a batch, known as a member's if an operand is one's."""
    made = _result(node, operands)
    if State.mapping and any(tensor._mapped for _, tensor in operands.pairs):
        made._mapped = True
    return made


def _result(node: Node, operands: Operands) -> Tensor:
    """The tensor of a node, with its value; one of the operands where the call gave that back."""
    for known, tensor in operands.pairs:
        if known is node:
            return tensor
    array = value_of(node, recorded=True)
    sources = operands.pairs
    if not isinstance(array, np.ndarray):
        array = np.asarray(array, dtype=node.dtype)
        if node.is_number and node.dtype.kind in "fc":
            array = array.astype(dtypes.default_float() if node.dtype.kind == "f" else dtypes.complex_default())
        node = constant(array)
    if node.requires_grad and any(tensor._inference for _, tensor in sources):
        raise RuntimeError(_INFERENCE)
    base, version = _seen_memory(node, array, [tensor for _, tensor in sources])
    if not node.requires_grad:
        shared = base is None and version is None
        if shared and any(np.may_share_memory(array, tensor._array) for _, tensor in sources):
            array = array.copy()
        # PyTorch's views of something that requires a gradient require one even where nothing is recorded.
        requires_grad = base is not None and any(tensor.requires_grad for _, tensor in sources)
        return tensor_class._made(array, base=base, version=version, requires_grad=requires_grad)
    return tensor_class._made(array, node, base=base, version=version)


def _seen_memory(node: Node, array: Any, sources: Sequence[Tensor]) -> tuple[Tensor | None, Version | None]:
    """The tensor that a result is a view of, and whose memory's counter it shares."""
    if node.op.name not in VIEWS:
        return None, None
    for tensor in sources:
        if np.may_share_memory(array, tensor._array):
            if node.op.name == "detach":
                return None, tensor._counter
            return (tensor if tensor._base is None else tensor._base), tensor._counter
    return None, None


@cache
def _return_type(name: str, fields: tuple[str, ...]) -> Callable[..., Any]:
    kind: Any = collections.namedtuple(name, fields)  # type: ignore[misc]  # its fields are known only here

    def text(self: Any) -> str:
        inside = ",\n".join(f"{field}={value!r}" for field, value in zip(fields, self, strict=True))
        return f"torch.return_types.{name}(\n{inside})"

    return type(name, (kind,), {"__repr__": text, "__module__": "torch.return_types"})
