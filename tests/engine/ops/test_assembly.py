"""Matrices put together from few entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from agrad.engine.derivatives.batching import batched
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, apply, leaf
from agrad.engine.ops.assembly import ASSEMBLE
from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.run.cpu import evaluate

X = np.arange(1.0, 7.0).reshape(2, 3)
POSITIONS = np.array([0, 4, 5])
PLACES = np.array([7, 2, 0])


def assembled(x: Node) -> Node:
    """Three entries of a tensor of six among nine."""
    return apply(ASSEMBLE, (x, leaf(POSITIONS), leaf(PLACES)), {"shape": (3, 3)})


def value(node: Node) -> Any:
    """What a node comes to."""
    return evaluate([node])[node]


def test_entries_stand_at_their_places() -> None:
    """All others are zero; shape and dtype are the ones that were told."""
    node = assembled(leaf(X.astype(np.float32)))
    assert node.dtype == np.float32
    assert np.array_equal(value(node), [[6, 0, 5], [0, 0, 0], [0, 1, 0]])
    assert value(node).dtype == np.float32


def test_a_cotangent_goes_back_to_where_the_entry_came_from() -> None:
    """To no other, and so does the cotangent of a batch."""
    x = leaf(X, requires_grad=True)
    g = leaf(np.arange(10.0, 19.0).reshape(3, 3))
    gradient = gradients([assembled(x)], [g])[x]
    assert np.array_equal(value(gradient), [[17, 0, 0], [0, 12, 10]])
    batch = np.stack([g.value, -g.value, np.zeros((3, 3))])
    (many,) = batched([gradient], {g: leaf(batch)})
    assert many.op is ASSEMBLE
    assert np.array_equal(value(many), [value(gradient), -value(gradient), np.zeros((2, 3))])


def test_batches_of_entries() -> None:
    """Each member's entries stand in its own matrix."""
    x = leaf(X)
    (many,) = batched([assembled(x)], {x: leaf(np.stack([X, 10 * X]))})
    assert np.array_equal(value(many), [value(assembled(x)), 10 * value(assembled(x))])


def test_what_it_means_to_the_referees() -> None:
    """The formula over exact numbers gives what the kernel gives."""
    m = PreciseArithmetic(30)
    exact = np.vectorize(m.number, otypes=[object])(X)
    found = ASSEMBLE.formula(m, exact, POSITIONS, PLACES, shape=(3, 3))  # type: ignore[misc]  # the row has one
    assert np.array_equal(found.astype(float), value(assembled(leaf(X))))
