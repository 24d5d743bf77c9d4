"""`agrad eval`, called in this process."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from agrad.cli.main import agrad

PARABOLOID = "x = 1.0\ny = 2.0\nz = x**2 + y\n"
VECTOR = "x = [1.0, 2.0, 3.0]\ny = x**2\ns = sum(y)\n"


def run(*arguments: str, text: str | bytes | None = None, check: bool = False) -> Result:
    """One run of `agrad eval`, with the text as its standard input."""
    where = ["-"] if text is not None else []
    return CliRunner().invoke(agrad, ["eval", *where, *arguments, *([] if check else ["--no-check"])], input=text)


def data(*arguments: str, text: str | None = None) -> dict[str, Any]:
    """The JSON of a run that is done."""
    result = run("--format", "json", *arguments, text=text)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def node(found: dict[str, Any], name: str) -> dict[str, Any]:
    """The last node of a name."""
    return [each for each in found["nodes"] if each["name"] == name][-1]


def complaint(*arguments: str, text: str | None = None, code: int = 2) -> str:
    """What a run that must fail says, and nothing on stdout."""
    result = run(*arguments, text=text)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr


def test_paraboloid_in_json() -> None:
    """The documented example: values, gradients and PyTorch's view of each node."""
    found = data("--wrt", "x,y", text=PARABOLOID)
    assert found["gradients"] == {"x": 2.0, "y": 1.0}
    assert found["values"] == {"z": 3.0}
    assert found["outputs"] == ["z"]
    assert found["file"] == "<stdin>"
    assert found["check"]["verdict"] == "skipped"
    z = node(found, "z")
    assert (z["line"], z["expression"], z["op"], z["grad_fn"]) == (3, "x**2 + y", "add", "AddBackward0")
    assert (z["requires_grad"], z["is_leaf"], z["grad"]) == (True, False, None)
    x = node(found, "x")
    assert (x["requires_grad"], x["is_leaf"], x["grad_fn"], x["grad"]) == (True, True, None, 2.0)


def test_referees_agree_under_the_table() -> None:
    """With the check, SymPy's verdict and the closed forms stand under the table."""
    result = run("--wrt", "x,y", text=PARABOLOID, check=True)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == [
        "line", "name", "expression", "value", "requires_grad", "is_leaf", "grad_fn", "grad",
    ]  # fmt: skip
    verdict = next(line for line in lines if line.startswith("sympy: agree, "))
    assert int(verdict.split()[2]) >= 15
    assert "dz/dx = 2*x" in lines
    assert "dz/dy = 1" in lines


def test_default_wrt_is_every_float_leaf_or_those_declared() -> None:
    """Without --wrt, declared leaves are taken, and where there are none all float leaves."""
    assert data(text=PARABOLOID)["wrt"] == ["x", "y"]
    declared = "x = tensor(1.0, requires_grad=True)\ny = 2.0\nz = x * y\n"
    assert data(text=declared)["gradients"] == {"x": 2.0}


def test_wrt_of_an_intermediate_node_keeps_its_grad() -> None:
    """A node that is no leaf has its grad shown where it is asked for, and only then."""
    text = "x = 3.0\nh = x**2\nz = h * 2\n"
    found = data("--wrt", "h", text=text)
    assert found["gradients"] == {"h": 2.0}
    assert node(found, "h")["grad"] == 2.0
    assert node(data("--wrt", "x", text=text), "h")["grad"] is None
    assert node(data("--wrt", "x", "--retain-grad", text=text), "h")["grad"] == 2.0


def test_reassigned_name_has_two_rows() -> None:
    """Each assignment of a name is a node with its own line."""
    found = data(text="x = 2.0\na = x * 3\na = a * a\n")
    assert [(each["line"], each["value"]) for each in found["nodes"] if each["name"] == "a"] == [(2, 6.0), (3, 36.0)]


def test_several_outputs_are_summed() -> None:
    """The gradient is that of the sum of all outputs."""
    found = data("--output", "a", "--output", "b", "--wrt", "x", text="x = 2.0\na = x**2\nb = 3 * x\n")
    assert found["outputs"] == ["a", "b"]
    assert found["values"] == {"a": 4.0, "b": 6.0}
    assert found["gradients"] == {"x": 7.0}


def test_vector_output_needs_grad_tensors() -> None:
    """PyTorch's words, followed by what to write."""
    said = complaint("--output", "y", text=VECTOR)
    assert "grad can be implicitly created only for scalar outputs" in said
    assert '--grad-tensors "[1, 1, 1]"' in said


