"""PyTorch's call for each row of the table. Nothing here imports PyTorch: names are looked up in the module given.

Most rows are PyTorch's function of the same parameters, renamed at most (`NAMED`); the others are written out
(`WRITTEN`). A row that only joins others never stands in a graph and needs no call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..graph import Node
from .case import CannotJudge

Call = Callable[[Any, Node, Sequence[Any]], Any]
"""From the module `torch`, a node and its arguments' tensors to its tensor, or to several."""

_SAME: Final = """
    abs acos acosh add angle asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor ceil clone
    complex conj copysign cos cosh deg2rad det digamma div eq erf erfc erfinv exp exp2 expm1 floor floor_divide fmax
    fmin fmod frac ge gt heaviside hypot i0 imag inverse isfinite isinf isnan isneginf isposinf le lerp lgamma log
    log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logit lt matmul matrix_exp
    maximum minimum mul ne neg rad2deg real reciprocal relu remainder round rsqrt sgn sigmoid sign signbit sin sinc
    sinh sqrt square sub tan tanh trace trunc where xlogy
""".split()  # noqa: SIM905  # ninety strings in quotes would be hard to read
_SPECIAL: Final = ("entr", "erfcx", "i0e", "i1", "i1e", "log_ndtr", "ndtr", "ndtri", "xlog1py")
_LAYERS: Final = ("gelu", "hardsigmoid", "hardswish", "logsigmoid", "mish", "silu", "softsign", "tanhshrink")
_FOLDING: Final = ("all", "amax", "amin", "any", "logsumexp", "mean", "nansum", "sum")

NAMED: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    **{name: (name, {}) for name in _SAME},
    **{name: (f"special.{name}", {}) for name in _SPECIAL},
    **{name: (f"nn.functional.{name}", {}) for name in _LAYERS},
    # The same parameters, by the same names or by PyTorch's.
    "addcdiv": ("addcdiv", {"value": "value"}),
    "addcmul": ("addcmul", {"value": "value"}),
    **{name: (name, {"dim": "dim", "keepdim": "keepdim"}) for name in _FOLDING},
    "clamp": ("clamp", {"min": "min", "max": "max"}),
    "clamp.Tensor": ("clamp", {}),
    "clamp_max": ("clamp", {"bound": "max"}),
    "clamp_max.Tensor": ("clamp_max", {}),
    "clamp_min": ("clamp", {"bound": "min"}),
    "clamp_min.Tensor": ("clamp_min", {}),
    "diag_embed": ("diag_embed", {"offset": "offset", "dim1": "dim1", "dim2": "dim2"}),
    "diagonal": ("diagonal", {"offset": "offset", "dim1": "dim1", "dim2": "dim2"}),
    "diagonal_scatter": ("diagonal_scatter", {"offset": "offset", "dim1": "dim1", "dim2": "dim2"}),
    "flip": ("flip", {"dims": "dims"}),
    "hardshrink": ("nn.functional.hardshrink", {"lambd": "lambd"}),
    "hardtanh": ("nn.functional.hardtanh", {"min_val": "min_val", "max_val": "max_val"}),
    "isclose": ("isclose", {"rtol": "rtol", "atol": "atol", "equal_nan": "equal_nan"}),
    "leaky_relu": ("nn.functional.leaky_relu", {"negative_slope": "negative_slope"}),
    "linalg.cholesky": ("linalg.cholesky", {}),
    "linalg.eig": ("linalg.eig", {}),
    "linalg.eigh": ("linalg.eigh", {}),
    "linalg.matrix_rank": ("linalg.matrix_rank", {"absolute": "atol", "relative": "rtol"}),
    "linalg.pinv": ("linalg.pinv", {"absolute": "atol", "relative": "rtol"}),
    "linalg.solve_triangular": ("linalg.solve_triangular", {"upper": "upper", "unit": "unitriangular"}),
    "linalg.svd": ("linalg.svd", {"full_matrices": "full_matrices"}),
    "linalg.vector_norm": ("linalg.vector_norm", {"p": "ord", "dim": "dim", "keepdim": "keepdim"}),
    "mvlgamma": ("mvlgamma", {"p": "p"}),
    "nan_to_num": ("nan_to_num", {"nan": "nan", "posinf": "posinf", "neginf": "neginf"}),
    "permute": ("permute", {"dims": "dims"}),
    "pixel_shuffle": ("nn.functional.pixel_shuffle", {"factor": "upscale_factor"}),
    "pixel_unshuffle": ("nn.functional.pixel_unshuffle", {"factor": "downscale_factor"}),
    "qr.tall": ("linalg.qr", {}),
    "reshape": ("reshape", {"shape": "shape"}),
    "roll": ("roll", {"shifts": "shifts", "dims": "dims"}),
    "rot90": ("rot90", {"k": "k", "dims": "dims"}),
    "round.decimals": ("round", {"decimals": "decimals"}),
    "select": ("select", {"axis": "dim", "index": "index"}),
    "select_scatter": ("select_scatter", {"axis": "dim", "index": "index"}),
    "slice_scatter": ("slice_scatter", {"axis": "dim", "start": "start", "stop": "end", "step": "step"}),
    "softplus": ("nn.functional.softplus", {"beta": "beta"}),
    "softshrink": ("nn.functional.softshrink", {"lambd": "lambd"}),
    "squeeze": ("squeeze", {"axes": "dim"}),
    "std": ("std", {"dim": "dim", "correction": "correction", "keepdim": "keepdim"}),
    "threshold": ("nn.functional.threshold", {"threshold": "threshold", "value": "value"}),
    "tril": ("tril", {"diagonal": "diagonal"}),
    "triu": ("triu", {"diagonal": "diagonal"}),
    "unsqueeze": ("unsqueeze", {"axis": "dim"}),
    "var": ("var", {"dim": "dim", "correction": "correction", "keepdim": "keepdim"}),
}
"""For a row the path of PyTorch's function below `torch`, and its parameter for each attribute of a node."""

