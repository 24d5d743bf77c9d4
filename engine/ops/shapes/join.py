"""Joining tensors, and taking them apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ...errors import InputError, ShapeError
from ...graph import Attrs, DType, Node, Outputs, Shape, apply, as_node, make
from .. import batch
from ..indexing.slice import selected, sliced, typed
from ..infer import axis_of, promote
from ..move import joining, moving, renamed, several
from .expand import EXPAND
from .reshape import reshaped
from .single import at_least
from .split import unbound


def nodes_of(tensors: Any, name: str) -> list[Node]:
    """The tensors of a call, given as one list or one by one, all of one dtype.

    Raises:
        InputError: where there is none.
    """
    if isinstance(tensors, Node):
        tensors = unbound(tensors, 0)
    elif len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    nodes = [as_node(tensor) for tensor in tensors]
    if not nodes:
        raise InputError(f"{name} expects a non-empty TensorList", hint=f"write {name}([x, y])")
    dtype = promote(nodes)
    return [typed(node, dtype) for node in nodes]


# --- cat ---------------------------------------------------------------------------------------------------------


def _cat_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    axis = attrs["axis"]
    shape = args[0].shape
    return (*shape[:axis], sum(arg.shape[axis] for arg in args), *shape[axis + 1 :]), args[0].dtype


def _cat_rule(node: Node, g: Node) -> list[Node | None]:
    axis = node.attrs["axis"]
    parts: list[Node | None] = []
    start = 0
    for arg in node.args:
        stop = start + arg.shape[axis]
        parts.append(sliced(g, axis, start, stop) if arg.requires_grad else None)
        start = stop
    return parts


def joined(nodes: Sequence[Node], dim: int) -> Node:
    """Nodes of one dtype, one behind the other along a dimension that they have.

    Raises:
        ShapeError: where their other sizes differ.
    """
    for place, node in enumerate(nodes):
        if node.ndim == 0:
            raise ShapeError(
                f"zero-dimensional tensor (at position {place}) cannot be concatenated",
                hint="write torch.stack to join numbers, or x.unsqueeze(0) to give one a dimension",
            )
    # PyTorch lets an empty vector stand beside tensors of any shape.
    kept = [node for node in nodes if node.shape != (0,)] or list(nodes)
    first = kept[0]
    axis = axis_of(dim, first.ndim)
    for place, node in enumerate(kept):
        if node.ndim != first.ndim:
            raise ShapeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {node.ndim}",
                hint=f"the shapes are {list(first.shape)} and {list(node.shape)}",
            )
        for other, (have, want) in enumerate(zip(node.shape, first.shape, strict=True)):
            if other != axis and have != want:
                raise ShapeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size {want} but got size {have} "
                    f"for tensor number {place} in the list.",
                    hint=f"the shapes are {list(first.shape)} and {list(node.shape)}",
                )
    return apply(CAT, kept, {"axis": axis})


def _cat(tensors: Sequence[Node], dim: int = 0) -> Node:
    if not isinstance(tensors, Node) and not len(tensors):
        raise InputError(
            "torch.cat(): expected a non-empty list of Tensors", hint="write torch.cat([x, y])", code="value"
        )
    return joined(nodes_of(tensors, "cat"), dim)


_TWO: Final = {"x": (3,), "y": (3,)}

CAT = moving(
    "cat",
    "Tensors one behind the other along a dimension that they have.",
    call=_cat,
    forms=(
        "torch.cat([x, y])",
        "torch.concat([x, y])",
        "torch.concatenate([x, y])",
        "torch.cat([A, B], dim=1)",
        "np.concatenate([A, B], axis=1)",
    ),
    aliases=("concat", "concatenate"),
    method=False,
    inputs=_TWO,
    infer=_cat_infer,
    batch=batch.along_axes,
    kernel=lambda xp, *values, axis: xp.concatenate(values, axis=axis),
    rule=_cat_rule,
    grad_fn="CatBackward0",
)

# --- stack -------------------------------------------------------------------------------------------------------


def _stack_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    shape, axis = args[0].shape, attrs["axis"]
    return (*shape[:axis], len(args), *shape[axis:]), args[0].dtype


def _stack(tensors: Sequence[Node], dim: int = 0) -> Node:
    nodes = nodes_of(tensors, "stack")
    first = nodes[0]
    for place, node in enumerate(nodes):
        if node.shape != first.shape:
            raise ShapeError(
                f"stack expects each tensor to be equal size, but got {list(first.shape)} at entry 0 and "
                f"{list(node.shape)} at entry {place}",
                hint="write torch.cat to join tensors of different lengths",
            )
    return apply(STACK, nodes, {"axis": axis_of(dim, first.ndim + 1)})


STACK = moving(
    "stack",
    "Tensors of one shape beside each other along a new dimension.",
    call=_stack,
    forms=("torch.stack([x, y])", "torch.stack([x, y], dim=1)", "np.stack([x, y], axis=-1)", "[x, y]"),
    method=False,
    inputs=_TWO,
    infer=_stack_infer,
    batch=batch.along_axes,
    kernel=lambda xp, *values, axis: xp.stack([xp.asarray(value) for value in values], axis=axis),
    rule=lambda node, g: [
        selected(g, node.attrs["axis"], place) if arg.requires_grad else None for place, arg in enumerate(node.args)
    ],
    grad_fn="StackBackward0",
)


def _stacking(name: str, doc: str, ndim: int, axis: Callable[[int], int], *aliases: str) -> None:
    """A row that gives tensors at least so many dimensions and joins them along one of them."""

    def call(tensors: Sequence[Node]) -> Node:
        nodes = [at_least(node, ndim) for node in nodes_of(tensors, name)]
        return joined(nodes, axis(nodes[0].ndim))

    joining(
        name,
        doc,
        call=call,
        forms=(f"torch.{name}([x, y])", f"np.{name}([x, y])"),
        aliases=aliases,
        method=False,
        inputs=_TWO,
        grad_fn="CatBackward0",
    )


_stacking("hstack", "Vectors one behind the other, matrices side by side.", 1, lambda ndim: 0 if ndim == 1 else 1)
_stacking("vstack", "Vectors and matrices one above the other.", 2, lambda _ndim: 0, "row_stack")
_stacking("dstack", "Vectors and matrices one behind the other along a third dimension.", 3, lambda _ndim: 2)


def _column_stack(tensors: Sequence[Node]) -> Node:
    nodes = nodes_of(tensors, "column_stack")
    return joined([reshaped(node, (node.size, 1)) if node.ndim <= 1 else node for node in nodes], 1)


joining(
    "column_stack",
    "Vectors as the columns of a matrix, matrices side by side.",
    call=_column_stack,
    forms=("torch.column_stack([x, y])", "np.column_stack([x, y])"),
    method=False,
    inputs=_TWO,
    grad_fn="CatBackward0",
)


def _block_diag(*tensors: Node) -> Node:
    nodes = nodes_of(tensors, "block_diag")
    for place, node in enumerate(nodes):
        if node.ndim > 2:
            raise ShapeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {place} has {node.ndim} "
                "dimensions",
            )
    blocks = [at_least(node, 2) for node in nodes]
    width = sum(block.shape[1] for block in blocks)
    rows = []
    left = 0
    for block in blocks:
        rows.append(make.pad(block, (left, width - left - block.shape[1])))
        left += block.shape[1]
    return renamed(joined(rows, 0), "BlockDiagBackward0")


joining(
    "block_diag",
    "The matrix with the given matrices along its diagonal and zeros elsewhere.",
    call=_block_diag,
    forms=("torch.block_diag(A, B)",),
    method=False,
    inputs={"A": (2, 2), "B": (1, 3)},
    grad_fn="BlockDiagBackward0",
)

# --- grids -------------------------------------------------------------------------------------------------------


def _one_by_one(tensors: Sequence[Node]) -> Sequence[Node]:
    """The vectors of a call that takes several; one list of them has become a stack."""
    if len(tensors) == 1 and isinstance(tensors[0], Node) and tensors[0].op is STACK:
        return tensors[0].args
    return tensors


def _meshgrid(*tensors: Node, indexing: str = "ij") -> Outputs:
    nodes = nodes_of(_one_by_one(tensors), "meshgrid")
    if indexing not in ("ij", "xy"):
        raise InputError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}',
        )
    for node in nodes:
        if node.ndim > 1:
            raise ShapeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got shape {list(node.shape)}",
            )
    count = len(nodes)
    axes = list(range(count))
    if indexing == "xy" and count > 1:
        axes[:2] = 1, 0
    shape = [1] * count
    for axis, node in zip(axes, nodes, strict=True):
        shape[axis] = node.size
    grids = []
    for axis, node in zip(axes, nodes, strict=True):
        line = reshaped(node, tuple(node.size if place == axis else 1 for place in range(count)))
        grids.append(apply(EXPAND, (line,), {"shape": tuple(shape)}))
    return several(grids)


joining(
    "meshgrid",
    "The coordinates of a grid: each vector along its own dimension, repeated along the others.",
    call=_meshgrid,
    forms=('torch.meshgrid(x, y, indexing="ij")[0]', "torch.meshgrid([x, y])[1]", "np.meshgrid(x, y)[0]"),
    numpy={"indexing": "xy"},
    method=False,
    inputs=_TWO,
    grad_fn="ExpandBackward0",
)


def _cartesian_prod(*tensors: Node) -> Node:
    nodes = nodes_of(_one_by_one(tensors), "cartesian_prod")
    for node in nodes:
        if node.ndim != 1:
            raise ShapeError(f"Expect a 1D vector, but got shape {list(node.shape)}")
    if len(nodes) == 1:
        return nodes[0]
    grids = _meshgrid(*nodes).nodes
    return _stack([reshaped(grid, (grid.size,)) for grid in grids], 1)


joining(
    "cartesian_prod",
    "All combinations of an entry of each vector, one a row.",
    call=_cartesian_prod,
    forms=("torch.cartesian_prod(x, y)",),
    method=False,
    inputs=_TWO,
    grad_fn="StackBackward0",
)
