"""Blocks against single kernels: the same numbers, whatever the shapes, strides, dtypes and workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agrad.engine.conditions import Conditions, under
from agrad.engine.errors import InputError
from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Node, leaf
from agrad.engine.run import blocks, frame
from agrad.engine.run import fused as fused_module
from agrad.engine.run.cpu import run
from agrad.engine.run.plan import fused_plan, make_plan

Both = Callable[[Sequence[Node]], tuple[list[Any], list[Any]]]
Targets = Callable[..., list[Node]]

pytestmark = pytest.mark.usefixtures("small_blocks")

UNARY = ("exp", "tanh", "sin", "neg", "abs", "square", "sigmoid", "relu", "sqrt", "log1p", "sign", "softplus", "erf")
BINARY = ("add", "sub", "mul", "div", "maximum", "hypot", "lt", "where", "flow", "meet", "logaddexp")
SHAPES = ((7, 3), (7, 1), (3,), (1, 3), (), (7, 3, 2), (3, 2))


def leaves(rng: np.random.Generator, dtype: Any) -> list[Node]:
    """Leaves of several shapes, some with zeros, infinities and NaN, some strided."""
    found = []
    for shape in SHAPES:
        array = rng.choice([0.0, -0.0, 1.0, np.inf, np.nan, 0.5, -2.0, *rng.standard_normal(9)], shape).astype(dtype)
        found.append(leaf(array[()], requires_grad=True))
    wide = rng.standard_normal((14, 6)).astype(dtype)
    found += [leaf(wide[::-2, ::2]), leaf(np.asfortranarray(wide[:7, :3])), leaf(np.broadcast_to(wide[0, :3], (7, 3)))]
    found.append(leaf(rng.standard_normal((3, 7)).astype(dtype).T))
    return found


def grown(draw: Callable[[st.SearchStrategy[int]], int], pool: list[Node], steps: int) -> list[Node]:
    """Random elementwise nodes on a pool of nodes; the nodes made."""
    made: list[Node] = []
    while len(made) < steps:
        first, second = (pool[draw(st.integers(0, len(pool) - 1))] for _ in range(2))
        name = (*UNARY, *BINARY)[draw(st.integers(0, len(UNARY) + len(BINARY) - 1))]
        try:
            if name in UNARY:
                node = TABLE[name](first)
            elif name == "where":
                node = TABLE["where"](first > 0, first, second)
            else:
                node = TABLE[name](first, second)
        except InputError:  # shapes that do not broadcast
            continue
        made.append(node)
        if node.dtype.kind == "f":
            pool.append(node)
    return made


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.sampled_from([np.float64, np.float32]))
def test_elementwise_graphs_are_the_same_bit_by_bit(both: Both, data: st.DataObject, dtype: Any) -> None:
    """Random graphs of elementwise ops, broadcasts, masks and stops give the bits of single kernels."""
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    made = grown(data.draw, leaves(rng, dtype), data.draw(st.integers(1, 14)))
    for fused, plain in zip(*both(made), strict=True):
        assert (fused.dtype, fused.shape) == (plain.dtype, plain.shape)
        np.testing.assert_array_equal(fused, plain)
        np.testing.assert_array_equal(np.signbit(fused[~np.isnan(fused)]), np.signbit(plain[~np.isnan(plain)]))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["sum", "mean", "softmax", "logsumexp", "amax", "standardize", "log_softmax", "var", "cumsum"]),
    st.sampled_from([0, 1]),
    st.tuples(st.integers(2, 60), st.integers(2, 9)),
    st.integers(0, 1000),
)
def test_reductions_are_within_their_bound(both: Both, name: str, dim: int, shape: tuple[int, int], seed: int) -> None:
    """Reductions over rows and columns of any length are those of the kernels within 4 ulp times log2(n)."""
    rng = np.random.default_rng(seed)
    x, y = leaf(rng.uniform(0.5, 2.0, shape)), leaf(rng.uniform(0.5, 2.0, shape))
    keeps = {"keepdim": True} if name in ("sum", "mean", "logsumexp", "amax", "var") else {}
    node = TABLE[name](x * y, dim, **keeps)
    bound = 4 * np.finfo(float).eps * max(np.log2(x.size), 1.0)
    for fused, plain in zip(*both([node, node * y, TABLE["sum"](node)]), strict=True):
        assert np.max(np.abs(fused - plain)) <= bound * max(np.max(np.abs(plain)), x.size / 8)


@pytest.mark.parametrize(
    "text",
    [
        "z = sum(tanh(x*y + 1)**2 * exp(-x**2))",
        "z = sum(F.softmax(x, dim=1) * y)",
        "z = sum(F.log_softmax(x, dim=0) * y)",
        "z = sum(torch.logsumexp(x, 1) * y.sum(1))",
        "z = sum(F.layer_norm(x, (5,), y[0], y[1]) * y)",
        "z = sum(F.batch_norm(x, None, None, y[0], y[1], training=True) * y)",
        "z = sum(torch.cumsum(x, 1) * torch.cumsum(y, 0))",
        "z = sum(torch.sigmoid(x @ y.T) * 0.5)",
        "z = log(sum(exp(x))) * sum(y**2)",
        "z = sum(x.T * 2.0) + x.mean() + y.var()",
        "z = sum(where(x > 0, x/y, y)) + x.max()",
        "z = F.mse_loss(x, y) + F.smooth_l1_loss(x, y)",
    ],
)
def test_gradients_are_those_of_single_kernels(both: Both, targets_of: Targets, text: str) -> None:
    """Value and gradients of rows, columns, products and losses agree to rounding."""
    rng = np.random.default_rng(1)
    for fused, plain in zip(
        *both(targets_of(text, x=rng.random((8, 5)) + 0.1, y=rng.random((8, 5)) + 0.2)), strict=True
    ):
        np.testing.assert_allclose(fused, plain, rtol=1e-13, atol=1e-14)


def test_cross_entropy_with_labels(both: Both, targets_of: Targets) -> None:
    """Labels, ignored ones among them, pick and scatter in the rows of a block."""
    rng = np.random.default_rng(2)
    labels = np.array([0, 3, -100, 4, 4, 1, 2])
    nodes = targets_of("z = F.cross_entropy(x, t)", x=3 * rng.standard_normal((7, 5)), t=labels)
    for fused, plain in zip(*both(nodes), strict=True):
        np.testing.assert_allclose(fused, plain, rtol=1e-13, atol=1e-15)


def test_peaked_rows_keep_their_tails(both: Both, targets_of: Targets) -> None:
    """The small weights beside a large one are right to their last digits, as in the kernels."""
    x = np.array([[0.0, 800.0, 1.0], [40.0, 0.0, 39.0], [1e4, -1e4, 0.0], [-np.inf, 0.0, 1.0]])
    nodes = targets_of("z = F.cross_entropy(x, t)", x=x, t=np.array([1, 0, 0, 2]))
    for fused, plain in zip(*both(nodes), strict=True):
        np.testing.assert_allclose(fused, plain, rtol=1e-13, atol=0.0)


def test_an_ignored_row_without_weights_gets_zeros(both: Both, targets_of: Targets) -> None:
    """Nothing flows to a row whose label is ignored, though its weights are NaN: all of its scores are -inf."""
    x = np.array([[-np.inf] * 3, [0.5, 1.0, 2.0], [np.inf, 0.0, 1.0]])
    fused, plain = both(targets_of("z = F.cross_entropy(x, t)", x=x, t=np.array([-100, 1, -100])))
    assert not fused[1][[0, 2]].any()
    np.testing.assert_allclose(fused[1], plain[1], rtol=1e-14)


def test_zero_stops_in_one_block_only(both: Both, targets_of: Targets) -> None:
    """Where one entry would be 0 times infinity, it is 0, and all others are as they would be without it."""
    x = np.linspace(1.0, 2.0, 50)
    x[17] = 0.0
    nodes = targets_of("z = sum(where(x > 0.5, sqrt(x), 0.0))", x=x)
    fused, plain = both(nodes)
    assert fused[1][17] == 0.0
    np.testing.assert_array_equal(fused[1], plain[1])


@pytest.mark.parametrize("name", ["flow", "meet"])
def test_zero_stops_where_only_a_sum_sees_it(both: Both, name: str) -> None:
    """A guarded product, or its negative, that nothing but a reduction over the rows uses still stops at zero."""
    g, slope = np.ones(40), np.full(40, 2.0)
    g[11], slope[11] = 0.0, np.inf
    product = TABLE[name](leaf(g), leaf(slope, requires_grad=True))
    nodes = [TABLE["sum"](product), TABLE["sum"](-product), TABLE["sum"](product * -product)]
    fused, plain = both(nodes)
    assert [float(value) for value in fused] == [78.0, -78.0, -156.0]
    np.testing.assert_array_equal(fused, plain)


def test_a_product_that_is_not_guarded_would_be_noticed(targets_of: Targets, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault, a test for NaN that sees none, lets the NaN through."""
    x = np.linspace(1.0, 2.0, 50)
    x[17] = 0.0
    nodes = targets_of("z = sum(where(x > 0.5, sqrt(x), 0.0))", x=x)
    monkeypatch.setattr(frame, "_has_nan", lambda array: False)  # noqa: ARG005  # as the function's own
    monkeypatch.setattr(frame, "is_nan", lambda part: False)  # noqa: ARG005  # as the function's own
    assert np.isnan(run(fused_plan(nodes, least=2, lowers_from=2))[nodes[1]][17])


