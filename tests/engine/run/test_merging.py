"""Parts of reductions: combined in one order, moments exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Node, leaf
from agrad.engine.run.cpu import run
from agrad.engine.run.merging import Merging, part_of
from agrad.engine.run.plan import fused_plan
from agrad.engine.run.rows import MEANS, MOMENTS
from agrad.engine.run.schedule import scheduled
from agrad.engine.run.values import Value, Values

Both = Callable[[list[Node]], tuple[list[Any], list[Any]]]


def total_of(shape: tuple[int, ...]) -> Value:
    """The sum over the first axis of a value, as a plan has it."""
    values = Values()
    x = values.leaf(leaf(np.zeros(shape)))
    return values.make(TABLE["sum"], (x,), {"dim": (0,), "keepdim": False}, shape[1:], x.dtype)


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 8, 33])
def test_order_of_arrival_does_not_matter(parts: int) -> None:
    """Parts that arrive in any order are added in the same pairs."""
    rng = np.random.default_rng(parts)
    value = total_of((parts, 3))
    blocks = 10.0 ** rng.integers(-8, 8, (parts, 1, 3)) * rng.standard_normal((parts, 1, 3))
    found = set()
    for _ in range(6):
        merging = Merging(value, parts)
        for index in rng.permutation(parts):
            merging.add(int(index), part_of(value, [blocks[index]], (0,)))
        found.add(merging.result().tobytes())
    assert len(found) == 1


@pytest.mark.usefixtures("small_blocks")
def test_columns_of_equal_numbers_have_no_variance(both: Both) -> None:
    """A mean measured from the first element is exact where all are equal, over all blocks."""
    x = leaf(np.full((1000, 2), 0.1))
    nodes = [TABLE["var"](x * 1.1, 0), TABLE["standardize"](x * 1.1, 0), TABLE["var"](x * 1.1)]
    for fused, _ in zip(*both(nodes), strict=True):
        assert not fused.any()


@pytest.mark.usefixtures("small_blocks")
def test_moments_far_from_zero_keep_their_digits() -> None:
    """The variance of numbers near a large one is right, where a difference of squares would have no digit."""
    rng = np.random.default_rng(0)
    apart = rng.standard_normal((5000, 2))
    node = TABLE["var"](leaf(apart + 1e9) + 0.0, 0)
    found = run(fused_plan([node], least=2, lowers_from=2))[node]
    np.testing.assert_allclose(found, np.var(np.round((apart + 1e9) - 1e9, 9), axis=0, ddof=1), rtol=1e-6)


@pytest.mark.usefixtures("small_blocks")
def test_long_sums_are_pairwise() -> None:
    """A sum of very many equal numbers loses a few units in the last place, not one a term."""
    node = TABLE["sum"](leaf(np.full(200_000, 0.1)) * 1.0 + 0.0)
    found = run(fused_plan([node], least=2, lowers_from=2))[node]
    assert abs(found - 20_000.0) <= 4 * np.spacing(20_000.0) * np.log2(200_000)


def test_values_are_needed_only_once() -> None:
    """What no target needs is not among the steps of a plan in values."""
    x = leaf(np.ones(10))
    _ = x * 3.0
    node = x * 2.0
    plan = scheduled([node], [x, node.args[1], node], (), 2, None)
    assert len(plan.steps) == 1


@pytest.mark.parametrize("place", [0, 1, 4, 9])
@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_an_infinite_entry_is_seen_by_all_blocks(place: int, number: float) -> None:
    """Moments with an entry that is not finite are the same, NaN and infinities too, from any number of parts."""
    values = Values()
    rows = np.arange(20.0).reshape(10, 2)
    rows[place, 0] = number
    x = values.leaf(leaf(rows))
    for op, figures in ((MEANS, 2), (MOMENTS, 3)):
        value = values.make(op, (x,), {"dim": (0,)}, (figures, 1, 2), x.dtype)
        with np.errstate(all="ignore"):
            whole = op.kernel(np, rows, dim=(0,))  # type: ignore[misc]  # it has one
            for size in (10, 5, 4, 1):
                parts = [rows[start : start + size] for start in range(0, 10, size)]
                merging = Merging(value, len(parts))
                for index, part in enumerate(parts):
                    merging.add(index, part_of(value, [part], (0,)))
                np.testing.assert_array_equal(merging.result()[:, :, 0], whole[:, :, 0])
                np.testing.assert_allclose(merging.result()[:, :, 1], whole[:, :, 1], rtol=1e-14)


@pytest.mark.usefixtures("small_blocks")
def test_gradients_of_an_infinite_column_are_those_of_one_block(both: Both) -> None:
    """The gradient of a variance over many blocks has NaN and infinities where single kernels have them."""
    rows = np.arange(2000.0)
    rows[1] = np.inf
    x = leaf(rows, requires_grad=True)
    variance = TABLE["var"](x, 0)
    gradient = gradients([variance], [leaf(np.float64(1.0))])[x]
    for fused, plain in zip(*both([variance, gradient]), strict=True):
        np.testing.assert_array_equal(fused, plain)
