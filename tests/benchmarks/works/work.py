"""What a work is: one computation, told to every peer in its own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Inputs = dict[str, NDArray[Any]]
Answer = list[Any]


@dataclass(frozen=True, slots=True)
class Work:
    """A computation that agrad and its peers are timed on.

    Attributes:
        letter: what `--work` calls it, beside its name.
        name: one word.
        title: what is computed.
        text: the formulas as agrad reads them; what is assigned last is differentiated.
        wrt: the inputs to differentiate by.
        sizes: what the comparison runs at.
        tiny: a size that takes no time.
        dtypes: of the floats.
        inputs: a size and a dtype to arrays by name, the same at every call.
        amount: a size to what the time should be proportional to.
        by_hand: the inputs to the value and the gradients in the order of `wrt`, derived by a person, in NumPy.
        losses: a framework (torch, jax, autograd, casadi) to the same formulas in its words: its array module and the
            inputs by name to a number.
        derivative: `gradient` (and the value with it), or `hessian` alone.
        goals: a peer, or `best` of all that differentiate, to the ratio of warm times that agrad shall not exceed;
            `best, first call` is that of the first calls of both.
    """

    letter: str
    name: str
    title: str
    text: str
    wrt: tuple[str, ...]
    sizes: tuple[int, ...]
    tiny: int
    inputs: Callable[[int, Any], Inputs]
    amount: Callable[[int], float]
    by_hand: Callable[..., Answer]
    losses: Mapping[str, Callable[..., Any]]
    dtypes: tuple[str, ...] = ("float64",)
    derivative: str = "gradient"
    goals: Mapping[str, float] = field(default_factory=dict)

    def growing_sizes(self) -> list[int]:
        """Four sizes up to the largest, each of a quarter of the amount of work of the next."""
        largest = max(self.sizes)
        power = np.log(self.amount(largest) / self.amount(largest // 2)) / np.log(2)
        return [round(largest / 4 ** (step / power)) for step in (3, 2, 1, 0)]


def normal(generator: np.random.Generator, dtype: Any, *shape: int) -> NDArray[Any]:
    """Normally distributed numbers, drawn as float64 and rounded: the same numbers for every dtype."""
    return generator.standard_normal(shape).astype(dtype)