def test_workers_do_not_change_a_bit(targets_of: Targets) -> None:
    """One, two or five workers give the same bits, sums over all rows among them."""
    rng = np.random.default_rng(3)
    text = "z = sum(F.batch_norm(x, None, None, w, b, training=True)**2 * exp(x))"
    nodes = targets_of(text, x=rng.standard_normal((101, 5)), w=rng.random(5), b=rng.random(5))
    plan = fused_plan(nodes, least=2, lowers_from=2)
    found = []
    for workers in (1, 2, 5):
        with under(Conditions(workers=workers)):
            values = run(plan)
        found.append([np.asarray(values[node]).tobytes() for node in nodes])
    assert found[0] == found[1] == found[2]


def test_a_limit_on_threads_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system gives no more threads, the work is done by the one that is there."""

    def refuse(_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(blocks.Thread, "start", refuse)
    x = leaf(np.arange(100.0))
    node = x * 2.0
    with under(Conditions(workers=4)):
        assert np.array_equal(run(fused_plan([node], least=2))[node], np.arange(100.0) * 2.0)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int64, np.bool_])
def test_dtypes_stay(both: Both, dtype: Any) -> None:
    """Results have the dtypes that single kernels give: float32 stays float32, also against written numbers."""
    rng = np.random.default_rng(4)
    x = leaf((rng.random((9, 4)) * 3).astype(dtype))
    nodes = [x * 2, x + x, TABLE["sum"](x), TABLE["sum"](x, 0), TABLE["mean"](x * 1.5, 1), x * x]
    if dtype in (np.float32, np.int64):
        nodes += [TABLE["exp"](x), x > 1, TABLE["where"](x > 1, x, 0), TABLE["amax"](x, 1)]
    for fused, plain in zip(*both(nodes), strict=True):
        assert fused.dtype == plain.dtype
        np.testing.assert_allclose(fused, plain, rtol=1e-6)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,), (1, 5), (5, 1), (1, 1, 1), (2,)])
def test_odd_shapes(both: Both, shape: tuple[int, ...]) -> None:
    """No rows, rows of nothing and single rows are computed as by kernels."""
    x = leaf(np.arange(float(np.prod(shape))).reshape(shape))
    nodes = [TABLE["exp"](x) * x, TABLE["sum"](x * x), TABLE["sum"](x * 2.0, 0), TABLE["sum"](x * 2.0, -1)]
    for fused, plain in zip(*both(nodes), strict=True):
        assert fused.shape == plain.shape
        np.testing.assert_array_equal(fused, plain)


def test_an_error_in_a_block_is_the_kernels_error() -> None:
    """What a kernel refuses is refused by the run, from whichever worker, with the same words."""
    divisor = np.ones(100, dtype=np.int64)
    divisor[77] = 0
    node = TABLE["floor_divide"](leaf(np.arange(100)), leaf(divisor))
    with under(Conditions(workers=3)), pytest.raises(InputError, match="integer division by zero"):
        run(fused_plan([node + 1], least=2))


def test_inputs_are_never_written(targets_of: Targets) -> None:
    """Buffers are reused in place, inputs are not."""
    x = np.random.default_rng(5).random((30, 4))
    before = x.copy()
    x.setflags(write=False)
    run(fused_plan(targets_of("z = sum(F.softmax(-x, dim=1) * relu(-x - 0.5))", x=x), least=2))
    assert np.array_equal(x, before)


def test_a_plan_runs_again_with_other_values() -> None:
    """The same plan computes with other values for its leaves."""
    x = leaf(np.arange(40.0))
    node = TABLE["sum"](x * x)
    plan = fused_plan([node], least=2, lowers_from=2)
    assert run(plan)[node] == np.sum(np.arange(40.0) ** 2)
    assert run(plan, {x: np.ones(40)})[node] == 40.0


def test_large_graphs_of_scalars_stay_plain() -> None:
    """Scalars beside nothing large have the plain plan, in which nothing is looked at twice."""
    node = leaf(np.float64(1.0))
    for _ in range(2000):
        node = node * 1.001
    plan = make_plan([node])
    assert not plan.fused
    assert run(plan)[node] == pytest.approx(1.001**2000)


def test_an_infinite_number_of_a_row_is_not_stopped_by_parts_that_vanish(both: Both) -> None:
    """Infinity times shares of a softmax that underflow is NaN, as by single kernels, and no silent zero."""
    scores = np.zeros((40, 3))
    scores[0] = [800.0, 0.0, 1.0]
    scores[1:4, 0] = [np.inf, np.nan, -np.inf]
    x = leaf(scores, requires_grad=True)
    total = TABLE["logsumexp"](x, 1)
    gradient = gradients([TABLE["exp"](total)], [leaf(np.ones(40))])[x]
    # The parts beside an infinite one are 0 whatever the whole is, and stop what is finite.
    given = [gradients([total], [leaf(np.full(40, number) * np.linspace(0.5, 1.5, 40))])[x] for number in (1.0, 0.0)]
    for fused, plain in zip(*both([total, gradient, *given]), strict=True):
        np.testing.assert_allclose(fused, plain, rtol=1e-15)
    assert np.isnan(both([gradient])[0][0][0, 1])


def test_rows_without_elements_stop_nothing(both: Both) -> None:
    """Guarded products of rows of no element, and what is made of them, run beside the rows that they are cut from."""
    x = leaf(np.random.default_rng(0).random((40, 3)) + 0.5)
    none, column = (TABLE["slice"](TABLE["exp"](x), 1, start, stop, 1) for start, stop in ((3, 3), (0, 1)))
    products = [TABLE["flow"](none, column), TABLE["meet"](column, none), none * column]
    nodes = [TABLE["tanh"](x), *products, *[TABLE["sum"](each, dim) for each in products for dim in (0, 1)]]
    nodes += [TABLE[name](products[0], 0) for name in ("softmax", "log_softmax", "var", "amax", "standardize")]
    for fused, plain in zip(*both(nodes), strict=True):
        assert fused.shape == plain.shape
        np.testing.assert_array_equal(fused, plain)


@pytest.mark.parametrize("workers", [1, 3])
def test_results_that_are_views_of_what_is_written_over(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    """Results cut from inputs are right although other results of the run are written over these inputs."""
    monkeypatch.setattr(blocks, "SHORT", 1)
    given: list[int] = []
    compute = fused_module.run_blocks

    def noted(*args: Any, **options: Any) -> list[Any]:
        given.append(len(options["over"]))
        return compute(*args, **options)

    monkeypatch.setattr(fused_module, "run_blocks", noted)
    rng = np.random.default_rng(0)
    first, second = (TABLE["cumsum"](leaf(rng.random((300, 2, 2))), 0) for _ in range(2))
    nodes = [TABLE["exp"](first), TABLE["exp"](second), first * second]
    halves = [TABLE["select"](TABLE["slice"](x, 1, 1, 2, 1), 2, 0) for x in (second, first)]
    wide = [TABLE["expand"](TABLE["slice"](x, 1, 0, 1, 1), (300, 2, 2)) for x in (first, second)]
    nodes += [*halves, *[TABLE["reshape"](x, (300, 4)) for x in wide]]
    with under(Conditions(workers=workers)):
        found = run(fused_plan(nodes, least=2))
    assert sum(given) >= 2
    plain = run(make_plan(nodes, fuse=False))
    for node in nodes:
        np.testing.assert_array_equal(found[node], plain[node])
