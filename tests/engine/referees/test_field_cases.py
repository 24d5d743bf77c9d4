"""The cases from public bug reports before the referees: right numbers are confirmed, and wrong ones never are."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from agrad.engine.derivatives.matrices import Wanted, matrices
from agrad.engine.errors import AgradError, Source
from agrad.engine.evaluation.evaluate import chosen_outputs, evaluate
from agrad.engine.evaluation.outputs import Weight
from agrad.engine.language import build
from agrad.engine.referees import Case, Check, differences
from agrad.engine.referees.hearing import heard
from agrad.engine.worker.budget import Budget

CASES: Final[list[dict[str, Any]]] = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "field_cases.jsonl").read_text(encoding="utf-8").splitlines()
]
KINKS: Final = {
    "ang-01-atan2-origin",
    "ang-04-bhattacharyya",
    "kink-02-max-tie",
    "kink-05-clamp-bound",
    "kink-07-norm-zero",
    "kink-08-sqrt-of-square",
    "pow-06-cobb-douglas-corner",
}
"""Where no derivative exists: those with another slope on each side, and those without any right number."""
LOST: Final = {"tail-01-naive-softplus", "tail-14-logistic-regression"}
"""Where float64 loses digits or leaves its range on the way, as the text has it: a small error may be just that."""


@cache
def case_of(position: int) -> Case:
    """The gradient that a person gets."""
    row = CASES[position]
    formulas = build(Source(row["expression"]), wrt=row["wrt"])
    outputs = chosen_outputs(formulas, [row["output"]])
    weights = []
    if "grad_outputs" in row:
        weights = [Weight(None, np.array(row["grad_outputs"]))]
    elif outputs[row["output"]].shape:
        weights = [Weight(None, None)]
    found = evaluate(formulas, outputs, weights)
    gradients = {name: found.gradient(name) for name in found.wrt if name not in found.unused}
    return Case(list(outputs.values()), found.cotangents, found.wrt, gradients)


@cache
def matrices_of(position: int) -> Case:
    """The derivatives of higher order, or the Jacobian, that a person gets."""
    row = CASES[position]
    formulas = build(Source(row["expression"]), wrt=row["wrt"])
    expected = row["expected"]
    orders = max((len(numbers) for numbers in expected.get("derivatives", {}).values()), default=0)
    wanted = Wanted("jacobian" in expected, "hessian" in expected, orders)
    return matrices({row["output"]: formulas.names[row["output"]]}, formulas.wrt, wanted).case


def checked(case: Case) -> Check:
    """What all three say together."""
    said = {judgement.name: judgement for judgement in heard(case, ("mpmath", "sympy"), Budget(seconds=10.0))}
    return Check.of([*said.values(), differences.judge(case, Budget(seconds=10.0))])


def perturbed(case: Case) -> Case:
    """The same with a gradient that is wrong by one in a million, or by a thousandth where it is zero."""
    wrong = {}
    for name, node in case.wrt.items():
        right = np.array(case.gradients.get(name, np.zeros(node.shape)))
        wrong[name] = np.where(np.isfinite(right) & (right != 0), right * (1 + 1e-6), 1e-3)[()]
    return Case(case.outputs, case.cotangents, case.wrt, wrong)


def holding(*keys: str) -> list[Any]:
    """The cases whose expected answer has one of some entries, by their positions."""
    found = [position for position, row in enumerate(CASES) if any(key in row["expected"] for key in keys)]
    return [pytest.param(position, id=CASES[position]["id"]) for position in found]


GRADIENTS: Final = holding("grad", "undefined", "derivatives", "hessian", "jacobian")
MATRICES: Final = holding("derivatives", "hessian", "jacobian")


def test_none_is_left_out() -> None:
    """All 69 are judged, but for those that are refused before there is a gradient."""
    assert len(CASES) == 69
    assert len(GRADIENTS) == 66
    for parameter in holding("error"):
        with pytest.raises(AgradError):
            case_of(parameter.values[0])


@pytest.mark.parametrize("position", GRADIENTS)
def test_right_numbers_are_confirmed(position: int) -> None:
    """The verdict is `agree`, at kinks `kink`; nobody objects."""
    found = checked(case_of(position))
    assert found.verdict == ("kink" if CASES[position]["id"] in KINKS else "agree"), found


@pytest.mark.parametrize("position", MATRICES)
def test_higher_orders_are_confirmed(position: int) -> None:
    """Jacobians, Hessians and higher derivatives are judged as gradients of gradients, and nobody objects."""
    found = checked(matrices_of(position))
    assert found.verdict in ("agree", "kink"), found


@pytest.mark.parametrize("position", GRADIENTS)
def test_wrong_numbers_are_not(position: int) -> None:
    """No referee agrees with a gradient that is off by one in a million."""
    found = checked(perturbed(case_of(position)))
    assert all(judgement.verdict != "agree" for judgement in found.referees), found
    if CASES[position]["id"] not in KINKS | LOST:
        assert found.verdict == "disagree", found
