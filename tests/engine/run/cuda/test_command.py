"""`agrad eval --device cuda` over the fake: the table, the JSON and the verdict of the CPU."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from agrad.cli.commands.check import command as checking
from agrad.cli.commands.eval import command
from agrad.cli.main import agrad
from agrad.engine.errors import LimitError
from agrad.engine.run.cuda.executor import Executor

from . import fake_cupy
from .host import MISSING

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)
WORK = ("-e", "z = sum(tanh(x*w)**2)", "--at", "x=[1,2,3], w=[1,2,0.5]")


@pytest.fixture(autouse=True)
def _fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AGRAD_CACHE_DIR", str(tmp_path))
    with fake_cupy.installed():
        yield


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(command, [*WORK, "--device", "cuda", *arguments])


def _wrong(right: Callable[..., Any]) -> Callable[..., Any]:
    def wrong(self: Executor, nodes: Any, values: Any = None) -> Any:
        return {node: value * (1 + 1e-6) for node, value in right(self, nodes, values).items()}

    return wrong


def test_the_numbers_are_the_cpus_and_it_is_one_more_referee() -> None:
    """Values and gradients of both devices agree, and the verdict names the referee."""
    on_device = json.loads(_run("--format", "json").stdout)
    on_cpu = json.loads(_run("--format", "json", "--device", "cpu").stdout)
    assert on_device["device"] == "cuda"
    assert on_device["values"]["z"] == pytest.approx(on_cpu["values"]["z"], rel=1e-14)
    assert on_device["gradients"]["x"] == pytest.approx(on_cpu["gradients"]["x"], rel=1e-14)
    assert {"name": "cpu", "verdict": "agree"}.items() <= on_device["check"]["referees"][-1].items()
    assert [referee["name"] for referee in on_cpu["check"]["referees"]] == ["sympy", "mpmath"]
    assert "cpu: agree" in _run().stdout


def test_nothing_is_judged_where_no_check_is_wanted() -> None:
    """With --no-check there is no verdict."""
    assert "cpu: agree" not in _run("--no-check").stdout


def test_a_wrong_number_of_the_device_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault of the device makes the exit code 1."""
    monkeypatch.setattr(Executor, "evaluate", _wrong(Executor.evaluate))
    shown = _run("--format", "json")
    data = json.loads(shown.stdout)
    assert data["check"]["verdict"] == "disagree"
    assert data["check"]["referees"][-1]["verdict"] == "disagree"


MATRICES = {
    "a Jacobian": ("y = tanh(x * w) * sum(x)", "x=[1,2,3], w=[1,2,0.5]", ("--jacobian",)),
    "a Jacobian by directions": ("y = tanh(x) * [[1, 2, 3], [4, 5, 6]]", "x=[1,2,3]", ("--jacobian",)),
    "a sparse Hessian": ("z = sum(x[1:] ** 2 * sin(x[:-1]))", "x=[1,2,3,4,5]", ("--hessian",)),
    "a Hessian of two": ("z = sum(x @ w) ** 2 + sum(exp(x))", "x=[1,2,3], w=[1,2,0.5]", ("--hessian",)),
    "orders": ("z = x ** 5 * sin(x)", "x=0.7", ("--order", "4")),
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrices_of_derivatives_are_the_cpus(name: str) -> None:
    """Jacobians, Hessians and repeated derivatives are computed there, and the referees agree."""
    text, point, options = MATRICES[name]
    shown = {}
    for device in ("cuda", "cpu"):
        fake_cupy.machine.counts.clear()
        arguments = ["-e", text, "--at", point, *options, "--device", device, "--format", "json"]
        shown[device] = json.loads(CliRunner().invoke(command, arguments).stdout)
        assert bool(fake_cupy.machine.counts["kernels"]) == (device == "cuda" and name != "orders")
    (kind,) = {"jacobian", "hessian", "derivatives"} & {*shown["cuda"]}
    found, expected = (_numbers(each[kind]) for each in shown.values())
    assert len(found) >= 4
    assert np.allclose(found, expected, rtol=1e-13, atol=1e-15)
    assert shown["cuda"]["check"]["verdict"] == shown["cuda"]["matrix_check"]["verdict"] == "agree"


def _numbers(found: Any) -> list[float]:
    """All numbers of an answer, in order."""
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, list):
        return [number for each in found for number in _numbers(each)]
    return [float(found)] if isinstance(found, (int, float)) else []


def test_more_memory_than_allowed_is_refused() -> None:
    """--max-memory holds for the device as for the CPU: with the estimate, and before anything is launched."""
    text = ("-e", "x = arange(5000.0)\nz = sum(tanh(x) * exp(x / 9999))", "--device", "cuda", "--no-check")
    assert CliRunner().invoke(command, [*text, "--max-memory", "1MB"]).exit_code == 0
    fake_cupy.machine.counts.clear()
    refused = CliRunner().invoke(command, [*text, "--max-memory", "1kB"]).exception
    assert isinstance(refused, LimitError)
    assert "of the device's memory beside its inputs, and --max-memory is 1 kB" in refused.message
    assert not fake_cupy.machine.counts["kernels"]


def test_auto_takes_the_device_and_says_so() -> None:
    """Where there is a device, it is taken."""
    shown = CliRunner().invoke(command, [*WORK, "--device", "auto", "--no-check", "--format", "json"])
    assert json.loads(shown.stdout)["device"] == "cuda"
    assert "--device auto: computing on the fake" in shown.stderr


def test_check_compares_with_the_cpu(tmp_path: Path) -> None:
    """`agrad check --device cuda` names the CPU among the referees of every gradient."""
    (tmp_path / "one.txt").write_text("x = [1.0, 2.0]\nz = sum(tanh(x)**2)\n")
    shown = CliRunner().invoke(checking, [str(tmp_path), "--device", "cuda", "--format", "json", "--jobs", "1"])
    assert '"name": "cpu"' in shown.stdout
    assert '"disagree"' not in shown.stdout


def test_check_finds_a_wrong_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault of the device fails the check."""
    monkeypatch.setattr(Executor, "evaluate", _wrong(Executor.evaluate))
    (tmp_path / "one.txt").write_text("x = [1.0, 2.0]\nz = sum(tanh(x)**2)\n")
    shown = CliRunner().invoke(
        agrad, ["check", str(tmp_path), "--device", "cuda", "--referee", "sympy", "--jobs", "1"], standalone_mode=False
    )
    assert "the device gives" in shown.stdout


def test_devices_are_listed() -> None:
    """`agrad devices` shows the device with its memory."""
    shown = CliRunner().invoke(agrad, ["devices"], standalone_mode=False)
    assert "cuda:0   usable: the fake, compute capability 9.0, 8.0 of 8.0 GiB free" in shown.stdout