UNPASSED: Final[Mapping[str, frozenset[str]]] = {
    "pixel_shuffle": frozenset({"shape"}),
    "pixel_unshuffle": frozenset({"shape"}),
}
"""Attributes that only say the result's shape."""


ABSENT: Final[Mapping[str, str]] = {"gamma": ": lgamma alone"}
"""Rows of functions that PyTorch lacks, and what it has instead; those that only derivatives are made of aside."""


def call_of(torch: Any, node: Node, args: Sequence[Any]) -> Any:
    """PyTorch's result for a node.

    Raises:
        CannotJudge: where PyTorch has no such function, or not with these parameters.
    """
    name = node.op.name
    written = WRITTEN.get(name)
    if written is not None:
        return written(torch, node, args)
    if name not in NAMED:
        raise CannotJudge(f"PyTorch has no {name}{ABSENT.get(name, '')}")
    path, parameters = NAMED[name]
    function = torch
    for part in path.split("."):
        function = getattr(function, part)
    unpassed = UNPASSED.get(name, frozenset())
    return function(*args, **{parameters[key]: value for key, value in node.attrs.items() if key not in unpassed})


# The others, written out. The module is called `t`, so that a test finds the names that are taken from it.


def _axis_by_axis(function: Callable[..., Any], x: Any, node: Node) -> Any:
    for axis in sorted(node.attrs["dim"], reverse=True):
        x = function(x, dim=axis, keepdim=node.attrs["keepdim"])
    return x


def _one(node: Node) -> int:
    """The one axis; PyTorch gives the one of a scalar the number 0 too."""
    (axis,) = node.attrs["dim"] or (0,)
    return int(axis)


def _along_one(take: Callable[[Any, Any, dict[str, Any]], Any]) -> Call:
    """The call of a function along one axis, or over all of a tensor."""

    def call(t: Any, node: Node, args: Sequence[Any]) -> Any:
        (x,) = args
        dim, keepdim = node.attrs["dim"], node.attrs["keepdim"]
        more = {key: value for key, value in node.attrs.items() if key not in ("dim", "keepdim")}
        if len(dim) == 1:
            return take(t, x, {"dim": dim[0], "keepdim": keepdim, **more})
        if len(dim) != x.ndim:
            raise CannotJudge(f"PyTorch has no {node.op.name} over several axes")
        return take(t, x.reshape(-1), {"dim": 0, **more}).reshape(node.shape)

    return call


