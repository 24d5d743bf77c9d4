"""Views: ops that see the same entries in another shape or order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import InputError, ShapeError
from ...graph import Attrs, DType, Node, Outputs, Shape, apply, as_node, make
from .. import batch
from ..cotangent import sum_to
from ..infer import axes_of, axis_of, integers
from ..layout import is_contiguous, is_viewable
from ..move import joining, listed, moving, several, shape_kept

# --- expand ------------------------------------------------------------------------------------------------------


def _expand(input: Node, *sizes: int, size: Any = None, shape: Any = None) -> Node:
    node = as_node(input)
    wanted = listed(sizes, "sizes", size, shape)
    lead = len(wanted) - node.ndim
    if lead < 0:
        raise ShapeError(
            f"expand(tensor of shape {list(node.shape)}, size={list(wanted)}): the number of sizes provided "
            f"({len(wanted)}) must be greater or equal to the number of dimensions in the tensor ({node.ndim})",
            hint="give a size for every dimension; -1 keeps one as it is",
        )
    result: list[int] = []
    for axis, want in reversed(list(enumerate(wanted))):  # PyTorch compares from the right
        have = node.shape[axis - lead] if axis >= lead else None
        if want == -1 and have is None:
            raise ShapeError(
                f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {axis}",
                hint="-1 keeps a size that the tensor has; new dimensions need a size of their own",
            )
        if want < -1 or (want != -1 and have not in (None, 1, want)):
            raise ShapeError(
                f"The expanded size of the tensor ({want}) must match the existing size ({have}) at non-singleton "
                f"dimension {axis}.  Target sizes: {list(wanted)}.  Tensor sizes: {list(node.shape)}",
                hint="only dimensions of size 1 can be expanded; `repeat` copies longer ones",
            )
        result.append(have if want == -1 and have is not None else want)
    return apply(EXPAND, (node,), {"shape": tuple(reversed(result))})


EXPAND = moving(
    "expand",
    "The tensor repeated along its dimensions of size 1, and along new leading ones, without copying.",
    call=_expand,
    forms=("x.expand(2, 3)", "x.expand(2, -1)", "torch.broadcast_to(x, (2, 3))", "np.broadcast_to(x, (2, 3))"),
    aliases=("broadcast_to",),
    inputs={"x": (3,)},
    batch=batch.repeated,
    kernel=lambda xp, x, shape: xp.broadcast_to(xp.asarray(x), shape)[()],
    rule=lambda node, g: [sum_to(g, node.args[0].shape)],
    grad_fn="ExpandBackward0",
)


def _expand_as(input: Node, other: Node) -> Node:
    return _expand(input, size=as_node(other).shape)


joining(
    "expand_as",
    "The tensor expanded to the shape of another.",
    call=_expand_as,
    forms=("x.expand_as(y)",),
    inputs={"x": (3,), "y": (2, 3)},
    grad_fn="ExpandBackward0",
)

# --- reshape -----------------------------------------------------------------------------------------------------


def _target(shape: Shape, wanted: Shape) -> Shape:
    """The shape that a reshape means: -1 stands for what is left."""
    fault = f"shape '{list(wanted)}' is invalid for input of size {math.prod(shape)}"
    hint = f"the tensor's shape is {list(shape)}; the sizes must multiply to {math.prod(shape)}, and one may be -1"
    for index, size in enumerate(wanted):
        if size < -1:
            raise ShapeError(f"invalid shape dimension {size} at index {index} of shape {list(wanted)}", hint=hint)
    if wanted.count(-1) > 1:
        raise ShapeError("only one dimension can be inferred", hint=hint)
    if -1 not in wanted:
        if math.prod(wanted) != math.prod(shape):
            raise ShapeError(fault, hint=hint)
        return wanted
    rest = -math.prod(wanted)
    if rest == 0:
        raise ShapeError(
            f"cannot reshape tensor of 0 elements into shape {list(wanted)} because the unspecified dimension size -1 "
            "can be any value and is ambiguous",
            hint=hint,
        )
    if math.prod(shape) % rest:
        raise ShapeError(fault, hint=hint)
    return tuple(math.prod(shape) // rest if size == -1 else size for size in wanted)


def _reshape_grad_fn(args: Sequence[Node], attrs: Attrs) -> str:
    if is_contiguous(args[0]):
        return "ViewBackward0"
    return "ReshapeAliasBackward0" if is_viewable(args[0], attrs["shape"]) else "UnsafeViewBackward0"


def reshaped(node: Node, shape: Shape, *, grad_fn: str | None = None) -> Node:
    """A node's entries in another shape, which is known to fit."""
    return apply(RESHAPE, (node,), {"shape": shape}, grad_fn=grad_fn)


