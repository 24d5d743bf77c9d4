"""Sums of products without the products: as exact, stopping at zeros, and the same bits from both programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from agrad.engine.conditions import Conditions, under
from agrad.engine.graph import TABLE, Node, leaf
from agrad.engine.run import products
from agrad.engine.run.cpu import run
from agrad.engine.run.plan import fused_plan
from agrad.engine.run.steps import Plan, RunStep

Both = Callable[[Sequence[Node]], tuple[list[Any], list[Any]]]

pytestmark = pytest.mark.usefixtures("small_blocks")

DIMENSIONS = ((1,), (0,), (0, 1))


def sums_of(name: str, *factors: Any) -> list[Node]:
    """Sums over each row, over all rows and over everything of a product, each of a product of its own."""
    found = []
    for dim in DIMENSIONS:
        product = TABLE[name](*[leaf(each, requires_grad=True) for each in factors])
        found.append(TABLE["sum"](product, dim))
    return found


def kinds_of(plan: Plan) -> list[str]:
    """The kinds of calls that the runs of a plan make."""
    (programs,) = [step.made["cpu"] for step in plan.steps if isinstance(step, RunStep)]
    return [call.kind for call in programs.plain.calls]


@pytest.mark.parametrize("width", [100, 1000, 1024, 4096, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_are_exact_to_their_last_digits(width: int, dtype: Any) -> None:
    """Each sum is within 4 units in the last place of the sum of the sizes, times the logarithm of their number."""
    rng = np.random.default_rng(width)
    left, right = rng.standard_normal((2, 9, width)).astype(dtype)
    nodes = sums_of("mul", left, right)
    found = run(fused_plan(nodes, least=2, lowers_from=2))
    exact = left.astype(np.longdouble) * right.astype(np.longdouble)
    for node, dim in zip(nodes, DIMENSIONS, strict=True):
        count = math.prod(left.shape[axis] for axis in dim)
        allowed = 4 * np.finfo(dtype).eps * math.log2(count) * np.abs(exact).sum(dim)
        assert found[node].dtype == dtype
        assert (np.abs(found[node] - exact.sum(dim)) <= allowed).all()


def test_no_product_is_made_that_only_a_sum_needs() -> None:
    """A sum of the products of rows is one call on the factors, unless the products are needed themselves."""
    x = leaf(np.ones((8, 100)), requires_grad=True)
    product = TABLE["mul"](x, TABLE["exp"](x))
    alone, used = [TABLE["sum"](product, (1,))], [TABLE["sum"](product, (1,)), product]
    plans = [fused_plan(nodes, least=2, lowers_from=2) for nodes in (alone, used)]
    for plan in plans:
        run(plan)
    assert ["dot" in kinds_of(plan) for plan in plans] == [True, False]


@pytest.mark.parametrize("name", ["flow", "meet"])
def test_zero_stops_in_a_sum_of_products(both: Both, name: str) -> None:
    """Zero times infinity adds nothing, in the sums over rows, over all rows and over everything."""
    g, slope = np.ones((6, 100)), np.full((6, 100), 2.0)
    g[3, 70], slope[3, 70] = 0.0, np.inf
    fused, plain = both(sums_of(name, g, slope))
    assert fused[0].tolist() == [200.0, 200.0, 200.0, 198.0, 200.0, 200.0]
    for one, other in zip(fused, plain, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["flow", "meet"])
@pytest.mark.parametrize("workers", [1, 3])
def test_both_programs_add_up_to_the_same_bits(name: str, workers: int) -> None:
    """That something stops in one block changes no bit of the sums of others, whichever program makes them."""
    rng = np.random.default_rng(5)
    g, slope = rng.standard_normal((2, 40, 1000))
    found = []
    for value in (0.0, np.inf):
        g[0, 0], slope[0, 0] = 0.0, value
        node = sums_of(name, g, slope)[0]
        with under(Conditions(workers=workers)):
            found.append(run(fused_plan([node], least=2, lowers_from=2))[node].tobytes())
    assert found[0] == found[1]


@pytest.mark.parametrize(("rows", "width", "sums"), [(250, 1000, 1000), (9, 4096, 576), (600, 100, 600), (4, 1009, 4)])
def test_a_call_makes_so_many_sums_that_another_worker_goes_on(rows: int, width: int, sums: int) -> None:
    """Rows are split until NumPy releases Python's lock, which it does from 501 sums on, but not into crumbs."""
    made = []

    class Watched(np.ndarray[Any, Any]):
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
            made.append(np.asarray(inputs[0]).size // np.asarray(inputs[0]).shape[-1])
            plain = [np.asarray(each) for each in inputs]
            named["out"] = tuple(np.asarray(each) for each in named["out"]) if "out" in named else None
            return getattr(ufunc, method)(*plain, **named)

    ones = np.ones((rows, width)).view(Watched)
    out = np.empty((rows, 1))
    assert (products.row_sums(ones, ones, out) == width).all()
    assert made[0] == sums


def test_a_factor_that_does_not_stop_would_be_noticed(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault, factors as they are where a product has to stop, lets the NaN through."""
    monkeypatch.setattr(products, "stopped", lambda _xp, *factors, kernel, side: factors[side])  # noqa: ARG005
    monkeypatch.setattr("agrad.engine.run.compiler.stopped", products.stopped)
    g, slope = np.ones((6, 100)), np.full((6, 100), 2.0)
    g[3, 70], slope[3, 70] = 0.0, np.inf
    fused, plain = both(sums_of("flow", g, slope)[:1])
    assert np.isnan(fused[0][3])
    assert plain[0][3] == 198.0


def test_numpy_is_left_as_it_was() -> None:
    """A run of long rows leaves NumPy's own settings alone."""
    before = np.getbufsize(), np.geterr()
    x = leaf(np.ones((8, 1000)), requires_grad=True)
    node = TABLE["sub"](x, TABLE["sum"](x, (1,), keepdim=True))
    assert (run(fused_plan([node], least=2, lowers_from=2))[node] == -999.0).all()
    assert (np.getbufsize(), np.geterr()) == before
