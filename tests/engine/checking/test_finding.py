"""Findings: their places, their sums and the exit code."""

from __future__ import annotations

from typing import Any

from agrad.engine.checking.finding import Finding, Tally, exit_code, faults
from agrad.engine.checking.policy import Policy
from agrad.engine.errors import InputError, LimitError, SeveralErrors, Source, Span


def found(kind: Any, verdict: str, code: int = 0) -> Finding:
    """A finding of a kind."""
    return Finding(kind=kind, subject="", verdict=verdict, outcome="passed", file="a.txt", exit_code=code)


def test_the_summary_counts_in_words() -> None:
    """Each verdict has its words, for one and for several, in one order whatever came first."""
    tally = Tally(files=12)
    tally.add([found("claim", "refuted"), *[found("claim", "proved")] * 5, *[found("gradient", "agree")] * 31])
    tally.add([found("gradient", "kink"), found("gradient", "kink"), found("lock", "moved"), found("input", "error")])
    assert tally.words == (
        "12 files: 31 gradients agree, 2 kinks, 5 claims proved, 1 claim refuted, 1 number moved, 1 error"
    )
    assert Tally(files=1, left=2).words == "1 file: 2 files not looked at"
    assert Tally(files=1).words == "1 file: nothing to judge"


def test_every_verdict_is_in_the_summary() -> None:
    """No verdict is counted and then not told."""
    for kind, verdicts in {
        "gradient": ("agree", "disagree", "kink", "cannot judge", "skipped"),
        "claim": ("proved", "holds", "refuted", "refuted as expected", "cannot judge"),
        "lock": ("moved", "added", "removed"),
        "input": ("error",),
    }.items():
        for verdict in verdicts:
            tally = Tally(files=1)
            tally.add([found(kind, verdict)])
            assert tally.words.startswith("1 file: 1 "), (kind, verdict)


def test_what_disagrees_is_told_before_what_cannot_be_read() -> None:
    """A failure exits 1 whatever else is wrong; else an input 2, else a limit 3."""
    assert exit_code([]) == 0
    assert exit_code([found("input", "error", 3), found("gradient", "disagree", 1), found("input", "error", 2)]) == 1
    assert exit_code([found("input", "error", 3), found("input", "error", 2)]) == 2
    assert exit_code([found("input", "error", 3), found("gradient", "agree")]) == 3


def test_errors_become_findings() -> None:
    """Each of several errors is a finding at its place, with its exit code."""
    source = Source("x = 1\ny = (\n", "a.txt")
    first = InputError("bad", hint="do it well", spans=(Span(4, 5),))
    first.source = source
    one, two = faults(SeveralErrors([first, LimitError("too large")]), "a.txt")
    assert one.place is not None
    assert one.place[:4] == ("a.txt", 1, 5, 1)
    assert (one.exit_code, one.hint, two.exit_code, two.place) == (2, "do it well", 3, None)


def test_a_place_over_lines() -> None:
    """A statement over lines ends on its last one."""
    text = "x = [1,\n  2]\n"
    finding = Finding(
        kind="claim",
        subject="",
        verdict="refuted",
        outcome="failed",
        file="a.txt",
        source=Source(text, "a.txt"),
        span=Span(0, 12),
    )
    assert finding.place == ("a.txt", 1, 1, 2, 5)


def test_what_a_policy_fails() -> None:
    """Kinks and missing verdicts fail where they are to; a disagreement always; agreement never."""
    plain, strict = Policy(), Policy(strict=True, strict_kinks=True)
    for verdict in ("kink", "cannot judge", "skipped"):
        assert plain.outcome(verdict) == "noted"
        assert strict.outcome(verdict) == "failed"
    assert Policy(strict=True).outcome("kink") == "noted"
    for verdict in ("disagree", "refuted", "moved"):
        assert plain.outcome(verdict) == "failed"
    for verdict in ("agree", "proved", "holds", "refuted as expected"):
        assert strict.outcome(verdict) == "passed"
