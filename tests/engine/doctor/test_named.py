"""What is not finite among the names alone."""

from __future__ import annotations

from agrad.engine.doctor.named import findings

from .conftest import Run


def test_the_first_of_each(run: Run) -> None:
    """The first value and the first gradient that are not finite, with their place and how many entries are not."""
    found = [finding.as_json() for finding in findings(*run("x = [1.0, 0.0, 0.0]\nz = log(x)\ny = sum(z)"))]
    assert [(each["kind"], each["line"], each["column"], each["message"], each["notes"]) for each in found] == [
        ("value", 2, 5, "the first name whose value is not finite: z[1], -inf", ["2 of its 3 entries are not"]),
        ("gradient", 1, 5, "the first name whose gradient is not finite: x[1], inf", ["2 of its 3 entries are not"]),
    ]


def test_complex_numbers(run: Run) -> None:
    """Of complex numbers too."""
    (finding, _) = findings(*run("x = 1 + 2j\ny = real(x*inf)"))
    assert finding.facts == {"entry": "y", "count": 1}


def test_finite_names_have_none(run: Run) -> None:
    """Where all is finite there is nothing to say."""
    assert list(findings(*run("x = 2.0\ny = x*x"))) == []
