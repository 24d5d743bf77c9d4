"""The exact referees together: the second question where they differ, and many cases in one process."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.referees import Case, Judgement, Referees, precise, symbolic
from agrad.engine.referees.hearing import heard, suited
from agrad.engine.worker.budget import OPERATIONS, Budget, BudgetSpent

MakeCase = Callable[..., Case]
NAMES = ("mpmath", "sympy")


def said(case: Case) -> dict[str, Judgement]:
    """What counts in the end."""
    return {judgement.name: judgement for judgement in heard(case, NAMES, Budget(seconds=20.0))}


def test_agreement_is_asked_for_once(make_case: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody objects there is no second question; where one does, mpmath takes twice the digits."""
    finer: list[int] = []
    judge = precise.judge

    def watched(*args: Any, **options: Any) -> Judgement:
        finer.append(options.get("finer", 1))
        return judge(*args, **options)

    monkeypatch.setattr(precise, "judge", watched)
    case = make_case("sum(exp(x))", x=[1.0, 2.0])
    assert {judgement.verdict for judgement in said(case).values()} == {"agree"}
    assert finer == [1]
    case.gradients["x"] = case.gradients["x"] * 1.5
    assert {judgement.verdict for judgement in said(case).values()} == {"disagree"}
    assert finer == [1, 1, 2]


def test_a_wrong_objection_of_sympy_does_not_count(make_case: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where many digits say that agrad is right, SymPy is told to be alone, with what it found."""
    wrong = Judgement("sympy", "disagree", 0, "the derivative by x is 7, not 3")
    monkeypatch.setattr(symbolic, "judge", lambda *_: wrong)
    found = said(make_case("x**3", x=1.0))
    assert found["mpmath"].verdict == "agree"
    assert found["sympy"].verdict == "cannot judge"
    assert found["sympy"].reason == "the derivative by x is 7, not 3; mpmath does not find so, with many digits"


def test_a_wrong_objection_of_few_digits_is_corrected(make_case: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """What mpmath says with twice the digits takes the place of what it said before."""
    judge = precise.judge

    def hasty(*args: Any, **options: Any) -> Judgement:
        found = judge(*args, **options)
        return found if options.get("finer", 1) > 1 else dataclasses.replace(found, verdict="disagree")

    monkeypatch.setattr(precise, "judge", hasty)
    found = said(make_case("x**3", x=1.0))
    assert (found["mpmath"].verdict, found["mpmath"].reason) == ("agree", "with twice the digits")


def test_a_failing_referee_has_no_say(make_case: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its failure is its reason; the other one is heard."""

    def broken(*_: Any) -> Any:
        raise ValueError("some bug")

    monkeypatch.setattr(symbolic, "judge", broken)
    found = said(make_case("x**3", x=1.0))
    assert found["mpmath"].verdict == "agree"
    assert (found["sympy"].verdict, found["sympy"].reason) == ("cannot judge", "ValueError: some bug")


def test_differences_stand_in_or_beside(make_case: MakeCase) -> None:
    """They are asked where they are named, and where a graph is too large for the others."""
    small = make_case("x**2", x=1.0)
    assert suited(small, OPERATIONS, ("sympy", "mpmath"))[0] == ["sympy", "mpmath"]
    assert suited(small, OPERATIONS, ("sympy", "differences"))[0] == ["sympy", "differences"]
    large = make_case("sum(x**2)", x=np.zeros(300_000))
    assert suited(large, OPERATIONS, ("sympy", "mpmath"))[0] == ["differences"]


def test_many_cases_in_one_process(make_case: MakeCase) -> None:
    """The process stays for the next case, and a new one starts where it had to be ended."""
    with Referees(seconds=5.0) as referees:
        seen = set()
        for power in range(2, 5):
            assert referees.check(make_case(f"x**{power}", x=1.5)).verdict == "agree"
            assert referees._process is not None
            seen.add(referees._process._process.pid)
        assert len(seen) == 1
        case = make_case("x**2", x=1.5)
        case.gradients["x"] = np.float64(7.0)
        found = referees.check(case)
        assert found.verdict == "disagree"
        assert found.blame is None  # no op is wrong by itself: the number is
        referees._process.end()
        assert referees.check(make_case("x**2", x=1.5)).verdict == "agree"
        last = referees._process
    assert last is not None
    assert not last.alive


def test_without_time_for_another_look_the_first_one_stands(
    make_case: MakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An objection of SymPy's that mpmath did not find is none, though it was asked only once."""
    judge = precise.judge

    def once(*args: Any, **options: Any) -> Judgement:
        if options.get("finer", 1) > 1:
            raise BudgetSpent("not done within 1 s")
        return judge(*args, **options)

    monkeypatch.setattr(precise, "judge", once)
    monkeypatch.setattr(symbolic, "judge", lambda *_: Judgement("sympy", "disagree", 0, "it is 2, not 3"))
    found = said(make_case("x**3", x=1.0))
    assert (found["mpmath"].verdict, found["sympy"].verdict) == ("agree", "cannot judge")
    wrong = make_case("x**3", x=1.0)
    wrong.gradients["x"] = np.float64(2.0)
    found = said(wrong)
    assert (found["mpmath"].verdict, found["sympy"].verdict) == ("disagree", "disagree")
