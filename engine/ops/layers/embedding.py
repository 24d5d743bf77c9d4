"""Rows of a table picked by number, and the bilinear form."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Final

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Example, Node, as_node, leaf, make
from ..concrete import value_now, value_of
from ..cotangent import zeros
from ..fold import named
from ..indexing.index import indexed, put_at
from ..positions import integer_of, positions_of
from ..row import compose

_FAMILY: Final = "nn.functional"
_LINEAR: Final = "all numbers: linear in the table"

# --- embedding ---------------------------------------------------------------------------------------------------


def _table(weight: Any) -> Node:
    table = as_node(weight)
    if table.ndim != 2:
        raise ShapeError("'weight' must be 2-D", hint=f"its axes are (rows, entries of a row), not {list(table.shape)}")
    return table


def _numbers(value: Any, rows: int) -> Node:
    """Numbers of rows, inside of the table.

    Raises:
        InputError: where one is negative or too large, or no integer.
    """
    numbers = positions_of(value)
    if numbers.dtype.kind not in "iu":
        raise InputError("embedding: the numbers of rows must be integers, not booleans")
    values = np.asarray(value_now(numbers))
    outside = (values < 0) | (values >= rows)
    if np.any(outside):
        raise InputError(
            "index out of range in self",
            hint=f"{int(values[outside].ravel()[0])} is no row: they go from 0 to {rows - 1}",
            code="index",
        )
    return numbers


def _padding_row(padding_idx: Any, rows: int) -> int | None:
    if padding_idx is None:
        return None
    row = integer_of(padding_idx, "padding_idx")
    if not -rows <= row < rows:
        raise InputError("Padding_idx must be within num_embeddings", hint=f"the table has {rows} rows")
    return row % rows


def _rows(table: Node, numbers: Node, padding: int | None) -> Node:
    """The rows of some numbers; nothing flows to the padding row."""
    picked = indexed(table, (0,), (numbers,))
    if padding is None:
        return picked
    padded = leaf((np.asarray(value_of(numbers)) == padding)[..., None])
    return make.where(padded, make.detach(picked), picked)  # type: ignore[no-any-return]  # any row's call


def _refuse(max_norm: Any, scale_grad_by_freq: bool) -> None:
    """Refuse what is not a function of the table with a derivative.

    Raises:
        InputError: where such a thing is asked for.
    """
    if max_norm is not None:
        raise InputError(
            "max_norm is not supported: it changes the table itself", hint="divide the rows by their norm before"
        )
    if scale_grad_by_freq:
        raise InputError(
            "scale_grad_by_freq is not supported: what it gives is no derivative", hint="leave it out, or divide later"
        )


def _embedding(
    input: Any,
    weight: Node,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,  # noqa: ARG001  # PyTorch's parameter; it matters only with max_norm
    scale_grad_by_freq: bool = False,
    sparse: bool = False,  # noqa: ARG001  # PyTorch's parameter: how it keeps the gradient, not what it is
) -> Node:
    table = _table(weight)
    _refuse(max_norm, scale_grad_by_freq)
    padding = _padding_row(padding_idx, table.shape[0])
    picked = _rows(table, _numbers(input, table.shape[0]), padding)
    return named(picked, "EmbeddingBackward0")


compose(
    "embedding",
    "The rows of a table that some numbers name.",
    family=_FAMILY,
    call=_embedding,
    forms=("F.embedding([0, 2], w)", "F.embedding([0, 2], w, padding_idx=0)", "torch.embedding(w, [0, 2])"),
    method=False,
    examples=(Example("F.embedding([0, 2, 0], w)", {"w": (3, 2)}),),
    domain=_LINEAR,
    kink="none: linear; nothing flows to the row padding_idx",
    grad_fn="EmbeddingBackward0",
)

# --- embedding_bag -----------------------------------------------------------------------------------------------


def _bags(numbers: Node, offsets: Any, include_last_offset: bool) -> list[range]:
    """Which of the flat numbers stand in each bag.

    Raises:
        InputError: where bags are given twice, not at all, or do not begin at 0 and grow.
    """
    if numbers.ndim == 2:
        if offsets is not None:
            raise InputError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                "sequences. However, found offsets",
                hint="give the numbers as one list, or leave offsets out",
            )
        count, length = numbers.shape
        return [range(bag * length, (bag + 1) * length) for bag in range(count)]
    if numbers.ndim != 1:
        raise ShapeError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {numbers.ndim}")
    if offsets is None:
        raise InputError("offsets has to be a 1D Tensor but got None", hint="write offsets=[0] for one bag")
    begins = [int(entry) for entry in np.asarray(value_of(positions_of(offsets))).ravel()]
    if not begins or begins[0] != 0:
        raise InputError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
            f"got {begins[0] if begins else 'no offsets'}"
        )
    if begins[-1] > numbers.size:
        raise InputError(
            f"offsets[-1] can not be greater than input's length {numbers.size} but got offsets[-1] of {begins[-1]}"
        )
    if begins != sorted(begins):
        raise InputError("offsets must not fall", hint=f"each bag begins where the one before ends: {begins}")
    ends = begins[1:] if include_last_offset else [*begins[1:], numbers.size]
    return [range(begin, end) for begin, end in zip(begins, ends, strict=False)]


def _largest_of_bags(table: Node, values: Any, bags: list[range]) -> Node:
    """The largest entry of each column in each bag, the first of equal ones; zeros for an empty bag."""
    longest = max([len(bag) for bag in bags], default=0)
    if longest == 0:
        return zeros((len(bags), table.shape[1]), table.dtype)
    # A shorter bag repeats its first row, which comes before and so wins all ties.
    filled = [[*bag, *[bag.start] * (longest - len(bag))] if bag else [0] * longest for bag in bags]
    picked = indexed(table, (0,), (leaf(values[np.asarray(filled, dtype=np.int64)]),))
    largest = make.max(picked, 1).nodes[0]
    empty = np.array([not bag for bag in bags])
    return make.where(leaf(empty[:, None]), 0.0, largest) if empty.any() else largest  # type: ignore[no-any-return]  # any row's call


def _embedding_bag(
    input: Any,
    weight: Node,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,  # noqa: ARG001  # PyTorch's parameter; it matters only with max_norm
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,  # noqa: ARG001  # PyTorch's parameter: how it keeps the gradient, not what it is
    per_sample_weights: Node | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Node:
    table = _table(weight)
    _refuse(max_norm, scale_grad_by_freq)
    if mode not in ("sum", "mean", "max"):
        raise InputError("mode has to be one of sum, mean or max", hint=f"not {mode!r}")
    numbers = _numbers(input, table.shape[0])
    bags = _bags(numbers, offsets, include_last_offset)
    weights = None if per_sample_weights is None else as_node(per_sample_weights)
    if weights is not None and mode != "sum":
        raise InputError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}').",
            hint="write mode='sum'",
        )
    if weights is not None and weights.shape != numbers.shape:
        raise ShapeError(
            f"embedding_bag: If per_sample_weights ({list(weights.shape)}) is not None, then it must have the same "
            f"shape as the input ({list(numbers.shape)})"
        )
    values = np.asarray(value_of(numbers)).ravel()
    padding = _padding_row(padding_idx, table.shape[0])
    kept = [[place for place in bag if padding is None or values[place] != padding] for bag in bags]
    if mode == "max":
        # Bags without padding are no longer ranges; the numbers are laid out anew.
        flat = np.array([values[place] for bag in kept for place in bag], dtype=np.int64)
        begins = np.cumsum([0, *[len(bag) for bag in kept]])
        result = _largest_of_bags(table, flat, [range(*pair) for pair in pairwise(begins)])
        return named(make.clone(result), "EmbeddingBagBackward0")
    places = np.array([place for bag in kept for place in bag], dtype=np.int64)
    owners = np.repeat(np.arange(len(bags)), [len(bag) for bag in kept])
    rows = _rows(table, leaf(values[places]), None)
    if weights is not None:
        flat_weights = make.reshape(weights, (weights.size,))
        rows = rows * make.unsqueeze(indexed(flat_weights, (0,), (leaf(places),)), 1)
    total = put_at(zeros((len(bags), table.shape[1]), rows.dtype), rows, (0,), (leaf(owners),), accumulate=True)
    if mode == "mean":
        total = total / leaf(np.maximum([len(bag) for bag in kept], 1).astype(table.dtype)[:, None])
    return named(total, "EmbeddingBagBackward0")


compose(
    "embedding_bag",
    "The sums, averages or largest entries of the rows that bags of numbers name.",
    family=_FAMILY,
    call=_embedding_bag,
    forms=(
        "F.embedding_bag([[0, 2], [1, 1]], w)",
        "F.embedding_bag([0, 2, 1], w, offsets=[0, 2], mode='sum')",
        "F.embedding_bag([0, 2, 1], w, offsets=[0, 2], mode='sum', per_sample_weights=u)",
    ),
    method=False,
    examples=(
        Example("F.embedding_bag([[0, 2], [1, 1]], w)", {"w": (3, 2)}),
        Example("F.embedding_bag([0, 2, 1], w, offsets=[0, 2], mode='max')", {"w": (3, 2)}),
        Example(
            "F.embedding_bag([0, 2, 1], w, offsets=[0, 2], mode='sum', per_sample_weights=u)",
            {"w": (3, 2), "u": (3,)},
        ),
    ),
    domain="all numbers; with mode='max' where the largest entry of a bag is larger than the others",
    kink="with mode='max' the first of equal entries gets the whole cotangent; nothing flows to the row padding_idx",
    grad_fn="EmbeddingBagBackward0",
)

# --- bilinear ----------------------------------------------------------------------------------------------------


def _bilinear(input1: Node, input2: Node, weight: Node, bias: Node | None = None) -> Node:
    one, other, form = as_node(input1), as_node(input2), as_node(weight)
    if one.ndim != other.ndim:
        raise ShapeError(f"bilinear(): input dimensions do not match: got {one.ndim} and {other.ndim}")
    if form.ndim != 3:
        raise ShapeError(f"bilinear(): weight must have 3 dimensions (out, in1, in2), but got {list(form.shape)}")
    for axis, (left, right) in enumerate(zip(one.shape[:-1], other.shape[:-1], strict=True)):
        if left != right:
            raise ShapeError(f"bilinear(): input batch dimensions do not match at dim {axis}: got {left} and {right}")
    for number, node in ((1, one), (2, other)):
        if node.shape[-1:] != form.shape[number : number + 1]:
            raise ShapeError(
                f"bilinear(): input{number} size does not match weight size: got "
                f"{node.shape[-1] if node.ndim else 'a number'} but expected {form.shape[number]}"
            )
    lead, out = one.shape[:-1], form.shape[0]
    count = math.prod(lead)
    left = make.reshape(one, (1, count, one.shape[-1]))
    right = make.reshape(other, (1, count, 1, other.shape[-1]))
    # (out, batch, 1, in2) times (1, batch, in2, 1)
    half = make.unsqueeze(make.matmul(left, form), 2)
    products = make.matmul(half, make.transpose(right, 2, 3))
    flat = make.transpose(make.reshape(products, (out, count)), 0, 1)
    result = named(make.reshape(flat, (*lead, out)), "ViewBackward0")
    if bias is None:
        return result
    offset = as_node(bias)
    if offset.shape != (out,):
        size = offset.shape[0] if offset.ndim else "a number"
        raise ShapeError(f"bilinear(): bias size does not match weight size: got {size} but expected {out}")
    return result + offset


_FORM_SHAPES: Final = {"x": (2, 2), "y": (2, 3), "w": (1, 2, 3), "b": (1,)}

compose(
    "bilinear",
    "For each output a bilinear form of two vectors: the sum of x[i] * w[o, i, j] * y[j], plus a bias.",
    family=_FAMILY,
    call=_bilinear,
    forms=("F.bilinear(x, y, w)", "F.bilinear(x, y, w, b)", "torch.bilinear(x, y, w, b)"),
    method=False,
    examples=(Example("F.bilinear(x, y, w, b)", _FORM_SHAPES),),
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="ViewBackward0",
)
