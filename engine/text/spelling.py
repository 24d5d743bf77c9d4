"""How an expression file writes the parameters of a node: the arguments of a call from the attributes of an op.

Rows keep what their kernels need (`axis`, `widths`), calls take what PyTorch's take (`dim`, `pad`); where the two
differ the difference is said here, and what the language has no words for is an ellipsis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from ..graph import TABLE, Node
from ..language.signatures import Parameter, Signature, signature

_FIELDS: Final = frozenset(("values", "indices", "sign", "logabsdet"))
"""What stands behind the dot of a row that is one of several results: `max.values`."""
_SEVERAL: Final = frozenset(("cummax", "cummin", "sort"))
"""Functions of several results whose row is the first of them."""
_VARIANTS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "binary_cross_entropy.element": ("binary_cross_entropy", {"reduction": "none"}),
    "clamp.Tensor": ("clamp", {}),
    "clamp_max.Tensor": ("clamp_max", {}),
    "clamp_min.Tensor": ("clamp_min", {}),
    "gelu.tanh": ("gelu", {"approximate": "tanh"}),
    "round.decimals": ("round", {}),
}
"""Rows that a form of another function's call makes, and what that form says."""

UNSPOKEN: Final = "..."
"""Stands for what the language has no words for."""


class Listed(list[Any]):
    """Several nodes that one parameter takes as a list."""


Argument = tuple[str | None, Any]
"""The keyword (None: by position) and what is given: a node, several, or a plain value."""

_DIM: Final = {"axis": "dim"}
_SAME_SIZES: Final = {"count": "", "size": "", "padding": "padding"}
_RENAMED: Final[Mapping[str, Mapping[str, str]]] = {
    **dict.fromkeys(("argsort", "cat", "gather", "scatter", "scatter_add", "scatter_reduce", "sort", "stack"), _DIM),
    **dict.fromkeys(("select_scatter", "unsqueeze"), _DIM),
    "channel_shuffle": {"shape": ""},
    "clamp_max": {"bound": "max"},
    "clamp_min": {"bound": "min"},
    "fft.fft": {"axis": "dim", "inverse": ""},
    "inverse": {"strict": ""},
    "linalg.solve": {"vector": ""},
    "linalg.solve_triangular": {"unit": "unitriangular"},
    "linalg.vector_norm": {"p": "ord"},
    "matmul": {"cotangent": ""},
    "pixel_shuffle": {"shape": "", "factor": "upscale_factor"},
    "pixel_unshuffle": {"shape": "", "factor": "downscale_factor"},
    "repeat": {"times": "repeats"},
    "slice_scatter": {"axis": "dim", "start": "start", "stop": "end"},
    "squeeze": {"axes": "dim"},
}
"""For a row, the parameters that its attributes are called by; "" for what its arguments say already."""


_ORDER: Final = dict.fromkeys(("scatter", "scatter_add", "scatter_reduce"), (0, 2, 1))
"""Rows whose arguments stand in another order than their call's."""


def function_name(node: Node) -> tuple[str, str]:
    """The function of a node, and the result of it that the node is ("" where it has one)."""
    name = node.op.name
    if name == "fft.fft" and node.attrs["inverse"]:
        return "fft.ifft", ""
    if name == "elu":
        return _elu_name(node), ""
    if name in _VARIANTS:
        return _VARIANTS[name][0], ""
    if node.attrs.get("transposed"):
        return f"{name}.T", ""
    function, dot, field = name.rpartition(".")
    return (function, field) if dot and field in _FIELDS else (name, "values" if name in _SEVERAL else "")


def _elu_name(node: Node) -> str:
    """PyTorch's function for the scale and the rate of the one row of three functions."""
    if node.attrs["scale"] != 1:
        return "selu"
    return "elu" if node.attrs["rate"] == 1 else "celu"


def arguments(node: Node) -> list[Argument]:
    """What the call of a node takes, in the order of its parameters; a last `UNSPOKEN` where something is left out."""
    known = signature(TABLE.get(function_name(node)[0], node.op))
    attrs, unspoken = _spoken(node, known)
    nodes = [node.args[place] for place in _ORDER.get(node.op.name, range(len(node.args)))]
    result: list[Argument] = []
    by_position = True
    for parameter in known.parameters if not known.rest else known.positional:
        if parameter.name in attrs:
            value = attrs.pop(parameter.name)
            if _is_default(node, parameter, value):
                by_position = False
                continue
        elif parameter.tensors and nodes:
            value, nodes = Listed(nodes), []
        elif (parameter.tensor or parameter.node) and nodes:
            value = nodes.pop(0)
        else:
            by_position = False
            continue
        positional = by_position and parameter.kind is not parameter.kind.KEYWORD_ONLY
        result.append((None if positional else parameter.name, value))
    result += [(None, value) for value in nodes]
    if known.rest is not None and len(attrs) == 1:
        result.append((None, attrs.popitem()[1]))
    result += list(attrs.items())
    if unspoken:
        result.append((None, UNSPOKEN))
    return result


def _spoken(node: Node, known: Signature) -> tuple[dict[str, Any], bool]:
    """The attributes of a node by the names of its call's parameters, and whether some have no name there."""
    own = _OWN.get(node.op.name)
    attrs: dict[str, Any] = {}
    if own is not None:
        attrs = own(node)
        return {name: value for name, value in attrs.items() if value != UNSPOKEN}, UNSPOKEN in attrs.values()
    attrs |= _VARIANTS.get(node.op.name, ("", {}))[1]
    renamed = _RENAMED.get(node.op.name, {})
    unspoken = False
    for name, value in node.attrs.items():
        spoken = renamed.get(name, name)
        if not spoken or name == "transposed" or (value is False and spoken not in known.by_name):
            continue
        variadic = known.rest is not None and spoken == known.rest.name
        if value is True or spoken in known.by_name or variadic or not node.op.forms:
            attrs[spoken] = _plain(value)
        else:
            unspoken = True
    return attrs, unspoken


