"""`agrad eval --jacobian`, `--hessian` and `--order`, called in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from agrad.cli.main import agrad

TEXT = "x = 2.0\ny = [3.0, 1.0]\nv = x*y\nz = x**2*sum(y)\n"


def run(*arguments: str, text: str = TEXT, check: bool = False) -> Result:
    """One run of `agrad eval`, with the text as its standard input."""
    options = [*arguments, *([] if check else ["--no-check"])]
    return CliRunner().invoke(agrad, ["eval", "-", *options], input=text)


def data(*arguments: str, text: str = TEXT, check: bool = False) -> dict[str, Any]:
    """The JSON of a run that is done."""
    result = run("--format", "json", *arguments, text=text, check=check)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_jacobians_in_json() -> None:
    """Nested lists of the output's shape followed by the leaf's; what needs weights for a gradient has none."""
    found = data("--jacobian", "--output", "v", "--output", "z")
    assert found["jacobian"] == {
        "v": {"x": [3.0, 1.0], "y": [[2.0, 0.0], [0.0, 2.0]]},
        "z": {"x": 16.0, "y": [4.0, 4.0]},
    }
    assert found["values"] == {"v": [6.0, 2.0], "z": 16.0}
    assert found["wrt"] == ["x", "y"]
    assert found["gradients"] == {}
    assert found["warnings"] == []


def test_gradients_stay_where_they_exist() -> None:
    """Of a scalar, and of an output with weights, the gradient is there as ever."""
    assert data("--jacobian")["gradients"] == {"x": 16.0, "y": [4.0, 4.0]}
    weighted = data("--jacobian", "--output", "v", "--grad-tensors", "[1, 10]")
    assert weighted["gradients"] == {"x": 13.0, "y": [2.0, 20.0]}
    assert weighted["jacobian"]["v"]["x"] == [3.0, 1.0]


def test_the_hessian_in_json() -> None:
    """Blocks for each pair of leaves, and the curvature."""
    found = data("--hessian", "--wrt", "x,y")
    assert found["hessian"] == {
        "x": {"x": 8.0, "y": [4.0, 4.0]},
        "y": {"x": [4.0, 4.0], "y": [[0.0, 0.0], [0.0, 0.0]]},
    }
    assert found["curvature"]["definiteness"] == "indefinite"
    assert found["curvature"]["condition"] == "Infinity"


def test_higher_orders_in_json() -> None:
    """The derivatives of orders 1 to N by each number."""
    found = data("--order", "3", "--wrt", "x", text="x = 2.0\nz = x**4\n")
    assert found["derivatives"] == {"x": [32.0, 48.0, 48.0]}


def test_what_is_not_asked_for_is_not_there() -> None:
    """Plain runs have none of the keys."""
    assert not {"jacobian", "hessian", "derivatives", "curvature", "matrix_check"} & data().keys()


def test_the_referees_judge_what_is_shown() -> None:
    """Jacobian, Hessian and higher orders each carry a verdict beside that of the gradient."""
    found = data("--hessian", "--jacobian", check=True)
    assert found["check"]["verdict"] == "agree"
    assert found["matrix_check"]["verdict"] == "agree"
    alone = data("--jacobian", "--output", "v", check=True)
    assert alone["check"] == alone["matrix_check"]
    assert alone["check"]["verdict"] == "agree"


def test_a_table_with_labels() -> None:
    """Blocks with the names and indices of rows and columns stand under the nodes, and the verdict under them."""
    result = run("--jacobian", "--output", "v", check=True)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    place = lines.index("jacobian of v")
    assert lines[place + 1 : place + 4] == ["        x  y[0]  y[1]", "v[0]  3.0   2.0   0.0", "v[1]  1.0   0.0   2.0"]
    assert lines[-1].startswith("jacobian, weighted and summed: sympy: agree")


@pytest.mark.parametrize("format_", ["table", "plain", "markdown"])
def test_large_ones_are_described(format_: str) -> None:
    """Shape, share of entries that are not zero, largest entries, eigenvalues."""
    text = "x = linspace(1, 2, 30)\nz = sum(x**3)\n"
    found = run("--hessian", "--format", format_, text=text).stdout
    assert "x, x: shape [30, 30], 3.33 % not zero" in found
    assert "largest: [29, 29] 12.0" in found
    assert "definiteness  positive definite" in found


def test_csv_has_no_room() -> None:
    """The matrix goes to stderr, the table stays as it is."""
    result = run("--hessian", "--format", "csv", "--wrt", "x")
    assert "hessian of z" in result.stderr
    assert "hessian" not in result.stdout


def test_large_ones_in_json() -> None:
    """By statistics, share and largest entries, unless everything is asked for."""
    text = "x = linspace(1, 2, 40)\nz = sum(x**3)\n"
    block = data("--hessian", text=text)["hessian"]["x"]["x"]
    assert (block["shape"], block["nonzero"]) == ([40, 40], 1 / 40)
    assert np.shape(data("--hessian", "--full", text=text)["hessian"]["x"]["x"]) == (40, 40)


def test_save(tmp_path: Path) -> None:
    """Each block under a name of its own, exactly."""
    path = tmp_path / "results.npz"
    assert run("--jacobian", "--output", "v", "--save", str(path)).exit_code == 0
    with np.load(path) as saved:
        assert sorted(saved.files) == ["jacobian/v/x", "jacobian/v/y", "v"]
        assert np.array_equal(saved["jacobian/v/y"], [[2.0, 0.0], [0.0, 2.0]])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--hessian", "--output", "v"], "a single real number: v has shape [2]"),
        (["--order", "2"], "y has shape [2]"),
        (["--order", "0"], "--order"),
        (["--hessian", "--output", "v", "--output", "z"], "takes one output"),
    ],
)
def test_what_is_refused(arguments: list[str], said: str) -> None:
    """Exit code 2, one reason, nothing on stdout."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_derivatives_inside_of_a_file() -> None:
    """`grad`, `jacobian` and `hessian` are functions of the language, and their results are checked like all others."""
    found = data(text="x = [1.0, 2.0]\nz = sum(x**3)\ng = grad(z, x)\nh = hessian(z, x)\np = sum(g**2)\n", check=True)
    assert found["gradients"]["x"] == [36.0, 288.0]
    assert [each["value"] for each in found["nodes"] if each["name"] == "h"] == [[[6.0, 0.0], [0.0, 12.0]]]
    assert found["check"]["verdict"] == "agree"


def test_a_derivative_by_what_is_not_used_is_said() -> None:
    """It is zero, with a warning."""
    found = data(text="x = 1.0\ny = 2.0\ng = grad(x**2, y)\nz = g + x\n")
    assert "does not depend on y: zero" in found["warnings"][0]
