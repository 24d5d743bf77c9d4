"""The objects that `grad_fn` shows: one for each recorded operation, as PyTorch prints and links them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ..graph import LEAF, Node
from . import names
from .record import Record, entries, hidden

if TYPE_CHECKING:
    from .tensor import Tensor

SECOND_TIME: Final = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved "
    "tensors after calling backward."
)

_NAMES: Final = ("self", "other", "third")
_COMMON: Final = (
    "_register_hook_dict",
    "_sequence_nr",
    "_set_sequence_nr",
    "metadata",
    "name",
    "next_functions",
    "register_hook",
    "register_prehook",
    "requires_grad",
)
_SAVED: Final = {
    "PowBackward0": ("_raw_saved_self", "_saved_exponent", "_saved_self"),
    "MulBackward0": ("_raw_saved_other", "_raw_saved_self", "_saved_other", "_saved_self"),
    "DivBackward0": ("_raw_saved_other", "_raw_saved_self", "_saved_other", "_saved_self"),
    **dict.fromkeys(
        ("ExpBackward0", "SigmoidBackward0", "TanhBackward0", "SqrtBackward0", "ReluBackward0"),
        ("_raw_saved_result", "_saved_result"),
    ),
    **dict.fromkeys(
        ("LogBackward0", "SinBackward0", "CosBackward0", "AbsBackward0"), ("_raw_saved_self", "_saved_self")
    ),
}
"""What the commonest functions show of what they saved."""


class Handle:
    """What registering a hook returns: `remove()` takes the hook away again."""

    _next = 0

    def __init__(self, hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> None:
        Handle._next += 1
        self.id = Handle._next
        self._hooks = hooks
        hooks[self.id] = hook

    def remove(self) -> None:
        """Take the hook away."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class GradFunction:
    """The function that a recorded operation left behind for the backward run.

    Attributes:
        node: the node of the operation.
        posthooks, prehooks: called after and before the function runs.
        metadata: a dictionary for whatever the user wants to keep there.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.posthooks: dict[int, Callable[..., Any]] = {}
        self.prehooks: dict[int, Callable[..., Any]] = {}
        self.metadata: dict[Any, Any] = {}

    def name(self) -> str:
        """The name of the function."""
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in names.CPP else name

    @property
    def next_functions(self) -> tuple[tuple[GradFunction | None, int], ...]:
        """The functions of the inputs, each with the number of the result that was the input."""
        return tuple(edges_of(self.node, type(self).__name__))

    def register_hook(self, fn: Callable[..., Any]) -> Handle:
        """Call `fn(grad_inputs, grad_outputs)` after each run of the function."""
        return Handle(self.posthooks, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> Handle:
        """Call `fn(grad_outputs)` before each run of the function."""
        return Handle(self.prehooks, fn)

    @property
    def requires_grad(self) -> bool:
        """Whether it takes part in backward runs: always."""
        return True

    def _saved_value(self, which: str) -> Any:
        from .tensor import Tensor  # a tensor has a grad_fn, which has tensors

        record: Record = self.node.record
        if record.freed:
            raise RuntimeError(SECOND_TIME)
        if which == "result":
            return Tensor._of_node(self.node)
        if which == "exponent":
            arg = self.node.args[1]
        elif which in _NAMES and _NAMES.index(which) < len(self.node.args):
            arg = self.node.args[_NAMES.index(which)]
        else:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '_saved_{which}'")
        return arg.value if arg.is_number else Tensor._of_node(arg)

    def __dir__(self) -> list[str]:
        return ["_input_metadata", *_SAVED.get(type(self).__name__, ()), *_COMMON]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_"):
            return self._saved_value(name.removeprefix("_saved_"))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"


class AccumulateGrad(GradFunction):
    """The end of the graph: adds what arrives to the leaf's `.grad`."""

    def name(self) -> str:
        """The name of the function, as C++ writes it."""
        return "torch::autograd::AccumulateGrad"

    @property
    def variable(self) -> Tensor:
        """The leaf."""
        owner: Tensor = self.node.record.owner
        return owner

    @property
    def next_functions(self) -> tuple[tuple[GradFunction | None, int], ...]:
        """Nothing: the graph ends here."""
        return ()


@cache
def _class(name: str) -> type[GradFunction]:
    return type(name, (GradFunction,), {"__module__": "builtins"})


class _Inner(GradFunction):
    """A function that PyTorch calls inside of another, where the table has one row for both."""

    @property
    def next_functions(self) -> tuple[tuple[GradFunction | None, int], ...]:
        """The function of the one input."""
        return (edge(_explicit(self.node)),)


def _inner(name: str, node: Node) -> tuple[GradFunction, int]:
    return type(name, (_Inner,), {"__module__": "builtins"})(node), 0


def _explicit(node: Node) -> Node:
    """A node without the changes of dtype that no script wrote, and that PyTorch makes inside of its functions."""
    while node.op.name == "to" and hidden(node):
        node = node.args[0]
    return node


def edges_of(node: Node, name: str) -> list[tuple[GradFunction | None, int]]:
    """Where the gradients of a function's inputs go."""
    if name == "CopySlices" and node.op.name == "copy_slices":
        part = node.args[1]
        return [
            edge(node.args[0]) if node.args[0].requires_grad else (None, 0),
            *edges_of(part, part.grad_fn or "")[1:],
        ]
    if name in names.WHOLE:
        inputs: list[Node] = entries(node)
    else:
        inputs = [_explicit(arg) for arg in node.args]
    if name in names.NUMBER_LAST:
        inputs.sort(key=lambda arg: arg.is_number)
        inputs = [_unscaled(arg) for arg in inputs]
    edges: list[tuple[GradFunction | None, int]] = []
    for arg in inputs:
        if arg.requires_grad:
            edges.append(edge(arg))
        elif name in names.ONLY_VARIABLES or arg.dtype.kind not in "iufc":
            continue
        elif name in names.WITH_NUMBERS or (arg.dtype.kind in "fc" and not arg.is_number):
            edges.append((None, 0))
    if node.op.name == "div" and name == "MulBackward0":  # PyTorch multiplies by the reciprocal
        edges = [_inner("ReciprocalBackward0", node.args[1]), (None, 0)]
    elif node.op.name in ("real", "imag") and name == "SelectBackward0":
        edges = [_inner("ViewAsRealBackward0", node.args[0])]
    return edges + [(None, 0)] * (names.PLACES.get(name, 0) - len(edges))


def _unscaled(node: Node) -> Node:
    """An operand without the factor `alpha`, which PyTorch's function keeps to itself."""
    return node.args[0] if node.op.name == "mul" and hidden(node) and node.args[1].is_number else node


def edge(node: Node) -> tuple[GradFunction, int]:
    """The function that a node's gradient goes to, and which of its results the node is."""
    if node.op.name == "output":
        return function_of(node.args[0], node.grad_fn), node.attrs["index"]
    return function_of(node), 0 if node.record is None else node.record.number


def function_of(node: Node, name: str | None = None) -> GradFunction:
    """The one object that stands for a node's function.

    Args:
        node: a node that requires a gradient.
        name: PyTorch's name, where the node itself has none.
    """
    if node.record is None:
        node.record = Record()
    record: Record = node.record
    if record.function is None:
        custom = getattr(node.op.rule, "function_class", None)
        if node.op is LEAF:
            record.function = AccumulateGrad(node)
        elif custom is not None:
            record.function = custom(node)
        else:
            record.function = _class(name or node.grad_fn or node.op.name)(node)
    return record.function
