"""Jacobians, Hessians and higher derivatives of a text by name, as data, and certified by the referees."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.derivatives.matrices import Matrices, Wanted, matrices, names_of_entries
from agrad.engine.errors import InputError, NoGradientError, Source
from agrad.engine.graph import TABLE, apply
from agrad.engine.language import build
from agrad.engine.referees import check

CASES: Final = [
    case
    for line in (Path(__file__).parents[2] / "data" / "field_cases.jsonl").read_text(encoding="utf-8").splitlines()
    if {"jacobian", "hessian", "derivatives"} & (case := json.loads(line))["expected"].keys()
]
TEXT = "x = [1.0, 2.0]\ny = 3.0\nv = x*y\nz = sum(x**3)*y**2\n"


def found(text: str, wanted: Wanted, *outputs: str, wrt: list[str] | None = None) -> Matrices:
    """The matrices of a text."""
    formulas = build(Source(text), wrt=wrt)
    return matrices({name: formulas.names[name] for name in outputs}, formulas.wrt, wanted)


def test_jacobians_of_several_outputs() -> None:
    """For each output and leaf nested lists of both shapes."""
    data = found(TEXT, Wanted(jacobian=True), "v", "z").as_json()
    assert data == {
        "jacobian": {
            "v": {"x": [[3.0, 0.0], [0.0, 3.0]], "y": [1.0, 2.0]},
            "z": {"x": [27.0, 108.0], "y": 54.0},
        }
    }


def test_the_hessian_in_blocks() -> None:
    """For each pair of leaves, with what the whole says of the curvature."""
    data = found(TEXT, Wanted(hessian=True), "z").as_json()
    assert data["hessian"] == {
        "x": {"x": [[54.0, 0.0], [0.0, 108.0]], "y": [18.0, 72.0]},
        "y": {"x": [18.0, 72.0], "y": 18.0},
    }
    whole = np.array([[54.0, 0.0, 18.0], [0.0, 108.0, 72.0], [18.0, 72.0, 18.0]])
    np.testing.assert_allclose(data["curvature"]["eigenvalues"], np.linalg.eigvalsh(whole), rtol=1e-12)
    assert data["curvature"]["definiteness"] == "indefinite"
    assert data["curvature"]["condition"] == pytest.approx(np.linalg.cond(whole))


def test_derivatives_of_higher_orders() -> None:
    """Orders 1 to 4 by each number."""
    data = found("x = 2.0\ny = 3.0\nz = x**3*y", Wanted(order=4), "z").as_json()
    assert data == {"derivatives": {"x": [36.0, 36.0, 18.0, 0.0], "y": [8.0, 0.0, 0.0, 0.0]}}


def test_large_blocks_are_described() -> None:
    """By statistics, the share that is not zero and the largest entries, unless everything is asked for."""
    matrix = found("x = linspace(1, 2, 40)\ny = x**2", Wanted(jacobian=True), "y")
    block = matrix.as_json()["jacobian"]["y"]["x"]
    assert block["shape"] == [40, 40]
    assert block["nonzero"] == 1 / 40
    assert block["largest"][0] == {"index": [39, 39], "value": 4.0}
    assert len(matrix.as_json(full=True)["jacobian"]["y"]["x"]) == 40


def test_arrays_to_save() -> None:
    """Each block under a name of its own."""
    saved = found("x = 2.0\nz = x**3", Wanted(jacobian=True, hessian=True, order=2), "z").arrays()
    assert {name: np.asarray(value).tolist() for name, value in saved.items()} == {
        "jacobian/z/x": 12.0,
        "hessian/x/x": 12.0,
        "derivatives/x": [12.0, 12.0],
    }


def test_infinite_entries_are_words() -> None:
    """JSON has no infinity."""
    data = found("x = 0.0\nz = sqrt(x)", Wanted(jacobian=True, hessian=True), "z").as_json()
    assert data["jacobian"]["z"]["x"] == "Infinity"
    assert data["curvature"] == {"eigenvalues": None, "definiteness": "unknown", "condition": None}


@pytest.mark.parametrize(
    ("text", "wanted", "outputs", "message"),
    [
        (TEXT, Wanted(hessian=True), ["v"], "a single real number: v has shape"),
        (TEXT, Wanted(hessian=True), ["v", "z"], "takes one output, not 2"),
        (TEXT, Wanted(order=2), ["z"], "x has shape"),
        ("x = 1.0\nz = x**2", Wanted(order=99), ["z"], "the highest order is"),
        ("x = 1.0\nz = exp(1j*x)", Wanted(jacobian=True), ["z"], "z is complex"),
    ],
)
def test_what_is_refused(text: str, wanted: Wanted, outputs: list[str], message: str) -> None:
    """Outputs and leaves that have no such derivatives."""
    with pytest.raises(InputError, match=message):
        found(text, wanted, *outputs)


def test_outputs_without_a_gradient_are_refused() -> None:
    """As `backward` refuses them."""
    with pytest.raises(NoGradientError, match="n does not require grad"):
        found("x = [1.0, 2.0]\nn = argmax(x)", Wanted(jacobian=True), "n")


def test_names_of_entries() -> None:
    """In row-major order; a number has its own name."""
    assert names_of_entries("x", (2, 2)) == ["x[0, 0]", "x[0, 1]", "x[1, 0]", "x[1, 1]"]
    assert names_of_entries("x", ()) == ["x"]


@pytest.mark.parametrize(
    ("wanted", "outputs"),
    [(Wanted(jacobian=True), ["v", "z"]), (Wanted(hessian=True), ["z"]), (Wanted(jacobian=True, hessian=True), ["z"])],
)
def test_the_referees_agree(wanted: Wanted, outputs: list[str]) -> None:
    """A weighted sum of all entries is what differences of the text's own formulas give."""
    assert check(found(TEXT, wanted, *outputs).case).verdict == "agree"


