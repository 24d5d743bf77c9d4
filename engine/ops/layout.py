"""Where PyTorch would keep the entries of a tensor in memory, for the ops whose grad_fn depends on it.

`reshape` is a view where the strides allow one and a copy where they do not, and PyTorch names the two differently.
agrad follows the strides through the few ops that change them, from those of the leaves' arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node, Shape

Strides = tuple[int, ...]

_FAR: Final = 200
"""How many nodes back strides are followed; farther ones are taken as contiguous, so that the cost stays bounded."""


def contiguous_strides(shape: Shape) -> Strides:
    """The strides, in elements, of a tensor in row-major order."""
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def strides_of(node: Node) -> Strides:
    """The strides, in elements, that PyTorch would give a node's value."""
    known: dict[Node, Strides] = {}
    stack = [node]
    while stack:
        top = stack[-1]
        if top not in known:
            missing = [arg for arg in _deciding(top) if arg not in known]
            if missing and len(known) + len(stack) < _FAR:
                stack.extend(missing)
                continue
            known[top] = _strides(top, known)
        stack.pop()
    return known[node]


def is_contiguous(node: Node) -> bool:
    """Whether PyTorch would keep a node's value in row-major order without gaps."""
    if node.size == 0 or node.ndim == 0:
        return True
    strides = strides_of(node)
    expected = contiguous_strides(node.shape)
    return all(size == 1 or have == want for size, have, want in zip(node.shape, strides, expected, strict=True))


def is_viewable(node: Node, shape: Shape) -> bool:
    """Whether the strides allow to see a node's value in another shape without a copy."""
    if node.size == 0:
        return True
    strides = strides_of(node)
    # Neighbouring axes that lie behind each other in memory form one run; a new axis must not reach across two.
    runs: list[int] = []
    axes = [(size, stride) for size, stride in zip(node.shape, strides, strict=True) if size != 1]
    for index, (size, stride) in enumerate(axes):
        if index and axes[index - 1][1] == stride * size:
            runs[-1] *= size
        else:
            runs.append(size)
    sizes = iter(size for size in shape if size != 1)
    for run in runs:
        filled = 1
        while filled < run:
            filled *= next(sizes)
        if filled != run:
            return False
    return True


def _deciding(node: Node) -> Sequence[Node]:
    """The arguments whose strides decide a node's."""
    if node.grad_fn in _COPIES or (node.grad_fn in _VIEWS and node.shape != node.args[0].shape):
        return ()
    if node.op.name in _CHANGES:
        return node.args[:1]
    if (node.op.elementwise or node.op.name in _KEEPS) and node.ndim > 1:
        return [arg for arg in node.args if arg.ndim > 1]
    return ()


