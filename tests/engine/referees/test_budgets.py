"""No expression takes the referees past their seconds or their memory."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from agrad.engine.graph import leaf, make
from agrad.engine.referees import Case, Check, Referees, differences
from agrad.engine.worker.budget import Budget
from agrad.engine.worker.process import GRACE

MakeCase = Callable[..., Case]

ROOM = 0.6
"""Seconds beyond its limit and the grace that a check may take on a busy machine: to describe a case, to read."""
MATRIX = np.random.default_rng(0).normal(size=(12, 12))

HOSTILE: dict[str, tuple[str, dict[str, Any]]] = {
    "determinant": ("det(A)", {"A": MATRIX}),
    "tower": ("x**x**x**x**x", {"x": 1.9}),
    "high tower": ("x**x**x**x", {"x": 9.0}),
    "exponentials of exponentials": ("exp(exp(exp(x)))", {"x": 100.0}),
    "four exponentials": ("exp(exp(exp(exp(x))))", {"x": 5.0}),
    "and their logarithms": ("log(log(log(exp(exp(exp(x))))))", {"x": 1.5}),
    "gamma": ("lgamma(x) + exp(lgamma(x))", {"x": 1e300}),
    "sine": ("sin(x)", {"x": 1e300}),
    "waves": ("sin(x * x)", {"x": 1e150}),
    "a large power": ("x**123456789", {"x": 1.0000001}),
    "a power of a large power": ("(x**1000000000)**1000000000", {"x": 1.0}),
    "a power beyond all numbers": ("x**(-10**300.0)", {"x": 1.0}),
    "many factors": ("prod(x)", {"x": np.linspace(0.9, 1.1, 10_000)}),
    "polygamma": ("polygamma(30, x)", {"x": 1e-5}),
    "Bessel": ("i0(x) + special.i0e(x)", {"x": 1e10}),
    "multigamma": ("multigammaln(x, 100)", {"x": 1e5}),
    "erfinv": ("erfinv(x)", {"x": 1 - 1e-16}),
    "a large exponential of a matrix": ("sum(matrix_exp(A))", {"A": MATRIX * 100}),
    "eigenvalues": ("sum(linalg.eigvalsh(A + A.T))", {"A": MATRIX}),
    "running products": ("sum(cumprod(x, 0)**3)", {"x": np.linspace(1.0, 2.0, 400)}),
    "nested powers": ("z = x\n" + "z = atan(z)*log(1+z**2)+x**z\n" * 40, {"x": 1.3}),
    "a chaotic map": ("z = x\n" + "z = 3.9*z*(1 - z) + sin(z)*x\n" * 60, {"x": 0.3}),
    "squares of squares": ("z = x\n" + "z = z*z - x\n" * 3_000, {"x": 0.3}),
}


@pytest.fixture(scope="module")
def referees() -> Iterator[Referees]:
    """One set of referees for all: what one expression does to their process must not matter to the next."""
    with Referees(seconds=0.5, names=("sympy", "mpmath", "differences")) as found:
        x = leaf(np.float64(2.0), requires_grad=True)
        found.check(Case([make.sin(x)], [np.float64(1.0)], {"x": x}, {"x": np.cos(2.0)}))  # it has started
        yield found


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_expressions_end_in_time(name: str, make_case: MakeCase, referees: Referees) -> None:
    """Whatever it is, there is an answer in time, nobody objects to a right gradient, and who has none says why."""
    text, inputs = HOSTILE[name]
    case = make_case(text, wrt=list(inputs), **inputs)
    running = referees.start(case)  # a process that had to be ended starts anew, which is no part of the limit
    begin = time.monotonic()
    found = running.finish()
    assert time.monotonic() - begin < 0.5 + GRACE + ROOM
    assert found.verdict != "disagree", found
    assert all(judgement.reason for judgement in found.referees if judgement.verdict == "cannot judge")


def test_a_chain_of_a_hundred_thousand_ops(referees: Referees) -> None:
    """A graph beyond exact numbers is left to differences, which find no time to run it twenty times."""
    x = leaf(np.float64(0.3), requires_grad=True)
    node, value, slope = x, 0.3, 1.0
    for _ in range(50_000):
        node = make.sin(node) + x
        value, slope = math.sin(value) + 0.3, math.cos(value) * slope + 1.0
    case = Case([node], [np.float64(1.0)], {"x": x}, {"x": np.float64(slope)})
    begin = time.monotonic()
    found = referees.check(case)
    assert time.monotonic() - begin < 0.5 + GRACE + ROOM + 1.0
    assert found.verdict != "disagree"


def test_five_seconds_are_five_seconds(make_case: MakeCase) -> None:
    """The usual limit holds for an expression that would keep SymPy for long."""
    case = make_case("z = x\n" + "z = erf(sin(z)*cos(z*x)**z) + lgamma(2 + z*z)*x**2\n" * 330, wrt=["x"], x=0.7)
    with Referees() as found:
        found.check(make_case("x**2", x=1.0))
        begin = time.monotonic()
        check = found.check(case)
        assert time.monotonic() - begin < 6.5
    assert [judgement.name for judgement in check.referees] == ["sympy", "mpmath"]
    assert check.verdict in ("agree", "cannot judge")


def test_memory_is_a_reason(make_case: MakeCase) -> None:
    """A process that may take next to nothing says so, and another one judges the next case."""
    case = make_case("sum(exp(x) * x)", x=np.linspace(0.0, 1.0, 20_000))
    with Referees(names=("mpmath",), memory=2 << 20, operations=10**7) as starved:
        found: Check = starved.check(case)
        assert found.verdict == "cannot judge"
        assert found.referees[0].reason == "out of memory"
        assert starved.check(make_case("x**2", x=1.0)).verdict == "agree"


def test_differences_do_not_begin_what_they_cannot_end(make_case: MakeCase) -> None:
    """A graph that takes too long once is not run twenty times."""
    slow = make_case("sum(sin(x) @ cos(x))", x=np.ones((1500, 1500)))
    begin = time.monotonic()
    judgement = differences.judge(slow, Budget(seconds=0.05))
    assert time.monotonic() - begin < 1.0
    assert judgement.verdict == "cannot judge"
    assert "within 0.05 s" in str(judgement.reason)