def test_the_referees_agree_on_higher_orders() -> None:
    """Of several numbers at once, whose mixed derivatives take part."""
    text = "x = 0.5\ny = 3.0\nu = x*y\nz = sin(u)*y + exp(x*y)"
    assert check(found(text, Wanted(order=3), "z", wrt=["x", "y", "u"]).case).verdict == "agree"


def test_the_referees_object_to_a_wrong_second_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong rule of what only the gradient is made of: the gradient is right and the Hessian wrong."""
    row = TABLE["sech_squared"]
    planted: Any = replace(row, slopes=(lambda _x, y: -y,), call=lambda x: apply(planted, (x,)))
    monkeypatch.setitem(TABLE, "sech_squared", planted)
    text = "x = [0.3, 0.7]\nz = sum(tanh(x)*x)"
    assert check(found(text, Wanted(jacobian=True), "z").case).verdict == "agree"
    assert check(found(text, Wanted(hessian=True), "z").case).verdict == "disagree"


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_field_cases(case: dict[str, Any]) -> None:
    """Derivatives that other programs report as NaN, zero or wrong, to 12 digits (10 in the tails)."""
    digits = 1e-10 if case["id"].startswith("tail") else 1e-12
    expected = case["expected"]
    order = max(map(len, expected.get("derivatives", {}).values()), default=0)
    wanted = Wanted("jacobian" in expected, "hessian" in expected, order)
    matrix = found(case["expression"], wanted, case["output"], wrt=case["wrt"])
    for name, numbers in expected.get("derivatives", {}).items():
        np.testing.assert_allclose(matrix.derivatives[name], numbers, rtol=digits)
    for name, numbers in expected.get("jacobian", {}).items():
        np.testing.assert_allclose(matrix.jacobian[case["output"]][name], numbers, rtol=digits)
    for first, row in expected.get("hessian", {}).items():
        for second, numbers in row.items():
            np.testing.assert_allclose(matrix.hessian[first][second], numbers, rtol=digits, atol=1e-321)
