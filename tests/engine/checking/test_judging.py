"""One file judged: a finding for each gradient and each claim, whatever the judges say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from agrad.engine.checking.judges import Judges
from agrad.engine.checking.judging import judged
from agrad.engine.checking.policy import Policy
from agrad.engine.checking.subjects import subjects
from agrad.engine.errors import InputError, Source, Span
from agrad.engine.language import build
from agrad.engine.referees import Check, Judgement

from .conftest import JudgeText


def claim(verdict: str, failed: bool, sentence: str) -> Any:
    """A claim judged, as the engine's claims are."""
    return SimpleNamespace(
        verdict=verdict, failed=failed, sentence=sentence, text="z == x", label=None, span=Span(0, 5)
    )


def test_each_output_is_a_finding(judge_text: JudgeText) -> None:
    """A finding names the output, by what it is differentiated, its place and its digits."""
    result = judge_text("x = 1.0\nb = [1.0, 2]\nz = x**2\ny = x * b\n")
    assert [(each.subject, each.verdict, each.digits) for each in result.findings] == [
        ("d(z)/d(x)", "agree", 15),
        ("d(y)/d(x, b)", "agree", 15),
    ]
    assert [each.place.line for each in result.findings if each.place] == [3, 4]
    assert result.recorded["z"].value == 1.0
    assert result.recorded["z"].gradients == {"x": 2.0}
    assert not result.failed


def test_many_results_take_time_in_proportion(judge_text: JudgeText) -> None:
    """Each result is computed from its own part of the file alone."""
    lines = [f"x{place} = {place}.5\nz{place} = sin(x{place})**2" for place in range(600)]
    result = judge_text("\n".join(lines))
    assert [each.subject for each in result.findings] == [f"d(z{place})/d(x{place})" for place in range(600)]
    assert all(list(entry.gradients) == [f"x{name[1:]}"] for name, entry in result.recorded.items())
    assert result.seconds < 10


def test_results_of_one_name_are_all_kept(judge_text: JudgeText) -> None:
    """A name that is given to two results stands twice in what a lock keeps."""
    result = judge_text("x = 1.0\nz = x**2\nz = x**3\n")
    assert {name: entry.gradients for name, entry in result.recorded.items()} == {"z": {"x": 2.0}, "z (2)": {"x": 3.0}}


@pytest.mark.parametrize(
    ("verdict", "code"), [("agree", 0), ("disagree", 1), ("kink", 0), ("cannot judge", 0), ("skipped", 0)]
)
def test_the_verdict_is_the_referees(judge_text: JudgeText, verdict: Any, code: int) -> None:
    """What the referees say is what is found, with their reasons where it is not agreement."""
    check = Check.of([Judgement("mpmath", verdict, 3, "because", "x[0]")])
    (finding,) = judge_text("x = 1.0\nz = x**2\n", check=check).findings
    assert (finding.verdict, finding.exit_code) == (verdict, code)
    told = ("mpmath: " + verdict + ", 3 digits at x[0]: because",)
    assert finding.details == (told if verdict in ("disagree", "kink", "cannot judge") else ())


def test_fewer_digits_than_wanted_fail(judge_text: JudgeText) -> None:
    """Agreement to fewer digits than are asked for is a disagreement; the precise referee's count stands."""
    check = Check.of(
        [Judgement("sympy", "agree", 14), Judgement("mpmath", "agree", 12), Judgement("differences", "agree", 7)]
    )
    (finding,) = judge_text("x = 1.0\nz = x**2\n", check=check, policy=Policy(digits=12)).findings
    assert (finding.verdict, finding.digits) == ("agree", 12)
    (finding,) = judge_text("x = 1.0\nz = x**2\n", check=check, policy=Policy(digits=13)).findings
    assert (finding.verdict, finding.exit_code) == ("disagree", 1)
    assert finding.reason == "12 digits are right where 13 are wanted"


def test_what_has_no_gradient_is_skipped_and_said(judge_text: JudgeText) -> None:
    """A last line of integers is no agreement, and the other results are judged."""
    result = judge_text("x = [1.0, 2]\nz = sum(x)\nk = argmax(x)\n")
    assert [each.verdict for each in result.findings] == ["agree", "skipped"]
    assert "int64" in result.findings[1].reason
    strict = judge_text("x = [1.0, 2]\nk = argmax(x)\n", policy=Policy(strict=True))
    assert [each.exit_code for each in strict.findings] == [1]


def test_claims_are_findings(judge_text: JudgeText) -> None:
    """A refuted claim fails, unless it is expected to be refuted; one that is and holds fails."""
    claims = [
        claim("proved", False, "proved for all x"),
        claim("refuted", True, "refuted: at x = 2.0 ..."),
        claim("refuted", False, "refuted: at x = 2.0 ..."),
        claim("holds", True, "holds at 100 points"),
    ]
    found = judge_text("x = 1.0\nz = x**2\n", claims=claims).findings[:4]
    assert [(each.verdict, each.exit_code) for each in found] == [
        ("proved", 0),
        ("refuted", 1),
        ("refuted as expected", 0),
        ("refuted", 1),
    ]
    assert found[1].reason == "at x = 2.0 ..."
    assert "expected to be refuted" in found[3].reason


def test_a_fault_of_the_text_is_a_finding(judge_text: JudgeText) -> None:
    """A text that cannot be read is a finding at its place, one for each error."""
    result = judge_text("x = 1.0\nz = x +\ny = q\n")
    assert [(each.kind, each.exit_code, each.place.line) for each in result.findings if each.place] == [
        ("input", 2, 2),
        ("input", 2, 3),
    ]
    assert not result.readable


def test_an_output_that_cannot_be_computed_leaves_the_others(
    judge_text: JudgeText, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error in the gradient of one output is a finding, and the next output is judged."""
    from agrad.engine.checking import judging

    real = judging.evaluate

    def evaluate(formulas: Any, outputs: Any, weights: Any) -> Any:
        if "a" in outputs:
            raise InputError("no gradient of a")
        return real(formulas, outputs, weights)

    monkeypatch.setattr(judging, "evaluate", evaluate)
    result = judge_text("x = 1.0\na = x**2\nb = x**3\n")
    assert [(each.kind, each.verdict) for each in result.findings] == [("input", "error"), ("gradient", "agree")]


def test_a_wrong_gradient_is_caught_by_the_real_referees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradients that are twice what they should be are called wrong, and right ones are not."""
    from dataclasses import replace

    from agrad.engine.checking import judging

    real = judging.evaluate

    def doubled(formulas: Any, outputs: Any, weights: Any) -> Any:
        found = real(formulas, outputs, weights)
        return replace(found, grads={node: 2 * np.asarray(value) for node, value in found.grads.items()})

    formulas = build(Source("x = [1.5, 2.0]\nz = sum(sin(x))\nv = x**2\n", "a.txt"))
    policy = Policy()
    chosen = subjects(formulas, [], [], 0)
    judges = Judges(policy)
    try:
        right = judged("a.txt", lambda: (formulas, chosen), judges, policy)
        monkeypatch.setattr(judging, "evaluate", doubled)
        wrong = judged("a.txt", lambda: (formulas, chosen), judges, policy)
    finally:
        judges.end()
    assert [each.verdict for each in right.findings] == ["agree", "agree"]
    assert [each.verdict for each in wrong.findings] == ["disagree", "disagree"]
    assert all(each.exit_code == 1 and each.details for each in wrong.findings)
