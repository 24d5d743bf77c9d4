"""Digits that are lost: where, why, and the form that keeps them, run."""

from __future__ import annotations

import json

import pytest

from agrad.engine.doctor import digits as module
from agrad.engine.doctor.digits import findings
from agrad.engine.doctor.finding import Finding
from agrad.engine.referees import Case, Check, Judgement, check
from agrad.engine.referees.case import CannotJudge

from .conftest import Run


def told(run: Run, text: str) -> list[Finding]:
    """The findings of a text after the precise referee has judged it."""
    formulas, evaluation = run(text)
    gradients = {name: evaluation.gradient(name) for name in evaluation.wrt}
    case = Case(list(evaluation.outputs.values()), evaluation.cotangents, evaluation.wrt, gradients)
    return list(findings(formulas, evaluation, check(case, referees=("mpmath",))))


@pytest.mark.parametrize(
    ("text", "message", "cause", "rewrite"),
    [
        (
            "x = 1e12\ny = sqrt(x + 1) - sqrt(x)",
            "y has 5 of 16 right digits: the others are lost in sqrt(x + 1) - sqrt(x)",
            "cancellation",
            "1 / (sqrt(x + 1) + sqrt(x))",
        ),
        (
            "x = 6.0\ny = 1 - erf(x)",
            "y has 0 of 16 right digits: the others are lost in 1 - erf(x)",
            "saturation",
            "erfc(x)",
        ),
        (
            "x = 1e-20\ny = (1 + x) - 1",
            "y has 0 of 16 right digits: the others are lost in (1 + x) - 1",
            "absorption",
            "x",
        ),
        (
            "x = -800.0\ny = exp(x)",
            "y has 0 of 16 right digits: the others are lost in exp(x)",
            "underflow",
            None,
        ),
        (
            "x = [1e-200, 1e-200]\ny = log(prod(x))",
            "y is right here; float64 alone has 0 of 16 right digits: the others are lost in prod(x)",
            "underflow",
            "sum(log(x))",
        ),
        (
            "x = 1000.0\ny = log(cosh(x))",
            "y is right here; float64 alone has 0 of 16 right digits: the others are lost in cosh(x)",
            "overflow",
            "logaddexp(x, -x) - 0.6931471805599453",
        ),
        (
            "x = 1e-10\ny = log((1 + x)/(1 - x))",
            "y has 7 of 16 right digits: the others are lost in log((1 + x)/(1 - x))",
            "condition",
            "log1p(x * 2 / (1 - x))",
        ),
    ],
)
def test_where_and_why(text: str, message: str, cause: str, rewrite: str | None, run: Run) -> None:
    """The number, its digits, the first node that loses them, the cause, and the form that keeps them."""
    (finding,) = told(run, text)
    assert finding.message == message
    assert finding.facts["cause"] == cause
    assert finding.facts["rewrite"] == rewrite
    assert rewrite is None or finding.facts["rewrite_digits"] >= 15
    json.dumps(finding.as_json(), allow_nan=False)


def test_the_sentence_says_what_was_measured(run: Run) -> None:
    """The numbers of the operation, what the gradient has, and what both have in the other form."""
    (finding,) = told(run, "x = 1e12\ny = sqrt(x + 1) - sqrt(x)")
    assert finding.notes == (
        "1000000.0000005 - 1000000.0 = 5.00003807246685e-07: both are nearly equal, and their rounding is what is left",
        "dy/dx has 4 of them",
    )
    assert finding.hint == "write 1 / (sqrt(x + 1) + sqrt(x)) for sqrt(x + 1) - sqrt(x): y then has 15 digits, dy/dx 15"


def test_the_advice_holds(run: Run) -> None:
    """The formula as it is advised has nothing more to be said of."""
    (finding,) = told(run, "x = 1e12\ny = sqrt(x + 1) - sqrt(x)")
    assert told(run, f"x = 1e12\ny = {finding.facts['rewrite']}") == []


def test_the_first_node_is_named_not_the_last(run: Run) -> None:
    """What is computed from a number that has lost its digits is not blamed."""
    (finding,) = told(run, "x = 1e-9\nz = cos(x*1e4) - 1\ny = 3*exp(z*2) - 3 + z")
    assert "are lost in cos(x*1e4) - 1" in finding.message
    assert finding.span is not None
    assert finding.source.location(finding.span.start).line == 2


def test_a_loss_on_the_way_back(run: Run) -> None:
    """Where only the gradient loses digits, the node whose gradient it is is named."""
    formulas, evaluation = run("x = 0.78539816339\ny = sin(x)*cos(x)")
    few = Check.of([Judgement("mpmath", "cannot judge", 6, "floating point loses 10 digits here", "x")])
    (finding,) = findings(formulas, evaluation, few)
    assert finding.message == "dy/dx has 6 of 16 right digits: the others are lost in the gradient of x"
    assert finding.facts["cause"] == "cancellation"


def test_healthy_numbers_have_no_finding(run: Run) -> None:
    """Where all digits are there, or the loss does not reach the result, nothing is said."""
    assert told(run, "x = 2.0\ny = x**2 + 3*x") == []
    assert told(run, "x = 1e-9\ny = 5 + (cos(x) - 1)") == []


def test_a_formula_that_fails_is_said_or_passed_over(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A referee's own word ends the look in silence; any other error is told."""
    formulas, evaluation = run("x = 1e12\ny = sqrt(x + 1) - sqrt(x)")
    agreed = Check.of([Judgement("mpmath", "agree", 16, None, "x")])

    def fail(error: Exception) -> object:
        def raising(*_: object) -> object:
            raise error

        return raising

    monkeypatch.setattr(module._Loss, "finding", fail(CannotJudge("none")))
    assert list(findings(formulas, evaluation, agreed)) == []
    monkeypatch.setattr(module._Loss, "finding", fail(TypeError("no such number")))
    (finding,) = findings(formulas, evaluation, agreed)
    assert finding.message == "the digits of y cannot be counted: TypeError: no such number"
