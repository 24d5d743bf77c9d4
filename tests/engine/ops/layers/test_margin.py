"""Losses with a margin: edges, labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import InputError
from agrad.engine.graph import Node, leaf, make

Slopes = Callable[..., list[Any]]
Value = Callable[[Node], Any]

one = leaf(np.array([1.0]))


def test_at_exactly_the_margin(slopes: Slopes) -> None:
    """At the margin a ranking or hinge loss still has its slope, a loss over classes has none, as in PyTorch."""
    assert slopes(lambda x, y: make.margin_ranking_loss(x, y, one), [1.0], [1.0]) == [[-1.0], [1.0]]
    assert slopes(lambda x: make.hinge_embedding_loss(x, leaf(np.array([-1.0]))), [1.0]) == [[-1.0]]
    assert slopes(lambda x: make.multi_margin_loss(x, leaf(np.array([0]))), [[1.0, 0.0]]) == [[[0.0, 0.0]]]


def test_powers_of_margins(value: Value) -> None:
    """p = 2 squares each excess; other powers are refused."""
    scores, label = leaf(np.array([[0.0, 2.0]])), leaf(np.array([0]))
    assert value(make.multi_margin_loss(scores, label)) == 1.5
    assert value(make.multi_margin_loss(scores, label, p=2)) == 4.5
    with pytest.raises(InputError, match="only p == 1"):
        make.multi_margin_loss(scores, label, p=3)


def test_margins_of_several_labels(value: Value, slopes: Slopes) -> None:
    """The labels of a row end at the first -1, and each stands against every class that is none."""
    scores = [[0.1, 0.2, 0.4, 0.8]]
    labels = leaf(np.array([[3, 0, -1, 1]]))
    assert value(make.multilabel_margin_loss(leaf(np.array(scores)), labels)) == pytest.approx(0.85)
    np.testing.assert_allclose(
        slopes(lambda x: make.multilabel_margin_loss(x, labels), scores)[0], [[-0.5, 0.5, 0.5, -0.5]]
    )


def test_triplets_beyond_the_margin_pass_nothing(slopes: Slopes) -> None:
    """A triplet whose negative is far enough away has no slope; one within the margin has."""
    near, far = leaf(np.array([[0.0, 0.0]])), leaf(np.array([[9.0, 0.0]]))
    anchor = [[1.0, 0.0]]
    assert slopes(lambda a: make.triplet_margin_loss(a, near, far), anchor) == [[[0.0, 0.0]]]
    np.testing.assert_allclose(
        slopes(lambda a: make.triplet_margin_loss(a, near, far, margin=9.0), anchor)[0], [[2.0, 0.0]], atol=1e-6
    )
