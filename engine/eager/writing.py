"""Operations in place: their errors, their versions, and what becomes of the tensor that is written to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..errors import AgradError
from ..graph import TABLE, Node, Op, leaf, make
from ..language.binding import bind
from ..ops.infer import with_default_dtype
from . import dispatch, dtypes
from .exceptions import as_python
from .modes import State, Switch
from .record import value_of
from .views import overlaps, positions, replaced, seen, written_base

if TYPE_CHECKING:
    from .tensor import Tensor

_LEAF: Final = "a leaf Variable that requires grad is being used in an in-place operation."
_VIEW_OF_LEAF: Final = "a view of a leaf Variable that requires grad is being used in an in-place operation."
_OVERLAP: Final = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
    "clone() the tensor before performing the operation."
)
_INFERENCE: Final = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
    "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
)
_MANY: Final = (
    "Output 0 of {} is a view and is being modified inplace. This view is the output of a function that returns "
    "multiple views. Such functions do not allow the output views to be modified inplace. You should replace the "
    "inplace operation by an out-of-place one."
)
_MADE_WITHOUT_GRAD: Final = (
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case "
    "is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace "
    "either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want "
    "the inplace to be tracked)."
)
_RANKS: Final = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def in_place(tensor: Tensor, row: Op, args: Sequence[Any], keywords: dict[str, Any]) -> Tensor:
    """Run a row on a tensor and write the result into it."""

    def made(operands: dispatch.Operands) -> Node:
        arguments, named = bind(
            row, dispatch._Arguments(operands, function=None), (tensor, *args), keywords, numpy=False
        )
        node: Node = row.call(*arguments, **named)
        return node

    return _write(tensor, made)


def put(tensor: Tensor, items: Any, value: Any) -> None:
    """`tensor[items] = value`."""

    def made(operands: dispatch.Operands) -> Node:
        node: Node = TABLE["setitem"].call(operands.node(tensor), operands.plain(items), operands.plain(value))
        return node

    if isinstance(value, str):
        raise TypeError(f"can't assign a str to a {tensor.type()}")
    entries = items if isinstance(items, tuple) else (items,)
    whole = len(entries) == 1 and (entries[0] is Ellipsis or entries[0] == slice(None))
    lists = any(isinstance(item, (list, dispatch.tensor_class, np.ndarray)) for item in entries)
    if not tensor.dim() and entries == (Ellipsis,):
        replace(tensor, value, "CopyBackwards")
        return
    if not lists and isinstance(value, dispatch.tensor_class) and value.dim():
        with Switch({"grad": False}):
            _check_room(value, tuple(tensor[items].shape))
    _write(tensor, made, part=not lists and not whole)


def _check_room(value: Tensor, wanted: tuple[int, ...]) -> None:
    """Refuse a value that does not broadcast to what it is put into, as `expand` refuses."""
    given = tuple(value.shape)
    while len(given) > len(wanted) and given[0] == 1:
        given = given[1:]
    if len(given) > len(wanted):
        raise RuntimeError(
            f"expand({value.type()}{{{list(given)}}}, size={list(wanted)}): the number of sizes provided "
            f"({len(wanted)}) must be greater or equal to the number of dimensions in the tensor ({len(given)})"
        )
    lead = len(wanted) - len(given)
    for axis in reversed(range(len(given))):
        if given[axis] not in (1, wanted[lead + axis]):
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted[lead + axis]}) must match the existing size ({given[axis]}) "
                f"at non-singleton dimension {lead + axis}.  Target sizes: {list(wanted)}.  Tensor sizes: {list(given)}"
            )


def replace(tensor: Tensor, value: Any, grad_fn: str) -> Tensor:
    """Overwrite a tensor with a number or another tensor."""

    def made(operands: dispatch.Operands) -> Node:
        node = operands.node(tensor)
        if isinstance(value, dispatch.tensor_class):
            source = operands.node(value)
            shape = np.broadcast_shapes(source.shape, node.shape)
            if shape != node.shape:
                raise RuntimeError(
                    f"The size of tensor a ({node.shape[-1] if node.shape else 1}) must match the size of tensor b "
                    f"({source.shape[-1]}) at non-singleton dimension {max(node.ndim - 1, 0)}"
                )
            if source.dtype != node.dtype:
                source = make.to(source, node.dtype)
        else:
            source = leaf(np.asarray(value).astype(node.dtype))
        if source.shape != node.shape:
            source = make.expand(source, node.shape)
        return replaced(node, source, grad_fn)

    return _write(tensor, made, cast=True)


def _check(tensor: Tensor, part: bool) -> None:
    """PyTorch's refusals before anything is computed."""
    if tensor._inference and not State.inference:
        raise RuntimeError(_INFERENCE)
    if State.grad:
        base = tensor._base
        if base is not None and base.requires_grad and base.is_leaf:
            raise RuntimeError(_MADE_WITHOUT_GRAD if tensor._made_without_grad else _VIEW_OF_LEAF)
        if tensor.requires_grad and tensor.is_leaf:
            raise RuntimeError(_VIEW_OF_LEAF if part else _LEAF)
        if base is not None and tensor._made_without_grad and base.requires_grad:
            raise RuntimeError(_MADE_WITHOUT_GRAD)
        if tensor._from_many and tensor.requires_grad:
            name = (tensor.node.grad_fn or "").partition("Backward")[0]
            raise RuntimeError(_MANY.format(name))


