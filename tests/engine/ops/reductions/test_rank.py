"""Medians, modes, quantiles and k-th values: ties, positions, NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, Outputs, ancestors, leaf, make
from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.referees.forward import evaluate_graph
from agrad.engine.run.cpu import evaluate
from agrad.engine.worker.budget import Budget

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]

TIED = st.lists(st.sampled_from([-1.0, 0.0, 2.0]), min_size=1, max_size=6)


def first(function: Callable[[Node], Outputs]) -> Callable[[Node], Node]:
    """The first result of a function of several."""
    return lambda x: function(x).nodes[0]


@pytest.mark.parametrize(
    ("function", "x", "slope"),
    [
        (make.median, [1, 2, 2, 3], [0, 0.5, 0.5, 0]),
        (make.median, [1, 2, 3, 4], [0, 1, 0, 0]),
        (make.median, [2, 2, 2], [1 / 3, 1 / 3, 1 / 3]),
        (first(lambda x: make.median(x, 0)), [2, 2, 2], [0, 1, 0]),
        (make.nanmedian, [math.nan, 1, 2], [0, 1, 0]),
        (first(lambda x: make.kthvalue(x, 2)), [2, 2, 2], [1, 0, 0]),
        (first(make.mode), [2, 2, 1], [0, 1, 0]),
        (lambda x: make.quantile(x, 0.5), [1, 2, 3, 4], [0, 0.5, 0.5, 0]),
    ],
)
def test_ties_follow_pytorch(
    slopes: Slopes, function: Callable[[Node], Node], x: list[float], slope: list[float]
) -> None:
    """Equal ones share evenly over all elements; along an axis one gets all, as PyTorch decides for each form."""
    np.testing.assert_allclose(slopes(function, x)[0], slope)


@settings(max_examples=30, deadline=None)
@given(TIED)
def test_shared_slopes_sum_to_one(row: list[float]) -> None:
    """Whatever ties, the slopes of a median sum to 1 and only the chosen value gets any."""
    x = leaf(np.array(row), requires_grad=True)
    result = make.median(x)
    g = gradients([result], [leaf(np.float64(1.0))])[x]
    values = evaluate([result, g])
    assert values[g].sum() == pytest.approx(1.0)
    assert all(slope == 0 or entry == values[result] for slope, entry in zip(values[g], row, strict=True))


@settings(max_examples=30, deadline=None)
@given(TIED)
def test_values_stand_at_their_indices(row: list[float]) -> None:
    """Each choice along an axis is the element at its index, and has the rank that was asked for."""
    x = leaf(np.array(row))
    ranked = sorted(row)
    wanted = (ranked[(len(row) - 1) // 2], ranked[-1], max(sorted(set(row)), key=row.count))
    for choice, expected in zip((make.median(x, 0), make.kthvalue(x, len(row)), make.mode(x, 0)), wanted, strict=True):
        values = evaluate(choice.nodes)
        chosen, place = (values[node] for node in choice.nodes)
        assert row[int(place)] == chosen == expected


@pytest.mark.parametrize(
    "function",
    [
        make.median,
        first(lambda x: make.median(x, 0)),
        first(make.mode),
        first(lambda x: make.kthvalue(x, 1)),
        lambda x: make.quantile(x, 0.3),
    ],
)
def test_a_number_is_its_own_median(slopes: Slopes, function: Callable[[Node], Node]) -> None:
    """A tensor without axes passes through every choice with slope 1."""
    assert slopes(function, 2.0) == [1.0]


def test_quantiles_between_elements(value: Value, slopes: Slopes) -> None:
    """A quantile lies between two elements by the rule that is asked for, and NaN makes it NaN."""
    x = leaf(np.array([4.0, 1.0, 2.0]))
    assert value(make.quantile(x, 0.25)) == 1.5
    assert [value(make.quantile(x, 0.25, interpolation=rule)) for rule in ("lower", "higher", "midpoint")] == [
        1,
        2,
        1.5,
    ]
    assert value(make.quantile(x, (0.0, 1.0))) == [1.0, 4.0]
    assert value(make.quantile(leaf(np.array([[1.0, 3.0], [5.0, 9.0]])), 0.5, 1, True)) == [[2.0], [7.0]]
    assert math.isnan(value(make.quantile(leaf(np.array([1.0, math.nan])), 0.0)))
    assert slopes(lambda x: make.quantile(x, 0.25), [4.0, 1.0, 2.0]) == [[0.0, 0.5, 0.5]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: make.kthvalue(x, 0),
        lambda x: make.kthvalue(x, 4),
        lambda x: make.quantile(x, 1.5),
        lambda x: make.quantile(x, 0.5, interpolation="cubic"),
    ],
)
def test_what_cannot_be_chosen_is_refused(function: Callable[[Node], Any]) -> None:
    """A rank, share or rule out of range is an error that is told."""
    with pytest.raises(InputError):
        function(leaf(np.array([1.0, 2.0, 3.0])))


def test_kth_value_of_nothing_but_nan_has_a_formula() -> None:
    """On exact numbers too NaN is in its place in the order, though it is equal to nothing."""
    node = make.kthvalue(leaf(np.array([math.nan, math.nan])), 2).nodes[0]
    m = PreciseArithmetic()
    assert m.undefined_number(evaluate_graph(m, ancestors([node]), {}, Budget(100, 1.0))[node].item())
