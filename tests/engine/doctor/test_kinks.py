"""Kinks told in full."""

from __future__ import annotations

import math

import pytest

from agrad.engine.doctor.kinks import choices
from agrad.engine.referees import Case, check

from .conftest import Run


def test_a_kink_has_slopes_interval_choice_and_convention(run: Run) -> None:
    """Both slopes, what lies between, what is chosen, by which op and convention, and what others choose."""
    (choice,) = choices(*run("x = 0.0\ny = 3*abs(x)"))
    assert choice.as_json() == {
        "entry": "x",
        "left": -3.0,
        "right": 3.0,
        "between": [-3.0, 3.0],
        "chosen": 0.0,
        "convention": "torch-2.13",
        "ops": [{"op": "abs", "expression": "abs(x)", "line": 2, "sentence": "0 at 0"}],
        "others": [
            {"point": "abs(0)", "PyTorch": "0.0", "JAX": "1.0", "HIPS autograd": "0.0", "MyGrad": "0.0",
             "CasADi": "[0.0]"}
        ],
    }  # fmt: skip


def test_each_entry_of_a_tie_is_told(run: Run) -> None:
    """Of a tie every tied entry is one, with its index."""
    found = choices(*run("x = [4.0, 4.0, 1.0]\ny = max(x)"))
    assert [(choice.entry, choice.left, choice.right, choice.chosen) for choice in found] == [
        ("x[0]", 0.0, 1.0, 0.5),
        ("x[1]", 0.0, 1.0, 0.5),
    ]


def test_only_ops_that_depend_on_the_leaf_are_named(run: Run) -> None:
    """Two kinks of two leaves have an op each."""
    found = choices(*run("x = 0.0\nz = 0.0\ny = abs(x) + relu(z)"))
    assert [[kinked.op for kinked in choice.ops] for choice in found] == [["abs"], ["relu"]]


def test_a_rewritten_op_is_placed_where_the_text_has_it(run: Run) -> None:
    """sqrt(x**2) is computed as abs(x): the kink is that of abs, at the place of the root."""
    (choice,) = choices(*run("x = 1.0\ny = sqrt((x - 1)**2)"))
    (kinked,) = choice.ops
    assert (kinked.op, kinked.expression, kinked.line) == ("abs", "sqrt((x - 1)**2)", 2)


def test_a_where_over_a_comparison(run: Run) -> None:
    """Where nothing but a comparison stands on a kink, the where over it is named; no row is told that does not fit."""
    (choice,) = choices(*run("x = 0.0\ny = where(x > 0, x, -x)"))
    assert [kinked.op for kinked in choice.ops] == ["where"]
    assert choice.as_json()["others"] == []
    (recorded,) = choices(*run("x = 0.0\ny = where(x > 0, sqrt(x), 0)"))
    assert recorded.right == math.inf
    assert [each["point"] for each in recorded.as_json()["others"]] == ["where(x>0,sqrt(x),0) at 0"]


@pytest.mark.parametrize("size", [30, 80])
def test_kinks_that_only_the_referees_found(size: int, run: Run) -> None:
    """In a graph too costly for a look at every entry, some of the entries with two slopes are told nevertheless."""
    formulas, evaluation = run(
        f"x = full(({size},), 0.5)\nW = ones({size}, {size})\ny = sum(relu(W @ x - {size / 2}))", wrt=["x"]
    )
    assert not evaluation.kinks
    gradients = {"x": evaluation.gradient("x")}
    judged = check(Case(list(evaluation.outputs.values()), evaluation.cotangents, evaluation.wrt, gradients))
    found = choices(formulas, evaluation, judged)
    assert 1 <= len(found) <= 5
    assert [(choice.entry, choice.left, choice.right, choice.chosen) for choice in found] == [
        (f"x[{place}]", 0.0, float(size), 0.0) for place in range(len(found))
    ]
    assert [kinked.op for kinked in found[0].ops] == ["relu"]
    assert choices(formulas, evaluation, None) == []


def test_a_smooth_point_has_none(run: Run) -> None:
    """Away from kinks nothing is told, nor where two kinks make a smooth function."""
    assert choices(*run("x = 1.0\ny = abs(x)")) == []
    assert choices(*run("x = 0.0\ny = abs(x)**2")) == []