@pytest.mark.parametrize("weights", ["[1, 0, 2]", "ones", "y=[1, 0, 2]", "v", "@FILE"])
def test_grad_tensors_in_every_form(weights: str, tmp_path: Path) -> None:
    """A literal, ones, a named literal, a name of the file and an array file are all weights."""
    np.save(tmp_path / "v.npy", np.array([1, 0, 2]))
    given = weights.replace("FILE", str(tmp_path / "v.npy"))
    found = data(
        "--output", "y", "--wrt", "x", "--grad-tensors", given, text=VECTOR.replace("s =", "v = [1, 0, 2]\ns =")
    )
    assert found["gradients"]["x"] == ([2.0, 4.0, 6.0] if weights == "ones" else [2.0, 0.0, 12.0])


def test_grad_tensors_of_a_wrong_shape_or_count() -> None:
    """PyTorch's words with the names and shapes."""
    said = complaint("--output", "y", "--grad-tensors", "[1, 2]", text=VECTOR)
    assert (
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([2]) "
        "and output[0] has a shape of torch.Size([3])." in said
    )
    said = complaint("--output", "y", "--output", "s", "--grad-tensors", "ones", text=VECTOR)
    assert "got 2 tensors and 1 gradients" in said
    assert "y, s" in said


def test_output_without_gradient() -> None:
    """PyTorch's words and why."""
    said = complaint("--output", "n", text="x = 1.0\nn = x > 0\n")
    assert "element 0 of tensors does not require grad and does not have a grad_fn" in said


def test_complex_output() -> None:
    """PyTorch's words and what to take instead."""
    said = complaint(text="x = 1.0\nz = x * (1 + 2j)\n")
    assert "grad can be implicitly created only for real scalar outputs but got torch.complex128" in said
    assert "abs(z)" in said


def test_leaf_that_nothing_depends_on() -> None:
    """It has zeros in the gradients, null in its node, and a warning with its name."""
    found = data("--wrt", "x,w", text="x = 1.0\nw = [1.0, 2.0]\nz = 2 * x\n")
    assert found["gradients"] == {"x": 2.0, "w": [0.0, 0.0]}
    assert node(found, "w")["grad"] is None
    assert any("does not depend on w" in warning for warning in found["warnings"])


def test_at_overrides_a_leaf_and_says_so() -> None:
    """Values of the command line win over those of the file."""
    found = data("--at", "x=3, y=[1, 2]", "--output", "z", "--grad-tensors", "ones", text=PARABOLOID)
    assert found["gradients"] == {"x": 12.0, "y": [1.0, 1.0]}
    assert any("x" in warning for warning in found["warnings"])


def test_inputs_have_rows_of_their_own() -> None:
    """A name that no line assigns takes its value from --at, and is a row without a line."""
    found = data("--at", "x=2", text="z = x**3\n")
    assert found["gradients"] == {"x": 12.0}
    assert node(found, "x")["line"] is None
    assert "(input)" in run("--at", "x=2", text="z = x**3\n").stdout


def test_name_without_a_value_is_an_error() -> None:
    """An input without a value is named, with its place."""
    said = complaint(text="z = x**3\n")
    assert "x" in said
    assert "<stdin>:1:5" in said


@pytest.mark.parametrize(
    ("option", "value", "near"), [("--wrt", "speed,xx", "x"), ("--output", "zz", "z"), ("--at", "yy=1", "y")]
)
def test_misspelt_names_are_answered_with_the_nearest(option: str, value: str, near: str) -> None:
    """An option that names nothing in the file says what it may have meant."""
    text = PARABOLOID.replace("x", "xs").replace("y", "ys").replace("z", "zs")
    said = complaint(option, value, text=text)
    assert f"{near}s" in said


def test_data_files(tmp_path: Path) -> None:
    """Inputs come from any kind of data file, and --at overrides them."""
    np.savez(tmp_path / "a.npz", x=np.array([1.0, 2.0]), unused=np.zeros(3))
    (tmp_path / "b.json").write_text('{"k": 3}')
    text = "z = k * sum(x**2)\n"
    options = ["--data", str(tmp_path / "a.npz"), "--data", str(tmp_path / "b.json")]
    assert data(*options, text=text)["gradients"]["x"] == [6.0, 12.0]
    assert data(*options, "--at", "k=1", text=text)["gradients"]["x"] == [2.0, 4.0]


def test_lines_of_expressions_follow_the_file() -> None:
    """-e may be repeated, alone or after a file."""
    assert data("-e", "x = 2.0", "-e", "z = x**2")["gradients"] == {"x": 4.0}
    assert data("-e", "w = z**2", "--wrt", "x", text=PARABOLOID)["gradients"] == {"x": 12.0}


def test_error_in_an_expression_is_located_in_it() -> None:
    """Lines are counted in each text for itself."""
    assert "-e:1:" in complaint("-e", "w = z +", text=PARABOLOID)
    assert "-e 2:1:" in complaint("-e", "w = z", "-e", "v = w +", text=PARABOLOID)
    assert "--at:1:" in complaint("--at", "x=(", text=PARABOLOID)


