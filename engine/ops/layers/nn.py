"""Layers of neural networks as functions: linear maps, normalisations and attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InputError, ShapeError
from ...graph import Example, Node, Shape, as_node, leaf, make
from ..fold import named
from ..infer import integers
from ..linear.linalg import transposed
from ..reductions.scan import shift
from ..row import as_float, compose
from .standardize import standardized

_FAMILY = "nn.functional"


def _linear(input: Node, weight: Node, bias: Node | None = None) -> Node:
    input, weight = as_node(input), as_node(weight)
    product = make.matmul(input, transposed(weight) if weight.ndim > 1 else weight)
    if bias is None:
        return product  # type: ignore[no-any-return]  # any row's call
    ranks = (input.ndim, weight.ndim)
    return named(product + as_node(bias), "AddmmBackward0" if ranks == (2, 2) else "ViewBackward0")


LINEAR = compose(
    "linear",
    "The product with a transposed weight matrix, plus a bias.",
    family=_FAMILY,
    method=False,
    call=_linear,
    forms=("F.linear(x, W)", "F.linear(x, W, b)"),
    examples=(
        Example("F.linear(x, W)", {"x": (2, 3), "W": (4, 3)}),
        Example("F.linear(x, W, b)", {"x": (3,), "W": (2, 3), "b": (2,)}),
    ),
    domain="all numbers",
    kink="none: linear in each argument",
    grad_fn="MmBackward0",
)


def _scaled(x: Node, weight: Node | None, bias: Node | None, shape: Shape | None = None) -> Node:
    """The elements times a weight plus a bias, both brought to a shape first."""
    for other, join in ((weight, make.mul), (bias, make.add)):
        if other is not None:
            other = as_node(other)
            x = join(x, other if shape is None or other.shape == shape else make.reshape(other, shape))
    return x


def _last_axes(input: Node, normalized_shape: Any) -> tuple[int, ...]:
    shape = integers(normalized_shape, "normalized_shape")
    if not shape or input.shape[-len(shape) :] != shape:
        raise ShapeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], but "
            f"got input of size{list(input.shape)}"
        )
    return tuple(range(input.ndim - len(shape), input.ndim))


def _layer_norm(
    input: Node,
    normalized_shape: int | Sequence[int],
    weight: Node | None = None,
    bias: Node | None = None,
    eps: float = 1e-5,
) -> Node:
    input = as_node(input)
    axes = _last_axes(input, normalized_shape)
    return named(_scaled(standardized(input, axes, eps), weight, bias), "NativeLayerNormBackward0")


LAYER_NORM = compose(
    "layer_norm",
    "The last axes with mean 0 and variance 1, then times a weight plus a bias.",
    family=_FAMILY,
    method=False,
    call=_layer_norm,
    forms=("F.layer_norm(x, (3,))", "F.layer_norm(x, [3], w, b)", "F.layer_norm(x, (3,), weight=w, eps=0.25)"),
    examples=(
        Example("F.layer_norm(x, (3,))", {"x": (2, 3)}),
        Example("F.layer_norm(x, (3,), w, b)", {"x": (2, 3), "w": (3,), "b": (3,)}),
    ),
    domain="all numbers",
    kink="none: smooth",
    grad_fn="NativeLayerNormBackward0",
)


def _rms_norm(
    input: Node, normalized_shape: int | Sequence[int], weight: Node | None = None, eps: float | None = None
) -> Node:
    input = as_float(input)
    axes = _last_axes(input, normalized_shape)
    if eps is None:
        eps = float(np.finfo(input.dtype).eps)
    normal = named(standardized(input, axes, eps, about_mean=False), "MulBackward0")
    return _scaled(normal, weight, None)


RMS_NORM = compose(
    "rms_norm",
    "The last axes divided by the root of their mean square, then times a weight.",
    family=_FAMILY,
    method=False,
    call=_rms_norm,
    forms=("F.rms_norm(x, (3,))", "F.rms_norm(x, (3,), w, eps=1e-6)"),
    examples=(
        Example("F.rms_norm(x, (3,))", {"x": (2, 3)}),
        Example("F.rms_norm(x, (3,), w)", {"x": (2, 3), "w": (3,)}),
    ),
    domain="all numbers",
    kink="none: smooth; eps is the dtype's rounding unit unless given",
    grad_fn="MulBackward0",
)


def _batch_norm(
    input: Node,
    running_mean: Node | None = None,
    running_var: Node | None = None,
    weight: Node | None = None,
    bias: Node | None = None,
    training: bool = False,
    momentum: float = 0.1,  # noqa: ARG001  # PyTorch's signature; it moves the running statistics, which are constants here
    eps: float = 1e-5,
) -> Node:
    input = as_node(input)
    if input.ndim < 2:
        raise ShapeError(f"batch_norm needs a batch axis and a channel axis, but the shape is {list(input.shape)}")
    shape = (input.shape[1],) + (1,) * (input.ndim - 2)
    if training:
        axes = (0, *range(2, input.ndim))
        if input.shape[0] * math.prod(input.shape[2:]) == 1:
            raise ShapeError(
                f"Expected more than 1 value per channel when training, got input size torch.Size({list(input.shape)})",
                code="value",
            )
        normal = standardized(input, axes, eps)
    elif running_mean is None or running_var is None:
        raise InputError(
            "Expected running_mean and running_var to be given when training=False", hint="or say training=True"
        )
    else:
        mean, variance = (make.reshape(as_node(node), shape) for node in (running_mean, running_var))
        normal = (input - mean) * make.rsqrt(variance + eps)
    return named(_scaled(normal, weight, bias, shape), "NativeBatchNormBackward0")


BATCH_NORM = compose(
    "batch_norm",
    "Each channel with mean 0 and variance 1 over the batch (training) or by given statistics, then scaled and moved.",
    family=_FAMILY,
    method=False,
    call=_batch_norm,
    forms=("F.batch_norm(x, None, None, w, b, training=True)", "F.batch_norm(x, mean, var, w, b)"),
    examples=(
        Example("F.batch_norm(x, None, None, w, b, training=True)", {"x": (3, 2), "w": (2,), "b": (2,)}),
        Example("F.batch_norm(x, None, None, training=True)", {"x": (2, 2, 2)}),
        Example("F.batch_norm(x, zeros(2), ones(2), w, b)", {"x": (3, 2), "w": (2,), "b": (2,)}),
    ),
    domain="all numbers; the running statistics are taken as they are and not moved",
    kink="none: smooth",
    grad_fn="NativeBatchNormBackward0",
)


def _group_norm(
    input: Node, num_groups: int, weight: Node | None = None, bias: Node | None = None, eps: float = 1e-5
) -> Node:
    input = as_node(input)
    if input.ndim < 2 or input.shape[1] % num_groups:
        raise ShapeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    each = input.shape[1] // num_groups * math.prod(input.shape[2:])
    groups = make.reshape(input, (input.shape[0], num_groups, each))
    normal = make.reshape(standardized(groups, (2,), eps), input.shape)
    shape = (input.shape[1],) + (1,) * (input.ndim - 2)
    return named(_scaled(normal, weight, bias, shape), "NativeGroupNormBackward0")


GROUP_NORM = compose(
    "group_norm",
    "The channels in groups, each with mean 0 and variance 1, then scaled and moved by channel.",
    family=_FAMILY,
    method=False,
    call=_group_norm,
    forms=("F.group_norm(x, 2)", "F.group_norm(x, 2, w, b)"),
    examples=(Example("F.group_norm(x, 2, w, b)", {"x": (1, 4, 2), "w": (4,), "b": (4,)}),),
    domain="all numbers",
    kink="none: smooth",
    grad_fn="NativeGroupNormBackward0",
)


def _instance_norm(
    input: Node,
    running_mean: Node | None = None,
    running_var: Node | None = None,
    weight: Node | None = None,
    bias: Node | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Node:
    if not use_input_stats:
        return _batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    input = as_node(input)
    if input.ndim < 3:
        raise ShapeError(f"instance_norm needs axes after batch and channel, but the shape is {list(input.shape)}")
    shape = (input.shape[1],) + (1,) * (input.ndim - 2)
    normal = standardized(input, tuple(range(2, input.ndim)), eps)
    return named(_scaled(normal, weight, bias, shape), "ViewBackward0")


INSTANCE_NORM = compose(
    "instance_norm",
    "Each channel of each example with mean 0 and variance 1, then scaled and moved.",
    family=_FAMILY,
    method=False,
    call=_instance_norm,
    forms=("F.instance_norm(x)", "F.instance_norm(x, weight=w, bias=b)"),
    examples=(Example("F.instance_norm(x)", {"x": (1, 2, 3)}),),
    domain="all numbers",
    kink="none: smooth",
    grad_fn="ViewBackward0",
)


def _normalize(input: Node, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Node:
    input = as_node(input)
    return named(input / make.clamp(make.norm(input, p, dim, True), eps), "DivBackward0")


NORMALIZE = compose(
    "normalize",
    "The vectors along an axis divided by their p-norm, or by eps where that is smaller.",
    family=_FAMILY,
    method=False,
    call=_normalize,
    forms=("F.normalize(x, dim=0)", "F.normalize(x, p=1.0, dim=1)"),
    examples=(Example("F.normalize(x, dim=0)", {"x": (3,)}), Example("F.normalize(x, p=3.0, dim=1)", {"x": (2, 3)})),
    domain="all numbers, differentiable away from a norm of exactly eps",
    kink="at the zero vector the derivative is 1/eps",
    grad_fn="DivBackward0",
)


def _cosine_similarity(x1: Node, x2: Node, dim: int = 1, eps: float = 1e-8) -> Node:
    return make.sum(_normalize(x1, 2.0, dim, eps) * _normalize(x2, 2.0, dim, eps), dim)  # type: ignore[no-any-return]  # any row's call


COSINE_SIMILARITY = compose(
    "cosine_similarity",
    "The cosine of the angle between the vectors of two tensors along an axis.",
    family=_FAMILY,
    method=False,
    call=_cosine_similarity,
    forms=("F.cosine_similarity(x, y, dim=0)", "torch.cosine_similarity(x, y)"),
    examples=(Example("F.cosine_similarity(x, y, dim=0)", {"x": (3,), "y": (3,)}),),
    domain="all numbers, differentiable away from a norm of exactly eps",
    kink="at the zero vector the derivative is the other's direction over eps",
    grad_fn="SumBackward1",
)


def _pairwise_distance(x1: Node, x2: Node, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Node:
    return named(make.norm(as_node(x1) - as_node(x2) + eps, p, -1, keepdim), "NormBackward1")


PAIRWISE_DISTANCE = compose(
    "pairwise_distance",
    "The p-norm of the difference of two tensors plus eps along their last axis.",
    family=_FAMILY,
    method=False,
    call=_pairwise_distance,
    forms=("F.pairwise_distance(x, y)", "F.pairwise_distance(x, y, p=1.0, keepdim=True)"),
    examples=(Example("F.pairwise_distance(x, y)", {"x": (2, 3), "y": (2, 3)}),),
    domain="all numbers, differentiable unless the difference is -eps everywhere",
    kink="eps keeps the norm of equal vectors away from zero; at zero the slope is 0",
    grad_fn="NormBackward1",
)


def _local_response_norm(input: Node, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Node:
    input = as_node(input)
    if input.ndim < 3:
        raise ShapeError(f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)")
    if size < 1:
        raise InputError(f"local_response_norm: size must be at least 1, not {size}")
    squares = input * input
    total = squares
    farthest = input.shape[1] - 1
    for by in range(max(-((size - 1) // 2), -farthest), min(size // 2, farthest) + 1):
        if by:
            total = total + shift(squares, 1, by, 0.0)
    return named(input / (total * (alpha / size) + k) ** beta, "DivBackward0")


LOCAL_RESPONSE_NORM = compose(
    "local_response_norm",
    "Each element divided by a power of the mean square of its neighbours over the channels.",
    family=_FAMILY,
    method=False,
    call=_local_response_norm,
    forms=("F.local_response_norm(x, 2)", "F.local_response_norm(x, 3, alpha=0.1, beta=0.5, k=2.0)"),
    examples=(Example("F.local_response_norm(x, 2, alpha=0.5)", {"x": (1, 3, 2)}),),
    domain="all numbers, where k and alpha are positive",
    kink="none: smooth",
    grad_fn="DivBackward0",
)


def _attention(
    query: Node,
    key: Node,
    value: Node,
    attn_mask: Node | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Node:
    if dropout_p:
        raise InputError(
            "scaled_dot_product_attention: dropout_p must be 0 here: a gradient of chance cannot be checked"
        )
    query, key, value = as_node(query), as_node(key), as_node(value)
    mask = None if attn_mask is None else as_node(attn_mask)
    scores = make.matmul(query, transposed(key)) * (1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale)
    if is_causal:
        if mask is not None:
            raise InputError("scaled_dot_product_attention: say attn_mask or is_causal, not both")
        mask = leaf(np.tril(np.ones((query.shape[-2], key.shape[-2]), dtype=bool)))
    if mask is not None:
        scores = make.where(mask, scores, -math.inf) if mask.dtype.kind == "b" else scores + mask
    weights = make.softmax(scores, -1)
    if mask is not None:  # a row that may look at nothing has no weights at all
        weights = make.where(make.any(make.gt(scores, -math.inf), -1, True), weights, 0.0)
    result = make.matmul(weights, value)
    fused = query.ndim == 4 and not (mask is not None and mask.requires_grad)
    return named(result, "ScaledDotProductFlashAttentionForCpuBackward0") if fused else result


ATTENTION = compose(
    "scaled_dot_product_attention",
    "The values weighted by the softmax of the products of query and keys over the root of their length.",
    family=_FAMILY,
    method=False,
    call=_attention,
    forms=(
        "F.scaled_dot_product_attention(q, k, v)",
        "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
        "F.scaled_dot_product_attention(q, k, v, attn_mask=mask)",
    ),
    examples=(
        Example("F.scaled_dot_product_attention(q, k, v)", {"q": (2, 3), "k": (2, 3), "v": (2, 3)}),
        Example("F.scaled_dot_product_attention(q, k, v, is_causal=True)", {"q": (2, 2), "k": (2, 2), "v": (2, 2)}),
    ),
    domain="all numbers; a row whose mask hides everything gives 0",
    kink="none: smooth; what a mask hides gets 0",
    grad_fn="ScaledDotProductFlashAttentionForCpuBackward0",
)
