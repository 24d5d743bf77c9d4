"""The check as a whole: who is asked, planted wrong rules, limits, the process, and what is imported when."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agrad.engine.graph import TABLE, apply, as_node, make
from agrad.engine.referees import (
    Case,
    Check,
    Judgement,
    RefereeProcess,
    check,
    differences,
    precise,
    start_check,
    symbolic,
)
from agrad.engine.referees.description import described, rebuilt
from agrad.engine.worker.budget import Budget

MakeCase = Callable[..., Case]


def test_paraboloid_is_certified_by_both(make_case: MakeCase) -> None:
    """SymPy and mpmath agree to 15 digits or more, and the derivatives come in closed form."""
    found = check(make_case("x**2 + y", x=1.0, y=2.0))
    assert found.verdict == "agree"
    assert [judgement.name for judgement in found.referees] == ["sympy", "mpmath"]
    assert all(judgement.digits is not None and judgement.digits >= 15 for judgement in found.referees)
    assert found.referees[0].forms == {"x": "2*x", "y": "1"}


WRONG = [
    ("sin", "sum(sin(x))", lambda x, _y: -make.cos(x)),
    ("tanh", "sum(tanh(x))", lambda _x, y: 1.0 - y),
    ("exp", "sum(exp(x))", lambda _x, y: y * 1.0001),
]


@pytest.mark.parametrize(("name", "text", "slope"), WRONG)
@pytest.mark.parametrize("referee", [precise, symbolic, differences])
def test_a_planted_wrong_rule_is_caught(
    make_case: MakeCase, monkeypatch: pytest.MonkeyPatch, name: str, text: str, slope: Any, referee: Any
) -> None:
    """Each referee alone objects to a gradient that a wrong rule made."""
    x = [0.3, 1.2, -0.7]
    assert referee.judge(make_case(text, x=x), Budget()).verdict == "agree"
    _plant(monkeypatch, name, slope)
    assert referee.judge(make_case(text, x=x), Budget()).verdict == "disagree"


def _plant(monkeypatch: pytest.MonkeyPatch, name: str, slope: Any) -> None:
    """Replace the rule of a row, keeping everything else of it."""
    wrong = dataclasses.replace(TABLE[name], slopes=(slope,))
    wrong = dataclasses.replace(wrong, call=lambda x: _apply(wrong, x))
    monkeypatch.setitem(TABLE, name, wrong)


def _apply(op: Any, x: Any) -> Any:
    return apply(op, (as_node(x),))


def test_a_planted_wrong_rule_fails_the_whole_check(make_case: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also from the referees' process, where the rule is not known at all."""
    _plant(monkeypatch, "sin", lambda x, _y: -make.cos(x))
    found = check(make_case("sum(sin(x))", x=[0.3, 1.2]))
    assert found.verdict == "disagree"
    assert [judgement.verdict for judgement in found.referees] == ["disagree", "disagree"]


def test_one_objection_outweighs_agreement() -> None:
    """Disagree before kink before agree; not judging never counts as agreement."""

    def together(*verdicts: Any) -> str:
        return Check.of(Judgement("sympy", verdict) for verdict in verdicts).verdict

    assert together("agree", "disagree") == "disagree"
    assert together("agree", "kink") == "kink"
    assert together("cannot judge", "agree") == "agree"
    assert together("cannot judge", "cannot judge") == "cannot judge"
    assert together() == "skipped"


def test_large_graphs_go_to_differences(make_case: MakeCase) -> None:
    """A graph beyond exact numbers is checked in float64, and the verdict says so."""
    found = check(make_case("sum(x**2)", x=np.linspace(0.0, 1.0, 300_000)))
    assert [judgement.name for judgement in found.referees] == ["differences"]
    assert found.verdict == "agree"