def _whole(take: Callable[[Any, Any], Any]) -> Call:
    """The call of a function over all of a tensor; along one axis there is another row."""

    def call(t: Any, node: Node, args: Sequence[Any]) -> Any:
        if len(node.attrs["dim"]) != args[0].ndim:
            raise CannotJudge(f"PyTorch has no {node.op.name} over several axes")
        return take(t, args[0]).reshape(node.shape)

    return call


def _elu(t: Any, node: Node, args: Sequence[Any]) -> Any:
    (x,) = args
    alpha, scale, rate = (node.attrs[name] for name in ("alpha", "scale", "rate"))
    if scale == 1 == rate:
        return t.nn.functional.elu(x, alpha=alpha)
    if scale == 1 and math.isclose(alpha * rate, 1):
        return t.nn.functional.celu(x, alpha=alpha)
    if rate == 1 and math.isclose(alpha, 1.6732632423543772) and math.isclose(scale, 1.0507009873554805):
        return t.nn.functional.selu(x)
    raise CannotJudge("PyTorch has no such elu")


def _slice(t: Any, node: Node, args: Sequence[Any]) -> Any:
    a = node.attrs
    if a["step"] < 0:
        raise CannotJudge("PyTorch has no slices of negative step")
    if a["step"] == 1:
        return t.narrow(args[0], a["axis"], a["start"], node.shape[a["axis"]])
    picked = t.arange(a["start"], a["stop"], a["step"])
    return t.index_select(args[0], a["axis"], picked)


def _indices(node: Node, ndim: int, given: Sequence[Any]) -> tuple[Any, ...]:
    places: list[Any] = [slice(None)] * ndim
    for axis, index in zip(node.attrs["axes"], given, strict=True):
        places[axis] = index
    return tuple(places)


def _index(_t: Any, node: Node, args: Sequence[Any]) -> Any:
    x, *given = args
    return x[_indices(node, x.ndim, given)]


def _index_put(t: Any, node: Node, args: Sequence[Any]) -> Any:
    x, values, *given = args
    axes = node.attrs["axes"]
    if tuple(axes) != tuple(range(len(axes))):
        raise CannotJudge("PyTorch's index_put takes the first axes only")
    return t.index_put(x, tuple(given), values, accumulate=node.attrs["accumulate"])


def _pad(t: Any, node: Node, args: Sequence[Any]) -> Any:
    flat = [width for pair in reversed(node.attrs["widths"]) for width in pair]
    return t.nn.functional.pad(args[0], flat, value=node.attrs["value"])


def _solve(t: Any, node: Node, args: Sequence[Any]) -> Any:
    a, b = args
    if node.attrs["vector"]:
        return t.squeeze(t.linalg.solve(a, t.unsqueeze(b, -1)), -1)
    return t.linalg.solve(a, b)


def _fft(t: Any, node: Node, args: Sequence[Any]) -> Any:
    axis, norm = node.attrs["axis"], node.attrs["norm"]
    if node.attrs["inverse"]:
        return t.fft.ifft(args[0], dim=axis, norm=norm)
    return t.fft.fft(args[0], dim=axis, norm=norm)


def _convolution(t: Any, node: Node, args: Sequence[Any]) -> Any:
    x, weight, *bias = args
    a = node.attrs
    padding = [before for before, _ in a["padding"]]
    if any(before != after for before, after in a["padding"]):
        x = t.nn.functional.pad(x, [width for pair in reversed(a["padding"]) for width in pair])
        padding = [0] * len(padding)
    rank = len(padding)
    names = {1: t.nn.functional.conv1d, 2: t.nn.functional.conv2d, 3: t.nn.functional.conv3d}
    return names[rank](x, weight, bias[0] if bias else None, a["stride"], padding, a["dilation"], a["groups"])


def _transposed_convolution(t: Any, node: Node, args: Sequence[Any]) -> Any:
    x, weight, *bias = args
    a = node.attrs
    if any(before != after for before, after in a["padding"]):
        raise CannotJudge("PyTorch's transposed convolution pads both sides alike")
    padding = [before for before, _ in a["padding"]]
    rank = len(padding)
    least = [
        (size - 1) * stride - 2 * before + dilation * (kernel - 1) + 1
        for size, stride, before, dilation, kernel in zip(
            x.shape[2:], a["stride"], padding, a["dilation"], weight.shape[2:], strict=True
        )
    ]
    extra = [size - smallest for size, smallest in zip(a["size"], least, strict=True)]
    names = {
        1: t.nn.functional.conv_transpose1d,
        2: t.nn.functional.conv_transpose2d,
        3: t.nn.functional.conv_transpose3d,
    }
    given = bias[0] if bias else None
    return names[rank](x, weight, given, a["stride"], padding, extra, a["groups"], a["dilation"])