def _write(
    tensor: Tensor, made: Callable[[dispatch.Operands], Node], *, part: bool = False, cast: bool = False
) -> Tensor:
    _check(tensor, part)
    operands = dispatch.Operands()
    try:
        with with_default_dtype(dtypes.default_float()):
            node = made(operands)
            if node.shape != tensor.shape:
                raise RuntimeError(
                    f"output with shape {list(tensor.shape)} doesn't match the broadcast shape {list(node.shape)}"
                )
            node = _in_dtype(tensor, node, cast)
            if overlaps(tensor._array):
                raise RuntimeError(_OVERLAP)
            array = value_of(node, recorded=True)
    except AgradError as error:
        raise as_python(error) from None
    if not node.requires_grad:
        _store(tensor, array)
        return tensor
    if any(other._inference for _, other in operands.pairs):
        raise RuntimeError(dispatch._INFERENCE)
    _rebind(tensor, node, array)
    return tensor


def _in_dtype(tensor: Tensor, node: Node, cast: bool) -> Node:
    own = tensor._array.dtype
    if node.dtype == own:
        return node
    if not cast and _RANKS[node.dtype.kind] > _RANKS[own.kind]:
        raise RuntimeError(
            f"result type {dtypes.of_numpy(node.dtype).word} can't be cast to the desired output type "
            f"{tensor.dtype.word}"
        )
    return make.to(node, own)  # type: ignore[no-any-return]  # a row's call is of any type


def _store(tensor: Tensor, array: Any) -> None:
    if not tensor._array.flags.writeable:
        tensor._array = np.array(tensor._array)
    with np.errstate(all="ignore"):
        np.copyto(tensor._array, array, casting="unsafe")
    tensor._counter.count += 1


def _rebind(tensor: Tensor, node: Node, array: Any) -> None:
    """Store a recorded result: from here on the tensor, and what it is a view of, are results of the operation."""
    before = tensor.node
    if node is before or array is tensor._array:
        array = array.copy()
    # PyTorch keeps a copy of what an operation in place needs of the tensor itself.
    before.value = tensor._array.copy()
    if node.record is not None and node.record.saved:
        own = node.args[0] if node.args else None
        node.record.saved = (None if own is before else node.record.saved[0], *node.record.saved[1:])
    base = tensor._base
    old_base = base.node if base is not None else None
    if base is not None and old_base is not None:
        old_base.value = base._array.copy()
    _store(tensor, array)
    if base is None or old_base is None:
        tensor._bind(node)
        tensor._rebound += 1
        return
    node.value = np.array(array)
    if node.record is not None:
        node.record.version = tensor._counter
        node.record.saved = (*node.record.saved[: len(node.args)], (tensor._counter, tensor._counter.count))
    places = positions(tensor._array, base._array)
    whole = written_base(old_base, node, places)
    whole.value = base._array
    base._bind(whole)
    base._rebound += 1
    tensor._base_rebound = base._rebound
    tensor._bind(seen(whole, places))
