"""PyTorch, eager and compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .peer import Prepared

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from works.work import Inputs, Work


def eager(work: Work, inputs: Inputs, threads: int) -> Prepared:
    """Op by op."""
    return _prepared(work, inputs, threads, lambda function: function)


def compiled(work: Work, inputs: Inputs, threads: int) -> Prepared:
    """By way of torch.compile."""
    return _prepared(work, inputs, threads, torch.compile)


def _prepared(work: Work, inputs: Inputs, threads: int, compiler: Callable[[Any], Any]) -> Prepared:
    torch.set_num_threads(threads)
    tensors = {name: torch.from_numpy(array) for name, array in inputs.items()}
    if work.derivative == "hessian":
        return _hessian(work, tensors, compiler)
    wrt = [tensors[name].requires_grad_() for name in work.wrt]

    def formulas(**tensors: torch.Tensor) -> torch.Tensor:
        return work.losses["torch"](torch, **tensors)

    function = compiler(formulas)

    def call() -> Sequence[torch.Tensor]:
        loss = function(**tensors)
        return [loss, *torch.autograd.grad(loss, wrt)]

    return Prepared(call, _arrays)


def _hessian(work: Work, tensors: dict[str, torch.Tensor], compiler: Callable[[Any], Any]) -> Prepared:
    (name,) = work.wrt
    function = compiler(torch.func.hessian(lambda x: work.losses["torch"](torch, **{name: x})))
    return Prepared(lambda: [function(tensors[name])], _arrays)


def _arrays(found: Sequence[torch.Tensor]) -> list[NDArray[np.generic]]:
    return [each.detach().numpy() for each in found]
