"""`agrad derive`, called in this process; SymPy runs in the worker's."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import pytest
from click.testing import CliRunner, Result

from agrad.cli.main import agrad
from agrad.cli.render.derive import lines_of, notes_of
from agrad.cli.screen import Screen
from agrad.engine.closed_forms.request import Derivative, Derived

PARABOLOID = "x = 1.0\ny = 2.0\nz = x**2 + y\n"


def run(*arguments: str, text: str | None = None) -> Result:
    """One run of `agrad derive`, with the text as its standard input."""
    where = ["-"] if text is not None else []
    return CliRunner().invoke(agrad, ["derive", *where, *arguments], input=text)


def test_text() -> None:
    """An equation for each derivative, and whether they agree with the gradients."""
    result = run(text=PARABOLOID)
    assert result.exit_code == 0, result.output
    assert result.stdout == (
        "dz/dx = 2*x\ndz/dy = 1\n\nall agree with the gradients at the file's point to 16 digits\n"
    )
    assert result.stderr == ""


def test_unicode_and_ascii() -> None:
    """A drawing with the signs of mathematics, or without any character beyond ASCII."""
    result = run("-e", "z = relu(x)**2/3", "--at", "x=2", "--format", "unicode")
    assert "\u2202z/\u2202x = " in result.stdout
    assert "\u23a7" in result.stdout
    result = run("-e", "z = relu(x)**2/3", "--at", "x=2", "--format", "unicode", "--ascii")
    assert result.stdout.isascii()
    assert "dz/dx = " in result.stdout


def test_latex_is_nothing_but_latex() -> None:
    """The equations go to stdout, what is said of them to stderr."""
    result = run("-e", "z = x_1**2 * learning_rate", "--at", "x_1=2, learning_rate=3", "--format", "latex")
    assert result.stdout.splitlines() == [
        r"\frac{\partial z}{\partial x_{1}} = 2 \mathrm{learning}_{\mathrm{rate}} x_{1}",
        r"\frac{\partial z}{\partial \mathrm{learning}_{\mathrm{rate}}} = x_{1}^{2}",
    ]
    assert result.stderr == "all agree with the gradients at the file's point to 16 digits\n"


def test_python_is_a_module() -> None:
    """The standard output is a module that runs and gives the gradient."""
    result = run("-e", "z = sum(sin(x) * w)", "--at", "x=[1, 2], w=[3, 4]", "--wrt", "w", "--format", "python")
    assert result.exit_code == 0
    program = f"{result.stdout}\nprint(dz_dw([1, 2], [3, 4]))"
    done = subprocess.run([sys.executable, "-I", "-"], input=program, capture_output=True, text=True, check=True)
    assert done.stdout == "[0.8414709848078965, 0.9092974268256817]\n"


def test_json() -> None:
    """Each derivative with its forms, its number, its verdict and its kinks."""
    result = run("-e", "z = abs(x) * y", "--at", "x=0, y=2", "--format", "json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    assert (found["schema_version"], found["file"], found["leaves"], found["complete"]) == (1, "-e", ["x", "y"], True)
    assert found["derivatives"][0] == {
        "output": "z",
        "by": ["x"],
        "form": "y*sign(x)",
        "latex": r"y \operatorname{sign}{\left(x \right)}",
        "gradient": 0.0,
        "verdict": "agree",
        "digits": 16,
        "reason": None,
        "kinks": [{"where": "x == 0", "op": "abs", "takes": "0 at 0", "here": True}],
        "conditions": [],
    }
    assert "def dz_dx(x, y):" in found["python"]


def test_order_two() -> None:
    """Second derivatives are listed by pairs."""
    result = run("-e", "z = x**2 * y", "--at", "x=1, y=2", "--order", "2")
    assert result.stdout.splitlines()[2:5] == ["d^2z/dx^2 = 2*y", "d^2z/dx dy = 2*x", "d^2z/dy^2 = 0"]


def test_zeros_of_a_jacobian_are_counted() -> None:
    """Of a vector, the derivatives that are 0 take one line."""
    result = run("-e", "y = x**2", "--at", "x=[1, 2, 3]")
    assert result.stdout.splitlines()[:4] == [
        "dy[0]/dx[0] = 2*x[0]",
        "dy[1]/dx[1] = 2*x[1]",
        "dy[2]/dx[2] = 2*x[2]",
        "the other 6 derivatives are 0",
    ]


def test_where_there_is_no_form() -> None:
    """One line says why, for all entries of a leaf; the exit code is that of a limit."""
    result = run("-e", "z = linalg.eigvalsh(A)[0]", "--at", "A=[[2, 1], [1, 3]]")
    assert result.exit_code == 3
    assert result.stdout == "dz/dA: no closed form: SymPy has no closed form of eigh\n"


def test_out_of_time() -> None:
    """SymPy is stopped when its time is up, whatever it is doing, and what it was at is said."""
    begun = time.monotonic()
    result = run(
        "-e", "z = sum(inverse(A))", "--at", "A=[[2,1,0,0],[1,3,1,0],[0,1,4,1],[0,0,1,5]]", "--seconds", "0.05"
    )
    assert result.exit_code == 3
    assert "no closed form: not done within 0.05 s" in result.stdout
    assert time.monotonic() - begun < 15


def test_no_simplification() -> None:
    """With --no-simplify the form is as SymPy differentiates."""
    arguments = ("-e", "z = softmax(x, 0)[0]", "--at", "x=[1, 2]", "--wrt", "x")
    assert run(*arguments).stdout.splitlines()[1] == "dz/dx[1] = -exp(x[0] + x[1])/(exp(x[0]) + exp(x[1]))**2"
    plain = run(*arguments, "--no-simplify").stdout.splitlines()
    assert plain[0] != run(*arguments).stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-e", "z = x", "--at", "x=1", "--output", "w"), "has no name w"),
        (("-e", "z = 3x", "--at", "x=1"), "an operator is missing"),
        (("-e", "z = x", "--at", "x=1", "--order", "0"), "0 is not in the range"),
        (("-e", "z = x*2", "--at", "x=1", "--wrt", "y"), "y"),
        (("-e", "z = x*2", "--at", "x=1", "--format", "html"), "'html' is not one of"),
        ((), "nothing to evaluate"),
    ],
)
def test_errors(arguments: tuple[str, ...], words: str) -> None:
    """What is wrong is said on stderr, and nothing on stdout."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_errors_in_json() -> None:
    """In JSON errors are JSON."""
    result = run("-e", "z = sum(x)", "--at", f"x={[1.0] * 300}", "--format", "json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["error"]["hint"] == "agrad eval gives the numbers"


def test_names_cannot_act_on_the_terminal() -> None:
    """A name, a form or a reason with a control character is printed escaped."""
    evil = "x\x1b[31m"
    found = Derived([Derivative((evil, ()), ((evil, ()),), 1.0, {"text": evil}, "disagree", 0, evil)], {})
    lines = [*lines_of(found, "text", Screen()), *notes_of(found, Screen())]
    assert len(lines) == 2
    assert not any("\x1b" in line for line in lines)


def test_what_disagrees_is_named() -> None:
    """A derivative that disagrees is named with its reason, and the others are counted."""
    found = Derived(
        [
            Derivative(("z", ()), (("x", ()),), 1.0, {"text": "2"}, "disagree", 0, "the form is 2.0, the gradient 1.0"),
            Derivative(("z", ()), (("y", ()),), 1.0, {"text": "1"}, "agree", 15),
        ],
        {},
    )
    assert notes_of(found, Screen()) == [
        "disagree: dz/dx: the form is 2.0, the gradient 1.0",
        "1 of 2 agree with the gradients at the file's point to 15 digits",
    ]
