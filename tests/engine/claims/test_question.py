"""Questions as text for another process."""

from __future__ import annotations

from collections.abc import Callable

from agrad.engine.claims.question import Question, read, written
from agrad.engine.language.domains import REALS, Domain

Ask = Callable[[str], Question]


def test_a_question_comes_back_from_its_text(ask: Ask) -> None:
    """With its leaves, domains, derivatives and tolerance."""
    question = ask("x = 1.0\ny = 2.0\nx in (0, inf)\nz = x**y\nassert d(z)/d(x) ~= y*z/x within 1e-3")
    again = read(written(question))
    assert (again.operator, again.tolerance, list(again.leaves)) == ("approximate", 1e-3, ["x", "y"])
    assert (again.domain("x"), again.domain("y")) == (Domain(0.0, float("inf"), "()"), REALS)
    (of,) = again.derivatives.values()
    assert of.by == (again.leaves["x"][0],)


def test_only_what_a_claim_depends_on_is_asked(ask: Ask) -> None:
    """Other leaves and derivatives of the file stay behind."""
    question = ask("x = 1.0\ny = 2.0\nz = x**2\nassert d(z)/d(x) == 2*x\nassert y == 2*y/2")
    assert (list(question.leaves), dict(question.derivatives)) == (["y"], {})
