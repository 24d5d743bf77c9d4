"""Quick tests of whether digits are lost."""

from __future__ import annotations

import pytest

from agrad.engine.doctor.suspicion import suspected, targets
from agrad.engine.referees import Check, Judgement

from .conftest import Run

AGREED = Check.of([Judgement("mpmath", "agree", 16, None, "x")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1e12\ny = sqrt(x + 1) - sqrt(x)", True),
        ("x = 6.0\ny = 1 - erf(x)", True),
        ("x = -800.0\ny = exp(x)", True),
        ("x = [1e-200, 1e-200]\ny = log(prod(x))", True),
        ("x = 1e-10\ny = log((1 + x)/(1 - x))", True),
        ("x = 1.0000001\nz = 1.0\ny = x - z", False),
        ("x = [0.5, 1.0, 2.0]\ny = sum(1 - x[1:])", False),
        ("x = -inf\ny = exp(x)", False),
        ("x = 3.0\ny = x**2 - 1", False),
    ],
)
def test_values(text: str, expected: bool, run: Run) -> None:
    """A difference of rounded numbers that nearly cancel, and an underflow, are; what is given is exact."""
    _, evaluation = run(text)
    assert suspected(evaluation, AGREED) is expected


@pytest.mark.parametrize(
    ("verdict", "digits", "expected"),
    [("cannot judge", 4, True), ("agree", 7, True), ("agree", 12, False), ("disagree", 0, False), ("kink", 3, False)],
)
def test_what_the_referee_says(verdict: str, digits: int, expected: bool, run: Run) -> None:
    """Few digits are, where they are no disagreement and no kink; then the values are looked at as well."""
    _, evaluation = run("x = [2.0, 3.0]\ny = sum(x**2)")
    check = Check.of([Judgement("mpmath", verdict, digits, None, "x[1]")])  # type: ignore[arg-type]  # of a table
    found = targets(evaluation, check)
    assert [target.label for target in found] == (["y", "dy/dx[1]"] if expected else [])
