"""Matrices from few runs are what a run for each seed gives."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from agrad.engine.derivatives import jacobian
from agrad.engine.derivatives import nodes as derivatives
from agrad.engine.derivatives.jacobian import hessian, rows_of
from agrad.engine.derivatives.nodes import Runs, by_directions, by_entries, gradient
from agrad.engine.errors import InputError, Source
from agrad.engine.graph import Node, ancestors, leaf
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate, run
from agrad.engine.run.plan import make_plan
from agrad.engine.sparsity import compressed, compression
from agrad.engine.sparsity.compression import patterns_of

ROSENBROCK: Final = "f = sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)"
ENOUGH: Final = 10**9


@pytest.fixture
def at_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small maps and full ones are compressed, too."""
    for name in ("_LEAST_SEEDS", "_LEAST_WORK", "_FULLEST", "_FEWER"):
        monkeypatch.setattr(compression, name, 1)


def whole(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The matrices from a run for each seed."""
    with monkeypatch.context() as patch:
        patch.setattr(jacobian, "compressed", lambda targets, *_: [None] * len(targets))
        return rows_of(runs)


def differences(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is wrong with the compressed matrix of the one target, in a word.

    Inside of the pattern it is the whole one, to two units in the last place and with the same NaN; outside it is 0,
    where the whole one is 0, or NaN.
    """
    (node,), (target,) = compressed(runs.targets, runs.leaf, 0), runs.targets
    if node is None:
        return "none"
    pattern = patterns_of([target], runs.leaf, ENOUGH)[target]
    assert pattern is not None
    inside = np.zeros((runs.leaf.size, target.size), bool)
    inside[pattern.seeds, pattern.entries] = True
    found = np.reshape(evaluate([node])[node], inside.shape)
    expected = np.reshape(whole(runs, monkeypatch)[0], inside.shape)
    with np.errstate(all="ignore"):
        close = (np.abs(found - expected) <= 2 * np.spacing(np.abs(expected))) | (found == expected)
    if not np.all((close | (np.isnan(found) & np.isnan(expected)))[inside]):
        return "inside"
    return "" if np.all((found == 0) & ((expected == 0) | np.isnan(expected)) | inside) else "outside"


ONE: Final = (
    "sin({0})", "{0}**2", "relu({0})", "abs({0})", "sqrt({0})", "log({0})", "1.0/{0}", "where({0} > 0, {0}, {0}**3)",
    "clamp({0}, -1.0, 1.0)", "maximum({0}, 0.5)", "flip({0}, 0)", "roll({0}, 1)", "{0}[[1, 0, 1, 2, 3]]", "-3.0*{0}",
    "cumsum({0}, 0)", "{0}[1:]*{0}[:-1]", "{0}[1:] - {0}[:-1]**2", "{0}*mean({0}[:2])", "cat([{0}, zeros(2)], 0)",
    "{0} / sum({0}[::2])", "exp({0})[::2]", "outer({0}, {0}[:2]).reshape(-1)",
)  # fmt: skip
TWO: Final = ("{0}[:4] * {1}[:4]", "{0}[:4] / {1}[:4]", "{0}[-4:] - {1}[:4]", "cat([{0}, {1}], 0)")
NUMBERS: Final = st.sampled_from([0.0, 1.0, -1.0, 0.5, -0.3, 2.0, 1.7, 1e300, np.inf, -np.inf, np.nan])


@st.composite
def formulas(draw: st.DrawFn) -> tuple[str, Any]:
    """A text of a few steps, and x."""
    names = ["x"]
    lines = []
    for step in range(draw(st.integers(1, 5))):
        last = names[-1]
        form = draw(st.sampled_from(ONE + TWO))
        lines.append(f"v{step} = " + form.format(last, draw(st.sampled_from(names))))
        names.append(f"v{step}")
    return "\n".join([*lines, f"f = sum({names[-1]}**2)"]), np.array(draw(st.lists(NUMBERS, min_size=24, max_size=24)))


@settings(max_examples=120, deadline=None)
@given(formulas())
def test_random_formulas(case: tuple[str, Any]) -> None:
    """Jacobian and Hessian of formulas with kinks, infinities and NaN, by rows and by columns."""
    text, x = case
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name in ("_LEAST_SEEDS", "_LEAST_WORK", "_FULLEST", "_FEWER"):
            monkeypatch.setattr(compression, name, 1)
        try:
            built = build(Source(text), inputs={"x": x})
        except InputError:  # shapes that do not fit
            reject()
        leaf_of_x = built.wrt["x"]
        result = built.names["f"].args[0].args[0]
        for output in (result, gradient(built.names["f"], [leaf_of_x])[0]):
            for runs in (by_entries(output, [leaf_of_x]), by_directions(output, leaf_of_x)):
                assert differences(runs, monkeypatch) in ("", "none"), text


@pytest.mark.usefixtures("at_any_size")
def test_a_wrong_colouring_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above fails where seeds that meet run together."""
    built = build(Source(ROSENBROCK), inputs={"x": np.linspace(-1, 1, 12)})
    x = built.wrt["x"]
    runs = by_entries(gradient(built.names["f"], [x])[0], [x])
    assert differences(runs, monkeypatch) == ""
    monkeypatch.setattr(compression, "coloured", lambda _pattern, count, *_: np.arange(count) % 2)
    assert differences(runs, monkeypatch) == "inside"


def rosenbrock(size: int) -> tuple[Node, Node, Any]:
    """The function of some variables, its leaf and its Hessian in closed form."""
    x = np.linspace(-1.5, 1.5, size)
    built = build(Source(ROSENBROCK), inputs={"x": x})
    diagonal = np.full(size, 200.0)
    diagonal[0] = 0
    diagonal[:-1] += 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    beside = np.diag(-400 * x[:-1], 1)
    return built.names["f"], built.wrt["x"], np.diag(diagonal) + beside + beside.T


def test_a_band_takes_three_runs() -> None:
    """Nothing but the result is larger than three runs, and the result is planned once and run for other values."""
    f, x, expected = rosenbrock(500)
    node = derivatives.hessian(f, x)
    assert all(part.size <= 3 * 500 for part in ancestors([node]) if part is not node)
    plan = make_plan([node])
    np.testing.assert_allclose(run(plan)[node], expected, rtol=1e-13)
    other = np.linspace(2.0, -1.0, 500)
    moved = evaluate([node], {x: other})[node]
    built = build(Source(ROSENBROCK), inputs={"x": other})
    np.testing.assert_array_equal(moved, hessian(built.names["f"], [built.wrt["x"]])[built.wrt["x"]][built.wrt["x"]])


def test_grids() -> None:
    """Differences of neighbours in two dimensions: five diagonals, far fewer runs than entries."""
    text = "f = sum((u[1:, :] - u[:-1, :])**4) + sum((u[:, 1:] - u[:, :-1])**4)"
    built = build(Source(text), inputs={"u": np.random.default_rng(0).standard_normal((16, 16))})
    u = built.wrt["u"]
    node = derivatives.hessian(built.names["f"], u)
    assert node.op.name == "assemble"
    assert node.args[0].shape[0] <= 12
    runs = by_entries(gradient(built.names["f"], [u])[0], [u])
    with pytest.MonkeyPatch.context() as monkeypatch:
        np.testing.assert_array_equal(evaluate([node])[node], whole(runs, monkeypatch)[0])


def test_several_inputs_and_float32() -> None:
    """Blocks of pairs of inputs, each by its own structure, in their dtype."""
    random = np.random.default_rng(4)
    inputs = {name: random.uniform(0.5, 1.5, 300).astype(np.float32) for name in "xy"}
    inputs["s"] = np.float32(1.5)
    built = build(Source("f = sum(x**2 * flip(y, 0) * s) + sum(x)*s"), inputs=inputs, wrt=list("xys"), dtype=np.float32)
    x, y, s = (built.wrt[name] for name in "xys")
    blocks = hessian(built.names["f"], [x, y, s])
    assert blocks[x][y].dtype == np.float32
    np.testing.assert_allclose(blocks[x][x], np.diag(2 * inputs["y"][::-1] * inputs["s"]), rtol=1e-6)
    np.testing.assert_allclose(blocks[y][x], np.diag(2 * inputs["x"] * inputs["s"])[::-1], rtol=1e-6)
    np.testing.assert_allclose(blocks[s][x], 2 * inputs["x"] * inputs["y"][::-1] + 1, rtol=1e-6)
    assert not np.any(blocks[y][y])


def test_what_is_full_or_unknown_is_not_compressed() -> None:
    """Neither a product of sums nor a transform has fewer runs."""
    for text in ("f = sum(x)**3 + sum(x**3)", "f = sum(abs(fft.fft(x*x))**2)", "f = logsumexp(x, 0)"):
        built = build(Source(text), inputs={"x": np.linspace(0.1, 1, 200)})
        x = built.wrt["x"]
        runs = by_entries(gradient(built.names["f"], [x])[0], [x])
        assert compressed(runs.targets, runs.leaf, 0) == [None]


@pytest.mark.usefixtures("at_any_size")
def test_further_derivatives() -> None:
    """A compressed Hessian is differentiated again as the whole one is."""
    text = f"{ROSENBROCK}\nH = hessian(f, x)\ng = sum(H * W)\nz = grad(g, x)"
    inputs = {"x": np.linspace(-1, 1, 8), "W": np.random.default_rng(1).standard_normal((8, 8))}
    built = build(Source(text), inputs=inputs, wrt=["x"])
    assert any(part.op.name == "assemble" for part in ancestors([built.names["z"]]))
    x, weights = inputs["x"], inputs["W"]
    expected = np.zeros(8)
    for place in range(7):
        expected[place] += 2400 * x[place] * weights[place, place]
        expected[place + 1] -= 400 * weights[place, place]
        expected[place] -= 400 * (weights[place, place + 1] + weights[place + 1, place])
    np.testing.assert_allclose(evaluate([built.names["z"]])[built.names["z"]], expected, rtol=1e-12)
    third = derivatives.jacobian(built.names["H"], built.wrt["x"])
    np.testing.assert_allclose(np.tensordot(weights, evaluate([third])[third]), expected, rtol=1e-12)


@pytest.mark.usefixtures("at_any_size")
def test_tensors_of_one_entry_and_of_none() -> None:
    """They have their matrices of one entry and of none."""
    for size in (0, 1, 2):
        built = build(Source("f = sum(x**3)"), inputs={"x": np.full(size, 2.0)})
        x = built.wrt["x"]
        assert np.array_equal(hessian(built.names["f"], [x])[x][x], 12.0 * np.eye(size))
    number = leaf(np.float64(3.0), requires_grad=True)
    assert hessian(number * number, [number])[number][number] == 2.0


def test_many_variables_are_refused_before_any_search() -> None:
    """A matrix too large for the memory costs nothing."""
    x = leaf(np.broadcast_to(np.float64(1.0), 10**9), requires_grad=True)
    slope = leaf(np.broadcast_to(np.float64(0.0), 10**9))
    assert compressed([slope * x], slope, 0) == [None]


def test_the_search_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A map full at its end is given up for at most a share of what its runs compute."""
    looked = []
    plain = compression.passed

    def counted(node: Node, known: Any, size: Any) -> Any:
        pattern = plain(node, known, size)
        looked.append(0 if pattern is None else pattern.seeds.size)
        return pattern

    monkeypatch.setattr(compression, "passed", counted)
    text = "u = x\n" + "u = u[1:]*u[:-1]\n" * 40 + "f = sum(u)**2"
    built = build(Source(text), inputs={"x": np.full(600, 1.0)})
    x = built.wrt["x"]
    runs = by_entries(gradient(built.names["f"], [x])[0], [x])
    assert compressed(runs.targets, runs.leaf, 0) == [None]
    work = 600 * sum(node.size for node in ancestors(runs.targets))
    assert sum(looked) <= work / 64 + 2 * 600 * 600 + 2**17
