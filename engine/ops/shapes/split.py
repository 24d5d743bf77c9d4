"""Taking tensors apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import InputError, ShapeError
from ...graph import Node, Outputs, as_node
from ..indexing.slice import selected, sliced
from ..infer import axis_of, integers
from ..move import joining, renamed, several


def _axis_to_part(node: Node, dim: int, name: str) -> int:
    if node.ndim == 0:
        raise InputError(f"{name} expects at least a 1-dimensional tensor", hint="a number has no parts")
    return axis_of(dim, node.ndim)


def _parts(node: Node, axis: int, sizes: Sequence[int], grad_fn: str) -> Outputs:
    parts = []
    start = 0
    for size in sizes:
        parts.append(sliced(node, axis, start, start + size, grad_fn=grad_fn))
        start += size
    return several(parts)


def _chunks(size: int, each: int) -> list[int]:
    return [min(each, size - start) for start in range(0, size, each)] if size else [0]


def _split(input: Node, split_size: Any, dim: int = 0, *, sections: bool = False) -> Outputs:
    node = as_node(input)
    if sections:  # NumPy's split names how many parts, or where to cut
        return _tensor_split(node, split_size, dim, even=True)
    axis = _axis_to_part(node, dim, "split")
    size = node.shape[axis]
    if isinstance(split_size, (tuple, list)):
        sizes = integers(split_size, "split sizes")
        if sum(sizes) != size or min(sizes, default=0) < 0:
            raise ShapeError(
                f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension "
                f"{axis}), but got split_sizes={list(sizes)}",
                hint="the sizes must add up to the dimension's",
            )
        return _parts(node, axis, sizes, "SplitWithSizesBackward0")
    (each,) = integers(split_size, "split_size")
    if each < 0:
        raise InputError(f"split expects split_size be non-negative, but got split_size={each}")
    if each == 0 and size:
        raise InputError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
    return _parts(node, axis, _chunks(size, max(each, 1)), "SplitBackward0")


joining(
    "split",
    "A tensor in parts of a size, or of several sizes, along a dimension; NumPy's names how many parts.",
    call=_split,
    forms=("torch.split(x, 2)[0]", "x.split([1, 2])[1]", "torch.split(A, 2, dim=1)[0]", "np.split(x, 3)[0]"),
    numpy={"sections": True},
    inputs={"x": (3,)},
    grad_fn="SplitBackward0",
)


def _chunk(input: Node, chunks: int, dim: int = 0) -> Outputs:
    node = as_node(input)
    axis = _axis_to_part(node, dim, "chunk")
    (count,) = integers(chunks, "chunks")
    if count <= 0:
        raise InputError(f"chunk expects `chunks` to be greater than 0, got: {count}")
    size = node.shape[axis]
    return _parts(node, axis, _chunks(size, max(-(-size // count), 1)), "SplitBackward0")


joining(
    "chunk",
    "A tensor in at most so many equal parts along a dimension, the last one maybe smaller.",
    call=_chunk,
    forms=("torch.chunk(x, 2)[0]", "x.chunk(2)[1]"),
    inputs={"x": (3,)},
    grad_fn="SplitBackward0",
)


def _tensor_split(input: Node, indices_or_sections: Any, dim: int = 0, *, even: bool = False) -> Outputs:
    node = as_node(input)
    axis = _axis_to_part(node, dim, "tensor_split")
    size = node.shape[axis]
    if isinstance(indices_or_sections, (tuple, list)):
        cuts = [slice(cut).indices(size)[1] for cut in integers(indices_or_sections, "indices")]
        ends = zip([0, *cuts], [*cuts, size], strict=True)
        return several([sliced(node, axis, start, max(start, stop)) for start, stop in ends])
    (count,) = integers(indices_or_sections, "sections")
    if count <= 0:
        raise InputError(f"number of sections must be larger than 0, got {count}")
    if even and size % count:
        raise ShapeError(
            f"array split does not result in an equal division: {size} entries in {count} parts",
            hint="write array_split for parts that differ by one, or torch.split(x, size)",
        )
    each, more = divmod(size, count)
    return _parts(node, axis, [each + 1] * more + [each] * (count - more), "SliceBackward0")


joining(
    "tensor_split",
    "A tensor in so many parts along a dimension, as equal as can be, or cut before some positions.",
    call=_tensor_split,
    forms=("torch.tensor_split(x, 2)[0]", "x.tensor_split((1,))[1]", "np.array_split(x, 2)[0]"),
    aliases=("array_split",),
    inputs={"x": (3,)},
    grad_fn="SliceBackward0",
)


def _splitting(name: str, doc: str, axis: Callable[[int], int], least: int) -> None:
    def call(input: Node, indices_or_sections: Any) -> Outputs:
        node = as_node(input)
        if node.ndim < least:
            raise InputError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {node.ndim} "
                "dimensions!",
            )
        return _tensor_split(node, indices_or_sections, axis(node.ndim), even=True)

    joining(
        name,
        doc,
        call=call,
        forms=(f"torch.{name}(T, 2)[0]", f"np.{name}(T, 2)[0]"),
        inputs={"T": (2, 2, 2)},
        grad_fn="SliceBackward0",
    )


_splitting("hsplit", "A tensor in so many equal parts side by side.", lambda ndim: 0 if ndim == 1 else 1, 1)
_splitting("vsplit", "A tensor in so many equal parts one above the other.", lambda _ndim: 0, 2)
_splitting("dsplit", "A tensor in so many equal parts along its third dimension.", lambda _ndim: 2, 3)


def unbound(node: Node, axis: int) -> list[Node]:
    """The parts of a node at each position of a dimension."""
    if node.ndim == 0:
        raise InputError("Dimension specified as 0 but tensor has no dimensions", hint="a number cannot be unpacked")
    return [renamed(selected(node, axis, place), "UnbindBackward0") for place in range(node.shape[axis])]


def _unbind(input: Node, dim: int = 0) -> Outputs:
    node = as_node(input)
    return several(unbound(node, axis_of(dim, node.ndim)))


joining(
    "unbind",
    "The parts of a tensor at each position of a dimension, which goes away.",
    call=_unbind,
    forms=("torch.unbind(A)[0]", "A.unbind(1)[0]", "list(A)[0]"),
    inputs={"A": (3, 2)},
    grad_fn="UnbindBackward0",
)
