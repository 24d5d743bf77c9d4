"""How right digits are counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from agrad.engine.referees import Case, precise
from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.referees.digits import right_digits
from agrad.engine.worker.budget import Budget

LIMIT = np.finfo(np.float64)


@pytest.mark.parametrize(
    ("got", "true", "scale", "digits"),
    [
        (1.0, "1", 1, 16),
        (1.001, "1", 1, 3),
        (-1.0, "1", 1, 0),
        (1.0 + 2**-52, "1", 1, 15),
        (0.0, "0", 1, 16),
        (1e-17, "0", 1, 16),
        (9e-10, "0", 1, 9),
        (1e-9, "0", 0, 0),
        (1e-300, "1e-300", 1, 16),
        (0.0, "1e-330", 1, 16),
        (0.0, "1e-300", 1, 0),
        (float("inf"), "1e400", 1, 16),
        (-float("inf"), "1e400", 1, 0),
        (float("inf"), "inf", 1, 16),
        (float("nan"), "1", 1, 0),
    ],
)
def test_the_error_is_measured_against_the_true_entry(got: float, true: str, scale: int, digits: int) -> None:
    """Zero is measured against the largest entry, and what is outside of the doubles counts as infinite or zero."""
    m = PreciseArithmetic()
    assert right_digits(m, got, m.context.mpf(true), m.number(scale), LIMIT) == digits


def test_digits_are_counted_for_each_entry(make_case: Callable[..., Case]) -> None:
    """Nested as the gradient is; an entry on a kink has none."""
    case = make_case("sum(exp(x) * y) + abs(w)", x=[[1.0, 2.0], [0.5, 3.0]], y=2.0, w=0.0)
    case.gradients["x"] = case.gradients["x"] * np.array([[1.0, 1 + 3e-10], [1 - 3e-9, 1.0]])
    judgement = precise.judge(case, Budget())
    assert judgement.verdict == "kink"
    counts = judgement.entries["x"]
    assert [counts[0][1], counts[1][0]] == [9, 8]
    assert counts[0][0] >= 15 <= counts[1][1]
    assert judgement.entries["y"] >= 15
    assert "w" not in judgement.entries or judgement.entries["w"] is None
    assert judgement.digits == 8


def test_very_many_digits_are_not_listed(make_case: Callable[..., Case], monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst entry is named all the same."""
    monkeypatch.setattr("agrad.engine.referees.digits.LISTED", 2)
    judgement = precise.judge(make_case("sum(2 * x)", x=[1.0, 2.0, 3.0]), Budget())
    assert (judgement.verdict, judgement.entries, judgement.entry) == ("agree", {}, "x[0]")
