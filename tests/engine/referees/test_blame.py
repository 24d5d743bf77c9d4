"""Each op by itself: wrong values, kinks that rounding hides, and objections with nobody to blame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from agrad.engine.referees import Case, Check
from agrad.engine.referees.alone import op_cases, packed, unpacked
from agrad.engine.referees.blame import Examined, examined
from agrad.engine.referees.process import RefereeProcess
from agrad.engine.referees.verdict import RunningCheck
from agrad.engine.worker.budget import Budget

MakeCase = Callable[..., Case]


class Objector(RefereeProcess):
    """The referees' process, but whoever is asked about a whole case objects to it."""

    def answers(self, seconds: float) -> list[dict[str, Any]]:
        """An objection first, and then what is true of the ops."""
        if self.has_objected:
            return super().answers(seconds)
        self.has_objected = True
        return [{"name": "mpmath", "verdict": "disagree", "digits": 0, "reason": "the derivative by x is 7, not 8"}]

    has_objected = False


def objected(case: Case) -> Check:
    """What becomes of an objection to a case."""
    return RunningCheck(case, ["mpmath"], Objector("mpmath"), Budget(seconds=20.0)).finish()


def looked_at(case: Case) -> Examined:
    """What a look at all ops of a case finds, from plain data."""
    cases = [unpacked(packed(op_case)) for _, op_case in op_cases(case) if op_case is not None]
    return examined(cases, Budget(seconds=20.0), case)


def test_an_objection_to_right_ops_is_withdrawn(make_case: MakeCase) -> None:
    """Where every op is right and the gradient is what they give, only rounding is left to object to."""
    found = objected(make_case("exp(sin(x)) * x", x=[0.5, 1.5]))
    assert (found.verdict, found.blame) == ("cannot judge", None)
    (judgement,) = found.referees
    assert str(judgement.reason).startswith("every op is right by itself")
    assert str(judgement.reason).endswith("the derivative by x is 7, not 8")
    assert judgement.digits == 0


def test_an_objection_to_a_gradient_that_the_ops_do_not_give_stands(make_case: MakeCase) -> None:
    """A fault in how the ops are put together has no op to blame, and is a fault."""
    case = make_case("exp(sin(x)) * x", x=[0.5, 1.5])
    found = objected(replace(case, gradients={"x": case.gradients["x"] * (1 + 1e-6)}))
    assert (found.verdict, found.blame) == ("disagree", None)


def test_an_objection_stands_where_kinks_are_met_exactly(make_case: MakeCase) -> None:
    """relu(x) - relu(-x) is x: at 0 each op is right to choose a slope, and their sum is wrong nevertheless."""
    case = make_case("relu(x) - relu(-x)", x=0.0)
    assert case.gradients["x"] == 0.0
    found = looked_at(case)
    assert found == Examined(None, cleared=False, at_kinks=True)
    assert objected(case).verdict == "disagree"


def test_a_kink_that_rounding_makes_is_one(make_case: MakeCase) -> None:
    """1e300 + x and 1e300 + y are equal only as they are stored."""
    case = make_case("relu((x + 1e300) - (y + 1e300))", x=2.0, y=1.0)
    assert looked_at(case) == Examined(None, cleared=True, at_kinks=True)
    assert objected(case).verdict == "kink"


def test_a_pole_that_rounding_makes_is_rounding(make_case: MakeCase) -> None:
    """1 - 1e-200 is stored as 1, where atanh has a pole; the pole itself is one to every referee."""
    assert looked_at(make_case("atanh(1 - x)", x=1e-200)) == Examined(None, cleared=True)
    assert looked_at(make_case("atanh(x)", x=1.0)) == Examined(None, cleared=False)


@pytest.mark.parametrize("text", [f"torch.linalg.{text}" for text in ("qr({0}).R", "eigh({0}).eigenvalues")])
def test_a_wrong_value_among_several_results_is_blamed(make_case: MakeCase, text: str) -> None:
    """The values of ops with several results are compared as well."""
    case = make_case(f"sum({text.format('(torch.outer(x, x) + torch.diag(x))')} ** 2)", x=[0.5, -1.5, 2.5])
    assert looked_at(case) == Examined(None, cleared=True)
    pairs = [op_case for _, op_case in op_cases(case) if op_case is not None]
    several = next(i for i, op_case in enumerate(pairs) if op_case.case.outputs[0].op.name == "output")
    pairs[several] = pairs[several]._replace(values=[value * np.float64(1.001) for value in pairs[several].values])
    wrong = examined(pairs, Budget(seconds=20.0), case).wrong
    assert wrong is not None
    assert (wrong.position, wrong.fault) == (several, "value")
    assert wrong.reason.startswith("its value is ")


def test_the_sign_of_a_zero_is_nobodys_fault(make_case: MakeCase) -> None:
    """Exact numbers have no negative zero: copysign by one is not compared, and so not cleared."""
    assert looked_at(make_case("copysign(x, y)", x=[2.0], y=[-0.0])).wrong is None


def test_a_complex_matrix_is_no_failure(make_case: MakeCase) -> None:
    """What cancels between complex eigenvalues is looked at by their parts: none has an order."""
    found = looked_at(make_case("sum(real(torch.linalg.eigvals(x)) ** 2)", x=[[710.0, -1.1], [-0.0, 710.0]]))
    assert found.wrong is None


def test_without_the_whole_case_no_kink_is_one_of_rounding(make_case: MakeCase) -> None:
    """A case too large to be sent along clears smooth ops only."""
    kinked = make_case("relu((x + 1e300) - (y + 1e300))", x=2.0, y=1.0)
    smooth = make_case("exp(sin(x)) * x", x=[0.5, 1.5])
    for case, cleared in ((kinked, False), (smooth, True)):
        cases = [op_case for _, op_case in op_cases(case) if op_case is not None]
        assert examined(cases, Budget(seconds=20.0), None).cleared is cleared