def test_float32() -> None:
    """--dtype float32 computes and shows float32."""
    found = data("--dtype", "float32", text="x = 0.1\nz = x * 1\n")
    assert found["dtype"] == "float32"
    assert node(found, "z")["dtype"] == "float32"
    assert found["values"]["z"] == 0.1


def test_save_writes_outputs_and_gradients(tmp_path: Path) -> None:
    """Outputs stand under their names, gradients under grad/NAME, exactly."""
    path = tmp_path / "results.npz"
    assert run("--save", str(path), text="x = 0.1\nz = x * 3\n").exit_code == 0
    with np.load(path) as saved:
        assert sorted(saved.files) == ["grad/x", "z"]
        assert saved["z"] == 0.1 * 3


def test_save_into_a_missing_folder_fails_at_once(tmp_path: Path) -> None:
    """Exit code 3, and nothing is computed."""
    assert "no folder" in complaint("--save", str(tmp_path / "a" / "b.npz"), text=PARABOLOID, code=3)


def test_cuda_is_refused_in_one_line() -> None:
    """While nothing computes on CUDA, one line says so, with exit code 3."""
    said = complaint("--device", "cuda", text=PARABOLOID, code=3)
    assert len(said.strip().splitlines()) == 1
    assert "--device cuda" in said


def test_formats() -> None:
    """Each format shows the same numbers."""
    plain = run("--format", "plain", text=PARABOLOID).stdout.splitlines()
    assert plain[3].split() == ["3", "z", "x**2", "+", "y", "3.0", "True", "False", "AddBackward0", "None"]
    assert "| 3 | z | `x**2 + y` | 3.0 |" in run("--format", "markdown", text=PARABOLOID).stdout
    rows = list(csv.DictReader(io.StringIO(run("--format", "csv", text=PARABOLOID).stdout)))
    assert rows[0]["grad"] == "2.0"
    assert rows[2]["grad_fn"] == "AddBackward0"


def test_large_array_is_summarised_unless_full() -> None:
    """JSON has statistics and ends of a large array, and every element with --full."""
    text = "x = ones(2000)\nz = sum(x)\n"
    assert data(text=text)["gradients"]["x"]["shape"] == [2000]
    assert len(data("--full", text=text)["gradients"]["x"]) == 2000


def test_non_finite_numbers_are_words_in_json() -> None:
    """JSON stays strict."""
    found = data(text="x = 0.0\nz = 1 / x\n")
    assert found["values"]["z"] == "Infinity"
    assert found["gradients"]["x"] == "-Infinity"


def test_errors_are_json_where_json_is_asked_for() -> None:
    """The exit code stays, and stdout holds one JSON object with the place."""
    result = run("--format", "json", text="x = 1.0\nz = x + foo(x)\n")
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert (error["line"], error["column"]) == (2, 9)
    assert "foo" in error["message"]


def test_usage_errors_are_json_too() -> None:
    """A wrong option is answered in the format that was asked for."""
    result = run("--format=json", "--retain-grat", text=PARABOLOID)
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "usage"


def test_nothing_to_evaluate() -> None:
    """Neither a file nor a line; an empty text; only comments."""
    assert "nothing to evaluate" in complaint()
    assert "nothing to evaluate" in complaint(text="")
    assert "nothing to evaluate" in complaint(text="# only a comment\n\n")


def test_markup_and_escapes_are_only_text() -> None:
    """What Rich or a terminal would act upon is shown as it was written, escaped."""
    result = run(text="x = 1.0\nz = sum([x, 2]) # \x1b[31m [bold]\n")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.stdout
    said = complaint(text="z = \x1b[31m[bold]red\n")
    assert "\x1b" not in said
    assert "\\x1b" in said


def test_colour_is_forced_and_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """FORCE_COLOR colours a pipe, NO_COLOR wins over it."""
    assert "\x1b[" not in run(text=PARABOLOID).stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run(text=PARABOLOID).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run(text=PARABOLOID).stdout


def test_width_follows_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """COLUMNS decides how wide the table is."""
    for width in (24, 60, 160):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = run(text=VECTOR + "t = sum(x * 1.23456789e-200)\n").stdout.splitlines()
        assert max(map(len, lines)) <= width


def test_ascii_writes_ascii_only() -> None:
    """Names of other alphabets are escaped, rules are dashes."""
    result = run("--ascii", text="θ = 1.0\nz = θ**2\n")
    assert result.stdout.isascii()
    assert "\\u03b8" in result.stdout
    assert "θ" in run(text="θ = 1.0\nz = θ**2\n").stdout
