"""`agrad ops`, called in this process, and the page that it writes."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agrad.cli.main import agrad

PAGE = Path(__file__).parents[3] / "engine" / "ops" / "README.md"


def run(*arguments: str) -> Result:
    """One run of `agrad ops`."""
    return CliRunner().invoke(agrad, ["ops", *arguments])


def test_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a name: families, and a line for each op that fits the screen."""
    monkeypatch.setenv("COLUMNS", "80")
    result = run()
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert "linalg" in lines
    assert any(line.split()[:1] == ["log1p"] and "The natural logarithm of 1 + x" in line for line in lines)
    assert max(map(len, lines)) <= 80
    assert not any(line.split()[:1] == ["flow"] for line in lines)
    assert any(line.split()[:1] == ["flow"] for line in run("--all").output.splitlines())


@pytest.mark.parametrize("width", [40, 50])
def test_narrow_screens(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """On a narrow screen the list and every entry stay within it."""
    monkeypatch.setenv("COLUMNS", str(width))
    listed = run("--all").output.splitlines()
    assert max(map(len, listed)) <= width
    assert any("The natural logarithm" in line for line in listed)
    for name in ("log1p", "softmax", "F.conv2d", "where", "linalg.svd", "ctc_loss"):
        lines = run(name).output.splitlines()
        assert max(map(len, lines)) <= width, name
        assert any(line.strip() == "rule" or line.startswith("  rule ") for line in lines)


def test_one_op() -> None:
    """With a name: forms, rule, domain, kink, grad_fn and an example with its result."""
    result = run("torch.log1p")
    assert result.exit_code == 0
    for text in ("log1p  (elementwise)", "x.log1p()", "d/dx log1p(x) = 1 / (1 + x)", "x > -1", "torch-2.13"):
        assert text in result.output
    assert "Log1PBackward0" in result.output
    assert "grad(x) = [" in result.output


def test_the_example_runs() -> None:
    """The command that an entry shows prints the numbers that it shows."""
    example = json.loads(run("log1p", "--format", "json").stdout)["example"]
    program, *arguments = shlex.split(example["command"])
    assert program == "agrad"
    found = json.loads(CliRunner().invoke(agrad, [*arguments, "--format", "json", "--no-check"]).stdout)
    assert found["values"]["out"] == example["values"]["out"]
    assert found["gradients"]["x"] == example["gradients"]["x"]


def test_json() -> None:
    """One object for an op, a list for many, both with a schema version."""
    entry = json.loads(run("add", "--format", "json").stdout)
    assert entry["schema_version"] == 1
    assert {"form": "x + y", "grad_fn": "AddBackward0"} in entry["forms"]
    assert entry["rule"] == ["d/dx (x + y) = 1", "d/dy (x + y) = 1"]
    assert {"name": "alpha", "takes": "a number", "default": "1"} in entry["parameters"]
    listed = json.loads(run("--family", "scan", "--format", "json").stdout)
    assert "cumsum" in [op["name"] for op in listed["ops"]]


def test_markdown_of_one_op() -> None:
    """The section of the page, alone."""
    result = run("relu", "--format", "markdown")
    assert result.output.startswith("### relu\n")
    assert result.output in PAGE.read_text(encoding="utf-8")


def test_departures_are_shown() -> None:
    """An op whose gradient is not PyTorch's at some point says where, with both numbers."""
    assert "PyTorch nan" in " ".join(run("where").output.split())


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["sofmax"], "there is no op sofmax", "did you mean softmax"),
        (["--family", "lossy"], "there is no family lossy", "loss"),
        (["--search", "nothing is called so"], "no op has the words", "agrad ops"),
        (["add", "--family", "loss"], "give a NAME, or --family", ""),
    ],
)
def test_what_is_not_there(arguments: list[str], message: str, hint: str) -> None:
    """A wrong name is answered with the nearest, on stderr, with exit code 2; in JSON where that is asked for."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert hint in result.stderr
    error = json.loads(run(*arguments, "--format", "json").stdout)["error"]
    assert message in error["message"]
    assert error["code"] == "usage"


def test_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    """--ascii writes no other characters, and a narrow screen is kept to."""
    monkeypatch.setenv("COLUMNS", "60")
    assert run("--ascii").output.isascii()
    assert run("softmax", "--ascii").output.isascii()
    assert max(map(len, run("softmax").output.splitlines())) <= 60


def test_the_page_is_current() -> None:
    """engine/ops/README.md is what `agrad ops --format markdown` writes now."""
    written = run("--format", "markdown").output.splitlines()
    kept = PAGE.read_text(encoding="utf-8").splitlines()
    stale = [f"- {old}{os.linesep}+ {new}" for old, new in zip(kept, written, strict=False) if old != new]
    hint = "write it anew: agrad ops --format markdown > engine/ops/README.md"
    assert not stale, f"{hint}\n{stale[0]}"
    assert len(written) == len(kept), hint
