"""Graph to graph: gradients of gradients, Jacobians and Hessians as nodes, which can be differentiated again.

A Jacobian is one run of the gradient graph on a batch: the rows of the identity as cotangents. Where the result has far
more entries than the leaf, it is the transposed map that runs on the leaf's directions: the gradient is linear in its
cotangent, and its gradient by that cotangent is the derivative along a direction.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..errors import InputError, LimitError, NoGradientError
from ..gradient import gradients
from ..graph import LEAF, Node, Shape, ancestors, apply, attrs_key, leaf, make
from ..ops.cotangent import zeros
from .batching import batched

MOST_ENTRIES: Final = 10_000_000
"""The largest Jacobian that a file may ask for as a node; the command line computes larger ones part by part."""

MOST_NODES: Final = 500_000
"""The largest graph of a derivative of a high order: each order makes it two to three times larger."""

_FORWARD_FROM: Final = 4
"""How many times more entries the result must have than the leaf, so that derivatives along directions are cheaper."""


class UndeclaredError(NoGradientError):
    """A derivative is asked by a node that requires no gradient.

    Attributes:
        leaves: the leaves that would have to require one.
    """

    def __init__(self, message: str, leaves: tuple[Node, ...], *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.leaves = leaves


class Runs(NamedTuple):
    """A linear map as a graph: one run for each entry of `leaf` gives a row of its matrix.

    Attributes:
        leaf: what varies: one entry is 1 and all others 0 in each run.
        targets: what each run gives.
    """

    leaf: Node
    targets: list[Node]


def require_differentiable(output: Node, inputs: Sequence[Node]) -> None:
    """Refuse what has no derivative.

    Raises:
        NoGradientError: where the output or an input is no float.
        UndeclaredError: where an input requires no gradient.
    """
    if output.dtype.kind not in "fc":
        raise NoGradientError(
            "element 0 of tensors does not require grad and does not have a grad_fn",
            hint=f"the result is of dtype {output.dtype.name}, and only floats and complex numbers have a gradient",
        )
    for node in inputs:
        if node.dtype.kind not in "fc":
            raise NoGradientError(
                "One of the differentiated Tensors does not require grad",
                hint=f"it is of dtype {node.dtype.name}, and only floats and complex numbers have a gradient",
            )
        if not node.requires_grad:
            leaves = [part for part in ancestors([node]) if part.op is LEAF and part.dtype.kind in "fc"]
            raise UndeclaredError(
                "One of the differentiated Tensors does not require grad",
                tuple(part for part in leaves if not part.is_number),
                hint="differentiate by a leaf of floats without requires_grad=False, or by what is computed from one",
            )


def require_real(output: Node, what: str) -> None:
    """Refuse complex results.

    Raises:
        InputError: where the output is complex.
    """
    if output.dtype.kind == "c":
        raise InputError(f"{what} of a complex result is not one of numbers", hint="take its real() or its imag()")


def require_scalar(output: Node, hint: str) -> None:
    """Refuse anything but a single real number, in PyTorch's words.

    Raises:
        InputError: where the output has more entries than one or is complex.
    """
    if output.size != 1:
        raise InputError("grad can be implicitly created only for scalar outputs", hint=hint)
    if output.dtype.kind == "c":
        raise InputError(
            f"grad can be implicitly created only for real scalar outputs but got torch.{output.dtype.name}",
            hint="take its real(), its imag() or its abs()",
        )


def gradient(output: Node, inputs: Sequence[Node], weights: Node | None = None) -> list[Node]:
    """The gradient of an output by each input, zeros where it does not depend on one.

    Args:
        output: a node; without weights a single real number.
        inputs: nodes that require a gradient.
        weights: the cotangent, of the output's shape.
    """
    one = leaf(np.ones(output.shape, output.dtype)[()]) if weights is None else weights
    found = gradients([output], [one])
    return [found.get(node) or zeros(node.shape, node.dtype) for node in inputs]


def by_entries(output: Node, inputs: Sequence[Node]) -> Runs:
    """The Jacobians as runs over the entries of the output: each gives the gradients of one entry."""
    cotangent = _blank(output.shape, output)
    return Runs(cotangent, gradient(output, inputs, cotangent))


def by_directions(output: Node, node: Node) -> Runs:
    """The Jacobian as runs over the entries of an input: each gives the derivative along one direction."""
    cotangent = _blank(output.shape, output)
    cotangent.requires_grad = True
    direction = _blank(node.shape, node)
    return Runs(direction, gradient(gradient(output, [node], cotangent)[0], [cotangent], direction))


def is_wide(output: Node, node: Node) -> bool:
    """Whether runs over the directions are fewer by so much that they are cheaper; only where both are real."""
    return output.size > _FORWARD_FROM * node.size and output.dtype.kind == node.dtype.kind == "f"


def transposed(matrix_shape: Shape, first: int) -> tuple[int, ...]:
    """The order of axes that brings the first ones behind all others."""
    return (*range(first, len(matrix_shape)), *range(first))


def _blank(shape: Shape, like: Node) -> Node:
    """A leaf whose values come later: without memory of its size."""
    return leaf(np.broadcast_to(like.dtype.type(0), shape)[()])


def jacobian(output: Node, node: Node) -> Node:
    """The derivative of every entry of an output by every entry of a node: the output's shape, then the node's.

    Raises:
        LimitError: where it has more than `MOST_ENTRIES` entries.
    """
    _require_room(output, node)
    return _jacobian(output, node, _now())


def _require_room(output: Node, node: Node) -> None:
    entries = output.size * node.size
    if entries > MOST_ENTRIES:
        raise LimitError(
            f"the Jacobian of shapes {list(output.shape)} and {list(node.shape)} has {entries:,} entries",
            hint=f"inside of a file the limit is {MOST_ENTRIES:,}; differentiate a part, or use --jacobian",
        )


def _now() -> int:
    """A serial above those of all nodes that there are."""
    return leaf(0).serial


def _jacobian(output: Node, node: Node, since: int) -> Node:
    """The Jacobian, for which nodes made from `since` on may be replaced."""
    from ..sparsity import compressed  # most texts ask for no Jacobian

    wide = is_wide(output, node)
    runs = by_directions(output, node) if wide else by_entries(output, [node])
    whole = compressed(runs.targets, runs.leaf, since)[0]
    if whole is None:
        count = runs.leaf.size
        unit = np.eye(count, dtype=runs.leaf.dtype).reshape((count, *runs.leaf.shape))
        rows = batched(runs.targets, {runs.leaf: leaf(unit)})[0]
        whole = apply(make.reshape, (rows,), {"shape": (*runs.leaf.shape, *runs.targets[0].shape)})
    if not wide:
        return whole
    return apply(make.permute, (whole,), {"dims": transposed(whole.shape, node.ndim)})


def hessian(output: Node, node: Node) -> Node:
    """The second derivatives of a single number by all pairs of entries of a node, of the node's shape twice."""
    since = _now()
    slope = gradient(output, [node])[0]
    _require_room(slope, node)
    return _jacobian(slope, node, since)


