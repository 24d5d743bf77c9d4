"""Claims of whole files, judged in their process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.claims import ClaimJudgement, judge_claims
from agrad.engine.errors import Source
from agrad.engine.language import build
from agrad.engine.worker.process import Worker

Judged = Callable[..., list[ClaimJudgement]]

HINT = "; if the claim is meant where both are defined only, declare that: x in (0, inf)"


@pytest.fixture
def judged(worker: Worker) -> Judged:
    """Judges each claim of a text."""

    def judge(text: str, **options: Any) -> list[ClaimJudgement]:
        return judge_claims(build(Source(text, "claims.txt")), **({"worker": worker} | options))

    return judge


def test_a_file_of_claims(judged: Judged) -> None:
    """Proved, held, refuted, with places, words and what is expected, in one process."""
    found = judged(
        "x = 3.0\n"
        "z = x**2\n"
        "assert d(z)/d(x) == 2*x, 'slope'\n"
        "assert exp(x) >= 1 + x\n"
        "# expect: refuted\n"
        "assert x != 3\n"
        "assert log(x) == 0.5*log(x**2)\n"
        "# expect: refuted\n"
        "assert x == x\n"
    )
    assert [(each.verdict, each.line, each.label, each.failed) for each in found] == [
        ("proved", 3, "slope", False),
        ("holds", 4, None, False),
        ("refuted", 6, None, False),
        ("refuted", 7, None, True),
        ("proved", 9, None, True),
    ]
    assert [each.sentence for each in found] == [
        "proved for all real inputs",
        "holds at 100 points",
        "refuted: at x = 3.0 the left side is 3.0 and the right side is 3.0",
        "refuted: at x = -1.0 the left side is undefined and the right side is 0.0",
        "proved for all real inputs",
    ]
    assert found[3].reason == "the left side alone is undefined there" + HINT
    assert (found[0].text, found[0].file, found[0].column) == ("d(z)/d(x) == 2*x", "claims.txt", 1)
    json.dumps([each.as_json() for each in found], allow_nan=False)


def test_domains_are_told(judged: Judged) -> None:
    """A proof says where it holds."""
    found = judged("x = 3.0\nx in (0, inf)\nassert d(log(x))/d(x) == 1/x\nassert sqrt(x)/x == 1/sqrt(x)", points=20)
    assert [each.sentence for each in found] == ["proved for all x in (0, inf)"] * 2


def test_entries_are_named(judged: Judged) -> None:
    """A counter-example of arrays says which entry."""
    (found,) = judged("x = [1.0, 2]\nassert grad(sum(x**2), x) == [2, 1]*x", points=20)
    assert found.sentence == "refuted: at x = [0.0, 1.0] in entry [1] the left side is 2.0 and the right side is 1.0"


def test_a_tolerance_from_outside(judged: Judged) -> None:
    """It counts for claims that write none."""
    text = "x = 1.0\nx in [-0.1, 0.1]\nassert sin(x) == x\nassert sin(x) ~= x within 1e-9".replace("1.0", "0.05")
    assert [each.verdict for each in judged(text, points=20, tolerance=1e-2)] == ["holds", "refuted"]
    assert [each.verdict for each in judged(text, points=20)] == ["refuted", "refuted"]


def test_names_are_printed_escaped(judged: Judged) -> None:
    """A name that would move a terminal's cursor, or turn its text round, does not."""
    (found,) = judged("x\u0301\u00e9 = 1.0\nassert x\u0301\u00e9 == 2, 'a\\u202e'", points=20)
    assert found.verdict == "refuted"
    assert found.sentence.isprintable()


def test_time_limits_are_kept(judged: Judged) -> None:
    """A claim that is too hard for SymPy holds at its points, and takes no more than its time and the start."""
    size = 6
    text = f"A = randn({size}, {size}, seed=0)\nassert det(A @ A) == det(A)**2\nx = 1.0\nassert x == x"
    begin = time.monotonic()
    found = judged(text, seconds=1.5, points=20, worker=None)
    assert time.monotonic() - begin < 30
    assert [each.verdict for each in found][1] == "proved"
    assert found[0].verdict in ("holds", "cannot judge")
    assert found[0].reason is not None


def test_what_cannot_be_judged_says_why(judged: Judged) -> None:
    """Complex numbers have no order and no exact form here."""
    (found,) = judged("x = 1.0\nassert sqrt(-x**2 - 1) == log(-x**2 - 1)", points=20)
    assert found.sentence == ("cannot judge: no point was found at which both sides are defined and could be compared")


def test_a_file_without_claims_costs_nothing(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is started."""
    monkeypatch.setattr("agrad.engine.claims.judge.Worker", None)
    assert judged("x = 1.0", worker=None) == []


def test_what_cannot_be_judged_is_not_refuted(judged: Judged) -> None:
    """A claim that is there to be refuted fails unless it is."""
    found = judged("x = 1.0\n# expect: refuted\nassert nan == nan\n# expect: refuted\n\nassert x == 2", points=10)
    assert [(each.verdict, each.failed) for each in found] == [("cannot judge", True), ("refuted", False)]


def test_a_tolerance_of_zero_excuses_rounding_alone(judged: Judged) -> None:
    """That of exact arithmetic, whose last digits are never right."""
    text = "x = 1.0\nassert exp(x)*exp(-x) == 1\nassert exp(x)*exp(-x) ~= 1\nassert exp(x)*exp(-x) == 1 + 1e-30"
    assert [each.verdict for each in judged(text, points=20, tolerance=0.0)] == ["proved", "proved", "refuted"]


def test_values_are_told_apart(judged: Judged) -> None:
    """Where floats are the same, by digits, or by the difference where these would be too many."""
    found = judged("x = 1.0\nassert x + 1e-20 == x\nx in [1, 1]\nassert x + 1e-200 == x", points=20)
    assert [each.sentence for each in found] == [
        "refuted: at x = 1.0 the left side is 1.00000000000000000001 and the right side is 1.0",
        "refuted: at x = 1.0 the left side is 1.0 + 1.0e-200 and the right side is 1.0",
    ]
    example = found[0].as_json()["counterexample"]
    assert (example["left"], example["texts"]) == (1.0, ["1.00000000000000000001", "1.0"])


def test_a_claim_is_told_on_one_line(judged: Judged) -> None:
    """Without the comments inside of it, and with every sign of its words."""
    (found,) = judged("x = 1.0\nassert (x +  # none\n  0) == x, 'part #12 done'", points=10)
    assert (found.text, found.label) == ("(x + 0) == x", "part #12 done")


def test_every_value_of_a_name_is_told(judged: Judged) -> None:
    """A counter-example says which of them it moves."""
    (found,) = judged("x = 2.0\nz = x**2\nassert z == 4\nx = 3.0\nw = x*z", points=10)
    assert found.sentence == "refuted: at x (line 1) = 0.0 the left side is 0.0 and the right side is 4.0"
