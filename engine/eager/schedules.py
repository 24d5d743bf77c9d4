"""`torch.optim.lr_scheduler`: rates that change from step to step."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from .optim import Optimizer


class Schedule:
    """Sets the rate of each group of an optimiser to a multiple of its first.

    Args:
        optimizer: whose rates are set.
        factor: of the number of steps so far, by what the first rates are multiplied.
    """

    def __init__(self, optimizer: Optimizer, factor: Callable[[int], float]) -> None:
        self.optimizer = optimizer
        self.base_lrs = [group.setdefault("initial_lr", group["lr"]) for group in optimizer.param_groups]
        self.last_epoch = 0
        self._factor = factor
        self._set()

    def _set(self) -> None:
        for group, rate in zip(self.optimizer.param_groups, self.base_lrs, strict=True):
            group["lr"] = rate * self._factor(self.last_epoch)

    def step(self) -> None:
        """Go on to the next rates."""
        if self.last_epoch == 0 and not self.optimizer.stepped:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
                "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to "
                "do this will result in PyTorch skipping the first value of the learning rate schedule. See more "
                "details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",
                stacklevel=2,
            )
        self.last_epoch += 1
        self._set()

    def get_last_lr(self) -> list[float]:
        """The rates as they stand."""
        return [group["lr"] for group in self.optimizer.param_groups]


class StepLR(Schedule):
    """Rates times gamma after every so many steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        super().__init__(optimizer, lambda epoch: gamma ** (epoch // step_size))


class MultiStepLR(Schedule):
    """Rates times gamma at some steps."""

    def __init__(self, optimizer: Optimizer, milestones: list[int], gamma: float = 0.1) -> None:
        super().__init__(optimizer, lambda epoch: gamma ** sum(epoch >= stone for stone in milestones))


class ExponentialLR(Schedule):
    """Rates times gamma after every step."""

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        super().__init__(optimizer, lambda epoch: gamma**epoch)


class LambdaLR(Schedule):
    """Rates times what a function says of the step."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], Any]) -> None:
        super().__init__(optimizer, lr_lambda)


class CosineAnnealingLR(Schedule):
    """Rates along half a wave of the cosine, down to nothing."""

    def __init__(self, optimizer: Optimizer, T_max: int) -> None:  # noqa: N803  # PyTorch's parameter
        super().__init__(optimizer, lambda epoch: (1 + math.cos(math.pi * epoch / T_max)) / 2)
