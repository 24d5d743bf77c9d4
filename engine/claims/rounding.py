"""Written numbers that binary floating point rounds: 0.1, pi."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from ..graph import LEAF, Node

_EXACT: Final = 2.0**20
"""A written number whose denominator is larger is taken for a rounded one."""


def is_rounded(node: Node) -> bool:
    """Whether a leaf holds a written number that is rounded."""
    if node.op is not LEAF or node.dtype.kind != "f" or not np.all(np.isfinite(node.value)):
        return False
    return bool(np.any(np.abs(node.value) * _EXACT % 1 != 0))


def has_rounded_parameter(node: Node) -> bool:
    """Whether a written number that is rounded is a parameter of an op."""
    return any(type(value) is float and abs(value) * _EXACT % 1 != 0 for value in node.attrs.values())


@contextmanager
def rewritten(leaves: Sequence[Node], seed: int) -> Iterator[None]:
    """Let every number of some leaves be another number within its rounding, while the block runs.

    A number that is written twice is the same one in both places.
    """
    written = [leaf.value for leaf in leaves]
    numbers = np.unique(np.concatenate([np.ravel(value) for value in written])) if written else np.zeros(0)
    ways = np.random.default_rng(seed).choice((-np.inf, np.inf), numbers.shape)

    def beside(leaf: Node) -> Any:
        return np.nextafter(leaf.value, ways[np.searchsorted(numbers, leaf.value)].astype(leaf.dtype))

    with _holding(leaves, beside):
        yield


@contextmanager
def drawn_in(leaves: Sequence[Node], seed: int, most: float) -> Iterator[None]:
    """Let every number of some leaves be nearer to zero, by some part of it, while the block runs.

    What is computed from them is then rounded in other ways.
    """
    choose = np.random.default_rng(seed).uniform

    def nearer(leaf: Node) -> Any:
        return np.asarray(leaf.value * (1 - most * choose(0.5, 1.0, leaf.shape)), leaf.dtype)[()]

    with _holding(leaves, nearer):
        yield


@contextmanager
def _holding(leaves: Sequence[Node], other: Callable[[Node], Any]) -> Iterator[None]:
    """Let leaves have other values while the block runs."""
    before = [leaf.value for leaf in leaves]
    try:
        for leaf in leaves:
            leaf.value = other(leaf)
        yield
    finally:
        for leaf, value in zip(leaves, before, strict=True):
            leaf.value = value
