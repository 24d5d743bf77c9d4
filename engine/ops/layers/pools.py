"""What poolings share: their windows, checked in PyTorch's words, and the way that one axis is pooled as two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...errors import InputError, ShapeError
from ...graph import Node, Outputs, Shape, as_node, make
from .resampling import Axes, Axis, floating
from .windows import Sizes, per_axis, window_count

FAMILY: Final = "nn.functional"
_WORDS: Final = ("", "one int", "two ints", "three ints")
AXES: Final = ("", "one axis", "two axes", "three axes")
LINE: Final = {"x": (1, 2, 5)}
"""The leaf of an example along one axis."""

WHOLE: Final = ("window", 1, 1, 1, 1, 0, 1, False)
"""The window of an axis of size 1 that is left as it is."""


def each_axis(value: Any, rank: int, name: str, what: str) -> Sizes:
    """One integer for every axis, or PyTorch's message."""
    fault = f"{name}: {what} must either be a single int, or a tuple of {_WORDS[rank]}"
    return per_axis(value, rank, what, fault)


def pooled(name: str, x: Node, rank: int) -> Node:
    """The input, of floats, with the right number of axes.

    Raises:
        ShapeError: where it has another.
    """
    if x.ndim not in (rank + 1, rank + 2) or 0 in x.shape[1:]:
        raise ShapeError(
            f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got {list(x.shape)}",
            hint="the axes are (batch, channels, sizes...), or (channels, sizes...)",
        )
    return floating(x)


def sliding(
    name: str,
    x: Node,
    rank: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    dilation: Any = 1,
    inclusive: bool = False,
) -> Axes:
    """The windows of each axis of a pooling.

    Raises:
        InputError: where a parameter is out of its range.
        ShapeError: where not one window fits.
    """
    kernel = each_axis(kernel_size, rank, name, "kernel_size")
    strides = kernel if stride is None or stride == () or stride == [] else each_axis(stride, rank, name, "stride")
    pads, dilations = each_axis(padding, rank, name, "padding"), each_axis(dilation, rank, name, "dilation")
    if min(kernel) < 1:
        raise InputError(f"{name}() kernel_size must be greater than zero, but got {kernel_size}")
    if min(strides) < 1:
        raise InputError("stride should not be zero", hint=f"{name} got stride={stride}")
    if min(dilations) < 1:
        raise InputError(f"dilation should be greater than zero, but got {list(dilations)}")
    axes: list[Axis] = []
    for size, length, step, pad, gap in zip(x.shape[-rank:], kernel, strides, pads, dilations, strict=True):
        if pad < 0:
            raise InputError(f"pad must be non-negative, but got pad: {pad}")
        if pad > (gap * (length - 1) + 1) // 2:
            raise InputError(
                f"pad should be at most half of effective kernel size, but got pad={pad}, kernel_size={length} and "
                f"dilation={gap}"
            )
        count = window_count(size, length, step, 2 * pad, gap, ceil_mode)
        axes.append(("window", size, count, length, step, pad, gap, inclusive))
    if min(axis[2] for axis in axes) < 1:
        lead = [x.shape[-rank - 1]]
        written = ["x".join(map(str, [*lead, *[axis[place] for axis in axes]])) for place in (1, 2)]
        raise ShapeError(
            f"Given input size: ({written[0]}). Calculated output size: ({written[1]}). Output size is too small",
            hint=f"the window of size {list(kernel)} is larger than the padded input",
        )
    return tuple(axes)


def adaptive(name: str, x: Node, rank: int, output_size: Any) -> Axes:
    """Windows that divide each axis into as many parts; None keeps an axis.

    Raises:
        InputError: where a size is negative.
    """
    given = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * rank
    if len(given) not in (1, rank):
        raise InputError(f"{name}: output_size must be {rank}", hint="one size, or one for each axis")
    given = tuple(given) * rank if len(given) < rank else given
    wanted = [size if want is None else want for want, size in zip(given, x.shape[-rank:], strict=True)]
    counts = each_axis(tuple(wanted), rank, name, "output_size")
    if min(counts) < 1:
        raise InputError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {list(counts)}"
            if min(counts) < 0
            else f"{name}: output_size 0 leaves nothing"
        )
    return tuple(("adaptive", size, count) for size, count in zip(x.shape[-rank:], counts, strict=True))


def along_one_axis(name: str, input: Node, pool: Callable[[Node], Any]) -> Any:
    """What a pooling over two axes makes of one axis: the first of the two has size 1, as in PyTorch."""
    x = make.unsqueeze(pooled(name, as_node(input), 1), -2)
    result = pool(x)
    if isinstance(result, Outputs):
        return Outputs(result.names, tuple(make.squeeze(node, -2) for node in result.nodes))
    return make.squeeze(result, -2)


def one_size(value: Any, name: str, what: str) -> int:
    """The one integer of a parameter along one axis."""
    return each_axis(value, 1, name, what)[0]


def sample_shape(rank: int) -> dict[str, Shape]:
    """The leaf of an example over so many axes."""
    return {"x": (1, 2, *(4, 3, 2)[:rank])}
