"""The referee for large graphs: random directions, error bars."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from agrad.engine.referees import Case, differences
from agrad.engine.worker.budget import Budget

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


def test_intermediate_nodes_are_cut_free(make_case: MakeCase) -> None:
    """Each intermediate node is moved by itself, as a leaf in its place; the leaves move through it."""
    case = make_case("y = x**2\nz = sum(y*x + sin(y))", wrt=["x", "y"], x=np.linspace(0.5, 1.5, 20))
    assert differences.judge(case, Budget()).verdict == "agree"
    case.gradients["y"] = case.gradients["y"] * 1.0001
    assert differences.judge(case, Budget()).verdict == "disagree"


def test_complex_leaves_move_in_the_plane(make_case: MakeCase) -> None:
    """The gradient of the conjugate's convention agrees, its conjugate does not."""
    case = make_case("sum(real(c * c * exp(c)))", c=np.array([1.0 + 2.0j, -0.5j]))
    assert differences.judge(case, Budget()).verdict == "agree"
    case.gradients["c"] = np.conj(case.gradients["c"])
    assert differences.judge(case, Budget()).verdict == "disagree"


def test_a_gradient_of_zero_is_not_confirmed(make_case: MakeCase) -> None:
    """Far out in a tail float64 sees a constant, whether the slope is zero or only small."""
    case = make_case("sigmoid(x)", x=40.0)
    case.gradients["x"] = np.float64(0.0)
    judgement = differences.judge(case, Budget())
    assert (judgement.verdict, judgement.reason) == (
        "cannot judge",
        "a slope of zero cannot be told from rounding in float64",
    )


def test_waves_shorter_than_a_step_are_seen(make_case: MakeCase) -> None:
    """Numbers whose squares overflow make no agreement."""
    assert differences.judge(make_case("sin(x)", x=1e300), Budget()).verdict == "cannot judge"


def test_a_nan_beside_a_slope_is_wrong(make_case: MakeCase) -> None:
    """Not a number does not pass where the function has a slope."""
    case = make_case("sum(exp(x))", x=np.linspace(0.0, 1.0, 10))
    case.gradients["x"][3] = np.nan
    assert differences.judge(case, Budget()).verdict == "disagree"


def test_a_kink_is_said_where_the_middle_was_chosen(make_case: MakeCase) -> None:
    """Half the slope on each side is what a central quotient has too, and still it is a kink."""
    assert differences.judge(make_case("maximum(x, y)", x=1.0, y=1.0), Budget()).verdict == "kink"


def test_signs_that_flip_beside_the_point_are_left_alone(make_case: MakeCase) -> None:
    """LAPACK may choose other signs of eigenvectors for a matrix without zeros: a jump, and no wrong gradient."""
    matrix = [[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 5.0]]
    case = make_case(
        "sum(torch.linalg.eigh(A + A.T).eigenvectors * B)", wrt=["A"], A=matrix, B=np.arange(9.0).reshape(3, 3)
    )
    assert differences.judge(case, Budget()).verdict in ("agree", "cannot judge")
