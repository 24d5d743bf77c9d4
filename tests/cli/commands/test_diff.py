"""`agrad diff`: two files compared from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agrad.cli.main import agrad


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a formula, an equal one and a different one."""
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("naive.txt", "x = 1.0\nz = log(1 + exp(x))\n"),
        ("stable.txt", "x = 2.0\nz = softplus(x)\n"),
        ("wrong.txt", "x = 1.0\nz = where(x > 20, x, log(1 + exp(x)))\n"),
    ):
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> Result:
    """One run of the command."""
    return CliRunner().invoke(agrad, ["diff", *arguments])


@pytest.mark.usefixtures("files")
def test_equal_files() -> None:
    """Exit code 0; a formula that overflows is named."""
    result = run("naive.txt", "stable.txt")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "z          equal, proved for all real inputs\n"
        "           (at x = 710.0 in float64 the left side overflows)\n"
        "d(z)/d(x)  equal, proved for all real inputs\n"
        "\n"
        "2 of 2 equal\n"
    )


@pytest.mark.usefixtures("files")
def test_different_files() -> None:
    """Exit code 1 and the counter-example, as text and as JSON."""
    result = run("naive.txt", "wrong.txt", "--wrt", "x")
    assert result.exit_code == 1
    first, *_ = result.stdout.splitlines()
    assert first == ("z          different: at x = 21.0 naive.txt gives 21.000000000758256 and wrong.txt gives 21.0")
    assert result.stdout.splitlines()[-1] == "0 of 2 equal, 2 different"
    result = run("naive.txt", "wrong.txt", "--format", "json")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["equal"], data["old"], data["new"]) == (1, False, "naive.txt", "wrong.txt")
    assert data["compared"][0]["counterexample"]["inputs"] == {"x": 21.0}


@pytest.mark.usefixtures("files")
def test_options() -> None:
    """A tolerance, a number of points, a seed, a time, values of leaves."""
    result = run(
        *("naive.txt", "wrong.txt", "--output", "z", "--tolerance", "1e-3", "--points", "20", "--seed", "3"),
        *("--seconds", "4", "--at", "x=0.5", "--ascii"),
    )
    assert result.exit_code == 0
    assert "equal at 20 points" in result.stdout


@pytest.mark.usefixtures("files")
def test_errors() -> None:
    """Missing files, names that neither file has, texts that are wrong: exit code 2, with a place."""
    for arguments, words in (
        (("naive.txt", "nowhere.txt"), "nowhere.txt"),
        (("naive.txt", "stable.txt", "--at", "y=1"), "--at: neither file uses y"),
        (("naive.txt", "stable.txt", "--output", "y"), "naive.txt has no name y"),
        (("naive.txt",), "Missing argument 'NEW'"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert words in result.stderr
    Path("broken.txt").write_text("x = 1.0\nz = (x\n", encoding="utf-8")
    result = run("naive.txt", "broken.txt")
    assert result.stderr.startswith("broken.txt:2:5: '(' is never closed\n")


@pytest.mark.parametrize(("new", "code"), [("stable.txt", 0), ("wrong.txt", 1)])
def test_samples(new: str, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The samples are run as their comments say: two formulations of a loss are equal, and a third is not."""
    root = Path(__file__).parents[3]
    monkeypatch.chdir(root)
    lines = Path("samples/diff", new).read_text(encoding="utf-8").splitlines()
    assert lines[1] == f"# run: agrad diff samples/diff/naive.txt samples/diff/{new}"
    assert run("samples/diff/naive.txt", f"samples/diff/{new}").exit_code == code
