"""The referee for large graphs: random directions, error bars."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from agrad.engine.referees import Case, differences
from agrad.engine.referees.case import Budget

MakeCase = Callable[..., Case]


def test_a_large_graph_agrees_along_random_directions(make_case: MakeCase) -> None:
    """It says along how many, and how many digits the error bar allows."""
    case = make_case("sum(tanh(x * y + 1)**2 * exp(-x**2))", x=np.linspace(-1.0, 1.0, 10_000), y=0.3)
    judgement = differences.judge(case, Budget())
    assert (judgement.verdict, judgement.reason) == ("agree", "along 3 random directions")
    assert judgement.digits is not None
    assert judgement.digits >= 8


@pytest.mark.parametrize("error", [1e-5, 1e-3, 1.0])
def test_one_wrong_entry_of_many_is_seen(make_case: MakeCase, error: float) -> None:
    """A wrong entry moves the product with a direction beyond the error bar."""
    case = make_case("sum(exp(x) * x)", x=np.linspace(-1.0, 1.0, 1_000))
    case.gradients["x"][137] += error
    assert differences.judge(case, Budget()).verdict == "disagree"


def test_noise_is_not_blamed_on_the_gradient(make_case: MakeCase) -> None:
    """Where float64 itself is too noisy the error bar is wide, and nothing is said."""
    case = make_case("sum(sin(x * 1e9))", x=np.linspace(1.0, 2.0, 100))
    judgement = differences.judge(case, Budget())
    assert judgement.verdict == "cannot judge"
    assert "error bar" in str(judgement.reason)


def test_a_kink_is_told_from_a_wrong_gradient(make_case: MakeCase) -> None:
    """At a tie any gradient between the slopes of both sides is a convention, and others are wrong."""
    case = make_case("amax(x)", x=np.ones(100))
    assert differences.judge(case, Budget()).verdict == "kink"
    case.gradients["x"] = np.full(100, 3.0)
    assert differences.judge(case, Budget()).verdict == "disagree"


def test_time_is_a_reason(make_case: MakeCase) -> None:
    """It stops at its limit."""
    case = make_case("sum(x**2)", x=np.ones(10))
    assert differences.judge(case, Budget(seconds=0.0)).verdict == "cannot judge"


@pytest.mark.parametrize(("function", "slope"), [(math.exp, 1.0), (math.sin, 1.0), (lambda t: t**3 + 2 * t, 2.0)])
def test_extrapolation_brackets_the_slope(function: Callable[[float], float], slope: float) -> None:
    """The error bar covers the true error, and is small for a smooth function."""
    found, bar = differences.bracketed(lambda h: (function(h) - function(-h)) / (2 * h))
    assert abs(found - slope) <= 10 * bar + 1e-14
    assert bar < 1e-10