def _pooled(t: Any, node: Node, args: Sequence[Any]) -> Any:
    """Averages and maxima over windows; agrad's axes say (kind, size, count, ...) each."""
    (x,) = args
    axes = node.attrs["axes"]
    largest = "max_pool" in node.op.name
    f = t.nn.functional
    if node.attrs.get("transposed"):
        raise CannotJudge("PyTorch has no function for the gradient of a pool")
    rank = len(axes)
    if all(axis[0] == "adaptive" for axis in axes):
        counts = [axis[2] for axis in axes]
        if largest:
            return {2: f.adaptive_max_pool2d, 3: f.adaptive_max_pool3d}[rank](x, counts)
        return {2: f.adaptive_avg_pool2d, 3: f.adaptive_avg_pool3d}[rank](x, counts)
    if any(axis[0] != "window" for axis in axes):
        raise CannotJudge(f"PyTorch has no such {node.op.name}")
    _, sizes, counts, kernel, stride, padding, dilation, _ = ([*column] for column in zip(*axes, strict=True))
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    floors = [(n + 2 * p - s) // step + 1 for n, p, s, step in zip(sizes, padding, spans, stride, strict=True)]
    ceil = any(count > floor for count, floor in zip(counts, floors, strict=True))
    if largest:
        return {2: f.max_pool2d, 3: f.max_pool3d}[rank](x, kernel, stride, padding, dilation, ceil)
    included = all(axis[7] for axis in axes if axis[5])
    return {2: f.avg_pool2d, 3: f.avg_pool3d}[rank](
        x, kernel, stride, padding, ceil, included, node.attrs.get("divisor")
    )


def _interpolate(t: Any, node: Node, args: Sequence[Any]) -> Any:
    axes = node.attrs["axes"]
    kinds = {axis[0] for axis in axes}
    if len(kinds) != 1 or node.attrs["transposed"] or kinds & {"window"}:
        raise CannotJudge("PyTorch has no such interpolation")
    (kind,) = kinds
    sizes = [axis[2] for axis in axes]
    if kind == "adaptive":
        return t.nn.functional.interpolate(args[0], size=sizes, mode="area")
    antialias = kind.endswith("-antialias")
    kind = kind.removesuffix("-antialias")
    mode = {"linear": ("linear", "bilinear", "trilinear")[len(axes) - 1], "cubic": "bicubic"}.get(kind, kind)
    more: dict[str, Any] = {} if kind.startswith("nearest") else {"align_corners": axes[0][4]}
    if antialias:
        more["antialias"] = True
    scales = [axis[3] for axis in axes]
    if all(scale is not None and scale != axis[2] / axis[1] for scale, axis in zip(scales, axes, strict=True)):
        return t.nn.functional.interpolate(args[0], scale_factor=scales, mode=mode, **more)
    return t.nn.functional.interpolate(args[0], size=sizes, mode=mode, **more)


def _grid_sample(t: Any, node: Node, args: Sequence[Any]) -> Any:
    a = node.attrs
    if any(a["orders"]):
        raise CannotJudge("PyTorch has no function for the derivative of grid_sample")
    modes = {"mode": a["mode"], "padding_mode": a["padding"], "align_corners": a["align"]}
    return t.nn.functional.grid_sample(*args, **modes)


def _patches(a: Mapping[str, Any]) -> dict[str, Any]:
    return {"kernel_size": a["kernel"], "dilation": a["dilation"], "padding": a["padding"], "stride": a["stride"]}


def _standardize(t: Any, node: Node, args: Sequence[Any]) -> Any:
    (x,) = args
    dim = node.attrs["dim"]
    if not node.attrs["about_mean"]:
        return x * t.rsqrt(t.mean(x * x, dim=dim, keepdim=True) + node.attrs["eps"])
    variance = t.var(x, dim=dim, correction=0, keepdim=True)
    return (x - t.mean(x, dim=dim, keepdim=True)) * t.rsqrt(variance + node.attrs["eps"])


def _prelu(t: Any, _node: Node, args: Sequence[Any]) -> Any:
    x, weight = args
    if weight.numel() == 1:
        return t.nn.functional.prelu(x, t.reshape(weight, (1,)))
    return t.where(x > 0, x, weight * x)


def _count(t: Any, node: Node, args: Sequence[Any]) -> Any:
    return t.reshape(t.count_nonzero(args[0], dim=node.attrs["dim"]), node.shape)


def _shift(t: Any, node: Node, args: Sequence[Any]) -> Any:
    """Entries moved along an axis; those that come in are `fill`."""
    (x,) = args
    axis, by = node.attrs["axis"], node.attrs["by"]
    widths = [0, 0] * (x.ndim - axis)
    widths[-2:] = [by, -by]
    return t.nn.functional.pad(x, widths, value=node.attrs["fill"])


def _lu(t: Any, _node: Node, args: Sequence[Any]) -> Any:
    """Both factors in one matrix, the exchange as a matrix, and as steps."""
    both, steps = t.linalg.lu_factor(args[0])
    return both, t.lu_unpack(t.detach(both), steps, unpack_data=False)[0], steps


def _to(t: Any, node: Node, args: Sequence[Any]) -> Any:
    return args[0].to(getattr(t, node.dtype.name))


WRITTEN: Final[Mapping[str, Call]] = {
    "adaptive_avg_pool2d": _pooled,
    "adaptive_avg_pool3d": _pooled,
    "adaptive_max_pool2d": _pooled,
    "adaptive_max_pool3d": _pooled,
    "alias": lambda t, _node, args: t.clone(args[0]),
    "argmax": _along_one(lambda t, x, more: t.argmax(x, **more)),
    "argmin": _along_one(lambda t, x, more: t.argmin(x, **more)),
    "argsort": lambda t, node, args: t.argsort(
        args[0], dim=node.attrs["axis"], descending=node.attrs["descending"], stable=True
    ),
    "avg_pool2d": _pooled,
    "avg_pool3d": _pooled,
    "binary_cross_entropy.element": lambda t, _node, args: t.nn.functional.binary_cross_entropy(
        *args, reduction="none"
    ),
    "cat": lambda t, node, args: t.cat([*args], dim=node.attrs["axis"]),
    "centered": lambda t, node, args: args[0] - t.mean(args[0], dim=node.attrs["dim"], keepdim=True),
    "channel_shuffle": lambda t, node, args: t.nn.functional.channel_shuffle(args[0], node.attrs["groups"]),
    "contiguous": lambda t, _node, args: t.clone(args[0]),
    "conv1d": _convolution,
    "conv2d": _convolution,
    "conv3d": _convolution,
    "conv_transpose1d": _transposed_convolution,
    "conv_transpose2d": _transposed_convolution,
    "conv_transpose3d": _transposed_convolution,
    "count_nonzero": _count,
    "cummax": lambda t, node, args: t.cummax(args[0], dim=_one(node)).values,
    "cummax.indices": lambda t, node, args: t.cummax(args[0], dim=_one(node)).indices,
    "cummin": lambda t, node, args: t.cummin(args[0], dim=_one(node)).values,
    "cummin.indices": lambda t, node, args: t.cummin(args[0], dim=_one(node)).indices,
    "cumprod": lambda t, node, args: t.cumprod(args[0], dim=_one(node)),
    "cumsum": lambda t, node, args: t.cumsum(args[0], dim=_one(node)),
    "detach": lambda t, _node, args: t.detach(args[0]),
    "div_floor": lambda t, _node, args: t.div(*args, rounding_mode="floor"),
    "div_trunc": lambda t, _node, args: t.div(*args, rounding_mode="trunc"),
    "elu": _elu,
    "expand": lambda t, node, args: t.broadcast_to(args[0], node.attrs["shape"]),
    "fft.fft": _fft,
    "flow": lambda t, _node, args: t.mul(*args),
    "fold": lambda t, node, args: t.nn.functional.fold(args[0], node.attrs["size"], **_patches(node.attrs)),
    "gather": lambda t, node, args: t.gather(args[0], node.attrs["axis"], args[1]),
    "gelu.tanh": lambda t, _node, args: t.nn.functional.gelu(args[0], approximate="tanh"),
    "grid_sample": _grid_sample,
    "index": _index,
    "index_put": _index_put,
    "interpolate": _interpolate,
    "kthvalue.indices": _along_one(lambda t, x, more: t.kthvalue(x, **more).indices),
    "kthvalue.values": _along_one(lambda t, x, more: t.kthvalue(x, **more).values),
    "linalg.solve": _solve,
    "log_softmax": lambda t, node, args: t.log_softmax(args[0], dim=_one(node)),
    "logcumsumexp": lambda t, node, args: t.logcumsumexp(args[0], dim=_one(node)),
    "lu.both": _lu,
    "max": lambda t, node, args: t.amax(args[0], dim=node.attrs["dim"], keepdim=node.attrs["keepdim"]),
    "max.indices": _along_one(lambda t, x, more: t.max(x, **more).indices),
    "max.values": _along_one(lambda t, x, more: t.max(x, **more).values),
    "max_pool2d": _pooled,
    "max_pool3d": _pooled,
    "median": _whole(lambda t, x: t.median(x)),
    "median.indices": _along_one(lambda t, x, more: t.median(x, **more).indices),
    "median.values": _along_one(lambda t, x, more: t.median(x, **more).values),
    "meet": lambda t, _node, args: t.mul(*args),
    "min": lambda t, node, args: t.amin(args[0], dim=node.attrs["dim"], keepdim=node.attrs["keepdim"]),
    "min.indices": _along_one(lambda t, x, more: t.min(x, **more).indices),
    "min.values": _along_one(lambda t, x, more: t.min(x, **more).values),
    "mode.indices": _along_one(lambda t, x, more: t.mode(x, **more).indices),
    "mode.values": _along_one(lambda t, x, more: t.mode(x, **more).values),
    "nanmedian": _whole(lambda t, x: t.nanmedian(x)),
    "nanmedian.indices": _along_one(lambda t, x, more: t.nanmedian(x, **more).indices),
    "nanmedian.values": _along_one(lambda t, x, more: t.nanmedian(x, **more).values),
    "nn.unfold": lambda t, node, args: t.nn.functional.unfold(args[0], **_patches(node.attrs)),
    "one_minus_square": lambda _t, _node, args: 1 - args[0] * args[0],
    "output": lambda _t, node, args: args[0][node.attrs["index"]],
    "pad": _pad,
    "polygamma": lambda t, node, args: t.polygamma(node.attrs["n"], args[0]),
    "pow": lambda t, node, args: t.pow(args[0], node.args[1].value if node.args[1].is_number else args[1]),
    "prelu": _prelu,
    "prod": lambda t, node, args: _axis_by_axis(t.prod, args[0], node),
    "repeat": lambda t, node, args: t.tile(args[0], node.attrs["times"]),
    "scatter": lambda t, node, args: t.scatter(args[0], node.attrs["axis"], args[2], args[1]),
    "scatter_add": lambda t, node, args: t.scatter_add(args[0], node.attrs["axis"], args[2], args[1]),
    "scatter_reduce": lambda t, node, args: t.scatter_reduce(
        args[0], node.attrs["axis"], args[2], args[1], node.attrs["reduce"], include_self=node.attrs["include_self"]
    ),
    "sech_squared": lambda t, _node, args: 1 / t.square(t.cosh(args[0])),
    "shift": _shift,
    "slice": _slice,
    "slogdet.logabsdet": lambda t, _node, args: t.linalg.slogdet(args[0]).logabsdet,
    "slogdet.sign": lambda t, _node, args: t.linalg.slogdet(args[0]).sign,
    "softmax": lambda t, node, args: t.softmax(args[0], dim=_one(node)),
    "sort": lambda t, node, args: (
        t.sort(args[0], dim=node.attrs["axis"], descending=node.attrs["descending"], stable=True).values
    ),
    "stack": lambda t, node, args: t.stack([*args], dim=node.attrs["axis"]),
    "standardize": _standardize,
    "sum_to_size": lambda _t, node, args: args[0].sum_to_size(node.attrs["shape"]),
    "to": _to,
}
"""Rows whose call is not just one function of the same parameters."""
