"""Convolutions and their transposes.

A convolution is linear in the input and in the weight. The cotangent of its input is a transposed convolution, that of
its weight is `convolution_weight`, and the three have each other as derivatives: so all orders are right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ...errors import InputError, ShapeError
from ...graph import Attrs, DType, Example, Node, Op, Shape, add_row, apply, as_node, make
from .. import batch, infer
from ..fold import conjugate
from ..row import in_one_dtype
from .correlation import convolved, convolved_formula, transposed, transposed_formula, weight_cotangent, weight_formula
from .windows import Padding, Sizes, per_axis, window_count

_FAMILY: Final = "nn.functional"
_GRAD_FN: Final = "ConvolutionBackward0"
_MOST_AXES: Final = 3

# --- derivatives -------------------------------------------------------------------------------------------------


def _geometry(attrs: Attrs) -> dict[str, Any]:
    return {name: attrs[name] for name in ("stride", "padding", "dilation", "groups")}


def _over_channels(node: Node, g: Node) -> list[Node | None]:
    """The cotangent of the bias, if there is one."""
    if len(node.args) < 3:
        return []
    return [make.sum(g, dim=tuple(axis for axis in range(g.ndim) if axis != 1))]


def _convolved_rule(node: Node, g: Node) -> list[Node | None]:
    x, weight = node.args[:2]
    geometry = _geometry(node.attrs)
    to_input = to_weight = None
    if x.requires_grad:
        size = {"size": x.shape[2:]}
        to_input = apply(_transposed_row(x), (g, conjugate(weight)), {**size, **geometry, "cotangent": 0})
    if weight.requires_grad:
        to_weight = _to_weight(conjugate(x), g, weight.shape[2:], geometry, 1)
    return [to_input, to_weight, *_over_channels(node, g)]


def _transposed_rule(node: Node, g: Node) -> list[Node | None]:
    x, weight = node.args[:2]
    geometry = _geometry(node.attrs)
    to_input = to_weight = None
    if x.requires_grad:
        count = {"count": x.shape[2:]}
        to_input = apply(_convolved_row(x), (g, conjugate(weight)), {**count, **geometry, "cotangent": 0})
    if weight.requires_grad:
        to_weight = _to_weight(g, conjugate(x), weight.shape[2:], geometry, 0)
    return [to_input, to_weight, *_over_channels(node, g)]


def _to_weight(x: Node, g: Node, kernel: Sizes, geometry: Attrs, cotangent: int) -> Node:
    return apply(CONVOLUTION_WEIGHT, (x, g), {"kernel": kernel, **geometry, "cotangent": cotangent})


def _weight_rule(node: Node, g: Node) -> list[Node | None]:
    x, other = (conjugate(arg) for arg in node.args)
    geometry = _geometry(node.attrs)
    to_x = to_other = None
    if x.requires_grad:
        attrs = {"size": x.shape[2:], **geometry, "cotangent": 1}
        to_x = apply(_transposed_row(x), (other, g), attrs)
    if other.requires_grad:
        attrs = {"count": other.shape[2:], **geometry, "cotangent": 1}
        to_other = apply(_convolved_row(x), (x, g), attrs)
    return [to_x, to_other]


def _convolved_row(x: Node) -> Op:
    return CONVOLUTIONS[x.ndim - 3]


def _transposed_row(x: Node) -> Op:
    return TRANSPOSED_CONVOLUTIONS[x.ndim - 3]


# --- shapes ------------------------------------------------------------------------------------------------------


def _convolved_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    x, weight = args[:2]
    return (x.shape[0], weight.shape[0], *attrs["count"]), infer.promote(args)


def _transposed_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    x, weight = args[:2]
    return (x.shape[0], weight.shape[1] * attrs["groups"], *attrs["size"]), infer.promote(args)


def _weight_infer(args: Sequence[Node], attrs: Attrs) -> tuple[Shape, DType]:
    x, g = args
    return (g.shape[1], x.shape[1] // attrs["groups"], *attrs["kernel"]), infer.promote(args)


CONVOLUTION_WEIGHT: Final[Op] = add_row(
    Op(
        name="convolution_weight",
        doc="The cotangent of a convolution's weight: windows of the input times the cotangent, summed over all.",
        family="cotangent",
        call=lambda x, g, **attrs: apply(CONVOLUTION_WEIGHT, (x, g), attrs),
        method=False,
        infer=_weight_infer,
        batch=batch.weights,
        kernel=weight_cotangent,
        formula=weight_formula,
        rule=_weight_rule,
        domain="all numbers",
        kink="none: linear in each argument",
        grad_fn="ConvolutionBackwardBackward0",
    )
)


# --- calls -------------------------------------------------------------------------------------------------------


def _each(value: Any, rank: int, what: str) -> Sizes:
    return per_axis(
        value,
        rank,
        what,
        f"expected {what} to be a single integer value or a list of {rank} values to match the convolution "
        f"dimensions, but got {what}={{}}",
    )


def _batched(name: str, rank: int, x: Node) -> Node:
    """The input with a batch axis.

    Raises:
        ShapeError: where it has too few or too many axes.
    """
    if x.ndim not in (rank + 1, rank + 2):
        raise ShapeError(
            f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {name}, but got input of size: "
            f"{list(x.shape)}",
            hint="the axes are (batch, channels, sizes...), or (channels, sizes...)",
        )
    return x if x.ndim == rank + 2 else make.unsqueeze(x, 0)


def _check_operands(x: Node, weight: Node, bias: Node | None, groups: Any, transposed: bool) -> None:
    """Refuse channels that do not fit, in PyTorch's words.

    Raises:
        InputError: where groups is not a positive integer.
        ShapeError: where input, weight and bias do not fit each other.
    """
    if isinstance(groups, bool) or not isinstance(groups, int) or groups <= 0:
        raise InputError("non-positive groups is not supported", hint="groups is 1 or more")
    shape = list(weight.shape)
    if weight.ndim != x.ndim:
        first = "(in_channels, out_channels/groups" if transposed else "(out_channels, in_channels/groups"
        raise ShapeError(
            f"expected weight to be {x.ndim}-dimensional, but got weight of size {shape}",
            hint=f"its axes are {first}, kernel sizes...)",
        )
    if weight.shape[0] < groups:
        raise ShapeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{shape} instead"
        )
    if weight.shape[0] % groups:
        raise ShapeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{shape}] instead"
        )
    if min(weight.shape[2:]) < 1:
        raise ShapeError(f"kernel size should be greater than zero, but got {list(weight.shape[2:])}")
    given = "transposed=1" if transposed else f"groups={groups}"
    channels = weight.shape[0] if transposed else weight.shape[1] * groups
    if x.shape[1] != channels:
        raise ShapeError(
            f"Given {given}, weight of size {shape}, expected input{list(x.shape)} to have {channels} channels, but "
            f"got {x.shape[1]} channels instead"
        )
    out = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and bias.shape != (out,):
        given = f"Given {given}, weight" if transposed else "Given weight"
        raise ShapeError(
            f"{given} of size {shape}, expected bias to be 1-dimensional with {out} elements, but got bias of size "
            f"{list(bias.shape)} instead"
        )


def _steps(stride: Any, dilation: Any, rank: int) -> tuple[Sizes, Sizes]:
    """Stride and dilation, one for each spatial axis.

    Raises:
        InputError: where one is not positive.
    """
    strides, dilations = _each(stride, rank, "stride"), _each(dilation, rank, "dilation")
    if min(strides) < 1:
        raise InputError("non-positive stride is not supported", hint=f"stride is {list(strides)}")
    if min(dilations) < 1:
        raise InputError(f"dilation should be greater than zero, but got {list(dilations)}")
    return strides, dilations


def _padding(padding: Any, kernel: Sizes, stride: Sizes, dilation: Sizes) -> Padding:
    """Padding before and after, for each spatial axis; 'same' keeps the size, and puts an odd one out behind.

    Raises:
        InputError: where it is negative, an unknown word, or 'same' with a stride.
    """
    if padding == "same":
        if max(stride) > 1:
            raise InputError("padding='same' is not supported for strided convolutions", hint="give the padding itself")
        totals = [gap * (length - 1) for gap, length in zip(dilation, kernel, strict=True)]
        return tuple((total // 2, total - total // 2) for total in totals)
    if isinstance(padding, str):
        if padding != "valid":
            raise InputError(f"Invalid padding string: {padding!r}", hint="write 'same', 'valid' or integers")
        padding = 0
    pads = _each(padding, len(kernel), "padding")
    if min(pads) < 0:
        raise InputError("negative padding is not supported", hint=f"padding is {list(pads)}")
    return tuple((pad, pad) for pad in pads)


def _finished(row: Op, operands: Sequence[Node | None], attrs: Attrs, batched: bool) -> Node:
    node = apply(row, in_one_dtype(*[operand for operand in operands if operand is not None]), attrs)
    return node if batched else make.squeeze(node, 0)


def _convolution_call(rank: int) -> Callable[..., Node]:
    def call(
        input: Node,
        weight: Node,
        bias: Node | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Node:
        given, weight = as_node(input), as_node(weight)
        bias = None if bias is None else as_node(bias)
        x = _batched(f"conv{rank}d", rank, given)
        _check_operands(x, weight, bias, groups, transposed=False)
        strides, dilations = _steps(stride, dilation, rank)
        kernel = weight.shape[2:]
        pads = _padding(padding, kernel, strides, dilations)
        for size, length, gap, pad in zip(x.shape[2:], kernel, dilations, pads, strict=True):
            if size + sum(pad) < gap * (length - 1) + 1:
                padded = [each + sum(pair) for each, pair in zip(x.shape[2:], pads, strict=True)]
                spans = [step * (each - 1) + 1 for each, step in zip(kernel, dilations, strict=True)]
                raise ShapeError(
                    f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel size: "
                    f"({' x '.join(map(str, spans))}). Kernel size can't be greater than actual input size"
                )
        axes = zip(x.shape[2:], kernel, strides, map(sum, pads), dilations, strict=True)
        count = tuple(window_count(*axis) for axis in axes)
        attrs = {"count": count, "stride": strides, "padding": pads, "dilation": dilations, "groups": groups}
        return _finished(CONVOLUTIONS[rank - 1], (x, weight, bias), attrs, x is given)

    return call


def _transposed_call(rank: int) -> Callable[..., Node]:
    def call(
        input: Node,
        weight: Node,
        bias: Node | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Node:
        given, weight = as_node(input), as_node(weight)
        bias = None if bias is None else as_node(bias)
        x = _batched(f"conv_transpose{rank}d", rank, given)
        _check_operands(x, weight, bias, groups, transposed=True)
        strides, dilations = _steps(stride, dilation, rank)
        pads = _padding(_each(padding, rank, "padding"), weight.shape[2:], strides, dilations)
        extra = _each(output_padding, rank, "output_padding")
        if min(extra) < 0:
            raise InputError("negative output_padding is not supported", hint=f"output_padding is {list(extra)}")
        if any(more >= max(pair) for more, *pair in zip(extra, strides, dilations, strict=True)):
            raise InputError(
                f"output padding must be smaller than either stride or dilation, but got output_padding={list(extra)}, "
                f"stride={list(strides)}, dilation={list(dilations)}"
            )
        axes = zip(x.shape[2:], weight.shape[2:], strides, pads, dilations, extra, strict=True)
        size = tuple(
            (count - 1) * step - sum(pad) + gap * (length - 1) + more + 1
            for count, length, step, pad, gap, more in axes
        )
        if min(size) < 1:
            written = [" x ".join(map(str, each)) for each in (x.shape[2:], size)]
            raise ShapeError(
                f"Given input size per channel: ({written[0]}). Calculated output size per channel: ({written[1]}). "
                "Output size is too small"
            )
        attrs = {"size": size, "stride": strides, "padding": pads, "dilation": dilations, "groups": groups}
        return _finished(TRANSPOSED_CONVOLUTIONS[rank - 1], (x, weight, bias), attrs, x is given)

    return call


_LINEAR: Final = "none: linear in each argument"


def _add_convolution(rank: int) -> Op:
    name = f"conv{rank}d"
    small, kernel = (4, 3, 2)[:rank], (2, 2, 1)[:rank]
    shapes = {"x": (1, 2, *small), "w": (2, 1, *kernel), "b": (2,)}
    return add_row(
        Op(
            name=name,
            doc=f"The convolution of a batch over {_AXES[rank - 1]} with a kernel, plus a bias: as everywhere in "
            "this field a correlation, the kernel is not turned around.",
            family=_FAMILY,
            call=_convolution_call(rank),
            forms=(
                f"F.{name}(x, w)",
                f"F.{name}(x, w, b, stride=2, padding=1)",
                f"F.{name}(x, w, padding='same')",
                f"torch.{name}(x, w, groups=2)",
            ),
            method=False,
            infer=_convolved_infer,
            batch=batch.items_of_first,
            kernel=convolved,
            formula=convolved_formula,
            rule=_convolved_rule,
            examples=(
                Example(f"F.{name}(x, w, b, padding=1, stride=2, groups=2)", shapes),
                Example(f"F.{name}(x, w, padding='same')", {"x": shapes["x"], "w": (1, 2, *kernel)}),
            ),
            domain="all numbers; the kernel is not larger than the padded input",
            kink=_LINEAR,
            grad_fn=_GRAD_FN,
        )
    )


def _add_transposed(rank: int) -> Op:
    name = f"conv_transpose{rank}d"
    small, kernel = (2, 2, 1)[:rank], (2, 2, 1)[:rank]
    shapes = {"x": (1, 2, *small), "w": (2, 1, *kernel), "b": (2,)}
    return add_row(
        Op(
            name=name,
            doc=f"The transpose of a convolution over {_AXES[rank - 1]}: each entry spreads a multiple of the kernel.",
            family=_FAMILY,
            call=_transposed_call(rank),
            forms=(
                f"F.{name}(x, w)",
                f"F.{name}(x, w, b, stride=2, padding=1, output_padding=1)",
                f"torch.{name}(x, w, groups=2)",
            ),
            method=False,
            infer=_transposed_infer,
            batch=batch.items_of_first,
            kernel=transposed,
            formula=transposed_formula,
            rule=_transposed_rule,
            examples=(Example(f"F.{name}(x, w, b, stride=2, groups=2)", shapes),),
            domain="all numbers",
            kink=_LINEAR,
            grad_fn=_GRAD_FN,
        )
    )


_AXES: Final = ("one axis", "two axes", "three axes")
CONVOLUTIONS: Final = tuple(_add_convolution(rank) for rank in range(1, _MOST_AXES + 1))
TRANSPOSED_CONVOLUTIONS: Final = tuple(_add_transposed(rank) for rank in range(1, _MOST_AXES + 1))
