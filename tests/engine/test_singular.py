"""The quick test for singular points: it finds them, and costs nothing elsewhere."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import numpy as np
import pytest

from agrad.engine.errors import Source
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate
from agrad.engine.singular import at_kink, overflows, watched


def kink(text: str, x: object) -> bool:
    """Whether the test finds a kink on the way to an expression."""
    node = build(Source(f"z = {text}"), inputs={"x": np.asarray(x, dtype=float)[()]}).names["z"]
    nodes = watched([node])
    return at_kink(nodes, evaluate(nodes))


AT: Final = (
    ("abs(x)", [1.0, 0.0], [1.0, 2.0]),
    ("sqrt(x)", 0.0, 1e-300),
    ("relu(x)", 0.0, 0.1),
    ("clamp(x, -1.0, 2.0)", 2.0, 1.5),
    ("clamp(x, min=2.0)", 2.0, 3.0),
    ("hardtanh(x)", -1.0, 0.5),
    ("softshrink(x)", -0.5, 0.0),
    ("hardsigmoid(x)", 3.0, 0.0),
    ("threshold(x, 2.0, 5.0)", 2.0, 3.0),
    ("elu(x)", 0.0, 1.0),
    ("floor(x)", 2.0, 2.5),
    ("round(x)", 2.5, 2.0),
    ("sign(x)", 0.0, 1.0),
    ("remainder(x, 2.0)", 4.0, 5.0),
    ("acos(x)", 1.0, 0.99),
    ("acos(x)", 1.0 - 2.0**-53, 0.99),
    ("acosh(x)", 1.0, 1.5),
    ("x**0.5", 0.0, 1.0),
    ("x**x", 0.0, 1.0),
    ("x**-1", 0.0, 1.0),
    ("x**1.5", 0.0, 1.0),
    ("where(x > 1, x, 2*x)", 1.0, 1.5),
    ("where(x == 1, x, 2*x)", 1.0, 1.5),
    ("maximum(x, 3.0)", 3.0, 4.0),
    ("max(x)", [2.0, 2.0, 1.0], [2.0, 1.0, 1.0]),
    ("amin(x, dim=0)", [1.0, 1.0, 3.0], [0.0, 1.0, 1.0]),
    ("sort(x).values[0]", [1.0, 2.0, 1.0], [1.0, 2.0, 3.0]),
    ("median(x)", [1.0, 2.0, 1.0], [1.0, 2.0, 3.0]),
    ("cummax(x, 0).values", [1.0, 1.0], [1.0, 2.0]),
    ("norm(x)", [0.0, 0.0], [0.0, 1.0]),
    ("norm(x, p=1)", [0.0, 1.0], [2.0, 1.0]),
    ("vector_norm(x, ord=inf)", [1.0, -1.0], [2.0, 1.0]),
    ("std(x)", [2.0, 2.0], [2.0, 1.0]),
    ("hypot(x, 0*x)", 0.0, 1.0),
    ("atan2(x, 0*x)", 0.0, 1.0),
)


@pytest.mark.parametrize(("text", "on", "off"), AT)
def test_kinks_are_found(text: str, on: object, off: object) -> None:
    """Exactly on the kink the test says so, and beside it not."""
    assert kink(text, on)
    assert not kink(text, off)


@pytest.mark.parametrize("text", ["x**2", "x**1", "exp(x)", "sin(x)*x", "sum(x)", "x*2.0 > 1"])
def test_smooth_ops_have_none(text: str) -> None:
    """At 0 there is nothing to be found."""
    assert not kink(text, 0.0)


def test_what_does_not_vary_has_no_kink() -> None:
    """A kink of constants is none."""
    node = build(Source("x = 1.0\ny = tensor(0.0)\nz = x*abs(y)\n"), wrt=["x"]).names["z"]
    nodes = watched([node])
    assert not at_kink(nodes, evaluate(nodes))


def test_overflow() -> None:
    """A value that varies and is not finite is found, and an infinite constant is not."""
    for text, expected in (("x*exp(x)", True), ("x*inf*0.0", True), ("sum(x*[1.0, 2.0])", False)):
        node = build(Source(f"x = 800.0\nz = {text}\n")).names["z"]
        nodes = watched([node])
        assert overflows(nodes, evaluate(nodes)) == expected


def test_large_graphs_are_not_watched() -> None:
    """Beyond a size no closer look would be affordable."""
    node = build(Source("x = zeros(300, 300)\nz = sum(abs(x))\n")).names["z"]
    assert watched([node]) == []


def test_nothing_is_imported_without_need() -> None:
    """A run without a singular point loads neither mpmath nor the closer look; one with it does."""
    script = (
        "import sys\n"
        "from agrad.engine.errors import Source\n"
        "from agrad.engine.evaluation.evaluate import chosen_outputs, evaluate\n"
        "from agrad.engine.language import build\n"
        "for x in (0.5, 0.0):\n"
        "    read = build(Source(f'x = {x}\\nz = relu(x)*exp(x) + log(1 + exp(x))\\n'))\n"
        "    evaluate(read, chosen_outputs(read, []))\n"
        "    print('mpmath' in sys.modules, 'agrad.engine.limits' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True", "True"]


@pytest.mark.parametrize(
    ("text", "at", "beside"),
    [
        ("torch.complex(x, 0*x).abs()", 0.0, 1.0),
        ("(torch.complex(x, 0*x)**0.5).real", 0.0, 1.0),
        ("(torch.complex(x, 0*x)**torch.complex(x, x)).real", 0.0, 1.0),
        ("torch.acos(torch.complex(x, 0*x)).real", 1.0, 0.5),
        ("torch.sgn(torch.complex(x, x)).real", 0.0, 1.0),
    ],
)
def test_complex_graphs_are_watched(text: str, at: float, beside: float) -> None:
    """Points that are singular in the plane are found as those on the line are."""
    assert kink(text, at)
    assert not kink(text, beside)
    assert not kink("(torch.complex(x, x)**2).real", at)
