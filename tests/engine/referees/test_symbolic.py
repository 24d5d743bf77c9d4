"""The referee SymPy: digits, branches, budgets, closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.referees import Case, symbolic
from agrad.engine.referees.case import Judgement
from agrad.engine.referees.facts import Facts
from agrad.engine.worker.budget import Budget

MakeCase = Callable[..., Case]


def judged(case: Case, budget: Budget | None = None) -> Judgement:
    """What the referee says within a usual budget."""
    return symbolic.judge(case, budget or Budget())


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("x**2 + y", {"x": 1.0, "y": 2.0}),
        ("sum(tanh(x @ w))", {"x": [[1.0, -2.0], [0.5, 3.0]], "w": [0.1, 0.2]}),
        ("tanh(x)", {"x": 300.0}),
        ("lgamma(x) * erf(x)", {"x": 1.5}),
        ("x ** y", {"x": 2.0, "y": 0.3}),
        ("sum(sort(x).values * w)", {"x": [3.0, 1.0, 2.0], "w": [1.0, 2.0, 4.0]}),
        ("0.1 * x + x / 3", {"x": 0.7}),
        ("where(x > 0, log(x), x)", {"x": -1.0}),
        ("logsumexp(x, 0)", {"x": [700.0, 710.0]}),
    ],
)
def test_right_gradients_agree(make_case: MakeCase, text: str, inputs: dict[str, Any]) -> None:
    """With the digits of a double, also in the tails."""
    judgement = judged(make_case(text, **inputs))
    assert (judgement.verdict, judgement.reason) == ("agree", None)
    assert judgement.digits is not None
    assert judgement.digits >= 14


def test_paraboloid_has_all_digits(make_case: MakeCase) -> None:
    """The first sample agrees to 15 digits or more."""
    judgement = judged(make_case("x**2 + y", x=1.0, y=2.0))
    assert judgement.digits is not None
    assert judgement.digits >= 15


def test_a_wrong_gradient_is_named(make_case: MakeCase) -> None:
    """The worst entry and both numbers stand in the reason."""
    case = make_case("sum(x**2)", x=[1.0, 2.0])
    case.gradients["x"] = np.array([2.0, 4.5])
    judgement = judged(case)
    assert judgement.verdict == "disagree"
    assert judgement.reason == "the derivative by x[1] is 4.0, not 4.5"


@pytest.mark.parametrize("text", ["abs(x)", "relu(x)", "maximum(x, 2*x)", "clamp(x, 0, 1)"])
def test_branches_that_meet_with_other_slopes_are_a_kink(make_case: MakeCase, text: str) -> None:
    """A point on the border of two branches is looked at from both."""
    assert judged(make_case(text, x=0.0)).verdict == "kink"


def test_outside_of_both_branches_is_wrong(make_case: MakeCase) -> None:
    """A gradient that no branch has, nor any number between them, is objected to."""
    case = make_case("abs(x)", x=0.0)
    case.gradients["x"] = np.float64(1.5)
    judgement = judged(case)
    assert judgement.verdict == "disagree"
    assert judgement.reason == "the slopes by x are -1.0 and 1.0, and 1.5 is outside of them"


def test_a_kink_hides_no_wrong_entry(make_case: MakeCase) -> None:
    """Beside an entry on a border the others are compared all the same."""
    case = make_case("sum(abs(x) * y)", x=[0.0, 2.0], y=[1.0, 3.0])
    assert judged(case).verdict == "kink"
    case.gradients["y"] = case.gradients["y"] * 1.1
    judgement = judged(case)
    assert judgement.verdict == "disagree"
    assert judgement.reason == "the derivative by y[1] is 2.0, not 2.2"


@pytest.mark.parametrize(
    ("text", "inputs", "words"),
    [
        ("exp(x) / (1 + exp(x))", {"x": 800.0}, "exp overflows here"),
        ("(x + 1e10 - 1e10)**2", {"x": 1e-4}, "floating point loses"),
    ],
)
def test_alone_it_knows_what_floating_point_does(
    make_case: MakeCase, text: str, inputs: dict[str, float], words: str
) -> None:
    """Overflow and lost digits are no wrong rules, also where mpmath was not asked before."""
    judgement = judged(make_case(text, **inputs))
    assert judgement.verdict == "cannot judge"
    assert words in str(judgement.reason)


def test_what_parts_cancel_to_is_zero(make_case: MakeCase) -> None:
    """A number that is smaller the more digits there are is the rounding of a zero, and no derivative."""
    text = "F.cosine_similarity(v + (y - torch.logaddexp2(v, v)), w, dim=0)"
    case = make_case(text, v=[0.28868, 0.65904, 1e-32], y=-0.62, w=[1e-300, -1e300, 5e-324])
    case.gradients["v"] = np.zeros(3)
    judgement = judged(case)
    assert judgement.entries["v"] == [16, 16, 16]
    case.gradients["v"] = np.array([0.0, 1e-9, 0.0])
    assert judged(case).entries["v"] == [16, 0, 16]


def test_where_that_is_not_known_it_does_not_object(make_case: MakeCase) -> None:
    """With no operations left to tell rounding from a wrong rule, that is the reason."""
    case = make_case("sum(exp(x) * sin(x))", x=[1.0, 2.0])
    case.gradients["x"] = case.gradients["x"] * 2.0
    assert judged(case).verdict == "disagree"
    judgement = judged(case, Budget(operations=60))
    assert judgement.verdict == "cannot judge"
    assert "whether that is rounding is not known" in str(judgement.reason)


def test_an_infinite_value_has_no_derivative(make_case: MakeCase) -> None:
    """SymPy would differentiate the infinity like a number."""
    judgement = judged(make_case("special.entr(x) * 1.0", x=-1.0))
    assert (judgement.verdict, judgement.reason) == ("cannot judge", "the value is infinite here")


def test_branches_that_meet_smoothly_are_no_kink(make_case: MakeCase) -> None:
    """Where both branches have the same derivative there is one."""
    assert judged(make_case("where(x > 0, x**2, x**3)", x=0.0)).verdict == "agree"


def test_a_removable_singularity_is_left_to_others(make_case: MakeCase) -> None:
    """SymPy's derivative of sin(x)/x has no value at zero, which is no kink."""
    assert judged(make_case("sinc(x)", x=0.0)).verdict == "cannot judge"


