"""`autograd.Function`: operations whose backward a script writes itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final

import numpy as np

from ..graph import Node, Op, Shape
from ..ops.output import OUTPUT
from .function import SECOND_TIME, GradFunction
from .modes import State, Switch
from .record import Record, constant, record
from .tensor import Tensor

_NO_BACKWARD: Final = (
    "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward "
    "mode AD."
)
_LEGACY: Final = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
    "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)


class Context:
    """What `forward` leaves for `backward`.

    Attributes:
        needs_input_grad: for each input, whether its gradient is wanted.
        saved_for_forward: as PyTorch's; kept and not used.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._saved: tuple[Any, ...] = ()
        self._versions: tuple[Any, ...] = ()
        self._unmarked: list[Tensor] = []
        self._dirty: list[Tensor] = []
        self._materialize = True
        self._record: Record | None = None

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for `backward`."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument 0 is of type {type(tensor).__name__}"
                )
        self._saved = tensors
        self._versions = tuple(None if tensor is None else tensor._version for tensor in tensors)

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for forward mode, which the library does not have."""

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was kept.

        Raises:
            RuntimeError: where it was given up by an earlier backward run, or was written to.
        """
        if self._record is not None and self._record.freed:
            raise RuntimeError(SECOND_TIME)
        for tensor, version in zip(self._saved, self._versions, strict=True):
            if tensor is not None and tensor._version != version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[torch.{tensor.dtype.word}Tensor {list(tensor.shape)}] is at version {tensor._version}; expected "
                    f"version {version} instead. Hint: enable anomaly detection to find the operation that failed to "
                    "compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
                )
        return self._saved

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say that some results require no gradient."""
        self._unmarked.extend(args)

    def mark_dirty(self, *args: Tensor) -> None:
        """Say that some inputs were written to."""
        self._dirty.extend(args)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros in the place of gradients that do not exist."""
        self._materialize = bool(value)


class Function:
    """An operation with a `forward` and a `backward` of its own; it is used by `apply`."""

    def __init__(self, *_args: Any, **_keywords: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *_args: Any, **_keywords: Any) -> Any:
        """Refuse: it is no way to use it any more."""
        raise RuntimeError(_LEGACY)

    @staticmethod
    def forward(*_args: Any, **_keywords: Any) -> Any:
        """The values of the operation."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(_ctx: Any, *_grad_outputs: Any) -> Any:
        """The gradients of the inputs."""
        raise NotImplementedError(_NO_BACKWARD)

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run `forward`, and record `backward` for the backward run."""
        ctx = Context(tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args))
        separate = getattr(cls, "setup_context", None)
        with Switch({"grad": False}):
            if separate is not None:
                results = cls.forward(*args)
                separate(ctx, args, results)
            else:
                results = cls.forward(ctx, *args)
        if not State.grad or not any(ctx.needs_input_grad):
            return results
        several = isinstance(results, (tuple, list))
        parts = list(results) if several else [results]
        recorded = _recorded(cls, ctx, args, parts)
        return tuple(recorded) if several else recorded[0]


Function.__module__ = "torch.autograd.function"


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """A `backward` whose gradients cannot be differentiated again."""

    @wraps(backward)
    def once(ctx: Any, *grads: Any) -> Any:
        with Switch({"grad": False}):
            given = backward(ctx, *grads)
        if not State.grad or not any(isinstance(part, Tensor) and part.requires_grad for part in grads):
            return given
        answers = given if isinstance(given, tuple) else (given,)
        return tuple(_Twice.apply(part, *grads) if isinstance(part, Tensor) else part for part in answers)

    return once


def _recorded(cls: type[Function], ctx: Context, args: Sequence[Any], results: list[Any]) -> list[Any]:
    """The results as tensors whose function is the script's `backward`."""
    places = [place for place, arg in enumerate(args) if isinstance(arg, Tensor)]
    inputs = [args[place].node for place in places]
    tensors = [part for part in results if isinstance(part, Tensor)]
    source = Node(
        _row(cls, ctx, len(args), places, tensors),
        tuple(inputs),
        {},
        tensors[0]._array.shape,
        tensors[0]._array.dtype,
        True,
        f"{cls.__name__}Backward",
        None,
    )
    several = len(tensors) > 1
    source.value = tuple(part._array for part in tensors) if several else tensors[0]._array
    record(source)
    ctx._record = source.record
    made: list[Any] = []
    index = 0
    for part in results:
        if not isinstance(part, Tensor):
            made.append(part)
            continue
        node = _one_of(source, index, part) if several else source
        index += 1
        if any(part is other for other in ctx._unmarked) or part._array.dtype.kind not in "fc":
            made.append(part)
            continue
        made.append(_tied(part, node, args, ctx))
    return made


