"""Patterns: for each entry of a tensor, the seeds of a linear map that can reach it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class FullError(Exception):
    """A pattern would have more pairs of a seed and an entry than it may."""


class Pattern(NamedTuple):
    """The seeds that reach each entry of a tensor in row-major order, as rows of a sparse matrix.

    Attributes:
        starts: where each entry's seeds begin in `seeds`, and the end of the last.
        seeds: ascending for each entry.
    """

    starts: Any
    seeds: Any

    @property
    def size(self) -> int:
        """How many entries the tensor has."""
        return len(self.starts) - 1

    @property
    def entries(self) -> Any:
        """The entry that each of `seeds` reaches."""
        return np.repeat(np.arange(self.size), np.diff(self.starts))


def identity(count: int) -> Pattern:
    """The pattern of the seeds themselves."""
    return Pattern(np.arange(count + 1), np.arange(count))


def _from_codes(codes: Any, size: int, count: int) -> Pattern:
    """The pattern of pairs `entry * count + seed`, in any order and with repetitions."""
    # Most lists are a few ascending ones behind another, which a stable sort merges.
    codes = np.sort(codes, kind="stable")
    if codes.size:
        codes = codes[np.concatenate(([True], codes[1:] != codes[:-1]))]
    entries, seeds = np.divmod(codes, count)
    return Pattern(np.searchsorted(entries, np.arange(size + 1)), seeds)


def union(patterns: Sequence[Pattern], count: int) -> Pattern:
    """What reaches an entry in any of some patterns of one size.

    Args:
        patterns: at least one.
        count: the number of seeds.
    """
    first, *others = patterns
    different = [other for other in others if not _same(first, other)]
    if not different:
        return first
    codes = [pattern.entries * count + pattern.seeds for pattern in (first, *different)]
    return _from_codes(np.concatenate(codes), first.size, count)


def _same(one: Pattern, other: Pattern) -> bool:
    if one is other:
        return True
    return np.array_equal(one.starts, other.starts) and np.array_equal(one.seeds, other.seeds)


def joined(patterns: Sequence[Pattern]) -> Pattern:
    """The patterns of tensors whose entries are counted one tensor after another."""
    if len(patterns) == 1:
        return patterns[0]
    ends = np.cumsum([0, *[pattern.starts[-1] for pattern in patterns]])
    starts = [pattern.starts[:-1] + end for pattern, end in zip(patterns, ends, strict=False)]
    return Pattern(np.concatenate([*starts, ends[-1:]]), np.concatenate([pattern.seeds for pattern in patterns]))


def picked(pattern: Pattern, sources: Any, most: int) -> Pattern:
    """The pattern of a tensor each of whose entries is one of another's.

    Args:
        pattern: the other's.
        sources: for each entry the one that it is, in row-major order; -1 for a zero.
        most: how many pairs it may have.

    Raises:
        FullError: where it would have more.
    """
    lengths = np.where(sources >= 0, np.diff(pattern.starts)[sources] if pattern.size else 0, 0)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    if starts[-1] > most:
        raise FullError
    # The place of each seed: where its source begins, and how far it stands behind the first of its entry.
    begins = np.repeat(pattern.starts[sources] - starts[:-1], lengths)
    return Pattern(starts, pattern.seeds[begins + np.arange(starts[-1])])


def added(pattern: Pattern, targets: Any, size: int, count: int) -> Pattern:
    """The pattern of a tensor to whose entries those of another are added.

    Args:
        pattern: the other's.
        targets: for each of its entries the one that it is added to, in row-major order.
        size: how many entries the result has.
        count: the number of seeds.
    """
    return _from_codes(targets[pattern.entries] * count + pattern.seeds, size, count)