def _reshape(input: Node, *sizes: int, shape: Any = None, size: Any = None) -> Node:
    node = as_node(input)
    return reshaped(node, _target(node.shape, listed(sizes, "sizes", shape, size)))


RESHAPE = moving(
    "reshape",
    "The same entries, in row-major order, in another shape; one size may be -1.",
    call=_reshape,
    forms=("A.reshape(9)", "torch.reshape(A, (9,))", "A.reshape(-1, 1)", "np.reshape(A, (9,))"),
    inputs={"A": (3, 3)},
    batch=batch.to_shape,
    kernel=lambda xp, x, shape: xp.reshape(xp.asarray(x), shape)[()],
    rule=lambda node, g: [reshaped(g, node.args[0].shape)],
    grad_fn=_reshape_grad_fn,
)


def _reshape_as(input: Node, other: Node) -> Node:
    return _reshape(input, shape=as_node(other).shape)


joining(
    "reshape_as",
    "The tensor in the shape of another of as many entries.",
    call=_reshape_as,
    forms=("A.reshape_as(x)",),
    inputs={"A": (3, 3), "x": (9,)},
    grad_fn="ViewBackward0",
)


def _view(input: Node, *sizes: int, size: Any = None) -> Node:
    node = as_node(input)
    shape = _target(node.shape, listed(sizes, "sizes", size))
    if not is_viewable(node, shape):
        raise ShapeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead.",
            hint=f"shape {list(node.shape)} to {list(shape)}: the tensor was transposed or expanded before",
        )
    return reshaped(node, shape, grad_fn="ViewBackward0")


joining(
    "view",
    "The same entries in another shape, where no copy is needed; one size may be -1.",
    call=_view,
    forms=("A.view(9)", "A.view(-1)"),
    inputs={"A": (3, 3)},
    grad_fn="ViewBackward0",
)


def _view_as(input: Node, other: Node) -> Node:
    return _view(input, size=as_node(other).shape)


joining(
    "view_as",
    "The tensor seen in the shape of another of as many entries.",
    call=_view_as,
    forms=("A.view_as(x)",),
    inputs={"A": (3, 3), "x": (9,)},
    grad_fn="ViewBackward0",
)


