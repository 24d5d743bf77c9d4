"""The matrix of a linear map from fewer runs than it has rows, where its structure allows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

from ..derivatives.batching import batched, bytes_of_one_run, varying
from ..graph import Node, Shape, apply, leaf
from ..ops.assembly import ASSEMBLE
from .colouring import coloured
from .folding import folded
from .meeting import Size
from .passing import passed
from .pattern import FullError, Pattern, identity, joined

_LEAST_SEEDS: Final = 48
_LEAST_WORK: Final = 2**18
"""Entries that all runs together compute, below which they take less time than the search for a pattern."""

_LARGEST: Final = 2**21
"""The most entries of a node that is looked at."""

_FEWER: Final = 4
"""How many times fewer the runs must become."""

_FULLEST: Final = 8
"""A node that more than one in so many of all seeds reaches, on average over its entries, ends the search behind it."""

_SHARE: Final = 64
"""The search may look at one entry for so many that all runs together compute ..."""

_FREE: Final = 2**17
"""... and at these ..."""

_DEAREST: Final = 2**23
"""... but at no more: they are held in memory together."""

_MOST_BYTES: Final = 2**26
"""How much memory all runs together may take at one time."""


def compressed(targets: Sequence[Node], seed: Node, since: int) -> list[Node | None]:
    """For each target of a linear map the node of its matrix, of the seed's shape followed by its own.

    Args:
        targets: what each run gives.
        seed: the leaf that varies: one entry is 1 and all others 0 in each run.
        since: nodes made before, by their `serial`, stay in the graph as they are.

    Returns:
        None for a target whose pattern is not known or so full that runs for all seeds cost no more.
    """
    nothing: list[Node | None] = [None] * len(targets)
    count = seed.size
    if count < _LEAST_SEEDS:
        return nothing
    sizes = [node.size for node in varying(targets, {seed: None})]
    work = count * sum(sizes)
    if work < _LEAST_WORK or max(sizes, default=0) > _LARGEST:
        return nothing
    budget = min(work // _SHARE + _FREE, _DEAREST)
    known = patterns_of(targets, seed, budget)
    sparse = {target: known[target] for target in targets if known.get(target) is not None}
    patterns = [pattern for pattern in sparse.values() if pattern is not None]
    if not patterns:
        return nothing
    colour = coloured(joined(patterns), count, count // _FEWER, budget)
    if colour is None:
        return nothing
    colours = int(colour.max()) + 1
    if colours * bytes_of_one_run(list(sparse), {seed: None}) > _MOST_BYTES:
        return nothing
    unit = np.zeros((colours, count), seed.dtype)
    unit[colour, np.arange(count)] = 1
    start = leaf(unit.reshape(colours, *seed.shape))
    found: dict[Node, Node] = {}
    for target, rows, pattern in zip(sparse, batched(list(sparse), {seed: start}), patterns, strict=True):
        whole = _assembled(rows, colour, pattern, (*seed.shape, *target.shape))
        found[target] = folded(whole, start, since)
    return [found.get(target) for target in targets]


def patterns_of(targets: Sequence[Node], seed: Node, budget: int) -> dict[Node, Pattern | None]:
    """What reaches each node that varies; None where it is not known or too much.

    Args:
        targets, seed: of the linear map.
        budget: how many pairs of a seed and an entry may be looked at.
    """
    count = seed.size
    known: dict[Node, Pattern | None] = {seed: identity(count)}
    for node in varying(targets, {seed: None}):
        if node is seed:
            continue
        known[node] = None
        if budget > 0:
            most = min(count * max(node.size, 1) // _FULLEST, budget)
            with suppress(FullError):
                known[node] = pattern = passed(node, known, Size(count, most))
                budget -= len(pattern.seeds) if pattern is not None else 0
    return known


def _assembled(rows: Node, colour: Any, pattern: Pattern, shape: Shape) -> Node:
    """The matrix: each entry that a seed reaches, from the run of the seed's colour, and zeros."""
    entries, seeds = pattern.entries, pattern.seeds
    order = np.lexsort((entries, seeds))  # in the order in which the result lies in memory
    entries, seeds = entries[order], seeds[order]
    positions = leaf(colour[seeds] * pattern.size + entries)
    return apply(ASSEMBLE, (rows, positions, leaf(seeds * pattern.size + entries)), {"shape": shape})
