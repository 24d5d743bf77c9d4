"""What is said of an error that a script does not catch: Python's last line, the place, the tensors, the repair."""

from __future__ import annotations

import pytest

from agrad.engine.errors import InputError, LimitError, Source
from agrad.engine.snippets import Limits, Streams, run_snippet
from agrad.engine.snippets.repair import repair

GRAD = "import torch\nx = torch.ones(2, requires_grad=True)\n"


def said(code: str) -> tuple[int, list[str]]:
    """The exit code and the lines on stderr."""
    lines: list[str] = []
    found = run_snippet(Source(code, "notes.py"), Limits(), Streams(bytearray().extend, lines.append))
    return found, "".join(lines).splitlines()


def test_second_line_names_tensor_line_and_repair() -> None:
    """The vector's error names the variable, the line that it is from, and what to write."""
    code, lines = said(GRAD + "z = x + 2\nz.backward()\n")
    assert code == 1
    assert lines[0] == "RuntimeError: grad can be implicitly created only for scalar outputs"
    assert lines[1].startswith("notes.py:4:1: in z.backward() (z is from line 3): make it a scalar with z.sum()")


@pytest.mark.parametrize(
    ("statements", "repaired"),
    [
        ("y = (x * x).sum()\ny.backward()\ny.backward()\n", "retain_graph=True"),
        ("x += 1\n", "torch.no_grad()"),
        ("torch.ones(2).sum().backward()\n", "requires_grad=True"),
        ("w = torch.ones(2, requires_grad=True)\ntorch.autograd.grad(x.sum(), w)\n", "allow_unused=True"),
        ("x.numpy()\n", "x.detach().numpy()"),
        ("y = x.exp()\ny += 1\ny.sum().backward()\n", "x = x + 1"),
        ("if x > 0: pass\n", ".all(), .any()"),
    ],
)
def test_repairs(statements: str, repaired: str) -> None:
    """The errors that learners meet come with their repair."""
    code, lines = said(GRAD + statements)
    assert code == 1
    assert len(lines) == 2
    assert repaired in lines[1]


def test_error_in_a_function_tells_where_it_was_called() -> None:
    """The place is that of the failing expression; the call is told too."""
    assert said("def f(a):\n    return a[5]\n\nf([])\n")[1] == [
        "IndexError: list index out of range",
        "notes.py:2:12: in a[5], called from line 4",
    ]


def test_error_without_a_repair() -> None:
    """Nothing is invented where nothing is known."""
    assert repair("some other error", "x") == ""
    assert said("1 / 0\n")[1] == ["ZeroDivisionError: division by zero", "notes.py:1:1: in 1 / 0"]


def test_limits_and_refusals_have_a_place() -> None:
    """What ends a script from outside is an error of ours, with the place that it was at."""
    with pytest.raises(LimitError) as limited:
        said("x = 1\ny = 'a' * 10**12\n")
    assert limited.value.location is not None
    assert limited.value.location[1:3] == (2, 5)
    with pytest.raises(InputError) as refused:
        said("x = 'a'\ngetattr(x, '__cl' + 'ass__')\n")
    assert refused.value.location is not None
    assert refused.value.location[1:3] == (2, 1)
