"""Colours keep seeds apart that meet, and are few."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.sparsity.colouring import coloured
from agrad.engine.sparsity.pattern import Pattern, identity

ENOUGH = 10**9


def pattern_of(rows: list[set[int]]) -> Pattern:
    """The pattern in which each entry is reached by the seeds of one set."""
    seeds = np.array([seed for row in rows for seed in sorted(row)], np.int64)
    return Pattern(np.cumsum([0, *[len(row) for row in rows]]), seeds)


def keeps_apart(colour: Any, rows: list[set[int]]) -> bool:
    """Whether the seeds of each set have different colours."""
    return all(len({int(colour[seed]) for seed in row}) == len(row) for row in rows)


@given(
    st.integers(1, 12).flatmap(
        lambda count: st.tuples(st.just(count), st.lists(st.sets(st.integers(0, count - 1)), max_size=12))
    )
)
def test_seeds_that_meet_have_different_colours(case: tuple[int, list[set[int]]]) -> None:
    """For any pattern; as many colours as there are seeds always do."""
    count, rows = case
    colour = coloured(pattern_of(rows), count, count, ENOUGH)
    assert colour.shape == (count,)
    assert colour.min() >= 0
    assert colour.max() < count
    assert keeps_apart(colour, rows)


def test_bands_have_as_many_colours_as_they_are_wide() -> None:
    """Three diagonals have three, one has one."""
    band = [{seed for seed in (place - 1, place, place + 1) if 0 <= seed < 100} for place in range(100)]
    assert coloured(pattern_of(band), 100, 25, ENOUGH).max() == 2
    assert coloured(identity(100), 100, 25, ENOUGH).max() == 0


def test_scattered_patterns_have_few_colours() -> None:
    """Four random seeds at each of 500 entries: no more colours than three times as many."""
    random = np.random.default_rng(3)
    rows = [set(random.choice(500, 4, replace=False).tolist()) for _ in range(500)]
    colour = coloured(pattern_of(rows), 500, 125, ENOUGH)
    assert keeps_apart(colour, rows)
    assert colour.max() < 12


def test_too_few_colours_or_too_much_work() -> None:
    """No colours are given where they do not do, or would take too long to find."""
    triangle = [{0, 1}, {1, 2}, {0, 2}]
    assert coloured(pattern_of([{0, 1, 2}]), 3, 2, ENOUGH) is None
    assert coloured(pattern_of(triangle), 3, 2, ENOUGH) is None
    assert coloured(pattern_of(triangle), 3, 3, ENOUGH) is not None
    assert coloured(pattern_of([*triangle, {0, 3}, {3, 4, 5}]), 6, 4, 8) is None


def test_seeds_without_effect_and_no_entries() -> None:
    """They may have any colour."""
    assert np.array_equal(coloured(pattern_of([set(), set()]), 3, 1, ENOUGH), [0, 0, 0])
    assert np.array_equal(coloured(pattern_of([]), 2, 1, ENOUGH), [0, 0])


def test_a_wrong_colouring_is_caught() -> None:
    """The comparison above fails where two seeds that meet share a colour."""
    assert not keeps_apart(np.array([0, 0, 1]), [{0, 1}])


@pytest.mark.parametrize("seed", range(3))
def test_colours_are_the_same_every_time(seed: int) -> None:
    """What is random in the search is fixed."""
    random = np.random.default_rng(seed)
    rows = [set(random.choice(60, 5, replace=False).tolist()) for _ in range(60)]
    first, second = (coloured(pattern_of(rows), 60, 60, ENOUGH) for _ in range(2))
    assert np.array_equal(first, second)
