"""Extremes: ties, positions, NaN."""

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
from agrad.engine.graph import Node, Outputs, leaf, make
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]

TIED = st.lists(st.sampled_from([-1.0, 0.0, 2.0]), min_size=1, max_size=6)


def first(function: Callable[[Node], Outputs]) -> Callable[[Node], Node]:
    """The first result of a function of several."""
    return lambda x: function(x).nodes[0]


@pytest.mark.parametrize(
    ("function", "x", "slope"),
    [
        (make.max, [1, 2, 2], [0, 0.5, 0.5]),
        (make.min, [1, 1, 2], [0.5, 0.5, 0]),
        (make.amax, [1, 2, 2], [0, 0.5, 0.5]),
        (make.amin, [1, 1, 2], [0.5, 0.5, 0]),
        (first(lambda x: make.max(x, 0)), [1, 2, 2], [0, 1, 0]),
        (first(lambda x: make.min(x, 0)), [1, 1, 2], [1, 0, 0]),
        (lambda x: make.aminmax(x).nodes[1], [1, 2, 2], [0, 0.5, 0.5]),
        (make.max, [1, math.nan, 2], [0, 1, 0]),
    ],
)
def test_ties_follow_pytorch(
    slopes: Slopes, function: Callable[[Node], Node], x: list[float], slope: list[float]
) -> None:
    """Equal ones share evenly, or one of them gets all, as PyTorch decides for each form."""
    np.testing.assert_allclose(slopes(function, x)[0], slope)


@settings(max_examples=30, deadline=None)
@given(TIED)
def test_shared_slopes_sum_to_one(row: list[float]) -> None:
    """Whatever ties, the slopes of an extreme sum to 1 and only the chosen value gets any."""
    for fold in (make.max, make.amin):
        x = leaf(np.array(row), requires_grad=True)
        result = fold(x)
        g = gradients([result], [leaf(np.float64(1.0))])[x]
        values = evaluate([result, g])
        assert values[g].sum() == pytest.approx(1.0)
        assert all(slope == 0 or entry == values[result] for slope, entry in zip(values[g], row, strict=True))


@settings(max_examples=30, deadline=None)
@given(TIED)
def test_values_stand_at_their_indices(row: list[float]) -> None:
    """The values and indices of each choice along an axis belong together."""
    x = leaf(np.array(row))
    for choice in (make.max(x, 0), make.min(x, 0)):
        values = evaluate(choice.nodes)
        chosen, place = (values[node] for node in choice.nodes)
        assert row[int(place)] == chosen


def test_positions_are_the_first(value: Value) -> None:
    """argmax and argmin give the first of equal ones, along an axis or in one row of all."""
    x = leaf(np.array([[1.0, 3.0], [3.0, 0.0]]))
    assert value(make.argmax(x)) == 1
    assert value(make.argmin(x, 1)) == [0, 1]
    assert value(make.argmax(x, 0, True)) == [[1, 0]]


def test_the_forms_of_max(value: Value, slopes: Slopes) -> None:
    """max takes nothing, an axis (values and indices), or a second tensor; with np. only values."""
    x = leaf(np.array([[1.0, 4.0], [3.0, 2.0]]), requires_grad=True)
    assert make.max(x).grad_fn == "MaxBackward1"
    along = make.max(x, 1)
    assert along.names == ("values", "indices")
    assert along.nodes[0].grad_fn == "MaxBackward0"
    assert value(along.nodes[1]) == [1, 0]
    assert make.max(x, x).grad_fn == "MaximumBackward0"
    assert value(make.max(x, 0, values_only=True)) == [3.0, 4.0]
    assert slopes(lambda a: make.max(a, 1, True).nodes[0], [[1.0, 4.0], [3.0, 2.0]]) == [[[0.0, 1.0], [1.0, 0.0]]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: make.amin(x, -1),
        make.max,
        first(lambda x: make.max(x, 0)),
        lambda x: make.aminmax(x).nodes[0],
    ],
)
def test_a_number_is_its_own_extreme(slopes: Slopes, function: Callable[[Node], Node]) -> None:
    """A tensor without axes passes through every choice with slope 1."""
    assert slopes(function, 2.0) == [1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: make.max(x),
            "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument.",
        ),
        (lambda x: make.max(x, 0), "max(): Expected reduction dim 0 to have non-zero size."),
        (lambda x: make.amax(x, 0), "amax(): Expected reduction dim 0 to have non-zero size."),
        (lambda x: make.argmin(x), "argmin(): Expected reduction dim to be specified for input.numel() == 0."),
        (lambda x: make.argmax(x, 0), "argmax(): Expected reduction dim 0 to have non-zero size."),
    ],
)
def test_extremes_of_nothing_are_told_in_pytorchs_words(call: Callable[[Node], Any], message: str) -> None:
    """The message names the function and the empty dimension; along another dimension there is a result."""
    with pytest.raises(InputError) as caught:
        call(leaf(np.ones((0, 2))))
    assert caught.value.message == message
    assert make.amax(leaf(np.ones((0, 2))), 1).shape == (0,)


@pytest.mark.parametrize("function", [lambda x: make.amax(make.narrow(x, 0, 0, 0)), lambda x: make.argmax(x, (0, 1))])
def test_what_has_no_extreme_is_refused(function: Callable[[Node], Any]) -> None:
    """An extreme of nothing, or a position along two axes, is an error that is told."""
    with pytest.raises(InputError):
        function(leaf(np.array([1.0, 2.0, 3.0])))
