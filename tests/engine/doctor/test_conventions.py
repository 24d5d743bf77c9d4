"""What other programs choose at kinks: the recorded rows, told only at points of just their kind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from agrad.engine.doctor import conventions
from agrad.engine.doctor.conventions import KINDS, PROGRAMS, elsewhere, rows
from agrad.engine.graph import Node, ancestors
from agrad.engine.run.cpu import evaluate

from .conftest import Run

POINTS = {
    "abs(0)": "x = 0.0\ny = abs(x)",
    "relu(0)": "x = 0.0\ny = relu(x)",
    "maximum(x,0) scalar const at 0": "x = 0.0\ny = maximum(x, 0)",
    "maximum(a,b) tie": "a = 1.0\nb = 1.0\ny = maximum(a, b)",
    "max of [1,2,2]": "x = [1.0, 2.0, 2.0]\ny = max(x)",
    "clip(x,0,1) at 0": "x = 0.0\ny = clip(x, 0, 1)",
    "norm([0,0])": "x = [0.0, 0.0]\ny = norm(x)",
    "sqrt(0)": "x = 0.0\ny = sqrt(x)",
    "x**y at (0,0)": "x = 0.0\nz = 0.0\ny = x**z",
    "x**0 const at 0": "x = 0.0\ny = x**0",
    "atan2(0,0)": "x = 0.0\nz = 0.0\ny = atan2(x, z)",
    "hypot(0,0)": "x = 0.0\nz = 0.0\ny = hypot(x, z)",
    "where(x>0,sqrt(x),0) at 0": "x = 0.0\ny = where(x > 0, sqrt(x), 0)",
    "sign(0)": "x = 0.0\ny = sign(x)",
    "floor(1)": "x = 1.0\ny = floor(x)",
    "round(1.5)": "x = 1.5\ny = round(x)",
    "logsumexp [-inf,-inf]": "x = [-inf, -inf]\ny = logsumexp(x, 0)",
    "logaddexp(-inf,-inf)": "x = -inf\nz = -inf\ny = logaddexp(x, z)",
    "xlogy(0,0)": "x = 0.0\nz = 0.0\ny = xlogy(x, z)",
    "std of [3.] ddof=0": "x = [3.0]\ny = std(x, correction=0)",
    "std of [2,2,2] ddof=0": "x = [2.0, 2.0, 2.0]\ny = std(x, correction=0)",
    "sort [2,2,1] -> last": "x = [2.0, 2.0, 1.0]\ny = sort(x).values[2]",
}
"""A text at the point of each row that is told."""

UNTOLD = {
    "x**y at (0,2)", "x**y at (-2,2)", "x**2 const at 0", "prod [0,2,3]", "prod [0,0,3]", "cumprod [2,0,3] summed",
    "x % y at (5,3)", "sinc(0)", "sinc(1e-9)", "median [1,2,3,4]", "gelu(0)", "softplus(0)", "eigh vectors of I",
    "eigvalsh first of [[2,1],[1,2]]", "cholesky sum [[4,2],[2,3]]", "det zero 2x2", "det singular [[1,1],[1,1]]",
    "inv singular",
}  # fmt: skip
"""Rows of points where a derivative exists, or where the program itself refuses: they are never told."""

OTHER_POINTS = [
    "x = 1.0\ny = abs(x)",
    "x = 1.0\ny = clip(x, 0, 1)",
    "x = [2.0, 2.0, 2.0]\ny = max(x)",
    "x = [[0.0, 0.0]]\ny = sum(norm(x, dim=1))",
    "x = [0.0, 0.0]\ny = norm(x, 1)",
    "x = [2.0, 2.0, 2.0]\ny = std(x)",
    "x = [2.0, 2.0, 2.0]\ny = sort(x).values[2]",
    "x = 0.0\ny = where(x > 0, sqrt(x), 1)",
    "x = 1.0\ny = maximum(x, 1)",
]


def told(run: Run, text: str) -> list[str]:
    """The points that are told of the nodes of a text."""
    formulas, _ = run(text)
    nodes: list[Node] = [node for node in ancestors([formulas.names["y"]]) if node.args and node.op.outputs == 1]
    values = evaluate(dict.fromkeys(arg for node in nodes for arg in node.args if arg.op.outputs == 1))
    found = [elsewhere(node, [values.get(arg, np.nan) for arg in node.args]) for node in nodes]
    return [each.point for each in found if each is not None]


def test_every_row_is_accounted_for() -> None:
    """Each recorded row is either told at its kind of point, or known to be none."""
    assert {kind.row for kind in KINDS} == set(POINTS)
    assert set(rows()) == set(POINTS) | UNTOLD
    assert not set(POINTS) & UNTOLD


@pytest.mark.parametrize("row", POINTS)
def test_a_row_is_told_at_its_point(row: str, run: Run) -> None:
    """At the very point of a row, it is what is told."""
    assert row in told(run, POINTS[row])


@pytest.mark.parametrize("text", OTHER_POINTS)
def test_nothing_is_told_where_no_row_fits(text: str, run: Run) -> None:
    """At another kind of point of the same op nothing is said."""
    assert [point for point in told(run, text) if not point.startswith("sqrt")] == []


def test_answers_are_the_recorded_ones(run: Run) -> None:
    """The answers stand as they were recorded; what a program does not have is left out."""
    formulas, _ = run("x = 0.0\nz = 0.0\ny = hypot(x, z)")
    found = elsewhere(formulas.names["y"], [np.float64(0.0), np.float64(0.0)])
    assert found is not None
    assert found.text == "hypot(0,0): PyTorch nan ; nan, JAX 0.5 ; 0.5, CasADi [nan, nan]"
    assert found.as_json() == {
        "point": "hypot(0,0)", "PyTorch": "nan ; nan", "JAX": "0.5 ; 0.5", "CasADi": "[nan, nan]",
    }  # fmt: skip


def test_the_data_is_whole() -> None:
    """Every row has an answer, or a dash, of every program."""
    data = Path(str(conventions.__file__)).with_name("cross_framework_kinks.json")
    assert all(set(row) == {"case", *PROGRAMS} for row in json.loads(data.read_text(encoding="utf-8")))
