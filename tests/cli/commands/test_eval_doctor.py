"""`agrad eval` at kinks, at numbers that are not finite, and where digits are lost."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from click.testing import CliRunner, Result

from agrad.cli.main import agrad

MASK = ("-e", "y = where(x > 0, sqrt(x), 3*x)", "--at", "x=[-2.25, 0]", "--grad-tensors", "[1, 0]")
KINK = ("-e", "z = abs(x) + y", "--at", "x=0, y=1", "--wrt", "x")
LOSS = ("-e", "y = sqrt(x + 1) - sqrt(x)", "--at", "x=1e12")


def run(*arguments: str, code: int = 0) -> Result:
    """One run of `agrad eval`."""
    result = CliRunner().invoke(agrad, ["eval", *arguments])
    assert result.exit_code == code, result.output
    return result


def data(*arguments: str, code: int = 0) -> dict[str, Any]:
    """The JSON of a run."""
    found: dict[str, Any] = json.loads(run("--format", "json", *arguments, code=code).stdout)
    return found


def test_a_kink_in_the_table() -> None:
    """Under the verdict stand slopes, interval, choice, convention and what others choose."""
    lines = run(*KINK).stdout.splitlines()
    assert lines[-3:] == [
        "kink  x: slope -1.0 from the left, 1.0 from the right; between them lies [-1.0, 1.0], and 0.0 is chosen",
        "      torch-2.13, abs in abs(x), line 1: 0 at 0",
        "      elsewhere, abs(0): PyTorch 0.0, JAX 1.0, HIPS autograd 0.0, MyGrad 0.0, CasADi [0.0]",
    ]


def test_a_kink_in_json() -> None:
    """The check has the kinks; without one it has none."""
    (kink,) = data(*KINK)["check"]["kinks"]
    assert {name: kink[name] for name in ("entry", "left", "right", "chosen", "convention")} == {
        "entry": "x",
        "left": -1.0,
        "right": 1.0,
        "chosen": 0.0,
        "convention": "torch-2.13",
    }
    assert kink["others"][0]["JAX"] == "1.0"
    smooth = data("-e", "z = abs(x)", "--at", "x=1")
    assert "kinks" not in smooth["check"]
    assert "findings" not in smooth
    assert "anomaly" not in smooth


@pytest.mark.parametrize("check", ["--check", "--no-check"])
def test_strict_kinks(check: str) -> None:
    """A kink ends with exit code 1 where that is asked for, with and without the referees; a smooth point with 0."""
    run(*KINK, check, code=0)
    run(*KINK, check, "--strict-kinks", code=1)
    assert data(*KINK, check, "--strict-kinks", code=1)["check"]["kinks"]
    run("-e", "z = abs(x)", "--at", "x=1", check, "--strict-kinks", code=0)
    run("-e", "z = abs(x)**2", "--at", "x=0", check, "--strict-kinks", code=0)


def test_a_number_that_is_right_here_only() -> None:
    """What the plain chain rule would have given is said, and why agrad's number is right."""
    output = run(*MASK, "--no-check").stdout
    assert "note: -e:1:18: the gradient by x[0]: the plain chain rule gives nan, 3.0 is right" in output
    (finding,) = data(*MASK, "--no-check")["findings"]
    assert (finding["kind"], finding["factors"], finding["plain"], finding["shown"]) == (
        "repaired",
        [0.0, "NaN"],
        "NaN",
        3.0,
    )


def test_what_is_not_finite() -> None:
    """The first value, the first gradient, both with their place and what to do."""
    found = data("-e", "y = log(x)", "--at", "x=0", "--no-check")["findings"]
    assert [finding["kind"] for finding in found] == ["value", "gradient"]
    assert all((finding["line"], finding["column"]) == (1, 5) for finding in found)
    assert all(finding["hint"] for finding in found)


def test_lost_digits() -> None:
    """The advice stands under the verdict, and was run."""
    lines = run(*LOSS).stdout.splitlines()
    assert "warning: -e:1:5: y has 5 of 16 right digits: the others are lost in sqrt(x + 1) - sqrt(x)" in lines
    assert lines[-1] == (
        "  hint: write 1 / (sqrt(x + 1) + sqrt(x)) for sqrt(x + 1) - sqrt(x): y then has 15 digits, dy/dx 15"
    )
    (finding,) = data(*LOSS)["findings"]
    assert (finding["digits"], finding["rewrite_digits"], finding["cause"]) == (5, 15, "cancellation")


def test_anomaly() -> None:
    """The whole way back in the table and in JSON; that there is none is said too."""
    lines = run(*MASK, "--no-check", "--anomaly").stdout.splitlines()
    assert lines[-5:] == [
        "anomaly: from y back to x, by the plain chain rule",
        "  line  expression                  value         gradient    slope",
        "  1     where(x > 0, sqrt(x), 3*x)  [-6.75, 0.0]  [1.0, 0.0]  -",
        "  1     sqrt(x)                     [nan, 0.0]    [0.0, 0.0]  [nan, inf]",
        "  1     x                           [-2.25, 0.0]  [nan, nan]  -",
    ]
    trail = data(*MASK, "--no-check", "--anomaly")["anomaly"]
    assert [step["op"] for step in trail["steps"]] == ["where", "sqrt", "leaf"]
    assert trail["steps"][1]["slope"] == ["NaN", "Infinity"]
    healthy = ("-e", "y = x*x", "--at", "x=2", "--no-check", "--anomaly")
    assert data(*healthy)["anomaly"] is None
    assert "anomaly: none: every gradient is finite" in run(*healthy).stdout


def test_every_format() -> None:
    """Markdown fences what the doctor says, CSV writes it on stderr, plain has it too."""
    markdown = run(*MASK, "--no-check", "--format", "markdown").stdout.splitlines()
    assert markdown[-1] == "```"
    assert markdown.count("```") == 2
    comma = run(*MASK, "--no-check", "--format", "csv")
    assert "note:" not in comma.stdout
    assert "note: -e:1:18: the gradient by x[0]" in comma.stderr
    assert "note: -e:1:18: the gradient by x[0]" in run(*MASK, "--no-check", "--format", "plain").stdout


def test_a_large_graph_is_looked_at_by_what_it_shows() -> None:
    """Beyond the size of a closer look a gradient that is not finite is still followed to its origin."""
    text = "x = linspace(0, 1, 30001)\ny = sum(sqrt(x))"
    found = data("-e", text.split("\n")[0], "-e", text.split("\n")[1], "--no-check")["findings"]
    assert [finding["entry"] for finding in found] == ["x[0]"]
    assert found[0]["operation"] == "1.0 x inf = inf"


def test_a_healthy_run_asks_nobody() -> None:
    """Without the referees and with all numbers finite the doctor is not even imported."""
    script = (
        "import sys; from agrad.cli.main import agrad\n"
        "try: agrad.main(['eval', '-e', 'y = x*x', '--at', 'x=2', '--no-check'])\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if 'doctor' in name or name == 'mpmath'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