def _plain(value: Any) -> Any:
    """A value as a person writes it: one axis instead of a tuple of one."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], int) else value


def _is_default(node: Node, parameter: Parameter, value: Any) -> bool:
    """Whether a call means the same without this argument."""
    if parameter.required:
        return False
    default = parameter.default
    if default is None and parameter.name == "dim" and node.op.family == "reduction" and "." not in node.op.name:
        axes = value if isinstance(value, tuple) else (value,)
        return axes == tuple(range(node.args[0].ndim))
    return type(default) is type(value) and bool(default == value)


def _pad(node: Node) -> dict[str, Any]:
    """PyTorch lists the widths from the last axis on, and only as many as are not zero."""
    widths = list(node.attrs["widths"])
    while len(widths) > 1 and widths[0] == (0, 0):
        widths.pop(0)
    pad = tuple(width for pair in reversed(widths) for width in pair)
    return {"pad": pad} | ({"value": node.attrs["value"]} if node.attrs.get("value") else {})


def _convolution(node: Node) -> dict[str, Any]:
    """One number where all axes have the same; a convolution that is a cotangent of another is written as one."""
    attrs = {name: node.attrs[name] for name in ("stride", "padding", "dilation") if name in node.attrs}
    pads = attrs["padding"]
    same: dict[str, Any] = {name: value[0] if len(set(value)) == 1 else value for name, value in attrs.items()}
    same["padding"] = UNSPOKEN
    if all(before == after for before, after in pads):
        same["padding"] = pads[0][0] if len(set(pads)) == 1 else tuple(before for before, _ in pads)
    return same | {"groups": node.attrs["groups"]}


def _kthvalue(node: Node) -> dict[str, Any]:
    (dim,) = node.attrs["dim"] or (0,)
    return {"k": node.attrs["k"], "dim": dim, "keepdim": node.attrs["keepdim"]}


def _tolerances(node: Node) -> dict[str, Any]:
    """The default relative tolerance depends on the shape, and is not worth its digits."""
    absolute, relative = node.attrs["absolute"], node.attrs["relative"]
    least = max(node.args[0].shape[-2:]) * float(np.finfo(node.args[0].dtype).eps)
    return {} if absolute == 0 and relative == least else {"atol": absolute, "rtol": relative}


def _adaptive(node: Node) -> dict[str, Any]:
    axes = node.attrs["axes"]
    return {"output_size": tuple(axis[2] for axis in axes) if axes[0][0] == "adaptive" else UNSPOKEN}


def _grid_sample(node: Node) -> dict[str, Any]:
    attrs = {"mode": node.attrs["mode"], "padding_mode": node.attrs["padding"], "align_corners": node.attrs["align"]}
    return attrs | ({"orders": UNSPOKEN} if any(node.attrs["orders"]) else {})


def _transposed_convolution(node: Node) -> dict[str, Any]:
    """With the output padding that its size asks for, where padding is the same on both sides."""
    attrs = _convolution(node)
    if attrs["padding"] == UNSPOKEN:
        return attrs
    plain = [
        (length - 1) * stride + dilation * (kernel - 1) + 1 - sum(pads)
        for length, stride, dilation, kernel, pads in zip(
            node.args[0].shape[2:],
            node.attrs["stride"],
            node.attrs["dilation"],
            node.args[1].shape[2:],
            node.attrs["padding"],
            strict=True,
        )
    ]
    return attrs | {
        "output_padding": tuple(size - least for size, least in zip(node.attrs["size"], plain, strict=True))
    }


def _elu(node: Node) -> dict[str, Any]:
    return {} if _elu_name(node) == "selu" else {"alpha": node.attrs["alpha"]}


def _fold(node: Node) -> dict[str, Any]:
    names = {"kernel": "kernel_size", "size": "output_size"}
    return {names.get(name, name): value for name, value in node.attrs.items()}


_OWN: Final[Mapping[str, Callable[[Node], dict[str, Any]]]] = {
    "adaptive_avg_pool2d": _adaptive,
    "adaptive_avg_pool3d": _adaptive,
    "adaptive_max_pool2d": _adaptive,
    "adaptive_max_pool3d": _adaptive,
    "elu": _elu,
    "grid_sample": _grid_sample,
    "kthvalue.indices": _kthvalue,
    "kthvalue.values": _kthvalue,
    "linalg.matrix_rank": _tolerances,
    "linalg.pinv": _tolerances,
    "pad": _pad,
    "fold": _fold,
    "nn.unfold": _fold,
    **{f"conv{axes}d": _convolution for axes in (1, 2, 3)},
    **{f"conv_transpose{axes}d": _transposed_convolution for axes in (1, 2, 3)},
}
"""Rows whose attributes are rewritten."""


def plain_text(value: Any) -> str:
    """A plain value of a call as an expression file writes it."""
    if isinstance(value, str):
        return value if value == UNSPOKEN else repr(value)
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, np.generic):
        return plain_text(value.item())
    if isinstance(value, (tuple, list)):
        inner = ", ".join([plain_text(each) for each in value])
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if value is None or isinstance(value, (bool, int, float, complex)):
        return repr(value)
    return UNSPOKEN