def _flatten(input: Node, start_dim: int = 0, end_dim: int = -1) -> Node:
    node = as_node(input)
    if node.ndim == 0:
        return reshaped(node, (1,))
    start, end = axis_of(start_dim, node.ndim), axis_of(end_dim, node.ndim)
    if start > end:
        raise InputError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return node  # as PyTorch, which gives the tensor itself
    shape = node.shape
    return reshaped(node, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


joining(
    "flatten",
    "A run of dimensions as one; all of them where none are named.",
    call=_flatten,
    forms=("torch.flatten(A)", "A.flatten()", "torch.flatten(A, 0, 1)"),
    inputs={"A": (2, 3)},
    grad_fn="ViewBackward0",
)


def _ravel(input: Node) -> Node:
    node = as_node(input)
    return reshaped(node, (node.size,), grad_fn="ViewBackward0")


joining(
    "ravel",
    "All entries in row-major order as one dimension.",
    call=_ravel,
    forms=("A.ravel()", "torch.ravel(A)", "np.ravel(A)"),
    inputs={"A": (2, 3)},
    grad_fn="ViewBackward0",
)


def _unflatten(input: Node, dim: int, sizes: Any) -> Node:
    node = as_node(input)
    axis = axis_of(dim, node.ndim)
    wanted = integers(sizes, "sizes")
    size = node.shape[axis] if node.ndim else 1
    known = -math.prod(wanted) if wanted.count(-1) == 1 else 0
    if known and size % known == 0:
        wanted = tuple(size // known if entry == -1 else entry for entry in wanted)
    if math.prod(wanted) != size or min(wanted, default=0) < 0:
        raise ShapeError(
            f"unflatten: Provided sizes {list(wanted)} don't multiply up to the size of dim {axis} ({size}) "
            "in the input tensor",
            hint="the sizes must multiply to the size of the dimension, and one may be -1",
        )
    return reshaped(node, (*node.shape[:axis], *wanted, *node.shape[axis + 1 :]), grad_fn="ViewBackward0")


joining(
    "unflatten",
    "One dimension as several.",
    call=_unflatten,
    forms=("x.unflatten(0, (3, 1))", "torch.unflatten(x, 0, (-1, 1))"),
    inputs={"x": (3,)},
    grad_fn="ViewBackward0",
)

# --- dimensions of size 1 ----------------------------------------------------------------------------------------


def _squeeze_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    axes = attrs["axes"]
    return tuple(size for axis, size in enumerate(args[0].shape) if axis not in axes), args[0].dtype


def _squeeze(input: Node, dim: int | tuple[int, ...] | None = None) -> Node:
    node = as_node(input)
    axes = axes_of(dim, node.ndim) if dim != () else ()
    number = 0 if dim is None else 1 if isinstance(dim, int) else 2
    kept = tuple(axis for axis in axes if node.ndim and node.shape[axis] == 1)
    return apply(SQUEEZE, (node,), {"axes": kept}, grad_fn=f"SqueezeBackward{number}")


SQUEEZE = moving(
    "squeeze",
    "The tensor without its dimensions of size 1, or without the named ones that have size 1.",
    call=_squeeze,
    forms=("torch.squeeze(A)", "A.squeeze()", "A.squeeze(0)", "np.squeeze(A)"),
    inputs={"A": (1, 3)},
    infer=_squeeze_infer,
    batch=batch.along_axes,
    kernel=lambda xp, x, axes: xp.squeeze(xp.asarray(x), axis=axes)[()],
    rule=lambda node, g: [reshaped(g, node.args[0].shape)],
    grad_fn="SqueezeBackward0",
)


def _unsqueeze_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape, axis = args[0].shape, attrs["axis"]
    return (*shape[:axis], 1, *shape[axis:]), args[0].dtype


def unsqueezed(node: Node, axis: int) -> Node:
    """A node with a dimension of size 1 put in, counted from the front."""
    return apply(UNSQUEEZE, (node,), {"axis": axis})


def _new_axis(dim: Any, ndim: int) -> int:
    """Where a new dimension goes, counted from either end of the dimensions with it."""
    if isinstance(dim, int) and not isinstance(dim, bool) and not -ndim - 1 <= dim <= ndim:
        raise InputError(
            f"Dimension out of range (expected to be in range of [{-ndim - 1}, {ndim}], but got {dim})",
            hint=f"the tensor has {ndim} dimension{'s' if ndim != 1 else ''}, and a new one can go before, between and "
            "after them",
            code="index",
        )
    return axis_of(dim, ndim + 1)


def _unsqueeze(input: Node, dim: int) -> Node:
    node = as_node(input)
    return unsqueezed(node, _new_axis(dim, node.ndim))


UNSQUEEZE = moving(
    "unsqueeze",
    "The tensor with a dimension of size 1 put in.",
    call=_unsqueeze,
    forms=("x.unsqueeze(0)", "torch.unsqueeze(x, -1)", "x[None]", "np.expand_dims(x, 0)"),
    aliases=("expand_dims",),
    inputs={"x": (3,)},
    infer=_unsqueeze_infer,
    batch=batch.along_axes,
    kernel=lambda xp, x, axis: xp.expand_dims(xp.asarray(x), axis),
    rule=lambda node, g: [reshaped(g, node.args[0].shape)],
    grad_fn="UnsqueezeBackward0",
)

# --- the order of dimensions -------------------------------------------------------------------------------------


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

# --- at least so many dimensions ---------------------------------------------------------------------------------


def at_least(node: Node, ndim: int) -> Node:
    """A node with at least so many dimensions, new ones put in as NumPy does."""
    if node.ndim >= ndim:
        return node
    if node.ndim == 0:
        return reshaped(node, (1,) * ndim)
    if ndim == 3:
        node = unsqueezed(node, 0) if node.ndim == 1 else node
        return unsqueezed(node, 2)
    return unsqueezed(node, 0)


def _add_at_least(ndim: int, words: str) -> None:
    def call(*tensors: Node) -> Node | Outputs:
        given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
        results = [at_least(as_node(tensor), ndim) for tensor in given]
        return results[0] if given is tensors and len(results) == 1 else several(results)

    name = f"atleast_{ndim}d"
    joining(
        name,
        f"The tensor with at least {words}, new ones of size 1 put in.",
        call=call,
        forms=(f"torch.{name}(x)", f"np.{name}(x)"),
        method=False,
        inputs={"x": ()},
        grad_fn="ViewBackward0",
    )


_add_at_least(1, "one dimension")
_add_at_least(2, "two dimensions")
_add_at_least(3, "three dimensions")

# --- memory ------------------------------------------------------------------------------------------------------


def _contiguous(input: Node) -> Node:
    node = as_node(input)
    return node if is_contiguous(node) else apply(CONTIGUOUS, (node,))


CONTIGUOUS = moving(
    "contiguous",
    "The tensor itself where it is kept in row-major order, else a copy that is.",
    call=_contiguous,
    forms=("A.t().contiguous()", "A.contiguous()"),
    inputs={"A": (2, 3)},
    infer=shape_kept,
    batch=batch.trailing,
    kernel=lambda xp, x: xp.ascontiguousarray(x),
    rule=lambda _node, g: [g],
    grad_fn="CloneBackward0",
)
