"""`agrad eval --plan` and `--max-memory`: what would be done, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from agrad.cli.main import agrad
from agrad.engine.run import fused

TEXT = "x = randn(100000, seed=0, requires_grad=True)\nz = sum(exp(-x**2) * x)\n"


def run(*arguments: str, text: str = TEXT) -> Result:
    """One run of `agrad eval` on a text."""
    return CliRunner().invoke(agrad, ["eval", "-", *arguments], input=text)


def test_plan_names_what_is_fused() -> None:
    """The text says what the one run reads, writes and reduces, its ops, and what it takes."""
    result = run("--plan")
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert said.startswith(
        "1 step, 1 fused run 1 fused run over 100,000 rows: reads x; writes grad x; reduces to z (sum)"
    )
    assert "ops: pow, neg, exp, mul" in said
    assert "800 kB read, 800 kB written" in said
    assert "held beside the inputs" in said


def test_plan_as_json() -> None:
    """The same as data, for tests that compare plans."""
    found = json.loads(run("--plan", "--format", "json").stdout)
    assert found["schema_version"] == 1
    assert found["wrt"] == ["x"]
    plan = found["plan"]
    (step,) = plan["steps"]
    assert (step["kind"], step["rows"], step["inputs"], step["outputs"]) == ("fused", 100000, ["x"], ["grad x"])
    assert step["reductions"] == [{"op": "sum", "result": "z"}]
    assert plan["bytes_inputs"] == 800_000
    assert plan["bytes_results"] == 800_008
    assert plan["bytes_peak"] >= plan["bytes_results"]
    assert plan["seconds"] > 0


def test_plan_of_a_long_text_of_numbers_is_one_sweep() -> None:
    """Such a text is not planned: the listing counts its ops and says what the way there and back takes."""
    text = "x = 1.1\na0 = x\n" + "".join(f"a{i} = sin(a{i - 1}) * x\n" for i in range(1, 1500))
    result = run("--plan", text=text)
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert "one sweep there and back over 2,999 nodes" in said
    assert "sin (1,499 times), mul (1,499 times)" in said
    (step,) = json.loads(run("--plan", "--format", "json", text=text).stdout)["plan"]["steps"]
    assert (step["kind"], step["nodes"]) == ("sweep", 2999)
    assert {each["op"]: each["count"] for each in step["ops"]} == {"sin": 1499, "mul": 1499}


def test_plan_of_a_small_text_lists_its_steps() -> None:
    """Scalars are steps, each with its op, its arguments and its result."""
    result = run("--plan", text="x = 3.0\nz = x**2 + 1\n")
    lines = result.stdout.splitlines()
    assert lines[0] == "4 steps, 0 fused runs"
    assert lines[1] == "  1  pow of x, 2 gives pow #1 (a number, float64)"
    assert any("gives z" in line for line in lines)
    assert any("gives grad x" in line for line in lines)


def test_plan_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No block is computed for a plan, while without --plan the planted fault is met."""
    monkeypatch.setattr(fused, "run_blocks", None)
    assert run("--plan").exit_code == 0
    assert run("--no-check").exit_code == 70


def test_names_are_escaped_in_the_plan() -> None:
    """A name cannot send an escape sequence to the terminal."""
    result = run("--plan", "--ascii", text="θ = 1.0\nz = θ * 2\n")
    assert result.exit_code == 0
    result.stdout.encode("ascii")


def test_an_error_in_a_plan_has_its_place() -> None:
    """A text that cannot be differentiated is refused with its line, as when it is run."""
    result = run("--plan", text="x = [1.0, 2.0]\nz = x * 2\n")
    assert result.exit_code == 2
    assert "--grad-tensors" in result.stderr


def test_too_little_memory_is_refused_with_the_estimate() -> None:
    """--max-memory below the estimate ends with exit code 3 and both numbers."""
    result = run("--max-memory", "100kB", "--no-check")
    assert result.exit_code == 3
    assert "--max-memory is 100 kB" in result.stderr
    assert "--plan" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    "text",
    [
        "x = linspace(0, 1, 20000)\na0 = x\n"
        + "".join(f"a{i} = sin(a{i - 1})\n" for i in range(1, 60))
        + "z = sum(a59)",
        "x = 1.1\na0 = x\n" + "".join(f"a{i} = sin(a{i - 1}) * x\n" for i in range(1, 1500)),
        "x = 3.0\nz = x**2 + 1\n",
    ],
    ids=["steps", "sweep", "numbers"],
)
def test_every_text_is_held_against_the_limit(text: str) -> None:
    """Steps, a sweep and a few numbers are refused where --plan says that they take more, and run where they do not."""
    peak = json.loads(run("--plan", "--format", "json", text=text).stdout)["plan"]["bytes_peak"]
    result = run("--max-memory", f"{peak // 2}B", "--no-check", text=text)
    assert result.exit_code == 3, result.output
    assert "of memory beside its inputs, and --max-memory is" in result.stderr
    assert result.stdout == ""
    assert run("--max-memory", f"{2 * peak}B", "--no-check", text=text).exit_code == 0


@pytest.mark.parametrize("size", ["1GB", "500 MB", "1.5GiB", "2g", "1e"])
def test_sizes(size: str) -> None:
    """Sizes are numbers with a unit; anything else is a usage error."""
    result = run("--max-memory", size, "--no-check", "--format", "json")
    assert result.exit_code == (2 if size == "1e" else 0)


def test_a_mapped_input_is_computed_with(tmp_path: Path) -> None:
    """A large .npy is not read into memory first, and gives the same numbers."""
    path = tmp_path / "x.npy"
    array = np.random.default_rng(0).standard_normal(200_000)
    np.save(path, array)
    result = CliRunner().invoke(
        agrad, ["eval", "-e", "z = sum(x**2)", "--data", f"x={path}", "--no-check", "--format", "json"]
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["values"]["z"] == pytest.approx(np.sum(array**2), rel=1e-12)
