"""Derivatives as Python: the text runs, in a process of its own, and gives agrad's gradients."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.closed_forms.request import Derived

Derive = Callable[..., Derived]


def called(text: str, calls: list[str]) -> list[Any]:
    """What some calls give after a module's text."""
    program = f"{text}\nimport json\nprint(json.dumps([{', '.join(calls)}]))\n"
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", "-"], input=program, capture_output=True, text=True, check=True
    )
    found: list[Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("z = x**2 * exp(-y)", {"x": 3.0, "y": 0.5}),
        ("z = relu(x - 1) + abs(y) + sign(y) * x", {"x": 3.0, "y": -0.5}),
        ("z = clamp(x, 0.4, 0.6) * y", {"x": 0.5, "y": 2.0}),
        ("z = where((x > 0) & (y < 1), x * y, x)", {"x": 3.0, "y": 0.5}),
        ("z = lgamma(x) * erf(y) + erfinv(y) * i0(x)", {"x": 3.0, "y": 0.5}),
        ("z = sum(tanh(A @ x)**2)", {"A": [[0.1, 0.2], [0.3, 0.4]], "x": [1.0, -2.0]}),
        ("z = softmax(x, 0)", {"x": [1.0, 2.0, 0.5]}),
        ("z = 0.3989422804014327 * x**0.333 + x / 3", {"x": 2.0}),
        ("z = atan2(y, x) + floor(x) * y", {"x": 2.5, "y": 0.5}),
        ("z = math * exp * sin(exp)", {"math": 2.0, "exp": 3.0}),
        ("z = abs * t0 + t0 * sum([t0, abs, float, t0]) * log(abs + t0 * float) * __debug__", {
            "abs": 2.0, "t0": 3.0, "float": 0.5, "__debug__": 1.5,
        }),
        ("z = \u017f * s**2", {"\u017f": 2.0, "s": 3.0}),
    ],
)  # fmt: skip
def test_the_text_runs(derive: Derive, text: str, inputs: dict[str, Any]) -> None:
    """Each function, called at the file's point, returns the gradient, nested as output and leaf are."""
    found = derive(text, formats=("text", "python"), **inputs)
    names = [line[4 : line.index("(")] for line in found.python.splitlines() if line.startswith("def ")]
    arguments = ", ".join(repr(inputs[leaf]) for leaf in found.leaves)
    by_leaf: dict[str, list[float]] = {}
    for each in found.derivatives:
        by_leaf.setdefault(each.by[0][0], []).append(each.number)
    assert len(set(names)) == len(names) == len(by_leaf)
    results = called(found.python, [f"{name}({arguments})" for name in names])
    for result, expected in zip(results, by_leaf.values(), strict=True):
        np.testing.assert_allclose(np.ravel(result), expected, rtol=1e-12, atol=1e-15)


def test_second_derivatives_of_numbers(derive: Derive) -> None:
    """Pairs have functions of their own."""
    found = derive("z = x**3 * y", order=2, formats=("text", "python"), x=2.0, y=5.0)
    assert called(found.python, ["d2z_dx_dx(2.0, 5.0)", "d2z_dx_dy(2.0, 5.0)", "d2z_dy_dy(2.0, 5.0)"]) == [
        60.0,
        12.0,
        0,
    ]


def test_large_functions_share_their_parts(derive: Derive) -> None:
    """What stands in a function many times is computed once, unless it is part of a branch."""
    found = derive("z = sum(log(x @ x + 1) * x)", formats=("text", "python"), x=[1.0, 2.0, 3.0])
    assert "    t0 = " in found.python
    found = derive("z = sum(where(x > 0, sqrt(x) * log(x) * x, x))", formats=("text", "python"), x=[1.0, -2.0, 3.0])
    assert "t0" not in found.python


def test_what_has_no_form_is_a_comment(derive: Derive) -> None:
    """The text stays Python where a derivative has no form."""
    found = derive("z = linalg.eigvalsh(A)[0] * x", formats=("text", "python"), A=[[2.0, 1.0], [1.0, 3.0]], x=2.0)
    assert "# dz_dA: SymPy has no closed form of eigh" in found.python
    compile(found.python, "forms", "exec")