def test_middling_graphs_are_left_to_mpmath_along_directions(make_case: MakeCase) -> None:
    """SymPy is not asked where there are too many entries."""
    found = check(make_case("sum(sin(x))", x=np.linspace(0.0, 1.0, 1_000)))
    assert [(judgement.name, judgement.reason) for judgement in found.referees] == [
        ("mpmath", "along 3 random directions")
    ]


def test_the_process_is_ended_at_its_limit(make_case: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """A referee that hangs is killed, and is said not to judge."""
    case = make_case("x**2", x=1.0)
    monkeypatch.setattr("agrad.engine.worker.process.STARTING", 0.0)
    with RefereeProcess() as process:
        begin = time.monotonic()
        found = start_check(case, seconds=0.0, process=process).finish()
        assert time.monotonic() - begin < 5
    assert found.verdict == "cannot judge"
    assert all(judgement.reason for judgement in found.referees)


def test_an_explosion_ends_within_the_limit(make_case: MakeCase) -> None:
    """A determinant that SymPy would take minutes for, and a chaotic map, cost no more than the limit."""
    text = "z = x\n" + "z = 3.9*z*(1 - z) + sin(z)*x\n" * 30
    begin = time.monotonic()
    found = check(make_case(text, wrt=["x"], x=0.3), seconds=1.0)
    assert time.monotonic() - begin < 8
    assert found.verdict != "disagree"


def test_a_started_check_can_be_given_up(make_case: MakeCase) -> None:
    """Nothing is left running."""
    process = RefereeProcess()
    running = start_check(make_case("x**2", x=1.0), process=process)
    running.stop()
    assert process._process.returncode is not None


def test_a_referee_that_fails_has_no_say(make_case: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong in a referee is its reason, never a crash."""

    def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("some bug")

    monkeypatch.setattr(differences, "judge", broken)
    found = check(make_case("x**2", x=1.0), referees=())
    assert found.referees == [Judgement("differences", "cannot judge", None, "ValueError: some bug")]


def test_a_case_survives_its_description(make_case: MakeCase) -> None:
    """Ops, parameters and values come back as they were, through plain JSON."""
    case = make_case("sum(x[1:, [0, 2]].to(torch.float64).sum(dim=0, keepdim=True) * w)", x=np.eye(3), w=0.1)
    again = rebuilt(described(case))
    assert described(again) == described(case)
    assert precise.judge(again, Budget()).verdict == "agree"


def test_importing_the_referees_imports_no_sympy() -> None:
    """SymPy and mpmath cost time, so they are imported where a check runs and nowhere else."""
    code = "import sys, agrad.engine.referees.verdict; sys.exit(bool({'sympy', 'mpmath'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_process_starts_without_numpy() -> None:
    """It can be started before anything slow is imported."""
    code = "import sys; from agrad.engine.referees import RefereeProcess; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


ATOMS = ["x", "y", "2", "0.5", "(x + 1)", "(y - 3)"]
BINARY = ["({} + {})", "({} - {})", "({} * {})", "({} / (2 + ({})**2))"]
UNARY = ["sin({})", "tanh({})", "exp(-({})**2)", "({})**2"]


@st.composite
def formulas(draw: st.DrawFn, depth: int = 3) -> str:
    """A random formula over x and y that is smooth everywhere."""
    if depth == 0:
        return draw(st.sampled_from(ATOMS))
    if draw(st.booleans()):
        return draw(st.sampled_from(UNARY)).format(draw(formulas(depth - 1)))
    return draw(st.sampled_from(BINARY)).format(draw(formulas(depth - 1)), draw(formulas(depth - 1)))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=formulas(), x=st.floats(-2, 2), y=st.floats(-2, 2))
def test_random_smooth_formulas_agree(make_case: MakeCase, text: str, x: float, y: float) -> None:
    """SymPy and mpmath both find agrad's gradient of whatever smooth formula."""
    case = make_case(f"{text} + 0*x + 0*y", x=x, y=y)
    for referee in (precise, symbolic):
        judgement = referee.judge(case, Budget())
        assert judgement.verdict in ("agree", "cannot judge"), (judgement, text)