def _one_of(source: Node, index: int, part: Tensor) -> Node:
    node = Node(OUTPUT, (source,), {"index": index}, part._array.shape, part._array.dtype, True, source.grad_fn)
    record(node)
    return node


def _tied(part: Tensor, node: Node, args: Sequence[Any], ctx: Context) -> Tensor:
    """A result of `forward` tied to the recorded node; an input that was written to stays the same tensor."""
    if any(part is other for other in ctx._dirty):
        part._counter.count += 1
    elif any(part is arg for arg in args):
        return Tensor._made(part._array, node, version=part._counter)
    part._bind(node)
    part._rebound += 1
    return part


def _row(cls: type[Function], ctx: Context, count: int, places: Sequence[int], results: Sequence[Tensor]) -> Op:
    """A row for one application: its rule is the script's `backward`."""
    shapes = [part._array.shape for part in results]
    kinds = [part._array.dtype for part in results]

    def rule(node: Node, g: Any) -> list[Node | None]:
        grads: list[Tensor | None] = []
        for part, shape, kind in zip(g if isinstance(g, list) else [g], shapes, kinds, strict=True):
            if part is not None:
                grads.append(Tensor._of_node(part) if State.grad else Tensor._made(np.asarray(part.value)))
            else:
                grads.append(Tensor._made(np.zeros(shape, dtype=kind)) if ctx._materialize else None)
        given = cls.backward(ctx, *grads)
        answers = list(given) if isinstance(given, (tuple, list)) else [given]
        return _answers(cls.__name__, answers, count, places, [arg.shape for arg in node.args])

    rule.function_class = _function_class(cls, ctx)  # type: ignore[attr-defined]  # what grad_fn shows
    return Op(
        name=cls.__name__,
        doc="An operation of a script.",
        family="custom",
        call=cls.apply,
        method=False,
        rule=rule,
        grad_fn=f"{cls.__name__}Backward",
        outputs=len(results),
    )


def _answers(
    name: str, answers: list[Any], count: int, places: Sequence[int], shapes: Sequence[Shape]
) -> list[Node | None]:
    """What `backward` returned, checked, for the inputs that are tensors."""
    while len(answers) > count and answers[-1] is None:
        answers.pop()
    if len(answers) != count:
        raise RuntimeError(
            f"function {name}Backward returned an incorrect number of gradients (expected {count}, got {len(answers)})"
        )
    found: list[Node | None] = []
    for place, shape in zip(places, shapes, strict=True):
        answer = answers[place]
        if answer is not None and not isinstance(answer, Tensor):
            raise TypeError(f"expected Variable or None (got {type(answer).__name__})")
        if answer is not None and not _compatible(answer._array.shape, shape):
            raise RuntimeError(
                f"Function {name}Backward returned an invalid gradient at index {place} - got "
                f"{list(answer.shape)} but expected shape compatible with {list(shape)}"
            )
        found.append(None if answer is None else answer.node if State.grad else constant(answer._array))
    return found


def _compatible(given: Shape, wanted: Shape) -> bool:
    """Whether a gradient can be summed to the shape of its input."""
    lead = len(given) - len(wanted)
    return lead >= 0 and all(have == want or want == 1 for have, want in zip(given[lead:], wanted, strict=True))


def _function_class(cls: type[Function], ctx: Context) -> type[GradFunction]:
    def show(self: GradFunction) -> str:
        return f"<torch.autograd.function.{cls.__name__}Backward object at {hex(id(self))}>"

    return type(
        f"{cls.__name__}Backward",
        (GradFunction,),
        {
            "__module__": "torch.autograd.function",
            "__repr__": show,
            "saved_tensors": property(lambda _self: ctx.saved_tensors),
            "needs_input_grad": ctx.needs_input_grad,
        },
    )


class _Twice(Function):
    """A gradient that refuses to be differentiated."""

    @staticmethod
    def forward(_ctx: Any, given: Tensor, *_grads: Any) -> Any:
        """The gradient itself."""
        return given.clone()

    @staticmethod
    def backward(_ctx: Any, *_: Any) -> Any:
        """Refuse."""
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")
