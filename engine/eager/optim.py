"""`torch.optim`: the optimisers that notes use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .modes import Switch
from .tensor import Tensor

Array = np.ndarray[Any, Any]


class Optimizer:
    """Moves parameters along their gradients.

    Args:
        params: tensors, or dictionaries of them with options of their own.
        defaults: the options of all others.

    Attributes:
        param_groups: the parameters and options, as PyTorch keeps them.
        state: what is remembered of each parameter.
    """

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"torch.{params.dtype.word}Tensor"
            )
        listed = list(params)
        if not listed:
            raise ValueError("optimizer got an empty parameter list")
        groups = listed if isinstance(listed[0], dict) else [{"params": listed}]
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Tensor, dict[str, Any]] = {}
        self.stepped = False
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own."""
        given = param_group["params"]
        tensors = [given] if isinstance(given, Tensor) else list(given)
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {type(tensor).__name__}"
                )
            if not tensor.is_leaf and not tensor.retains_grad:
                raise ValueError("can't optimize a non-leaf Tensor")
        self.param_groups.append({**self.defaults, **param_group, "params": tensors})

    def state_dict(self) -> dict[str, Any]:
        """The options of the groups, with numbers in the place of their parameters."""
        groups = []
        start = 0
        for group in self.param_groups:
            count = len(group["params"])
            groups.append({**group, "params": list(range(start, start + count))})
            start += count
        numbers = {tensor: number for number, tensor in enumerate(self._tensors())}
        return {"state": {numbers[tensor]: kept for tensor, kept in self.state.items() if kept}, "param_groups": groups}

    def _tensors(self) -> list[Tensor]:
        return [tensor for group in self.param_groups for tensor in group["params"]]

    def __repr__(self) -> str:
        text = type(self).__name__ + " ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params")
        return text + ")"

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero."""
        for group in self.param_groups:
            for tensor in group["params"]:
                if tensor._grad is None:
                    continue
                if set_to_none:
                    tensor._grad = None
                else:
                    tensor._grad = tensor._grad.detach()
                    tensor._grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move each parameter that has a gradient."""
        loss = None
        self.stepped = True
        if closure is not None:
            with Switch({"grad": True}):
                loss = closure()
        for group in self.param_groups:
            for tensor in group["params"]:
                if tensor._grad is not None:
                    kept = self.state.setdefault(tensor, {})
                    sign = -1 if group.get("maximize") else 1
                    self._move(tensor._array, sign * tensor._grad._array, kept, group)
                    tensor._counter.count += 1
        return loss

    def _move(self, value: Array, gradient: Array, kept: dict[str, Any], group: dict[str, Any]) -> None:
        raise NotImplementedError


class SGD(Optimizer):
    """Steps along the gradient, with momentum if asked."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        if lr < 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": None,
                "differentiable": False,
                "fused": None,
            },
        )

    def _move(self, value: Array, gradient: Array, kept: dict[str, Any], group: dict[str, Any]) -> None:
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * value
        momentum = group["momentum"]
        if momentum:
            have = kept.get("momentum_buffer")
            buffer = gradient.copy() if have is None else momentum * have + (1 - group["dampening"]) * gradient
            kept["momentum_buffer"] = buffer
            gradient = gradient + momentum * buffer if group["nesterov"] else buffer
        value[...] -= group["lr"] * gradient


class Adam(Optimizer):
    """Steps scaled by running means of the gradient and of its square."""

    _decoupled = False

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": None,
                "capturable": False,
                "differentiable": False,
                "fused": None,
                "decoupled_weight_decay": self._decoupled,
            },
        )

    def _move(self, value: Array, gradient: Array, kept: dict[str, Any], group: dict[str, Any]) -> None:
        decay = group["weight_decay"]
        if decay and self._decoupled:
            value[...] *= 1 - group["lr"] * decay
        elif decay:
            gradient = gradient + decay * value
        one, two = group["betas"]
        kept["step"] = step = kept.get("step", 0) + 1
        kept["exp_avg"] = mean = one * kept.get("exp_avg", np.zeros_like(value)) + (1 - one) * gradient
        kept["exp_avg_sq"] = square = two * kept.get("exp_avg_sq", np.zeros_like(value)) + (1 - two) * gradient**2
        if group["amsgrad"]:
            kept["max_exp_avg_sq"] = square = np.maximum(kept.get("max_exp_avg_sq", np.zeros_like(value)), square)
        root = np.sqrt(square) / (1 - two**step) ** 0.5 + group["eps"]
        value[...] -= (group["lr"] / (1 - one**step) * mean / root).astype(value.dtype)


class AdamW(Adam):
    """`Adam` whose weight decay does not go through the running means."""

    _decoupled = True

    def __init__(self, params: Iterable[Any], lr: float = 1e-3, weight_decay: float = 1e-2, **options: Any) -> None:
        super().__init__(params, lr, weight_decay=weight_decay, **options)


class RMSprop(Optimizer):
    """Steps scaled by a running mean of the gradient's square."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
    ) -> None:
        super().__init__(
            params, {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum}
        )

    def _move(self, value: Array, gradient: Array, kept: dict[str, Any], group: dict[str, Any]) -> None:
        gradient = gradient + group["weight_decay"] * value
        alpha = group["alpha"]
        kept["square_avg"] = square = alpha * kept.get("square_avg", np.zeros_like(value)) + (1 - alpha) * gradient**2
        step = gradient / (np.sqrt(square) + group["eps"])
        if group["momentum"]:
            kept["momentum_buffer"] = step = group["momentum"] * kept.get("momentum_buffer", 0) + step
        value[...] -= (group["lr"] * step).astype(value.dtype)


class Adagrad(Optimizer):
    """Steps scaled by the sum of the gradient's squares so far."""

    def __init__(self, params: Iterable[Any], lr: float = 1e-2, eps: float = 1e-10) -> None:
        super().__init__(params, {"lr": lr, "eps": eps})

    def _move(self, value: Array, gradient: Array, kept: dict[str, Any], group: dict[str, Any]) -> None:
        kept["sum"] = total = kept.get("sum", np.zeros_like(value)) + gradient**2
        value[...] -= (group["lr"] * gradient / (np.sqrt(total) + group["eps"])).astype(value.dtype)


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, **_: Any
) -> Tensor:
    """Scale the gradients of some tensors so that their common norm is at most `max_norm`; gives the norm before."""
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    grads = [tensor._grad for tensor in tensors if tensor._grad is not None]
    norms = [np.linalg.norm(part._array.reshape(-1), norm_type) for part in grads]
    total = np.asarray(np.linalg.norm(np.array(norms, dtype=np.float32), norm_type), dtype=np.float32)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    factor = np.minimum(max_norm / (total + 1e-6), 1.0)
    for part in grads:
        part._array[...] *= factor
    return Tensor._made(total)


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Clamp every entry of the gradients of some tensors."""
    for tensor in [parameters] if isinstance(parameters, Tensor) else list(parameters):
        if tensor._grad is not None:
            np.clip(tensor._grad._array, -clip_value, clip_value, out=tensor._grad._array)
