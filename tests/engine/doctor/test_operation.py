"""Where a number that is not finite is made."""

from __future__ import annotations

import math
import time

import pytest

from agrad.engine.doctor import operation
from agrad.engine.doctor.chain import chain_of
from agrad.engine.doctor.operation import Made, first_made, operation_text, reason
from agrad.engine.graph import leaf, make

from .conftest import Run


@pytest.mark.parametrize(
    ("text", "made", "why"),
    [
        ("x = 0.0\ny = log(x)", "log(0.0) = -inf", "log has a value for x > 0"),
        ("x = -2.25\ny = sqrt(x)", "sqrt(-2.25) = nan", "sqrt has a value for x >= 0"),
        ("x = 0.0\ny = sin(x)/x", "0.0/0.0 = nan", "div has a value for a divisor other than 0"),
        ("x = 800.0\ny = exp(x)", "exp(800.0) = inf", "too large for float64: it is 2.72637e+347"),
        ("x = 1e200\ny = x*x", "1e+200 * 1e+200 = inf", "too large for float64: it is 1.0e+400"),
        ("x = inf\ny = x - x", "inf - inf = nan", ""),
        ("x = inf\nz = 0.0\ny = z*x", "0.0 * inf = nan", ""),
        ("x = [1.0, -inf]\ny = sum(x + 1)", "x[1] is -inf", ""),
        ("x = 0.0\ny = 2*(x - 1)**-0.5", "(-1.0)**(-0.5) = nan", ""),
    ],
)
def test_the_first_is_found(text: str, made: str, why: str, run: Run) -> None:
    """The operation with its numbers, and why its result is not finite."""
    _, evaluation = run(text)
    chain = chain_of(evaluation)
    assert chain is not None
    found = first_made(chain.nodes, chain.values)
    assert found is not None
    assert found.text.replace("-1.0**", "(-1.0)**") == made
    if why:
        assert reason(found) == why


def test_what_is_finite_has_none(run: Run) -> None:
    """Where all is finite nothing is found."""
    chain = chain_of(run("x = 2.0\ny = exp(x)/x")[1])
    assert chain is not None
    assert first_made(chain.nodes, chain.values) is None


def test_operations_as_a_person_writes_them() -> None:
    """Operators stand between their numbers, a negative number on the right in brackets."""
    assert operation_text("div", [1.0, -0.0]) == "1.0/(-0.0)"
    assert operation_text("add", [1.0, -2.0]) == "1.0 - 2.0"
    assert operation_text("atan2", [1.0, 2.0]) == "atan2(1.0, 2.0)"


def test_what_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation whose value on 50 digits would take for ever is left after the time for it, and that is said."""
    monkeypatch.setattr(operation, "SECONDS", 0.1)
    node = make.polygamma(10**6, leaf(2.0))
    began = time.monotonic()
    said = reason(Made(node, (), (2.0,), math.inf))
    assert "was given up: not done within 0.1 s" in said
    assert time.monotonic() - began < 5
