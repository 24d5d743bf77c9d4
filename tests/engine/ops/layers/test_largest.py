"""The largest entry of each window: values by hand, positions, ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agrad.engine.graph import Node, leaf, make

Value = Callable[[Node], Any]
Slopes = Callable[..., list[Any]]

LINE = np.array([[[3.0, 1.0, 4.0, 1.0, 5.0]]])


def test_largest_of_each_window(value: Value) -> None:
    """Windows slide; padding never wins, and with ceil_mode a last one may stick out."""
    assert value(make.max_pool1d(leaf(LINE), 2)) == [[[3.0, 4.0]]]
    assert value(make.max_pool1d(leaf(LINE), 2, ceil_mode=True)) == [[[3.0, 4.0, 5.0]]]
    assert value(make.max_pool1d(leaf(-LINE), 2, padding=1)) == [[[-3.0, -1.0, -1.0]]]
    assert value(make.max_pool1d(leaf(LINE), 2, stride=1, dilation=2)) == [[[4.0, 1.0, 5.0]]]


def test_indices_count_from_the_front_of_the_flattened_axes(value: Value) -> None:
    """return_indices gives the position of each winner, too."""
    x = leaf(np.array([[[[1.0, 9.0], [2.0, 3.0]], [[7.0, 0.0], [7.0, 7.0]]]]))
    values, indices = make.max_pool2d(x, 2, return_indices=True).nodes
    assert value(values) == [[[[9.0]], [[7.0]]]]
    assert value(indices) == [[[[1]], [[0]]]]


def test_the_first_of_equal_entries_gets_the_cotangent(slopes: Slopes) -> None:
    """A tie goes to the first entry of the window, as in PyTorch; a window of -inf goes to an entry inside, too."""
    assert slopes(lambda x: make.max_pool1d(x, 2), [[[3.0, 3.0]]]) == [[[[1.0, 0.0]]]]
    low = [[[-np.inf, -np.inf, 1.0]]]
    assert slopes(lambda x: make.max_pool1d(x, 2, stride=2, padding=1), low) == [[[[1.0, 0.0, 1.0]]]]
    assert slopes(lambda x: make.adaptive_max_pool2d(x, 1), [[[2.0, 5.0], [5.0, 1.0]]]) == [[[[0.0, 1.0], [0.0, 0.0]]]]
