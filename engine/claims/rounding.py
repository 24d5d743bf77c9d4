"""Written numbers that binary floating point rounds: 0.1, pi."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

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
    before = [leaf.value for leaf in leaves]
    numbers = np.unique(np.concatenate([np.ravel(value) for value in before])) if before else np.zeros(0)
    ways = np.random.default_rng(seed).choice((-np.inf, np.inf), numbers.shape)
    try:
        for leaf, value in zip(leaves, before, strict=True):
            leaf.value = np.nextafter(value, ways[np.searchsorted(numbers, value)].astype(leaf.dtype))
        yield
    finally:
        for leaf, value in zip(leaves, before, strict=True):
            leaf.value = value
