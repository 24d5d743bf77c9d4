"""How an operation loses digits."""

from __future__ import annotations

import pytest

from agrad.engine.doctor.causes import cause_of
from agrad.engine.graph import ancestors
from agrad.engine.run.cpu import evaluate

from .conftest import Run


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("x = 1.5\nz = 1.25\ny = x*x - z*1.8", "cancellation", "2.25 - 2.25 = 0.0: both are nearly equal, and their "
         "rounding is what is left"),
        ("x = 20.0\ny = 1 - erf(x)", "saturation", "1.0 - 1.0 = 0.0: erf is so near to 1 that its tail is gone"),
        ("x = 1e-20\ny = (1 + x) - 1", "absorption", "1.0 - 1.0 = 0.0: the sum before it, 1.0, has rounded 1e-20 "
         "away"),
        ("x = 1e-9\ny = (1 + x) - 1.0000000005", "cancellation", "1.000000001 - 1.0000000005 = 5.000000413701855e-10: "
         "both are nearly equal, and their rounding is what is left"),
        ("x = -800.0\ny = exp(x)", "underflow", "exp(-800.0) = 0.0: it is too small for float64"),
        ("x = 800.0\ny = exp(x)", "overflow", "exp(800.0) = inf: it is too large for float64"),
        ("x = [1e20, 1.0, -1e20]\ny = sum(x)", "cancellation", "the terms of sum cancel"),
        ("x = 1e10\ny = tan(x)", "condition", "tan(10000000000.0) = -0.5583496378112418 makes much of the rounding of "
         "its argument"),
    ],
)  # fmt: skip
def test_causes(text: str, name: str, words: str, run: Run) -> None:
    """Each has its word and its sentence, with the numbers."""
    formulas, _ = run(text)
    node = formulas.names["y"]
    cause = cause_of(node, evaluate(ancestors([node])), ())
    assert (cause.name, cause.words) == (name, words)


def test_the_entry_is_told(run: Run) -> None:
    """Of an array the numbers are those of the entry."""
    formulas, _ = run("x = [1.0, -900.0]\ny = sum(exp(x))")
    node = formulas.names["y"].args[0]
    assert cause_of(node, evaluate(ancestors([node])), (1,)).operation == "exp(-900.0)"