def repeated(output: Node, node: Node, order: int, *, others: Sequence[Node] = ()) -> list[Node]:
    """The derivatives of orders 1 to `order` of a single number by a single number, each of the input's shape.

    Args:
        output: a node of one number.
        node: what to differentiate by.
        order: the highest.
        others: nodes that the derivatives may be differentiated by, too.

    Raises:
        LimitError: where the graph of one has more than `MOST_NODES` nodes.
    """
    found = []
    for number in range(1, order + 1):
        output = merged(gradient(output, [node])[0], {node, *others})
        found.append(output)
        count = len(ancestors([output]))
        if count > MOST_NODES:
            raise LimitError(
                f"the derivative of order {number} is a graph of {count:,} nodes", hint=f"the limit is {MOST_NODES:,}"
            )
    return found


def merged(output: Node, kept: Collection[Node]) -> Node:
    """A graph in which equal parts are one node, to be differentiated by nothing but the nodes kept.

    Before each differentiation this keeps graphs of higher orders small: cotangents of equal parts are added at once.
    """
    new: dict[Node, Node] = {}
    known: dict[tuple[Any, ...], Node] = {}
    for node in ancestors([output]):
        if node in kept or (node.op is LEAF and (node.shape or node.requires_grad)):
            new[node] = node
            continue
        args = tuple([new[arg] for arg in node.args])
        if node.op is LEAF:
            key: tuple[Any, ...] = (type(node.value), repr(node.value))  # 0.0 is not -0.0
        else:
            key = (node.op, args, attrs_key(node.attrs))
        if key not in known:
            same = all(old is arg for old, arg in zip(node.args, args, strict=True))
            known[key] = node if same else apply(node.op, args, node.attrs, grad_fn=node.grad_fn, like=node)
        new[node] = known[key]
    return new[output]
