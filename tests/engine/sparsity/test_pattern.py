"""Patterns are what matrices of booleans are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.sparsity.pattern import FullError, Pattern, added, identity, joined, picked, union

COUNT = 5


def as_matrix(pattern: Pattern) -> Any:
    """Whether a seed (column) reaches an entry (row)."""
    matrix = np.zeros((pattern.size, COUNT), bool)
    assert np.all(np.diff(pattern.entries * COUNT + pattern.seeds) > 0), "seeds ascend, each once"
    matrix[pattern.entries, pattern.seeds] = True
    return matrix


def from_matrix(matrix: Any) -> Pattern:
    """The pattern of a matrix of booleans."""
    return Pattern(np.concatenate(([0], np.cumsum(matrix.sum(1)))), np.nonzero(matrix)[1])


@st.composite
def matrices(draw: st.DrawFn, rows: int | None = None) -> Any:
    """A matrix of booleans, with few of them true."""
    rows = draw(st.integers(0, 6)) if rows is None else rows
    return np.array(draw(st.lists(st.booleans(), min_size=rows * COUNT, max_size=rows * COUNT)), bool).reshape(
        rows, COUNT
    )


@given(st.data())
def test_union(data: st.DataObject) -> None:
    """What either has, both have."""
    one = data.draw(matrices())
    others = [data.draw(matrices(len(one))) for _ in range(data.draw(st.integers(0, 2)))]
    expected = np.logical_or.reduce([one, *others])
    assert np.array_equal(as_matrix(union([from_matrix(each) for each in (one, *others)], COUNT)), expected)


@given(st.lists(matrices(), min_size=1, max_size=3))
def test_joined(parts: list[Any]) -> None:
    """One tensor's entries behind another's."""
    assert np.array_equal(as_matrix(joined([from_matrix(each) for each in parts])), np.concatenate(parts))


@given(st.data())
def test_picked(data: st.DataObject) -> None:
    """Entries of another in any order, repeated or left out, and zeros."""
    matrix = data.draw(matrices())
    sources = np.array(data.draw(st.lists(st.integers(-1, len(matrix) - 1), max_size=8)), np.int64)
    expected = np.concatenate((matrix, np.zeros((1, COUNT), bool)))[sources]
    total = int(expected.sum())
    assert np.array_equal(as_matrix(picked(from_matrix(matrix), sources, total)), expected)
    if total:
        with pytest.raises(FullError):
            picked(from_matrix(matrix), sources, total - 1)


@given(st.data())
def test_added(data: st.DataObject) -> None:
    """Several entries meet in one."""
    matrix = data.draw(matrices())
    size = data.draw(st.integers(1, 4))
    targets = np.array(
        data.draw(st.lists(st.integers(0, size - 1), min_size=len(matrix), max_size=len(matrix))), np.int64
    )
    expected = np.zeros((size, COUNT), bool)
    np.logical_or.at(expected, targets, matrix)
    assert np.array_equal(as_matrix(added(from_matrix(matrix), targets, size, COUNT)), expected)


def test_identity() -> None:
    """Each seed is an entry."""
    assert np.array_equal(as_matrix(identity(COUNT)), np.eye(COUNT, dtype=bool))
