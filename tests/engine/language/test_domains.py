"""Domains of leaves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agrad.engine.errors import InputError, Span
from agrad.engine.language.domains import REALS, Domain, domain_of


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        (Domain(0.0, 1.0, "()"), [0.5, 5e-324], [0.0, 1.0, -1.0]),
        (Domain(0.0, 1.0, "[]"), [0.0, 1.0], [-5e-324, 1.1]),
        (Domain(0.0, math.inf, "(]"), [1e300], [0.0, math.inf, math.nan]),
        (Domain(values=(1.0, 2.0)), [1.0, 2.0], [1.5]),
        (REALS, [0.0, -1e300], [math.inf, -math.inf, math.nan]),
    ],
)
def test_what_lies_in_a_domain(domain: Domain, inside: list[float], outside: list[float]) -> None:
    """Ends belong to it or not; what is not finite never does."""
    assert all(domain.holds(value) for value in inside)
    assert not any(domain.holds(value) for value in outside)
    assert domain.first_outside(np.array([*inside, outside[0]])) == pytest.approx(outside[0], nan_ok=True)


def test_a_point_is_a_domain() -> None:
    """`[1, 1]` holds one number, `(1, 1]` none."""
    assert domain_of("[]", [1.0, 1.0], Span(0, 1)).holds(1.0)
    with pytest.raises(InputError):
        domain_of("(]", [1.0, 1.0], Span(0, 1))


@pytest.mark.parametrize(
    ("domain", "text"),
    [
        (Domain(0.0, 1.23456789, "()"), "(0, 1.23456789)"),
        (Domain(-0.0, 1e-7, "[)"), "[0, 1e-07)"),
        (Domain(-math.inf, math.inf, "[]"), "(-inf, inf)"),
        (Domain(0.1 + 0.2, math.inf, "[]"), "[0.30000000000000004, inf)"),
        (Domain(values=(1.0, -0.0, 1234567.0, 0.5)), "{1, 0, 1234567, 0.5}"),
    ],
)
def test_domains_are_written_with_all_their_digits(domain: Domain, text: str) -> None:
    """What is shown is what holds: no digit is left out, and infinities belong to no domain."""
    assert str(domain) == text
