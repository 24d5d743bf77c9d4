"""What is detached keeps its value while a referee moves the leaves, as PyTorch's definition has it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from agrad.engine.referees import Case, check, differences
from agrad.engine.worker.budget import Budget

MakeCase = Callable[..., Case]

TEXTS = [
    "x.detach() * x + y",
    "exp(detach(x * y)) * y + x",
    "where(detach(x) > 0, x, y) * detach(0 * x)",
    "F.gumbel_softmax(stack([x, y]), hard=True, seed=0)[0]",
]


@pytest.mark.parametrize("text", TEXTS)
def test_detached_parts_do_not_move(make_case: MakeCase, text: str) -> None:
    """A gradient that leaves out what is detached is the right one for SymPy and mpmath."""
    found = check(make_case(text, x=0.75, y=-1.5))
    assert found.verdict == "agree", found
    assert {judgement.verdict for judgement in found.referees if judgement.name != "differences"} == {"agree"}


def test_differences_hold_what_is_detached(make_case: MakeCase) -> None:
    """The float64 referee too, which objects where a gradient went through."""
    case = make_case("sum(x.detach() * exp(x))", x=np.linspace(0.5, 1.0, 100))
    assert differences.judge(case, Budget()).verdict == "agree"
    case.gradients["x"] = case.gradients["x"] + np.exp(np.linspace(0.5, 1.0, 100))
    assert differences.judge(case, Budget()).verdict == "disagree"
