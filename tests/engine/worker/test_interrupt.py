"""Work in this process that hangs inside one call is ended in time."""

from __future__ import annotations

import signal
import time

import pytest

from agrad.engine.errors import Source
from agrad.engine.evaluation.evaluate import evaluate
from agrad.engine.language import build
from agrad.engine.worker.budget import Budget, BudgetSpent
from agrad.engine.worker.interrupt import interrupted


def _hang() -> None:
    while True:
        pass


def test_a_call_that_hangs_is_ended() -> None:
    """A call that looks at no clock ends soon after the budget's time."""
    start = time.monotonic()
    with interrupted(Budget(1, 0.1)), pytest.raises(BudgetSpent, match=r"not done within 0\.1 s"):
        _hang()
    assert time.monotonic() - start < 2


def test_the_alarm_is_put_back() -> None:
    """Afterwards no alarm is set, and the handler that was there is there again."""
    before = signal.getsignal(signal.SIGALRM)
    with interrupted(Budget(1, 5.0)):
        pass
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_formula_that_mpmath_cannot_finish_does_not_hang_an_evaluation() -> None:
    """trigamma of 1e16/5e-324, which mpmath would sum for hours, is left as float64 has it, within seconds."""
    formulas = build(Source("x = 1e16\ny = 5e-324\nz = torch.polygamma(1, x / y)", "t.txt"))
    start = time.monotonic()
    evaluation = evaluate(formulas, {"z": formulas.names["z"]})
    assert time.monotonic() - start < 15
    assert evaluation.gradient("x") == evaluation.gradient("x")