def test_an_intermediate_node_becomes_a_symbol(make_case: MakeCase) -> None:
    """The gradient by an intermediate node is that of a leaf in its place."""
    case = make_case("y = x**2\nz = y*x + sin(y)", wrt=["x", "y"], x=1.5)
    assert judged(case).verdict == "agree"
    case.gradients["y"] = case.gradients["y"] * 1.0001
    assert judged(case).verdict == "disagree"


def test_complex_numbers_are_left_to_others(make_case: MakeCase) -> None:
    """It says why it has no answer."""
    judgement = judged(make_case("sum(real(c * c))", c=np.array([1.0 + 2.0j])))
    assert judgement.verdict == "cannot judge"
    assert "complex" in str(judgement.reason)


def test_an_expression_that_would_explode_is_taken_in_pieces(make_case: MakeCase) -> None:
    """Large parts get names of their own, so that the work grows with the graph."""
    judgement = judged(make_case("sum(softmax(x @ x, 0)**2)", x=np.linspace(-1.0, 1.1, 25).reshape(5, 5)))
    assert judgement.verdict == "agree"
    assert judgement.digits is not None
    assert judgement.digits >= 12


def test_a_long_chain_is_taken_in_pieces(make_case: MakeCase) -> None:
    """Neither SymPy's recursion nor its memory limits the depth."""
    judgement = judged(make_case("z = x\n" + "z = 0.9*z + sin(z)*x\n" * 60, wrt=["x"], x=0.3))
    assert judgement.verdict == "agree"


