"""What exact numbers cannot see, or floating point cannot hold, is no fault of a rule; a wrong number beside it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.graph import TABLE
from agrad.engine.referees import Case, precise, roundings, symbolic, waves
from agrad.engine.referees.case import Judgement
from agrad.engine.worker.budget import Budget

MakeCase = Callable[..., Case]


def judged(case: Case, **options: Any) -> Judgement:
    """What mpmath says."""
    return precise.judge(case, Budget(seconds=20.0), **options)


@pytest.mark.parametrize(
    ("text", "inputs", "reason"),
    [
        ("copysign(x, ceil(-y))", {"x": 2.5, "y": 0.4}, "the sign of a zero decides"),
        ("torch.atan2(ceil(-x), y - 3.0) + torch.copysign(x, torch.trunc(-x))", {"x": 0.5, "y": 0.5}, "the sign of a"),
        ("1e300 * (x * 1e300 + torch.addcdiv(x, y, w))", {"x": 1e-300, "y": 1.0, "w": 1e300}, "underflows here"),
        ("logsumexp(x, 0)**-1.5", {"x": [-745.0, 0.0287, -1e300]}, "the slope of the result of logsumexp underflows"),
        ("log_softmax(x, 0)[1]*1e4", {"x": [-745.0, 0.0287, 0.5]}, "the slope of the result of log_softmax underflows"),
    ],
)
def test_what_exact_numbers_do_not_have(make_case: MakeCase, text: str, inputs: dict[str, Any], reason: str) -> None:
    """The sign of a zero and a slope that underflows change the gradient: nobody can judge it."""
    judgement = judged(make_case(text, **inputs))
    assert judgement.verdict == "cannot judge"
    assert reason in str(judgement.reason)


@pytest.mark.parametrize(
    ("text", "inputs", "wrong"),
    [
        ("copysign(x, y)", {"x": 2.0, "y": -1.0}, 1.0),
        ("where(y > 0, 2 * x / y, 3 * x)", {"x": 2.0, "y": 0.0}, 2.0),
        ("torch.fmod(x, 1e-300)", {"x": 0.75}, 0.5),
        ("torch.sinc(x)", {"x": 1.0}, 1.0),
        ("tanh(x)", {"x": 20.0}, 0.0),
        ("x * (1 / x)", {"x": 2.913707728930631}, 1e-6),
        ("torch.special.erfcx(x)", {"x": 1e100}, 1.0),
        ("torch.lgamma(x)", {"x": 1e300}, 690.0),
        ("torch.special.entr(x)", {"x": 40.0}, 0.0),
    ],
)
def test_a_wrong_number_is_wrong(make_case: MakeCase, text: str, inputs: dict[str, Any], wrong: float) -> None:
    """agrad's own number stands and another one is objected to, however hard the place."""
    case = make_case(text, wrt=["x"], **inputs)
    assert judged(case).verdict in ("agree", "kink")
    case.gradients["x"] = np.float64(wrong)
    assert judged(case).verdict == "disagree"


@pytest.mark.parametrize("text", ["x % y", "torch.fmod(x, y)", "torch.fmod(-x, y) * x"])
def test_many_periods(make_case: MakeCase, text: str) -> None:
    """A quotient of more digits than float64 has is no hindrance: remainders are exact, and steps small enough."""
    assert judged(make_case(text, x=0.7, y=3e-290)).verdict == "agree"


def test_where_a_function_jumps_there_is_no_slope(make_case: MakeCase) -> None:
    """At a jump any finite number is a convention, whatever the slope of one side is."""
    case = make_case("torch.copysign(relu(x) + 2.0, x)", x=0.0)
    for given in (0.0, 1.0):
        case.gradients["x"] = np.float64(given)
        assert judged(case).verdict == "kink"


def test_an_edge_with_a_convention_is_no_fault(make_case: MakeCase) -> None:
    """The cross entropy of a certain probability has PyTorch's slope; an infinite one is wrong."""
    case = make_case("F.binary_cross_entropy(x, t)", wrt=["x"], x=0.0, t=0.0)
    assert judged(case).verdict == "kink"
    assert symbolic.judge(case, Budget(seconds=20.0)).verdict in ("kink", "cannot judge")
    case.gradients["x"] = np.float64(-np.inf)
    assert judged(case).verdict == "disagree"


def test_the_rounding_of_complex_numbers_goes_by_their_size(make_case: MakeCase) -> None:
    """The real part of a square of equal parts is zero, and in floating point it is rounding."""
    case = make_case("x * torch.real(torch.complex(y, y) ** 2) ** 2", wrt=["x"], x=-2.0, y=0.6)
    case.gradients["x"] = np.float64(1.5e-32)
    assert judged(case).verdict != "disagree"
    case.gradients["x"] = np.float64(1e-12)
    assert judged(case).verdict == "disagree"


def test_linear_algebra_is_right_up_to_its_largest_entry(make_case: MakeCase) -> None:
    """What an inverse of numbers of very different size loses is loss; what it keeps must be right."""
    case = make_case("torch.linalg.pinv(x)[0, 0]", x=[[2.0**40, 2.0**20, 3.0], [2.0**30, 1.0, 2.0**-20]])
    assert judged(case).verdict in ("agree", "cannot judge")
    case.gradients["x"] = case.gradients["x"] * 3
    assert judged(case).verdict == "disagree"


def test_what_underflows_elsewhere_is_no_excuse(make_case: MakeCase) -> None:
    """A gradient out of range on another leaf's way explains nothing."""
    case = make_case("tanh(x) + 1e-160 * (1e-160 * sin(y) + 1.0)", x=0.5, y=0.3)
    case.gradients["x"] = case.gradients["x"] * 1.5
    assert judged(case).verdict == "disagree"


def test_a_slope_beside_a_kink_may_overflow(make_case: MakeCase) -> None:
    """One side has the slope zero, the other one that no double holds: infinity is right, of one sign only."""
    case = make_case("exp(1e10 * relu(x - 1.0) + 900.0) * 1e-90", wrt=["x"], x=1.0)
    case.gradients["x"] = np.float64(np.inf)
    assert judged(case).verdict == "kink"
    case.gradients["x"] = np.float64(-np.inf)
    assert judged(case).verdict == "disagree"


def test_a_jump_at_the_edge_of_a_domain_is_no_slope(make_case: MakeCase) -> None:
    """ceil(sqrt(x)) is zero at zero and one beside it: nothing is claimed of the infinite quotient."""
    assert judged(make_case("torch.ceil(sqrt(x))", x=0.0)).verdict == "kink"
    assert judged(make_case("sqrt(x)", x=0.0)).verdict == "agree"


def test_sums_by_index_round_as_sums_do(make_case: MakeCase) -> None:
    """1e300 - 2.1 is 1e300 in floating point, wherever it is added up."""
    text = "z = sum(cos(x.scatter_add(0, [0], y)))"
    judgement = judged(make_case(text, wrt=["y"], x=[1e300, 1.0], y=[-2.1357]))
    assert judgement.verdict == "cannot judge"
    assert "loses" in str(judgement.reason)


def test_what_names_of_ops_say_of_rounding_are_names_of_the_table() -> None:
    """An op that is renamed is not lost from the lists."""
    names = {op.name for op in TABLE.values()}
    lists = (roundings._CHOOSES, roundings._BY_PARTS, waves.QUOTIENTS, waves._REAL, waves._COMPLEX)
    assert not {name for each in lists for name in each} - names - {"max_pool_positions", "sinc_derivative"}
