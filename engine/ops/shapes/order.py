"""The same entries with their dimensions in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ...graph import Attrs, DType, Node, Shape, apply, as_node, make
from .. import batch
from ..infer import axis_of, integers
from ..move import joining, listed, moving


def _permute_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    return tuple(args[0].shape[axis] for axis in attrs["dims"]), args[0].dtype


def permuted(node: Node, dims: Sequence[int], grad_fn: str = "PermuteBackward0") -> Node:
    """A node with its dimensions in another order, which is known to be a permutation."""
    return apply(PERMUTE, (node,), {"dims": tuple(dims)}, grad_fn=grad_fn)


def _inverse(dims: Sequence[int]) -> list[int]:
    return sorted(range(len(dims)), key=lambda axis: dims[axis])


def _permute(input: Node, *dims: int, dim: Any = None, axes: Any = None) -> Node:
    node = as_node(input)
    order = listed(dims, "dims", dim, axes)
    if len(order) != node.ndim:
        raise InputError(
            "permute: number of dimensions in the tensor input does not match the length of the desired ordering of "
            f"dimensions i.e. input.dim() = {node.ndim} is not equal to len(dims) = {len(order)}",
            hint=f"name every dimension of shape {list(node.shape)} once",
        )
    places = [axis_of(entry, node.ndim) for entry in order]
    if len(set(places)) != len(places):
        raise InputError("permute(): duplicate dims are not allowed.", hint="name every dimension once")
    return permuted(node, places)


PERMUTE = moving(
    "permute",
    "The tensor with its dimensions in another order.",
    call=_permute,
    forms=("T.permute(2, 0, 1)", "torch.permute(T, (2, 0, 1))", "np.permute_dims(T, (2, 0, 1))"),
    aliases=("permute_dims",),
    inputs={"T": (2, 3, 2)},
    infer=_permute_infer,
    batch=batch.permuted,
    kernel=lambda xp, x, dims: xp.transpose(xp.asarray(x), dims)[()],
    rule=lambda node, g: [permuted(g, _inverse(node.attrs["dims"]))],
    grad_fn="PermuteBackward0",
)


def swapped(node: Node, first: int, second: int, grad_fn: str = "TransposeBackward0") -> Node:
    """A node with two of its dimensions, counted from the front, changed for each other."""
    dims = list(range(node.ndim))
    if dims:
        dims[first], dims[second] = second, first
    return permuted(node, dims, grad_fn)


def _reversed(input: Node) -> Node:
    node = as_node(input)
    return permuted(node, range(node.ndim)[::-1])


def _transpose(input: Node, dim0: Any = None, dim1: int | None = None, *, axes: Any = None) -> Node:
    node = as_node(input)
    order = dim0 if axes is None and dim1 is None else axes
    if order is not None:
        return _permute(node, dim=order)
    if dim0 is None or dim1 is None:
        return _reversed(node)
    return swapped(node, axis_of(dim0, node.ndim), axis_of(dim1, node.ndim))


joining(
    "transpose",
    "The tensor with two dimensions changed for each other; as NumPy's, without dims or with all of them, permuted.",
    call=_transpose,
    forms=(
        "A.transpose(0, 1)",
        "torch.transpose(A, 0, 1)",
        "torch.swapaxes(A, 0, 1)",
        "torch.swapdims(A, 0, 1)",
        "np.transpose(A)",
        "np.transpose(A, (1, 0))",
        "np.swapaxes(A, 0, 1)",
    ),
    aliases=("swapaxes", "swapdims"),
    inputs={"A": (2, 3)},
    grad_fn="TransposeBackward0",
)


def _t(input: Node) -> Node:
    node = as_node(input)
    if node.ndim > 2:
        raise InputError(
            f"t() expects a tensor with <= 2 dimensions, but self is {node.ndim}D",
            hint="write x.mT to transpose the last two dimensions, or x.transpose(dim0, dim1)",
        )
    return permuted(node, range(node.ndim)[::-1], "TBackward0")


joining(
    "t",
    "The transpose of a matrix; tensors of fewer dimensions stay as they are.",
    call=_t,
    forms=("A.t()", "torch.t(A)"),
    inputs={"A": (2, 3)},
    grad_fn="TBackward0",
)

joining(
    "T",
    "The tensor with its dimensions in reverse order.",
    call=_reversed,
    forms=("A.T",),
    method=False,
    inputs={"A": (2, 3)},
    grad_fn="PermuteBackward0",
)


def _conjugated(node: Node) -> Node:
    return make.conj(node) if node.dtype.kind == "c" else node


def _last_two_swapped(node: Node, name: str) -> Node:
    if node.ndim == 0:
        return node
    if node.ndim == 1:
        raise InputError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor.",
            hint="a vector has no transpose; x.unsqueeze(0) is a row, x.unsqueeze(1) a column",
        )
    return swapped(node, node.ndim - 2, node.ndim - 1)


def _matrix_transpose(input: Node) -> Node:
    return _last_two_swapped(as_node(input), "mT")


def _matrix_adjoint(input: Node) -> Node:
    return _conjugated(_last_two_swapped(as_node(input), "mH"))


joining(
    "mT",
    "The matrix, or each matrix of a batch, transposed.",
    call=_matrix_transpose,
    forms=("A.mT", "np.matrix_transpose(A)"),
    aliases=("matrix_transpose", "linalg.matrix_transpose"),
    method=False,
    inputs={"A": (2, 3)},
    grad_fn="TransposeBackward0",
)

joining(
    "mH",
    "The matrix, or each matrix of a batch, transposed and conjugated.",
    call=_matrix_adjoint,
    forms=("A.mH", "torch.adjoint(A)"),
    aliases=("adjoint",),
    inputs={"A": (2, 3)},
    grad_fn="TransposeBackward0",
)


def _hermitian(input: Node) -> Node:
    node = as_node(input)
    if node.ndim not in (0, 2):
        raise InputError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {node.ndim}-D tensor.",
            hint="write x.mH for a batch of matrices",
        )
    return _conjugated(swapped(node, 0, 1)) if node.ndim else node


joining(
    "H",
    "The matrix transposed and conjugated.",
    call=_hermitian,
    forms=("A.H",),
    method=False,
    inputs={"A": (2, 3)},
    grad_fn="TransposeBackward0",
)


def moved_axes(ndim: int, sources: Sequence[int], targets: Sequence[int]) -> list[int]:
    """The order of dimensions in which some stand at other places and the rest keep theirs."""
    rest = iter([axis for axis in range(ndim) if axis not in sources])
    places = dict(zip(targets, sources, strict=True))
    return [places[axis] if axis in places else next(rest) for axis in range(ndim)]


def _movedim(input: Node, source: Any, destination: Any) -> Node:
    node = as_node(input)
    given = (integers(source, "source"), integers(destination, "destination"))
    if len(given[0]) != len(given[1]):
        raise InputError(
            f"movedim: Invalid source or destination dims: source ({list(given[0])} dims) should contain the same "
            f"number of dims as destination ({list(given[1])} dims)",
        )
    places = []
    for name, dims in zip(("source", "destination"), given, strict=True):
        axes = [axis_of(dim, node.ndim) for dim in dims]
        if len(set(axes)) != len(axes):
            raise InputError(f"movedim: repeated dim in `{name}` ({list(dims)})", hint="name every dimension once")
        places.append(axes)
    return permuted(node, moved_axes(node.ndim, *places) if node.ndim else ())


joining(
    "movedim",
    "The tensor with some dimensions moved to other places; the rest keep their order.",
    call=_movedim,
    forms=("torch.movedim(T, 0, 2)", "torch.moveaxis(T, 0, 2)", "np.moveaxis(T, 0, 2)"),
    aliases=("moveaxis",),
    inputs={"T": (2, 3, 2)},
    grad_fn="PermuteBackward0",
)