def test_far_too_much_is_refused(make_case: MakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """SymPy is not even asked where it would take long."""
    monkeypatch.setattr("agrad.engine.referees.pieces.LARGEST", 10)
    judgement = judged(make_case("sum(softmax(x, 0)**2)", x=[1.0, 2.0, 3.0]))
    assert judgement.verdict == "cannot judge"
    assert "too large for SymPy" in str(judgement.reason)


def test_spent_operations_are_a_reason(make_case: MakeCase) -> None:
    """It stops and says what ran out."""
    judgement = judged(make_case("sum(exp(x))", x=np.linspace(0.0, 1.0, 40)), Budget(operations=20))
    assert (judgement.verdict, judgement.reason) == ("cannot judge", "more than 20 operations")


@pytest.mark.parametrize(
    ("text", "inputs", "forms"),
    [
        ("x**2 + y", {"x": 1.0, "y": 2.0}, {"x": "2*x", "y": "1"}),
        ("0.1*x*y + x/3", {"x": 1.0, "y": 2.0}, {"x": "y/10 + 1/3", "y": "x/10"}),
        ("sin(x)*exp(y)", {"x": 1.0, "y": 2.0}, {"x": "exp(y)*cos(x)", "y": "exp(y)*sin(x)"}),
        ("(x + y)**3", {"x": 1.0, "y": 2.0}, {"x": "3*(x + y)**2", "y": "3*(x + y)**2"}),
    ],
)
def test_closed_forms_are_short_and_readable(
    make_case: MakeCase, text: str, inputs: dict[str, Any], forms: dict[str, str]
) -> None:
    """Short decimals are written as fractions, and the shortest way to write a derivative is chosen."""
    assert symbolic.closed_forms(make_case(text, **inputs), Budget()) == forms


def test_many_leaves_have_no_closed_forms(make_case: MakeCase) -> None:
    """Arrays and long lists of names would not be read."""
    assert symbolic.closed_forms(make_case("sum(x**2)", x=[1.0, 2.0]), Budget()) == {}


def test_leaves_of_single_precision_are_numbers_too(make_case: MakeCase) -> None:
    """float32 leaves are expanded as well, exactly as they stand."""
    judgement = judged(make_case("sum(sqrt(x) * exp(x))", dtype="float32", x=[1.5, 2.5]))
    assert judgement.verdict == "agree", judgement


def test_the_root_of_a_square_is_left_to_others_at_its_kink(make_case: MakeCase) -> None:
    """sqrt(x**2) has two slopes at zero, of which SymPy knows nothing."""
    assert judged(make_case("sqrt((x - 1.0)**2)", x=1.0)).verdict in ("kink", "cannot judge")


def test_huge_numbers_that_cancel_take_nothing_with_them(make_case: MakeCase) -> None:
    """1e300 - 1e300 + 0.9: the 0.9 would be lost with 50 digits and with 80 alike."""
    case = make_case("sqrt((x + (y + w))**2 + 1)", wrt=["w"], x=1e300, y=-1e300, w=0.9)
    case.gradients["w"] = np.float64(0.9 / 1.81**0.5)
    assert judged(case).verdict == "agree"


def test_what_mpmath_found_of_some_entries_is_kept(make_case: MakeCase) -> None:
    """Where mpmath's time was up midway, the entries that it has explained stay explained beside the others."""
    case = make_case("sum(x * y)", wrt=["x"], x=[1.0, 2.0], y=[1.0, 1e-17])
    case.gradients["x"] = np.array([1.0, 0.0])
    assert judged(case).verdict == "disagree"
    facts = Facts(rounded={"x[1]"})
    assert symbolic.judge(case, Budget(), facts).verdict == "agree"
    case.gradients["x"] = np.array([0.5, 0.0])
    assert symbolic.judge(case, Budget(), facts).verdict == "disagree"
    assert facts.joined(Facts(kinks={"x[0]"})).rounded == {"x[1]"}


def test_whole_parts_beyond_its_digits_are_left_to_others(make_case: MakeCase) -> None:
    """What is left of 1e300 after multiples of an irrational number takes more digits than it works with."""
    judgement = judged(make_case("(y % x**-1.5)**2", x=0.1566, y=1e300))
    assert judgement.verdict == "cannot judge"
    assert "whole part" in (judgement.reason or "")
    assert judged(make_case("(y % x**-1.5)**2", x=0.1566, y=1e10)).verdict == "agree"
