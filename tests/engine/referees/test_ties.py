"""Equal numbers of which an op chooses one: there is no gradient, whatever the slopes along the axes say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agrad.engine.referees import Case, precise
from agrad.engine.worker.budget import Budget

MakeCase = Callable[..., Case]

EQUAL = [0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    "text",
    [
        "x.kthvalue(2).values",
        "x.median()",
        "x.median(0).values",
        "x.nanmedian()",
        "x.quantile(0.5)",
        "x.quantile(0.4)",
        "sum(torch.mode(x).values)",
        "sum(torch.topk(x, 2).values * tensor([1.0, 2.0]))",
        "sum(torch.sort(x).values * tensor([3.0, 1.0, 2.0]))",
        "exp(x.median()) + sum(x**2)",
        "sum(F.max_pool1d(x[None, None], 2, 1))",
        "x.kthvalue(1).values * 2",
    ],
)
@pytest.mark.parametrize("size", [1.0, 1e16, 1e200])
def test_a_choice_among_equals_is_a_kink(make_case: MakeCase, text: str, size: float) -> None:
    """Whichever of them is chosen, and though moving it alone may move nothing."""
    if size > 1 and "exp" in text:
        text = "x.median() + sum(x)"
    judgement = precise.judge(make_case(text, x=[size * value for value in EQUAL]), Budget())
    assert judgement.verdict == "kink"


def test_a_choice_among_equal_leaves_is_a_kink(make_case: MakeCase) -> None:
    """Of three equal leaves in one order of six the first one is what the result is; alone it moves nothing."""
    case = make_case("torch.fmax(torch.fmin(a, b), c)", a=1.0, b=1.0, c=1.0)
    assert case.gradients["a"] == 1.0
    assert precise.judge(case, Budget()).verdict == "kink"
    case.gradients["a"] = np.float64(2.0)
    assert precise.judge(case, Budget()).verdict == "disagree"


@pytest.mark.parametrize("text", ["x.kthvalue(2).values", "x.median()", "sum(torch.mode(x).values)"])
@pytest.mark.parametrize("wrong", ["sign", "factor"])
def test_a_wrong_choice_is_objected_to(make_case: MakeCase, text: str, wrong: str) -> None:
    """What no entry has close by is no choice."""
    case = make_case(text, x=EQUAL)
    case.gradients["x"] = np.asarray(case.gradients["x"]) * (-1.0 if wrong == "sign" else 2.0) * EQUAL.count(0.5)
    assert precise.judge(case, Budget()).verdict == "disagree"


def test_an_entry_that_is_equal_to_none_has_no_choice(make_case: MakeCase) -> None:
    """A gradient that is given to an entry far from the median is wrong, though others are equal."""
    case = make_case("x.median()", x=[0.5, 0.5, 7.0, 0.5, 0.1])
    case.gradients["x"] = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    assert precise.judge(case, Budget()).verdict == "disagree"


def test_a_kink_elsewhere_excuses_nothing(make_case: MakeCase) -> None:
    """An entry that bends nothing is wrong by itself, also where another one stands at a kink."""
    case = make_case("sum(relu(x) + x**2)", x=[0.0, 3.0])
    wrong: Any = np.array([0.0, 7.5])
    case.gradients["x"] = wrong
    assert precise.judge(case, Budget()).verdict == "disagree"


def test_slopes_along_directions_that_do_not_add_up_are_none_of_a_gradient(make_case: MakeCase) -> None:
    """Also where entries are too many to look at each: the verdict is a kink, not an objection."""
    judgement = precise.judge(make_case("x.kthvalue(2).values", x=EQUAL), Budget(), directions=True)
    assert judgement.verdict == "kink"
    assert "add up" in (judgement.reason or "")


def test_a_wrong_gradient_along_directions_is_objected_to(make_case: MakeCase) -> None:
    """Where slopes along directions do add up there is a gradient, and it is another one."""
    case = make_case("sum(x**3)", x=EQUAL)
    case.gradients["x"] = np.array([0.75, 0.75, 0.7])
    assert precise.judge(case, Budget(), directions=True).verdict == "disagree"


def test_kinks_that_work_against_each_other_are_no_objection(make_case: MakeCase) -> None:
    """Of relu(x) - relu(y) at 0 the slope along (1, -1) is 1, and 0 is a choice of each by itself."""
    case = make_case("sum(relu(x) * tensor([1.0, -1.0]))", x=[0.0, 0.0])
    assert precise.judge(case, Budget(), directions=True).verdict == "kink"
    case = make_case("sum(relu(x)) + sum(x)", x=[0.0, 3.0])
    case.gradients["x"] = np.array([1.0, 5.0])
    assert precise.judge(case, Budget(), directions=True).verdict == "disagree"


def test_a_vertical_tangent_is_no_choice(make_case: MakeCase) -> None:
    """A slope without an end on both sides is what it is, also along directions: a finite gradient is wrong."""
    case = make_case("sum(sign(x) * abs(x)**(1/3))", x=[0.0, 1.0])
    case.gradients["x"] = np.array([0.0, 1 / 3])
    assert precise.judge(case, Budget(), directions=True).verdict == "disagree"
