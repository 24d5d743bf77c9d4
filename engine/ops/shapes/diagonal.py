"""Diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...errors import InputError, ShapeError
from ...graph import Attrs, DType, Node, Op, Shape, apply, as_node
from .. import batch
from ..cotangent import zeros
from ..indexing.slice import typed
from ..infer import axis_of, integers
from ..move import joining, moving, renamed, shape_kept
from .reshape import reshaped


def _diagonal_length(rows: int, columns: int, offset: int) -> int:
    return max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))


def _diagonal_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape, dim1, dim2 = args[0].shape, attrs["dim1"], attrs["dim2"]
    rest = tuple(size for axis, size in enumerate(shape) if axis not in (dim1, dim2))
    return (*rest, _diagonal_length(shape[dim1], shape[dim2], attrs["offset"])), args[0].dtype


def _planes(xp: Any, x: Any, offset: int, dim1: int, dim2: int, length: int) -> tuple[Any, Any]:
    """An array with two dimensions moved to the end, and the key of the diagonal in them."""
    steps = xp.arange(length)
    return xp.moveaxis(x, (dim1, dim2), (-2, -1)), (..., steps + max(-offset, 0), steps + max(offset, 0))


def _diagonal(input: Node, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Node:
    node = as_node(input)
    return apply(DIAGONAL, (node,), _plane(node.ndim, offset, dim1, dim2))


def _plane(ndim: int, offset: int, dim1: int, dim2: int) -> dict[str, int]:
    first, second = axis_of(dim1, ndim), axis_of(dim2, ndim)
    if first == second:
        raise InputError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    (offset,) = integers(offset, "offset")
    return {"offset": max(-_FARTHEST, min(offset, _FARTHEST)), "dim1": first, "dim2": second}


_FARTHEST: Final = 2**31 - 1
"""The largest offset that NumPy takes: no diagonal lies as far from the main one."""


DIAGONAL = moving(
    "diagonal",
    "The diagonal of a matrix, or of the matrices along two dimensions, as the last dimension.",
    call=_diagonal,
    forms=("torch.diagonal(A)", "A.diagonal()", "torch.diagonal(A, 1)", "np.diagonal(A)"),
    aliases=("linalg.diagonal",),
    inputs={"A": (3, 3)},
    infer=_diagonal_infer,
    batch=batch.along_axes,
    kernel=lambda xp, x, offset, dim1, dim2: xp.diagonal(x, offset, dim1, dim2),
    rule=lambda node, g: [apply(DIAGONAL_SCATTER, (zeros(node.args[0].shape, node.args[0].dtype), g), node.attrs)],
    grad_fn="DiagonalBackward0",
)


def _diagonal_scatter_kernel(xp: Any, x: Any, source: Any, offset: int, dim1: int, dim2: int) -> Any:
    result = xp.array(x)
    wide, key = _planes(xp, result, offset, dim1, dim2, source.shape[-1])
    wide[key] = source
    return result


def _diagonal_scatter(input: Node, src: Node, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Node:
    node, source = as_node(input), as_node(src)
    attrs = _plane(node.ndim, offset, dim1, dim2)
    shape = _diagonal_infer([node], attrs)[0]
    if source.shape != shape:
        raise ShapeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(source.shape)}, slice size = {list(shape)}",
        )
    return apply(DIAGONAL_SCATTER, (node, typed(source, node.dtype)), attrs)


DIAGONAL_SCATTER: Op = moving(
    "diagonal_scatter",
    "A copy of a tensor with another put in along a diagonal.",
    call=_diagonal_scatter,
    forms=("torch.diagonal_scatter(A, x)",),
    inputs={"A": (3, 3), "x": (3,)},
    infer=shape_kept,
    batch=batch.along_axes,
    kernel=_diagonal_scatter_kernel,
    rule=lambda node, g: [
        apply(DIAGONAL_SCATTER, (g, zeros(node.args[1].shape, g.dtype)), node.attrs),
        apply(DIAGONAL, (g,), node.attrs),
    ],
    grad_fn="DiagonalScatterBackward0",
)


def _diag_embed_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    *rest, length = args[0].shape
    size = length + abs(attrs["offset"])
    whole = iter(rest)
    inside = (attrs["dim1"], attrs["dim2"])
    return tuple(size if axis in inside else next(whole) for axis in range(len(rest) + 2)), args[0].dtype


def _diag_embed_kernel(xp: Any, x: Any, offset: int, dim1: int, dim2: int) -> Any:
    *rest, length = x.shape
    size = length + abs(offset)
    result = xp.zeros((*rest, size, size), dtype=x.dtype)
    key = _planes(xp, result, offset, result.ndim - 2, result.ndim - 1, length)[1]
    result[key] = x
    return xp.moveaxis(result, (-2, -1), (dim1, dim2))


def _diag_embed(input: Node, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Node:
    node = as_node(input)
    if node.ndim == 0:
        raise InputError(
            "Dimension out of range (expected to be in range of [-1, 0], but got -2)",
            hint="the tensor has 0 dimensions; x.reshape(1) gives it one",
            code="index",
        )
    return apply(DIAG_EMBED, (node,), _plane(node.ndim + 1, offset, dim1, dim2))


DIAG_EMBED = moving(
    "diag_embed",
    "The matrix, or matrices, with the last dimension along the diagonal and zeros elsewhere.",
    call=_diag_embed,
    forms=("torch.diag_embed(x)", "torch.diag_embed(x, 1)"),
    inputs={"x": (3,)},
    infer=_diag_embed_infer,
    batch=batch.along_axes,
    kernel=_diag_embed_kernel,
    rule=lambda node, g: [apply(DIAGONAL, (g,), node.attrs)],
    grad_fn="DiagEmbedBackward0",
)


def _diag(input: Node, diagonal: int = 0, *, k: int | None = None) -> Node:
    node = as_node(input)
    offset = diagonal if k is None else k
    if node.ndim == 1:
        return _diag_embed(node, offset)
    if node.ndim == 2:
        return renamed(_diagonal(node, offset), "DiagonalBackward0_copy")
    raise ShapeError(
        f"diag(): Supports 1D or 2D tensors. Got {node.ndim}D",
        hint="write torch.diagonal or torch.diag_embed for batches",
    )


joining(
    "diag",
    "The diagonal of a matrix, or the matrix with a vector along its diagonal.",
    call=_diag,
    forms=("torch.diag(x)", "torch.diag(A)", "A.diag(1)", "np.diag(A, k=1)"),
    inputs={"x": (3,)},
    grad_fn="DiagEmbedBackward0",
)


def _diagflat(input: Node, offset: int = 0) -> Node:
    node = as_node(input)
    return _diag_embed(reshaped(node, (node.size,)), offset)


joining(
    "diagflat",
    "The matrix with all entries of a tensor along its diagonal.",
    call=_diagflat,
    forms=("torch.diagflat(x)", "np.diagflat(x)"),
    inputs={"x": (2, 2)},
    grad_fn="DiagEmbedBackward0",
)


def _triangle(name: str, words: str) -> None:
    def call(input: Node, diagonal: int = 0, *, k: int | None = None) -> Node:
        node = as_node(input)
        if node.ndim < 2:
            raise ShapeError(
                f"{name}: input tensor must have at least 2 dimensions",
                hint=f"the tensor has shape {list(node.shape)}",
            )
        return apply(row, (node,), {"diagonal": integers(diagonal if k is None else k, "diagonal")[0]})

    row = moving(
        name,
        f"The entries on and {words} a diagonal of a matrix, or of each matrix of a batch; zeros elsewhere.",
        call=call,
        forms=(f"torch.{name}(A)", f"A.{name}()", f"torch.{name}(A, -1)", f"np.{name}(A, k=1)"),
        inputs={"A": (3, 3)},
        infer=shape_kept,
        batch=batch.trailing,
        kernel=lambda xp, x, diagonal: getattr(xp, name)(x, diagonal),
        rule=lambda node, g: [apply(row, (g,), node.attrs)],
        grad_fn=f"{name.capitalize()}Backward0",
    )


_triangle("tril", "below")
_triangle("triu", "above")
