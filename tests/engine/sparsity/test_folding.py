"""Folded graphs have the same values in fewer steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.graph import Node, ancestors, apply, leaf, make
from agrad.engine.ops.cotangent import FLOW, MEET
from agrad.engine.run.cpu import evaluate
from agrad.engine.sparsity.folding import folded

AWKWARD = np.array([0.0, -1.5, np.inf, np.nan, 2.0, -np.inf])


def value(node: Node) -> Any:
    """What a node comes to."""
    return evaluate([node])[node]


def steps(node: Node) -> list[str]:
    """The ops that a node is computed by."""
    return [part.op.name for part in ancestors([node]) if part.args]


@pytest.mark.parametrize("op", [FLOW, MEET])
@pytest.mark.parametrize(
    "constant",
    [0.0, 1.0, -2.5, np.inf, np.nan, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [3.0] * 6],
)
def test_products_that_stop_at_zero(op: Any, constant: Any) -> None:
    """With a constant on either side, whatever the other side is: the same, NaN and infinities too."""
    x = leaf(AWKWARD, requires_grad=True)
    fixed = leaf(np.asarray(constant)[()])
    for args in ((x, fixed), (fixed, x)):
        plain = apply(op, args)
        np.testing.assert_array_equal(value(folded(plain, fixed, 0)), value(plain))


def test_guards_go_only_where_nothing_can_stop() -> None:
    """A finite slope, or a cotangent without zeros, needs none; a cotangent with zeros does."""
    x = leaf(AWKWARD, requires_grad=True)
    with_zero, without = leaf(np.array([0.0, 1.0] * 3)), leaf(np.array([2.0, 1.0] * 3))
    assert steps(folded(apply(FLOW, (x, with_zero)), with_zero, 0)) == ["mul"]
    assert steps(folded(apply(FLOW, (with_zero, x)), with_zero, 0)) == ["flow"]
    assert steps(folded(apply(MEET, (with_zero, x)), with_zero, 0)) == ["meet"]
    assert steps(folded(apply(MEET, (x, without)), without, 0)) == ["mul"]


def test_constants_are_computed_at_once() -> None:
    """Chains of them become one leaf, and a factor of one vanishes."""
    x, seeds = leaf(AWKWARD, requires_grad=True), leaf(np.arange(12.0).reshape(2, 6))
    constant = make.exp(make.neg(apply(make.slice, (seeds,), {"axis": 1, "start": 0, "stop": 6, "step": 1})) * 2.0)
    plain = constant * x
    simple = folded(plain, seeds, 0)
    assert steps(simple) == ["mul"]
    np.testing.assert_array_equal(value(simple), value(plain))
    ones = make.expand(leaf(np.float64(1.0)), (6,))
    assert folded(apply(MEET, (ones, x)), seeds, 0) is x


def test_large_constants_are_not_held() -> None:
    """They are computed in each run; small parts of them are not."""
    seeds = leaf(np.ones((2, 100_000)))
    x = leaf(np.ones(100_000), requires_grad=True)
    assert steps(folded(make.exp(seeds) * x, seeds, 0)) == ["exp", "mul"]
    small = leaf(np.ones((2, 1000)))
    assert steps(folded(make.exp(small) * leaf(np.ones(1000)), small, 0)) == ["mul"]


def test_signs_pass_through_products_into_sums() -> None:
    """A sum with a negative becomes a difference; the numbers are the same."""
    x, y = leaf(np.array([1.5, -2.0])), leaf(np.array([0.3, 4.0]))
    for plain in (x + make.neg(y), make.neg(x) + y, x + make.neg(y) * x, x + make.neg(y) * make.neg(x)):
        simple = folded(plain, leaf(np.float64(0.0)), 0)
        assert np.array_equal(value(simple), value(plain))
        assert "neg" not in steps(simple)
    square = make.neg(x)
    assert np.array_equal(value(folded(square * square, y, 0)), value(square * square))


def test_nodes_made_before_stay() -> None:
    """What a person may still hold is not made again."""
    x, seeds = leaf(AWKWARD, requires_grad=True), leaf(np.ones(6))
    before = x + make.neg(x)
    since = leaf(0).serial
    simple = folded(before * 1.0 + make.neg(before) * seeds, seeds, since)
    assert before in ancestors([simple])
    assert folded(before, seeds, since) is before


def test_dtypes_stay() -> None:
    """Numbers written in a text promote weakly, also once they are arrays."""
    x, seeds = leaf(np.ones(3, np.float32), requires_grad=True), leaf(np.ones(3, np.float32))
    simple = folded(x * 0.1 * seeds * 2, seeds, 0)
    assert simple.dtype == np.float32
    assert value(simple).dtype == np.float32
    assert np.array_equal(value(simple), value(x * 0.1 * seeds * 2))


NUMBERS = [0.5, 1.7, 2.0, -4.0, 100.0, 0.3, -1.0, 1e300, 2.0**1000, 5e-324]


@pytest.mark.parametrize("first", NUMBERS)
@pytest.mark.parametrize("second", NUMBERS)
def test_products_with_two_numbers_are_one_only_where_they_round_the_same(first: float, second: float) -> None:
    """Also where the first product overflows, and in the signs of all but zeros."""
    x = leaf(np.array([1.1, -0.7, 1e-300, 1e300, 0.0, np.inf, np.nan, 3.0]), requires_grad=True)
    plain = x * first * second
    simple = folded(plain, leaf(np.float64(0.0)), 0)
    np.testing.assert_array_equal(value(simple), value(plain))
    if (first, second) in ((2.0, 100.0), (100.0, 2.0), (-1.0, 0.3)):
        assert steps(simple) == ["mul"]
    if (first, second) in ((0.5, 100.0), (100.0, 0.5), (0.3, 2.0), (2.0, 0.3), (100.0, 0.3)):
        assert steps(simple) == ["mul", "mul"]


def test_numbers_and_signs_go_into_seeds() -> None:
    """Where each run's cotangent is zeros and ones, a guarded product with them takes a number or a sign in."""
    seeds = leaf(np.eye(8)[:, :6])
    x = leaf(AWKWARD, requires_grad=True)
    plain = make.neg(apply(MEET, (x, seeds)) * 0.3)
    simple = folded(plain, seeds, 0)
    assert steps(simple) == ["meet"]
    np.testing.assert_array_equal(value(simple), value(plain))
