"""Variances, standard deviations, covariances and correlations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Node, leaf, make
from agrad.engine.run.cpu import evaluate

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]

ROWS = st.lists(st.floats(-10.0, 10.0), min_size=2, max_size=6)


def test_the_correction_is_one_and_numpy_says_zero(value: Value) -> None:
    """torch divides by n - 1, np by n; unbiased and correction say it in words."""
    x = leaf(np.array([1.0, 2.0, 4.0]))
    assert value(make.var(x)) == pytest.approx(7 / 3)
    assert value(make.var(x, unbiased=False)) == pytest.approx(14 / 9)
    assert value(make.var(x, False)) == pytest.approx(14 / 9)
    assert value(make.std(x, correction=0)) == pytest.approx(math.sqrt(14) / 3)
    assert TABLE["std"].numpy == {"correction": 0}


def test_the_slope_of_a_standard_deviation(slopes: Slopes) -> None:
    """The recorded slope at [1, 2, 4] is right."""
    wanted = [-0.4364357804719848, -0.1091089451179962, 0.5455447255899809]
    np.testing.assert_allclose(slopes(make.std, [1.0, 2.0, 4.0])[0], wanted, rtol=1e-14)


def test_constant_rows_have_slope_zero(slopes: Slopes) -> None:
    """Where all elements are equal the standard deviation's slope is 0 by convention, the variance's by itself."""
    assert slopes(make.std, [2.0, 2.0, 2.0]) == [[0.0, 0.0, 0.0]]
    assert slopes(make.var, [2.0, 2.0, 2.0]) == [[0.0, 0.0, 0.0]]
    assert slopes(lambda x: make.std(x, correction=0), [3.0]) == [[0.0]]


def test_no_degrees_of_freedom_give_nan(value: Value, slopes: Slopes) -> None:
    """One element has no unbiased variance: value and slope are NaN, without a warning."""
    for row in (make.std, make.var):
        assert math.isnan(value(row(leaf(np.array([3.0])))))
        assert math.isnan(slopes(row, [3.0])[0][0])


def test_the_deviation_of_huge_numbers_does_not_overflow(value: Value) -> None:
    """The squares of 1e200 have no place in a double; their deviation has."""
    assert value(make.std(leaf(np.array([1e200, -1e200])))) == pytest.approx(math.sqrt(2) * 1e200)


def test_the_mean_comes_with_it(value: Value) -> None:
    """var_mean and std_mean give both, under one name of grad_fn."""
    x = leaf(np.array([1.0, 3.0]), requires_grad=True)
    names, (variance, mean) = make.var_mean(x)
    assert names == ("var", "mean")
    assert (value(variance), value(mean)) == (2.0, 2.0)
    assert {variance.grad_fn, mean.grad_fn} == {"VarMeanBackward0"}
    assert make.std_mean(x).nodes[0].grad_fn == "StdMeanBackward0"


@settings(max_examples=30, deadline=None)
@given(ROWS)
def test_a_shift_changes_no_variance(row: list[float]) -> None:
    """The slopes of a variance and of a deviation sum to zero."""
    for fold in (make.var, make.std):
        x = leaf(np.array(row), requires_grad=True)
        g = gradients([fold(x)], [leaf(np.float64(1.0))])[x]
        assert abs(evaluate([g])[g].sum()) < 1e-11


def test_covariances(value: Value, slopes: Slopes) -> None:
    """The covariance matrix of two variables, the variance of one, and correlations between -1 and 1."""
    data = leaf(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 7.0]]))
    np.testing.assert_allclose(value(make.cov(data)), [[1.0, 2.5], [2.5, 19 / 3]])
    assert value(make.cov(leaf(np.array([1.0, 3.0])))) == 2.0
    assert value(make.corrcoef(data))[0][1] == pytest.approx(2.5 / math.sqrt(19 / 3))
    assert np.isnan(slopes(lambda x: make.corrcoef(x), [[1.0, 1.0], [1.0, 2.0]])[0]).any()
