"""What quotients tend to: fast, slowly, or not at all."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.referees.ends import limit_of, slow_limit

M = PreciseArithmetic(400)
NAN = float("nan")
CASES: list[tuple[str, Callable[..., object], float]] = [
    ("a logarithm", lambda h: 5 + M.log(h) / 10, -math.inf),
    ("a small logarithm", lambda h: 1e6 - M.log(h) / 1000, math.inf),
    ("the square of a logarithm", lambda h: M.log(h) ** 2 - 7, math.inf),
    ("the root of a logarithm", lambda h: 3 + M.sqrt(-M.log(h)), math.inf),
    ("a logarithm of a logarithm", lambda h: M.log(-M.log(h)), math.inf),
    ("a small power", lambda h: 5 + 4 * h ** M.ratio(1, 100), 5.0),
    ("a tiny power", lambda h: 5 + h ** M.ratio(1, 1000), 5.0),
    ("a small negative power", lambda h: 5 - h ** M.ratio(-1, 100), -math.inf),
    ("a power to zero", lambda h: h ** M.ratio(1, 100), 0.0),
    ("the reciprocal of a logarithm", lambda h: 5 + 1 / M.log(h), 5.0),
    ("the reciprocal of a logarithm's root", lambda h: 5 - 3 / M.sqrt(-M.log(h)), 5.0),
    ("a logarithm and its root", lambda h: M.log(h) + M.sqrt(-M.log(h)), -math.inf),
    ("a wave of a logarithm", lambda h: 2 + M.function("sin", M.log(h)), NAN),
    ("met on the way", lambda h: 2 if h > 1e-30 else 1.5, 1.5),
    ("two small powers, of which nothing is said", lambda h: h ** M.ratio(1, 50) + h ** M.ratio(1, 30) + 1, NAN),
]


@pytest.mark.parametrize(("quotient", "limit"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_limit_of_what_changes_slowly(quotient: Callable[..., object], limit: float) -> None:
    """It is the true one, or there is none, or it is left open."""
    values = [M.number(1) * quotient(M.number(10) ** -(25 * times)) for times in (1, 2, 4, 8)]  # type: ignore[operator]  # numbers
    found = float(slow_limit(M, values))
    assert found == pytest.approx(limit, rel=1e-12, abs=1e-12, nan_ok=True)


def test_two_values_tell_what_is_fast() -> None:
    """What grows has no end, what shrinks ends at zero, what stays is the limit."""
    one = M.number(1)
    assert limit_of(M, one, one * 2) == M.inf
    assert limit_of(M, one, -one * 2) == -M.inf
    assert limit_of(M, one, one / 2) == 0
    assert limit_of(M, one, one + M.number(1e-9)) == one + M.number(1e-9)
    assert M.undefined_number(limit_of(M, one, M.undefined()))