def _strides(node: Node, known: Mapping[Node, Strides]) -> Strides:
    deciding = _deciding(node)
    if node.op is LEAF and isinstance(node.value, np.ndarray) and node.value.itemsize:
        return tuple(stride // node.value.itemsize for stride in node.value.strides)
    if not deciding:
        if node.op.name in _COLUMN_MAJOR and node.ndim > 1:
            *batch, rows, columns = node.shape
            lead = contiguous_strides((*batch, columns, rows))[:-2]
            return (*lead, 1, max(rows, 1))
        return contiguous_strides(node.shape)
    change = _CHANGES.get(node.op.name)
    strides = [known.get(arg) or contiguous_strides(arg.shape) for arg in deciding]
    if change is not None:
        return change(deciding[0].shape, strides[0], node.shape, **node.attrs)
    if node.op.name in _KEEPS:
        deciding, strides = deciding[:1], strides[:1]
    return _iterated(node.shape, [arg.shape for arg in deciding], strides)


def _iterated(shape: Shape, shapes: Sequence[Shape], strides: Sequence[Strides]) -> Strides:
    """The strides that PyTorch's TensorIterator gives the result of an elementwise op."""
    wide = [
        (0,) * (len(shape) - len(own))
        + tuple(
            0 if have != want else step
            for have, want, step in zip(own, shape[len(shape) - len(own) :], steps, strict=True)
        )
        for own, steps in zip(shapes, strides, strict=True)
    ]
    plain = contiguous_strides(shape)
    if all(own == shape for own in shapes) and all(steps == plain for steps in wide):
        return plain
    order = list(reversed(range(len(shape))))  # the axis that runs fastest comes first
    for start in range(1, len(shape)):
        place = start
        for before in reversed(range(start)):
            verdict = _swapped(shape, wide, order[before], order[place])
            if verdict > 0:
                order[before], order[place] = order[place], order[before]
                place = before
            elif verdict < 0:
                break
    result = [0] * len(shape)
    step = 1
    for axis in order:
        result[axis] = step
        step *= max(shape[axis], 1)
    return tuple(result)


def _swapped(shape: Shape, strides: Sequence[Strides], first: int, second: int) -> int:
    """Whether two axes, of which the first would run faster, should change places: 1 yes, -1 no, 0 either."""
    for steps in strides:
        one, other = steps[first], steps[second]
        if one == 0 or other == 0:
            continue
        if one != other:
            return 1 if one > other else -1
        if shape[first] > shape[second]:
            return 1
    return 0


def _reshaped(shape: Shape, strides: Strides, target: Shape, /, **_: Any) -> Strides:
    """A view in the same shape keeps its strides; others of a tensor with gaps are rare enough to be called new."""
    return strides if shape == target else contiguous_strides(target)


def _expanded(shape: Shape, strides: Strides, target: Shape, /, **_: Any) -> Strides:
    lead = len(target) - len(shape)
    return (0,) * lead + tuple(
        step if have == want else 0 for have, want, step in zip(shape, target[lead:], strides, strict=True)
    )


def _unsqueezed(shape: Shape, strides: Strides, _target: Shape, axis: int) -> Strides:
    step = strides[axis] * shape[axis] if axis < len(shape) else 1
    return (*strides[:axis], step, *strides[axis:])


def _without(strides: Strides, axes: Sequence[int]) -> Strides:
    return tuple(step for axis, step in enumerate(strides) if axis not in axes)


_CHANGES: Final[dict[str, Callable[..., Strides]]] = {
    "permute": lambda _shape, strides, _target, dims: tuple(strides[axis] for axis in dims),
    "expand": _expanded,
    "reshape": _reshaped,
    "unsqueeze": _unsqueezed,
    "squeeze": lambda _shape, strides, _target, axes: _without(strides, axes),
    "select": lambda _shape, strides, _target, axis, index: _without(strides, (axis,)),  # noqa: ARG005  # all attributes
    "slice": lambda _shape, strides, _target, axis, start, stop, step: (  # noqa: ARG005  # all attributes come in
        *strides[:axis],
        strides[axis] * step,
        *strides[axis + 1 :],
    ),
    "diagonal": lambda _shape, strides, _target, offset, dim1, dim2: (  # noqa: ARG005  # all attributes come in
        *_without(strides, (dim1, dim2)),
        strides[dim1] + strides[dim2],
    ),
}
"""How a view changes the strides: from its argument's shape and strides, its own shape and its attributes."""

_VIEWS: Final = frozenset({"ViewBackward0", "UnsafeViewBackward0"})
"""Names that a reshape to another shape only has where its result is contiguous: nothing before it need be asked."""

_COPIES: Final = frozenset(
    {
        "MaskedFillBackward0",
        "MaskedFillBackward1",
        "MaskedScatterBackward0",
        "IndexAddBackward0",
        "IndexCopyBackward0",
        "IndexFillBackward0",
        "IndexFillBackward1",
    }
)
"""Names of functions that share an op with others, and whose result PyTorch makes contiguous."""

_KEEPS: Final = frozenset(
    {"flip", "sort", "index_put", "setitem", "slice_scatter", "select_scatter", "diagonal_scatter"}
)
"""Ops that are not elementwise and whose result PyTorch lays out as their first argument."""

_COLUMN_MAJOR: Final = frozenset({"inverse", "linalg.solve", "linalg.cholesky"})
"""Ops whose result comes from LAPACK, column by column."""
