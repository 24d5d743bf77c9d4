"""The benchmarks' own parts: every work's definition is right, and the report tells what was found."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parent / "benchmarks"
FUSED = {
    "expression": 50_000,
    "chain": 50_000,
    "cross_entropy": 50,
    "layer_norm": 50,
    "batch_norm": 50,
    "network": 128,
    "logistic": 50_000,
    "attention": 96,
    "hessian": 300,
}
"""Sizes at which a plan fuses."""

Load = Callable[[str], Any]
QUICK = ("--tiny", "--threads", "1", "--rounds", "1", "--budget", "0.001", "--process-rounds", "1")


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    """Imports a module of the benchmarks, which run as a folder of their own."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    return importlib.import_module


def test_every_work_is_listed_here(load: Load) -> None:
    """No work goes untested."""
    assert set(load("works").WORKS) == set(FUSED)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("name", FUSED)
def test_agrad_and_a_person_agree(load: Load, name: str, fused: bool, dtype: str) -> None:
    """The text that agrad reads and the derivatives by hand are of the same function at every size, in both dtypes."""
    work = load("works").WORKS[name]
    inputs = work.inputs(FUSED[name] if fused else work.tiny, dtype)
    exact = {key: array.astype("float64") if array.dtype.kind == "f" else array for key, array in inputs.items()}
    prepared = load("peers.graph_and_plan").prepare(work, inputs, 1)
    found = prepared.arrays(prepared.call())
    assert {array.dtype.name for array in found} == {dtype}
    right = [np.asarray(array) for array in work.by_hand(**exact)]
    assert load("child").greatest_error(found, right) < (1e-13 if dtype == "float64" else 3e-6)


@pytest.mark.parametrize("name", FUSED)
def test_no_gradient_is_zero(load: Load, name: str) -> None:
    """Zeros would agree with anything that computes nothing."""
    work = load("works").WORKS[name]
    assert all(np.any(array) for array in work.by_hand(**work.inputs(work.tiny, "float64")))


def test_four_sizes_grow_by_four_times_the_work(load: Load) -> None:
    """The sizes that growth is measured at differ by equal factors of work, whatever power of the size that is."""
    for work in load("works").WORKS.values():
        amounts = [work.amount(size) for size in work.growing_sizes()]
        assert len(amounts) == 4
        np.testing.assert_allclose(np.divide(amounts[1:], amounts[:-1]), 4, rtol=0.05)


def test_an_error_is_seen(load: Load) -> None:
    """One wrong entry, a NaN or another shape is no agreement."""
    child, comparison = load("child"), load("comparison")
    right = np.linspace(1.0, 2.0, 1000)
    wrong, broken = right.copy(), right.copy()
    wrong[500] *= 1 + 1e-9
    broken[3] = np.nan
    for found in (wrong, broken, right[:-1]):
        told = {"error": child.greatest_error([found], [right]), "dtypes": ["float64"]}
        assert comparison.Outcome(told).agrees("float64") is False
    told = {"error": child.greatest_error([right], [right]), "dtypes": ["float64"]}
    assert comparison.Outcome(told).agrees("float64") is True
    assert comparison.Outcome(told).agrees("float32") is False


def test_a_peer_that_ends_early_is_told(load: Load, tmp_path: Path) -> None:
    """The last words of a process that fails are the problem, and it has ended."""
    process = load("process")
    order = {
        "peer": "nobody",
        "work": "chain",
        "size": 60,
        "dtype": "float64",
        "threads": 1,
        "reference": str(tmp_path),
    }
    with process.Process(order, sys.executable, tmp_path) as running:
        with pytest.raises(process.FailedError, match="KeyError: 'nobody'"):
            running.start()
        assert running.process.returncode


def test_the_odd_one_out_is_named(load: Load) -> None:
    """Of whole processes that answer differently the one that is alone disagrees."""
    whole = load("whole")
    answers = {"agrad": [1.0, 2.0], "torch": [1.0, 2.0], "casadi": [1.0, 2.1], "imports": None}
    found = whole.agreement({name: whole.Runs(answer=answer) for name, answer in answers.items()})
    assert found == {"agrad": True, "torch": True, "casadi": False, "imports": None}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_bound_is_of_the_same_work(load: Load, dtype: str) -> None:
    """The ufuncs that bound the expression give its value and both gradients, however often they run."""
    work = load("works").WORKS["expression"]
    inputs = work.inputs(1000, dtype)
    run = load("bound").ufuncs(**inputs)
    run()
    found = run()
    assert {array.dtype.name for array in found} == {dtype}
    for array, right in zip(found, work.by_hand(**work.inputs(1000, dtype)), strict=True):
        np.testing.assert_allclose(array, right, rtol=0, atol=1e-12 if dtype == "float64" else 1e-4)


