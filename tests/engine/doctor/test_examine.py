"""What is looked at, and what is not."""

from __future__ import annotations

import pytest

import agrad.engine.doctor.chain as chains
from agrad.engine.doctor import examine
from agrad.engine.referees import Check, Judgement

from .conftest import Run

AGREED = Check.of([Judgement("mpmath", "agree", 16, None, "x")])


def test_a_healthy_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a run without kinks and infinities no chain is made."""

    def fail(*_: object) -> None:
        raise AssertionError("a chain of a healthy run")

    monkeypatch.setattr(chains, "chain_of", fail)
    for check in (AGREED, None):
        found = examine(*run("x = 2.0\ny = x*x"), check)
        assert not [*found.kinks, *found.findings]
        assert found.trail is None
        assert not found.followed


def test_what_is_asked_for_is_looked_at(run: Run) -> None:
    """With the anomaly asked for the way back is followed, where there is one it is told."""
    healthy = examine(*run("x = 2.0\ny = x*x"), AGREED, anomaly=True)
    assert (healthy.trail, healthy.followed) == (None, True)
    broken = examine(*run("x = 0.0\ny = sqrt(x)"), AGREED, anomaly=True)
    assert broken.trail is not None
    assert [finding.kind for finding in broken.findings] == ["gradient"]
    assert examine(*run("x = 0.0\ny = sqrt(x)"), AGREED).trail is None


def test_a_graph_without_a_chain(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one that is too large the names alone are told, and that nothing was followed."""
    monkeypatch.setattr("agrad.engine.doctor.chain.LARGEST", 1)
    found = examine(*run("x = 1.0\ny = x*inf"), None, anomaly=True)
    assert [finding.facts["entry"] for finding in found.findings] == ["y", "x"]
    assert not found.followed


def test_complex_numbers_are_followed(run: Run) -> None:
    """From the operation that makes no finite number to a real leaf and to a complex one, with complex factors."""
    found = examine(*run("x = 0.0\nc = complex(x, 1 + x)\ny = real(log(c*c + 1))"), None, anomaly=True)
    value, gradient = found.findings
    assert "log(0.0+0.0j) = -inf+0.0j" in value.message
    assert gradient.facts["entry"] == "x"
    assert "(1.0+0.0j) x (inf+nanj) = nan+nanj" in gradient.message
    assert "x > 0" not in gradient.hint
    assert found.trail is not None
    assert [place.op for place in found.trail.places][-2:] == ["complex", "leaf"]
    broken = examine(*run("x = 0j\ny = abs(1/x)"), None, anomaly=True)
    assert [finding.kind for finding in broken.findings] == ["value", "gradient"]
    assert broken.trail is not None


def test_digits_only_with_the_referees(run: Run) -> None:
    """Without them nobody has counted; with them a suspicious difference is looked at."""
    text = "x = 1e12\ny = sqrt(x + 1) - sqrt(x)"
    assert not examine(*run(text), None).findings
    assert [finding.kind for finding in examine(*run(text), AGREED).findings] == ["digits"]


def test_a_kink_that_only_the_referees_found(run: Run) -> None:
    """It is told, although the evaluation has none."""
    text = "x = full((30,), 0.5)\nW = ones(30, 30)\ny = sum(relu(W @ x - 15.0))"
    kinked = Check.of([Judgement("mpmath", "kink", 16, "the slopes by x[2] are 0.0 and 30.0", "x[2]")])
    formulas, evaluation = run(text, wrt=["x"])
    found = examine(formulas, evaluation, kinked)
    assert found.kinks[0].entry == "x[2]"
    assert (found.kinks[0].left, found.kinks[0].right, found.kinks[0].chosen) == (0.0, 30.0, 0.0)
