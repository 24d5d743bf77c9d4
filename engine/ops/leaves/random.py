"""Constructors of random numbers: the same on every run and every machine, so that a result can be checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InputError
from ...graph import Example, Node, as_node
from ..infer import default_dtype
from .creation import checked_size, constructor, made, sizes_of


def stream(name: str, seed: int | None) -> np.random.Generator:
    """NumPy's generator of a seed: the same numbers on every run and every machine."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(
            f"{name} needs a seed" if seed is None else f"a seed is an integer of 0 or more, not {seed!r}",
            hint=f"write {name}(..., seed=0): a result that can be checked must be the same on every run",
        )
    return np.random.default_rng(seed)


def _randn(
    *size: int,
    shape: Any = None,
    seed: int | None = None,
    dtype: np.dtype[Any] | None = None,
    requires_grad: bool = False,
) -> Node:
    sizes = checked_size(sizes_of(size, shape), "randn")
    return made(stream("randn", seed).standard_normal(sizes).astype(dtype or default_dtype()), requires_grad)


def _rand(
    *size: int,
    shape: Any = None,
    seed: int | None = None,
    dtype: np.dtype[Any] | None = None,
    requires_grad: bool = False,
) -> Node:
    sizes = checked_size(sizes_of(size, shape), "rand")
    return made(stream("rand", seed).random(sizes).astype(dtype or default_dtype()), requires_grad)


def _normal(
    mean: float,
    std: float,
    size: Any = (),
    *,
    seed: int | None = None,
    dtype: np.dtype[Any] | None = None,
    requires_grad: bool = False,
) -> Node:
    if not std >= 0:
        raise InputError(f"normal expects std >= 0.0, but found std {std}")
    values = mean + std * stream("normal", seed).standard_normal(checked_size(size, "normal"))
    return made(np.asarray(values).astype(dtype or default_dtype()), requires_grad)


def _randint(
    low: int, high: Any = None, size: Any = None, *, seed: int | None = None, dtype: np.dtype[Any] | None = None
) -> Node:
    if size is None:  # randint(high, size)
        low, high, size = 0, low, high
    if size is None:
        raise InputError("randint needs a size", hint="write randint(0, 10, (3,), seed=0)")
    if not low < high:
        raise InputError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    values = stream("randint", seed).integers(low, high, checked_size(size, "randint"))
    return made(values.astype(dtype or default_dtype()), requires_grad=False)


def _randperm(n: int, *, seed: int | None = None) -> Node:
    return made(stream("randperm", seed).permutation(checked_size(n, "randperm")[0]), requires_grad=False)


def _rand_like(input: Node, *, seed: int | None = None, requires_grad: bool = False) -> Node:
    return _rand(shape=as_node(input).shape, seed=seed, requires_grad=requires_grad)


def _randn_like(input: Node, *, seed: int | None = None, requires_grad: bool = False) -> Node:
    return _randn(shape=as_node(input).shape, seed=seed, requires_grad=requires_grad)


def _random(name: str, doc: str, call: Callable[..., Node], *calls: str, like: bool = False) -> None:
    """A row for a leaf of random numbers."""
    forms = tuple(f"torch.{name}({arguments}, seed=0)" for arguments in calls)
    example = Example(f"x * {forms[0]}", {"x": (3,)}) if like else Example(forms[0], {}, orders=0)
    sentence = f"{doc}; the stream is that of numpy.random.default_rng(seed)."
    constructor(name, sentence, call, *forms, examples=(example,))


_random("randn", "A leaf of standard normal numbers", _randn, "2, 3", "(2, 3)")
_random("rand", "A leaf of numbers evenly distributed between 0 and 1", _rand, "2, 3", "(2, 3)")
_random("normal", "A leaf of normal numbers of a mean and a deviation", _normal, "0.0, 2.0, (3,)")
_random("randint", "A leaf of whole numbers from low up to but without high", _randint, "0, 9, (3,)", "9, (3,)")
_random("randperm", "A leaf of the integers from 0 up to but without n, shuffled", _randperm, "5")
_random("rand_like", "A leaf of numbers between 0 and 1, of the shape of a tensor", _rand_like, "x", like=True)
_random("randn_like", "A leaf of standard normal numbers, of the shape of a tensor", _randn_like, "x", like=True)
