"""What the functions of a graph keep of the forward run, and what becomes of it before the backward run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..graph import LEAF, TABLE, Node, apply, make
from ..ops.cotangent import MEET
from . import anomaly, dtypes, names
from .function import edge
from .modes import State
from .record import Version, constant, value_of
from .views import ANCHOR

_MASKED: Final = replace(MEET, name="masked")
"""The product that stops at zeros: PyTorch multiplies plainly elsewhere."""

if TYPE_CHECKING:
    from .tensor import Tensor


def forward_nodes(parts: Sequence[Node], node: Node) -> list[Node]:
    """The values of the forward run that a node's gradients are computed from: what PyTorch's function would save."""
    inputs = {*node.args, node}
    found: list[Node] = []
    seen: set[Node] = set()
    stack = list(parts)
    while stack:
        top = stack.pop()
        if top in seen:
            continue
        seen.add(top)
        if top in inputs:
            found.append(top)
        elif top.value is None:
            stack.extend(top.args)
    return found


def check_versions(node: Node, needed: list[Node]) -> None:
    """Refuse values that were written to after the node's function saved them."""
    saved = node.record.saved
    for place in _saved_places(node, needed):
        entry = saved[place] if place < len(saved) else None
        if entry is not None and entry[0].count != entry[1]:
            _refuse(node, node if place == len(node.args) else node.args[place], *entry)
    for other, version, count in node.record.inputs:
        if version.count != count:
            _refuse(node, other, version, count)


def _refuse(node: Node, other: Node, version: Version, count: int) -> None:
    owner: Tensor | None = other.record.owner
    current = node if other is node or owner is None else owner.node
    word = dtypes.of_numpy(other.dtype).word
    text = f"[torch.{word}Tensor {list(other.shape)}]" if word != "Bool" else f"[CPUBoolType {list(other.shape)}]"
    if not current.is_leaf:
        text += f", which is output {edge(current)[1]} of "
        text += _short(current.grad_fn or "") + ","
    hint = (
        "the backtrace further above shows the operation that failed to compute its gradient. The variable in "
        "question was changed in there or anywhere later. Good luck!"
        if State.anomaly
        else "enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    if State.anomaly:
        anomaly.warn(node, node.grad_fn or "")
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"{text} is at version {version.count}; expected version {count} instead. Hint: {hint}"
    )


def _short(name: str) -> str:
    """A function's name as this message has it: `Exp`, `Fill2`, `torch::autograd::CopySlices`."""
    if name in names.CPP:
        return f"torch::autograd::{name}"
    word, _, number = name.partition("Backward")
    return word + number.removeprefix("0")


def with_saved_input(node: Node) -> Node:
    """A node whose input was overwritten, which its function did not save, over an input that its result tells."""
    inverse = names.INVERSE.get(node.grad_fn or "")
    entry = node.record.saved[0] if inverse is not None and node.record.saved else None
    if inverse is None or entry is None or entry[0].count == entry[1]:
        return node
    told = TABLE[inverse].call(constant(np.asarray(node.value)))
    source = Node(LEAF, (), {}, told.shape, told.dtype, True, None, value_of(told))
    same = Node(node.op, (source, *node.args[1:]), node.attrs, node.shape, node.dtype, True, node.grad_fn, node.value)
    same.record = node.record
    return same


def masked(found: list[tuple[Node, Node]], node: Node) -> list[tuple[Node, Node]]:
    """The gradients of a function that chooses, with nothing let through where it chose zero."""
    if node.grad_fn in names.MASKED:
        for _, part in found:
            if part.op is MEET and part.value is None:
                part.op = _MASKED
    return found


def _saved_places(node: Node, needed: Sequence[Node]) -> list[int]:
    """The places of the arguments, and that of the result after them, of which PyTorch's function keeps the values."""
    known = names.SAVED.get(node.grad_fn or "")
    count = len(node.args)
    if node.op.name == "div" and node.args[0].is_number:
        return []  # PyTorch keeps the reciprocal, which no script can reach
    if known is None or any(other is node for other in node.args):
        return [place for place, arg in enumerate((*node.args, node)) if any(arg is other for other in needed)]
    places = {"self": 0, "other": 1, "result": count}
    found = [places[word] for word in known if word in places]
    if "self if other" in known and count > 1 and node.args[1].requires_grad:
        found.append(0)
    return [place for place in found if place <= count]


def renamed(found: list[tuple[Node, Node]], node: Node, received: Node | list[Node | None]) -> list[tuple[Node, Node]]:
    """Give the gradients of a function the names that PyTorch's have."""
    anchored = names.ANCHORED.get(node.grad_fn or "")
    if anchored is not None:
        return [
            (arg, part if part.requires_grad else apply(ANCHOR, (_cast(part, arg), arg), grad_fn=anchored))
            for arg, part in found
        ]
    known = names.GRADIENTS.get(node.grad_fn or "")
    if known is None:
        return found
    given: list[tuple[Node, Node]] = []
    for arg, part in found:
        place = node.args.index(arg)
        if part.value is None and part is not received and part.requires_grad and place < len(known):
            part = _cast(part, arg)
            part.grad_fn = known[place]
        given.append((arg, part))
    return given


def _cast(part: Node, arg: Node) -> Node:
    return part if part.dtype == arg.dtype else make.to(part, arg.dtype)
