"""gather and scatter, their kin along one dimension, and sorting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.graph import Node, leaf, make

FEW = settings(max_examples=30, deadline=None)
Value = Callable[[Node], Any]
Slopes = Callable[..., list[Any]]

M = leaf(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), requires_grad=True)
INDEX = [[0, 2, 1], [1, 1, 0]]
LANES = st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=2, max_size=2)


@FEW
@given(index=LANES)
def test_gather_and_scatter_are_transposes(value: Value, slopes: Slopes, index: list[list[int]]) -> None:
    """gather picks lane by lane, and what flows back is scatter_add's sum over repeated positions."""
    assert value(make.gather(M, 1, index)) == np.take_along_axis(M.value, np.array(index), 1).tolist()
    counts = [[row.count(place) for place in range(3)] for row in index]
    assert slopes(lambda x: make.gather(x, 1, index), M.value) == [counts]
    assert value(make.scatter_add(leaf(np.zeros((2, 3))), 1, index, leaf(np.ones((2, 3))))) == counts


def test_shorter_index(value: Value, slopes: Slopes) -> None:
    """The index may be shorter than the tensor, and then the rest gets nothing."""
    assert value(make.gather(M, 1, [[2]])) == [[3.0]]
    assert slopes(lambda x: make.scatter(x, 1, [[0]], M), M.value) == [[[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]
    assert slopes(lambda source: make.scatter_add(M, 1, [[0]], source), M.value) == [[[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]


def test_scatter_to_one_place(value: Value, slopes: Slopes) -> None:
    """Of several sources for one place the last stays, and it alone gets the gradient."""
    zeros = leaf(np.zeros((1, 2)))
    assert value(make.scatter(zeros, 1, [[0, 0]], leaf(np.array([[7.0, 8.0]])))) == [[8.0, 0.0]]
    assert slopes(lambda source: make.scatter(zeros, 1, [[0, 0]], source), [[7.0, 8.0]]) == [[[0.0, 1.0]]]


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [("sum", 12.0), ("prod", 42.0), ("mean", 4.0), ("amax", 7.0), ("amin", 2.0)],
)
def test_scatter_reduce(value: Value, reduce: str, expected: float) -> None:
    """An entry is joined with all that is scattered to it; the others stay."""
    base, source = leaf(np.array([2.0, 5.0])), leaf(np.array([3.0, 7.0]))
    whole = make.scatter_reduce(base, 0, [0, 0], source, reduce)
    assert value(whole) == [expected, 5.0]
    alone = make.scatter_reduce(base, 0, [0, 0], source, reduce, include_self=False)
    assert value(alone)[0] == {"sum": 10.0, "prod": 21.0, "mean": 5.0, "amax": 7.0, "amin": 3.0}[reduce]
    assert value(alone)[1] == 5.0


def test_scatter_reduce_at_ties_and_zeros(slopes: Slopes) -> None:
    """Equal extremes share the gradient evenly; a product with zeros needs no division."""
    amax = slopes(lambda x, y: make.scatter_reduce(x, 0, [0, 0], y, "amax"), [1.0], [2.0, 2.0])
    assert amax == [[0.0], [0.5, 0.5]]
    prod = slopes(lambda x, y: make.scatter_reduce(x, 0, [0, 0], y, "prod"), [3.0], [0.0, 4.0])
    assert prod == [[0.0], [12.0, 0.0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make.gather(M, 1, [[0, 5], [1, 1]]), "index 5 is out of bounds for dimension 1 with size 3"),
        (lambda: make.gather(M, 1, [[-1]]), "index -1 is out of bounds for dimension 1 with size 3"),
        (
            lambda: make.gather(M, 1, [0, 1]),
            "Index tensor must have the same number of dimensions as input tensor",
        ),
        (
            lambda: make.gather(M, 0, [[0, 1, 1, 0]]),
            "Size does not match at dimension 1 expected index [1, 4] to be no larger than self [2, 3] apart from "
            "dimension 0",
        ),
        (
            lambda: make.scatter(M, 1, [[0, 1, 2, 1]], M),
            "Expected index [1, 4] to be no larger than self [2, 3] apart from dimension 1 and to be no larger size "
            "than src [2, 3]",
        ),
        (
            lambda: make.scatter_reduce(M, 1, INDEX, M, "median"),
            "reduce argument must be either sum, prod, mean, amax or amin, got median",
        ),
        (lambda: make.topk(leaf(np.ones(3)), 5), "selected index k out of range"),
    ],
)
def test_errors(call: Callable[[], Node], message: str) -> None:
    """A position or shape that does not fit is PyTorch's sentence."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.message == message


def test_take_counts_all_entries(value: Value, slopes: Slopes) -> None:
    """take sees the tensor flattened; along an axis it is NumPy's."""
    assert value(make.take(M, [0, -1, 0])) == [1.0, 6.0, 1.0]
    assert slopes(lambda x: make.take(x, [0, -1, 0]), M.value) == [[[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]]
    assert value(make.take(M, [[2, 0]], 1)) == np.take(M.value, [[2, 0]], 1).tolist()
    assert value(make.take_along_dim(M, [5, 0])) == [6.0, 1.0]
    assert value(make.take_along_dim(M, [[0, -1]], 1)) == [[1.0, 3.0], [4.0, 6.0]]


@FEW
@given(entries=st.lists(st.integers(-3, 3), min_size=1, max_size=6), descending=st.booleans())
def test_sorting_is_stable(value: Value, entries: list[int], descending: bool) -> None:
    """Equal entries keep their order in both directions, as PyTorch's stable sort."""
    order = sorted(range(len(entries)), key=lambda place: -entries[place] if descending else entries[place])
    ordered = make.sort(leaf(np.array(entries, dtype=float)), descending=descending)
    assert value(ordered.nodes[1]) == order
    assert value(ordered.nodes[0]) == [entries[place] for place in order]


def test_gradients_of_ties(slopes: Slopes) -> None:
    """At ties the gradient goes to the place that PyTorch's sort and topk take the entry from."""
    assert slopes(lambda x: make.select(make.sort(x).nodes[0], 0, -1), [2.0, 2.0, 1.0]) == [[0.0, 1.0, 0.0]]
    assert slopes(lambda x: make.select(make.sort(x).nodes[0], 0, 0), [1.0, 1.0]) == [[1.0, 0.0]]
    assert slopes(lambda x: make.topk(x, 1).nodes[0], [2.0, 2.0, 1.0]) == [[1.0, 0.0, 0.0]]


def test_sorting_without_dimensions_and_with_nan(value: Value) -> None:
    """A number sorts to itself, and NaN counts as the largest."""
    assert value(make.sort(leaf(np.float64(3.0))).nodes[0]) == 3.0
    assert value(make.topk(leaf(np.float64(3.0)), 1).nodes[0]) == 3.0
    rising = value(make.sort(leaf(np.array([np.nan, 1.0, -np.inf]))).nodes[0])
    falling = value(make.sort(leaf(np.array([1.0, np.nan, -np.inf])), descending=True).nodes[0])
    assert rising[:2] == [-np.inf, 1.0]
    assert falling[1:] == [1.0, -np.inf]


def test_numpys_sort_is_the_values(value: Value) -> None:
    """NumPy's sort gives the values alone."""
    assert value(make.sort(leaf(np.array([3.0, 1.0])), indices=False)) == [1.0, 3.0]
