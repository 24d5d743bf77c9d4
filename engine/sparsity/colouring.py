"""Colours for seeds: two that reach one entry have different ones, so that one run of a colour keeps them apart.

This is the direct method of Curtis, Powell and Reid, "On the estimation of sparse Jacobian matrices" (1974).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .pattern import Pattern

_TRIALS: Final = 24
"""How many numbers of colours are tried in turn for the seeds in their own order."""


def coloured(pattern: Pattern, count: int, most: int, budget: int) -> Any:
    """The colour of each seed, from 0; None where so few do not do, or are not found.

    Args:
        pattern: what the seeds reach.
        count: how many seeds there are.
        most: how many colours there may be.
        budget: how many pairs of a seed and an entry may be looked at.
    """
    fewest = int(np.max(np.diff(pattern.starts), initial=1))
    entries, seeds = pattern.entries, pattern.seeds
    for colours in range(fewest, min(fewest + _TRIALS, most) + 1):
        colour = np.arange(count) % colours
        budget -= seeds.size
        codes = np.sort(entries * colours + colour[seeds])
        if not np.any(codes[1:] == codes[:-1]):
            return colour
        if budget < 0:
            return None
    return _independent(entries, seeds, count, most, budget) if fewest <= most else None


def _independent(entries: Any, seeds: Any, count: int, most: int, budget: int) -> Any:
    """Colours one after another, each given to seeds until no other can have it.

    Of the seeds that could have a colour, those get it that have the least random rank at all entries that they reach
    (M. Luby, "A simple parallel algorithm for the maximal independent set problem", 1986).
    """
    colour = np.full(count, -1)
    colour[np.bincount(seeds, minlength=count) == 0] = 0  # what reaches nothing disturbs nobody
    random = np.random.default_rng(0)
    for number in range(most):
        left = colour[seeds] < 0
        entries, seeds = entries[left], seeds[left]
        if not seeds.size:
            return colour
        at, reached = entries, seeds  # of the seeds that could have this colour
        while reached.size:
            budget -= reached.size
            if budget < 0:
                return None
            rank = random.permutation(count)
            firsts = np.flatnonzero(np.diff(at, prepend=-1))
            least = np.repeat(np.minimum.reduceat(rank[reached], firsts), np.diff(firsts, append=at.size))
            loses = np.bincount(reached[rank[reached] != least], minlength=count) > 0
            wins = np.zeros(count, bool)
            wins[reached] = ~loses[reached]
            colour[wins] = number
            taken = np.zeros(at[-1] + 1, bool)
            taken[at[wins[reached]]] = True
            beside = np.zeros(count, bool)
            beside[reached[taken[at]]] = True
            still = ~beside[reached]
            at, reached = at[still], reached[still]
    return colour if np.all(colour >= 0) else None
