"""The namespace that `import torch` means in a snippet: constructors, functions, autograd, layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..graph import TABLE
from ..printing.options import get_printoptions, printoptions, set_printoptions
from . import (
    autograd,
    creation,
    custom,
    discrete,
    dispatch,
    dtypes,
    exceptions,
    filling,
    func,
    functional,
    gradcheck,
    layers,
    modes,
    optim,
    random,
    schedules,
)
from .tensor import Parameter, Tensor

_NOT_TORCH: Final = (
    "H T adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d affine_grid alias "
    "around array array_split astype avg_pool2d avg_pool3d bessel_i bessel_ie_derivative binary_cross_entropy "
    "centered cofactor col2im conjugate contiguous convolution_weight copy cross_entropy degrees direction "
    "distinct_values div_floor div_trunc dropout1d dropout2d dropout3d eigh eigvals eigvalsh elu entr erfcx "
    "erfcx_derivative expand expand_as expand_dims expit fabs first_largest first_order float flow fold "
    "from_minors gamma gammaln gaussian_nll_loss gelu getitem glu grid_sample grid_spread gumbel_softmax "
    "hardsigmoid hardswish hardtanh huber_loss i0e i1 i1e identity im2col index interpolate inv invert l1_loss "
    "leaky_relu linear local_response_norm log_ndtr log_sigmoid logsigmoid long lp_pool1d lp_pool2d lp_pool3d "
    "lu_factor mH mT matrix_norm matrix_transpose max_pool_positions meet minors mish mod mse_loss multi_dot "
    "multi_margin_loss multigammaln multilabel_margin_loss multilabel_soft_margin_loss ndtr ndtri nll_loss "
    "normalize one_hot one_minus_square output pad permute_dims phase_free pinv power psi radians recurrence "
    "relu6 repeat reshape_as rint same_value scaled_dot_product_attention sech_squared setitem settled_pairs "
    "shift silu sinc_derivative slice smooth_l1_loss soft_margin_loss softmin softplus softshrink softsign "
    "solve_triangular spread standardize stop_gradient sum_to_size svdvals swish take_along_axis tanhshrink to "
    "type unfold vecdot vector_norm view view_as xlog1py double"
)
"""Rows that PyTorch keeps in other namespaces, or does not have under that name."""

_FUNCTIONAL: Final = (
    "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d "
    "adaptive_max_pool3d affine_grid alpha_dropout avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear "
    "binary_cross_entropy binary_cross_entropy_with_logits celu channel_shuffle conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity cross_entropy "
    "ctc_loss dropout dropout1d dropout2d dropout3d elu embedding embedding_bag feature_alpha_dropout fold "
    "gaussian_nll_loss gelu glu grid_sample group_norm gumbel_softmax hardshrink hardsigmoid hardswish "
    "hardtanh hinge_embedding_loss huber_loss instance_norm interpolate kl_div l1_loss layer_norm leaky_relu "
    "linear local_response_norm log_softmax logsigmoid lp_pool1d lp_pool2d lp_pool3d margin_ranking_loss "
    "max_pool1d max_pool2d max_pool3d mish mse_loss multi_margin_loss multilabel_margin_loss "
    "multilabel_soft_margin_loss nll_loss normalize one_hot pad pairwise_distance pdist pixel_shuffle "
    "pixel_unshuffle poisson_nll_loss prelu relu relu6 rms_norm rrelu scaled_dot_product_attention selu "
    "sigmoid silu smooth_l1_loss soft_margin_loss softmax softmin softplus softshrink softsign tanh tanhshrink "
    "threshold triplet_margin_loss"
)
_LINALG: Final = (
    "cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq lu lu_factor matmul matrix_exp "
    "matrix_norm matrix_power matrix_rank multi_dot norm pinv qr slogdet solve solve_triangular svd svdvals "
    "vander vecdot vector_norm"
)
_SPECIAL: Final = (
    "digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e log1p log_ndtr log_softmax "
    "logit logsumexp multigammaln ndtr ndtri polygamma psi round sinc softmax xlog1py xlogy"
)


class Namespace:
    """A module as a script sees it: its members are its attributes.

    Args:
        name: the module's.
        members: what it has.
    """

    def __init__(self, name: str, members: Mapping[str, Any]) -> None:
        self.__name__ = name
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"<module '{self.__name__}'>"


def _function(row: str, name: str) -> Callable[..., Any]:
    op = TABLE[row]

    def function(*args: Any, **keywords: Any) -> Any:
        out = keywords.pop("out", None)
        if out is not None and any(isinstance(arg, Tensor) and arg.requires_grad for arg in (*args, out)):
            raise RuntimeError(
                f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
                "arguments requires grad."
            )
        if keywords.pop("inplace", False):
            return args[0].copy_(dispatch.call(op, args, keywords, function=name))
        found = dispatch.call(op, args, keywords, function=name)
        return found if out is None else out.copy_(found)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.doc
    function.__module__ = "torch"
    return function


def _rows(names: str, prefix: str = "") -> dict[str, Any]:
    """Functions of the table, those under a prefix before those without."""
    return {
        name: _function(prefix + name if prefix + name in TABLE else name, prefix.replace(".", "_") + name)
        for name in names.split()
    }


def _is_tensor(obj: Any) -> bool:
    return isinstance(obj, Tensor)


def _equal(input: Tensor, other: Tensor) -> bool:
    return bool(input.equal(other))


def _allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    return bool(input.allclose(other, rtol, atol, equal_nan))


def _numel(input: Tensor) -> int:
    return input.numel()


def _method(name: str) -> Callable[..., Any]:
    return lambda input, *args, **keywords: getattr(input, name)(*args, **keywords)


_IN_PLACE: Final = (
    "abs_ acos_ asin_ atan_ ceil_ clamp_ cos_ cosh_ exp_ exp2_ expm1_ floor_ log_ log10_ log1p_ log2_ neg_ reciprocal_ "
    "relu_ round_ rsqrt_ sigmoid_ sin_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ zero_"
)


def _where(condition: Tensor, *args: Any, **keywords: Any) -> Any:
    """Entries of one of two tensors; or, of a condition alone, the positions where it holds."""
    if not args and not keywords:
        return discrete.nonzero(condition, as_tuple=True)
    return dispatch.call(TABLE["where"], (condition, *args), keywords, function="where")


def _make_autograd() -> Namespace:
    checks = {"gradcheck": gradcheck.gradcheck, "gradgradcheck": gradcheck.gradgradcheck}
    return Namespace(
        "torch.autograd",
        {
            **checks,
            "backward": autograd.backward,
            "grad": autograd.grad,
            "Variable": autograd.variable,
            "Function": custom.Function,
            "no_grad": modes.no_grad,
            "enable_grad": modes.enable_grad,
            "set_grad_enabled": modes.set_grad_enabled,
            "inference_mode": modes.inference_mode,
            "detect_anomaly": modes.detect_anomaly,
            "set_detect_anomaly": modes.set_detect_anomaly,
            "functional": Namespace(
                "torch.autograd.functional",
                {name: getattr(functional, name) for name in ("jacobian", "hessian", "jvp", "vjp", "hvp", "vhp")},
            ),
            "function": Namespace(
                "torch.autograd.function",
                {"Function": custom.Function, "once_differentiable": custom.once_differentiable},
            ),
            "graph": Namespace("torch.autograd.graph", {"get_gradient_edge": autograd.get_gradient_edge}),
            "gradcheck_error": exceptions.GradcheckError,
            "grad_mode": Namespace("torch.autograd.grad_mode", {"no_grad": modes.no_grad}),
        },
    )


def _make_nn() -> Namespace:
    def unfold(*args: Any, **keywords: Any) -> Any:
        return dispatch.call(TABLE["nn.unfold"], args, keywords, function="unfold")

    members = {**_rows(_FUNCTIONAL), "unfold": unfold, "one_hot": creation.one_hot}
    clip = {"clip_grad_norm_": optim.clip_grad_norm_, "clip_grad_value_": optim.clip_grad_value_}
    return Namespace(
        "torch.nn",
        {
            **layers.MODULES,
            "functional": Namespace("torch.nn.functional", members),
            "parameter": Namespace("torch.nn.parameter", {"Parameter": Parameter}),
            "utils": Namespace("torch.nn.utils", clip),
            "init": Namespace("torch.nn.init", filling.FUNCTIONS),
        },
    )


def _make_optim() -> Namespace:
    names = ("StepLR", "MultiStepLR", "ExponentialLR", "LambdaLR", "CosineAnnealingLR")
    members = {name: getattr(optim, name) for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Optimizer")}
    rates = Namespace("torch.optim.lr_scheduler", {name: getattr(schedules, name) for name in names})
    return Namespace("torch.optim", {**members, "lr_scheduler": rates})


def _make_torch() -> Namespace:
    kept_elsewhere = _NOT_TORCH.split()
    members: dict[str, Any] = {
        name: _function(name, name) for name in TABLE if "." not in name and name not in kept_elsewhere
    }
    for module in (creation, random, modes, dtypes):
        for name in _PLAIN[module.__name__.rpartition(".")[2]].split():
            members[name] = getattr(module, name)
    members.update(dtypes.DTYPES)
    members.update(discrete.FUNCTIONS)
    members["where"] = _where
    members.update({name: _method(name) for name in _IN_PLACE.split()})
    fft = {name.removeprefix("fft."): _function(name, name) for name in TABLE if name.startswith("fft.")}
    members.update(
        {
            "Tensor": Tensor,
            "Size": dtypes.Size,
            "device": dtypes.device,
            "dtype": dtypes.dtype,
            "is_tensor": _is_tensor,
            "is_floating_point": Tensor.is_floating_point,
            "is_complex": Tensor.is_complex,
            "equal": _equal,
            "allclose": _allclose,
            "numel": _numel,
            "set_printoptions": set_printoptions,
            "get_printoptions": get_printoptions,
            "printoptions": printoptions,
            "pi": math.pi,
            "e": math.e,
            "inf": math.inf,
            "nan": math.nan,
            "newaxis": None,
            "strided": "torch.strided",
            "__version__": "2.13.0",
            "autograd": _make_autograd(),
            "nn": _make_nn(),
            "linalg": Namespace("torch.linalg", {**_rows(_LINALG, "linalg."), "LinAlgError": exceptions.LinAlgError}),
            "special": Namespace("torch.special", _rows(_SPECIAL, "special.")),
            "fft": Namespace("torch.fft", fft),
            "func": Namespace(
                "torch.func",
                {
                    name: getattr(func, name)
                    for name in ("grad", "grad_and_value", "jacrev", "jacfwd", "hessian", "vjp", "jvp", "vmap")
                },
            ),
            "vmap": func.vmap,
            "optim": _make_optim(),
            "FloatTensor": lambda *data: Tensor(*data),
            "DoubleTensor": lambda data: creation.tensor(data, dtype=dtypes.DTYPES["float64"]),
            "LongTensor": lambda data: creation.tensor(data, dtype=dtypes.DTYPES["int64"]),
        }
    )
    return Namespace("torch", members)


_PLAIN: Final = {
    "creation": "tensor as_tensor from_numpy zeros ones empty full zeros_like ones_like empty_like full_like eye "
    "arange linspace logspace complex",
    "random": "manual_seed initial_seed rand randn rand_like randn_like randint randperm normal bernoulli",
    "modes": "no_grad enable_grad set_grad_enabled inference_mode is_grad_enabled is_inference_mode_enabled "
    "is_anomaly_enabled",
    "dtypes": "get_default_dtype set_default_dtype",
}

torch: Final = _make_torch()
"""What `import torch` binds."""
