"""Pooling: the largest entry of each window."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...graph import INT64, Attrs, DType, Example, Node, Op, Outputs, Shape, add_row, apply, as_node, leaf, make
from ..cotangent import zeros
from ..indexing.index import put_at
from ..row import compose
from .pools import AXES, FAMILY, LINE, WHOLE, adaptive, along_one_axis, one_size, pooled, sample_shape, sliding
from .resampling import Axes, Axis, window_positions


def _gathered(xp: Any, x: Any, axes: Axes) -> tuple[Any, Any]:
    """The entries of each window, (..., windows, entries), and their positions in the flattened spatial axes.

    A window that is cut at the border repeats its first entry inside, which comes before and so wins all ties.
    """
    rank = len(axes)
    lead = x.shape[: x.ndim - rank]
    places: Any = np.zeros((1,) * 2 * rank, dtype=np.int64)
    for number, axis in enumerate(axes):
        positions, inside = window_positions(axis)
        first = positions[np.arange(len(positions)), np.argmax(inside, axis=1)]
        positions = np.where(inside, positions, first[:, None])
        shape = [1] * 2 * rank
        shape[number], shape[number + rank] = positions.shape
        places = places * axis[1] + positions.reshape(shape)
    flat = xp.asarray(places.reshape(math.prod(places.shape[:rank]), -1))
    return x.reshape(*lead, math.prod(x.shape[len(lead) :]))[..., flat], flat


def _largest_positions(xp: Any, x: Any, axes: Axes) -> Any:
    entries, flat = _gathered(xp, x, axes)
    best = xp.argmax(entries, axis=-1)
    chosen = flat[xp.arange(flat.shape[0]), best]
    return chosen.reshape(*x.shape[: x.ndim - len(axes)], *[axis[2] for axis in axes])


def _largest(xp: Any, x: Any, axes: Axes) -> Any:
    # The largest of the largest along each axis: fewer comparisons than one by one.
    for place, axis in enumerate(axes, x.ndim - len(axes)):
        positions, inside = window_positions(axis)
        first = positions[np.arange(len(positions)), np.argmax(inside, axis=1)]
        total = None
        for tap in range(positions.shape[1]):
            part = xp.take(x, xp.asarray(np.where(inside[:, tap], positions[:, tap], first)), place)
            total = part if total is None else xp.maximum(total, part)
        x = total
    return x


def _pool_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    axes = attrs["axes"]
    return (*args[0].shape[: args[0].ndim - len(axes)], *[axis[2] for axis in axes]), args[0].dtype


def _exact_places(axis: Axis, at: int) -> list[int]:
    if axis[0] == "adaptive":
        return list(range(at * axis[1] // axis[2], -(-(at + 1) * axis[1] // axis[2])))
    _, size, _, kernel, stride, before, dilation, _ = axis
    reached = [at * stride - before + step * dilation for step in range(kernel)]
    return [place for place in reached if 0 <= place < size]


def _over_windows(m: Any, x: Any, axes: Axes, choose: Callable[[Any, list[Any], list[int]], Any]) -> Any:
    """What `choose` makes of the entries of each window and of their flat positions."""
    rank = len(axes)
    lead, sizes = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
    result = np.empty((*lead, *[axis[2] for axis in axes]), dtype=object)
    for where in np.ndindex(*result.shape):
        places: list[Shape] = [()]
        for axis, at in zip(axes, where[len(lead) :], strict=True):
            places = [(*before, place) for before in places for place in _exact_places(axis, at)]
        entries = [x[(*where[: len(lead)], *place)] for place in places]
        result[where] = choose(m, entries, [int(np.ravel_multi_index(place, sizes)) for place in places])
    return result


def _first_largest(m: Any, entries: list[Any], places: list[int]) -> int:
    best = 0
    for number, entry in enumerate(entries):
        if m.boolean(entries[best] < entry):
            best = number
    return places[best]


LARGEST_POSITIONS: Final[Op] = add_row(
    Op(
        name="max_pool_positions",
        doc="Where in its flattened spatial axes the first largest entry of each window stands.",
        family="cotangent",
        call=lambda x, axes: apply(LARGEST_POSITIONS, (x,), {"axes": axes}),
        method=False,
        infer=lambda args, attrs: (_pool_infer(args, attrs)[0], INT64),
        kernel=_largest_positions,
        formula=lambda m, x, axes: _over_windows(m, x, axes, _first_largest),
        differentiable=False,
        domain="all numbers",
        kink="of equal entries the first",
    )
)


def _positions_of_largest(x: Node, axes: Axes) -> Node:
    return apply(LARGEST_POSITIONS, (x,), {"axes": axes})


def _largest_rule(node: Node, g: Node) -> list[Node | None]:
    x, axes = node.args[0], node.attrs["axes"]
    lead = x.shape[: x.ndim - len(axes)]
    count, size = math.prod(node.shape[len(lead) :]), math.prod(x.shape[len(lead) :])
    rows = math.prod(lead)
    # One flat index is several times faster than a pair of them.
    places = make.reshape(_positions_of_largest(x, axes), (rows, count)) + leaf(np.arange(rows)[:, None] * size)
    places = make.reshape(places, (rows * count,))
    back = put_at(zeros((rows * size,), x.dtype), make.reshape(g, places.shape), (0,), (places,), accumulate=True)
    return [make.reshape(back, x.shape)]


_LARGEST_KINK: Final = "of equal entries in a window, the first gets the whole cotangent"


def _add_largest(name: str, rank: int, *, call: Callable[..., Any], forms: tuple[str, ...], grad_fn: str) -> Op:
    return add_row(
        Op(
            name=name,
            doc=f"The largest entry of each {'part' if 'adaptive' in name else 'window'} over {AXES[rank]}.",
            family=FAMILY,
            call=call,
            forms=forms,
            method=False,
            infer=_pool_infer,
            real=True,
            kernel=_largest,
            formula=lambda m, x, axes: _over_windows(m, x, axes, lambda m, entries, _places: m.maximum(entries)),
            rule=_largest_rule,
            examples=(Example(forms[0], sample_shape(rank)),),
            domain="where the largest entry of each window is larger than the others",
            kink=_LARGEST_KINK,
            grad_fn=grad_fn,
        )
    )


def _with_positions(node: Node, x: Node, axes: Axes, return_indices: bool) -> Node | Outputs:
    if not return_indices:
        return node
    return Outputs(("values", "indices"), (node, _positions_of_largest(x, axes)))


def _max_pool_call(rank: int) -> Callable[..., Node | Outputs]:
    def call(
        input: Node,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Node | Outputs:
        name = f"max_pool{rank}d"
        x = pooled(name, as_node(input), rank)
        axes = sliding(name, x, rank, kernel_size, stride, padding, ceil_mode, dilation)
        return _with_positions(apply(MAX_POOLS[rank], (x,), {"axes": axes}), x, axes, return_indices)

    return call


def _adaptive_max_call(rank: int) -> Callable[..., Node | Outputs]:
    def call(input: Node, output_size: Any, return_indices: bool = False) -> Node | Outputs:
        name = f"adaptive_max_pool{rank}d"
        x = pooled(name, as_node(input), rank)
        axes = adaptive(name, x, rank, output_size)
        return _with_positions(apply(ADAPTIVE_MAX_POOLS[rank], (x,), {"axes": axes}), x, axes, return_indices)

    return call


MAX_POOLS: Final = {
    rank: _add_largest(
        f"max_pool{rank}d",
        rank,
        call=_max_pool_call(rank),
        forms=(f"F.max_pool{rank}d(x, 2, stride=1)", f"torch.max_pool{rank}d(x, 2)"),
        grad_fn=f"MaxPool{rank}DWithIndicesBackward0",
    )
    for rank in (2, 3)
}

ADAPTIVE_MAX_POOLS: Final = {
    rank: _add_largest(
        f"adaptive_max_pool{rank}d",
        rank,
        call=_adaptive_max_call(rank),
        forms=(f"F.adaptive_max_pool{rank}d(x, 2)",),
        grad_fn=f"AdaptiveMaxPool{rank}DBackward0",
    )
    for rank in (2, 3)
}

# --- one axis ---------------------------------------------------------------------------------------------------------


def _max_pool1d(
    input: Node,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Node | Outputs:
    name = "max_pool1d"
    kernel, pad = one_size(kernel_size, name, "kernel_size"), one_size(padding, name, "padding")
    gap = one_size(dilation, name, "dilation")
    step = kernel if stride is None else one_size(stride, name, "stride")

    def pool(x: Node) -> Node | Outputs:
        axes = (WHOLE, *sliding(name, x, 1, kernel, step, pad, ceil_mode, gap))
        return _with_positions(apply(MAX_POOLS[2], (x,), {"axes": axes}), x, axes, return_indices)

    return along_one_axis(name, input, pool)  # type: ignore[no-any-return]  # what `pool` gives


def _adaptive_max_pool1d(input: Node, output_size: Any, return_indices: bool = False) -> Node | Outputs:
    name = "adaptive_max_pool1d"
    size = one_size(output_size, name, "output_size")
    pool = ADAPTIVE_MAX_POOLS[2].call
    return along_one_axis(name, input, lambda x: pool(x, (1, size), return_indices))  # type: ignore[no-any-return]  # as above


compose(
    "max_pool1d",
    "The largest entry of each window along one axis.",
    family=FAMILY,
    call=_max_pool1d,
    forms=("F.max_pool1d(x, 2)", "F.max_pool1d(x, 3, stride=1, padding=1)"),
    method=False,
    examples=(Example("F.max_pool1d(x, 3, stride=2, padding=1)", LINE),),
    domain="where the largest entry of each window is larger than the others",
    kink=_LARGEST_KINK,
    grad_fn="SqueezeBackward1",
)

compose(
    "adaptive_max_pool1d",
    "The largest entry of each of so many parts, as even as they can be, of one axis.",
    family=FAMILY,
    call=_adaptive_max_pool1d,
    forms=("F.adaptive_max_pool1d(x, 2)",),
    method=False,
    examples=(Example("F.adaptive_max_pool1d(x, 2)", LINE),),
    domain="where the largest entry of each part is larger than the others",
    kink=_LARGEST_KINK,
    grad_fn="SqueezeBackward1",
)