def test_ratios_and_goals(load: Load) -> None:
    """The best is the fastest that differentiates by itself, and a goal is met at its ratio or below."""
    medians = {"agrad": 2.0, "numpy": 1.0, "torch": 8.0, "jax": 4.0, "casadi": None}
    goals = {"best": 0.4, "torch": 0.25, "casadi": 0.1}
    found = load("comparison").ratios(medians, goals, ["torch", "jax", "casadi"])
    assert found["best"] == "jax"
    assert found["ratios"] == {"numpy": 2.0, "torch": 0.25, "jax": 0.5, "best": 0.5}
    assert found["goals"] == {
        "best": {"goal": 0.4, "ratio": 0.5, "met": False},
        "torch": {"goal": 0.25, "ratio": 0.25, "met": True},
    }


def test_the_exponent_of_a_power_law(load: Load) -> None:
    """The fit finds the power that made the numbers."""
    amounts = [1e3, 1e4, 1e5, 1e6]
    assert load("growth").exponent(amounts, [3e-9 * amount**1.25 for amount in amounts]) == pytest.approx(1.25)


def test_growth_of_a_work(load: Load) -> None:
    """Four sizes of a work are timed, each in a process of its own, and an exponent comes of it."""
    growth, comparison = load("growth"), load("comparison")
    work = dataclasses.replace(load("works").WORKS["hessian"], sizes=(32,))
    effort = comparison.Effort(rounds=1, budget=0.001, most=3)
    found = growth.of_work(work, 1, sys.executable, effort, lambda _: None)
    assert found["sizes"] == [4, 8, 16, 32]
    assert found["amounts"] == [16.0, 64.0, 256.0, 1024.0]
    assert all(seconds > 0 for seconds in found["seconds"])
    assert found["exponent"] == growth.exponent(found["amounts"], found["seconds"])


@pytest.mark.parametrize(
    ("value", "text"),
    [(12.34, "12.3 s"), (1.0, "1.00 s"), (0.4567, "457 ms"), (0.00123, "1.23 ms"), (4.56e-6, "4.56 us"), (None, "-")],
)
def test_times_have_three_digits(load: Load, value: float | None, text: str) -> None:
    """A time is written in the unit that fits."""
    assert load("report").seconds(value) == text


def test_one_run(
    load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run names the peer that is missing, and its JSON has every time and ratio of those that are there."""
    load("command")
    peers = load("peers")
    monkeypatch.setitem(peers.PEERS, "absent", peers.Peer("absent", "absent", ("no-such-distribution",)))
    path = tmp_path / "found.json"
    given = ["--work", "hessian,smallest", "--peers", "agrad,numpy,absent", "--json", str(path), *QUICK]
    assert load("command").main(given) == 0
    printed = capsys.readouterr().out
    assert "absent is missing: it needs no-such-distribution" in printed
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["missing"] == ["absent"]
    (case,) = found["comparisons"]
    assert set(case["peers"]) == {"agrad", "numpy"}
    assert set(case["ratios"]) == {"numpy"}
    for peer in case["peers"].values():
        assert peer["problem"] is None
        assert peer["agrees"] is True
        assert 0 < peer["least_s"] <= peer["median_s"]
        assert 0 < peer["first_call_s"] < peer["with_start_s"]
    (smallest,) = found["processes"]
    assert set(smallest["peers"]) == {"agrad", "agrad-checked", "imports"}
    assert smallest["peers"]["agrad"]["agrees"] is True
    assert smallest["peers"]["agrad"]["peak_mb"] > 10
    assert set(smallest["variants"]) == {"agrad", "agrad-checked"}


def test_unknown_names_are_refused(load: Load) -> None:
    """A work or a peer that is not there ends the run with the names that are."""
    with pytest.raises(SystemExit, match="no such peer: tensor"):
        load("command").main(["--peers", "tensor"])
    with pytest.raises(SystemExit, match="no such work: z"):
        load("command").main(["--work", "z", "--peers", "numpy"])
    with pytest.raises(SystemExit, match="measures agrad"):
        load("command").main(["--sizes", "--peers", "numpy"])
