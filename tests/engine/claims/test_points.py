"""The points that a claim is tried at."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from agrad.engine.claims.points import SIMPLE, ends, points, switches
from agrad.engine.claims.question import Question
from agrad.engine.claims.sides import Sides
from agrad.engine.language.domains import Domain
from agrad.engine.worker.budget import Budget

Ask = Callable[[str], Question]


def values(ask: Ask, text: str, count: int = 100) -> list[Any]:
    """The values of x in the first points."""
    sides = Sides(ask(text), Budget(10**6, 60.0))
    return [np.asarray(point["x"]).tolist() for point in islice(points(sides, count, 0), count)]


def test_the_point_of_the_file_comes_first_and_the_rest_is_reproducible(ask: Ask) -> None:
    """The same seed gives the same points."""
    found = values(ask, "x = 1.25\nassert x == x")
    assert found[0] == 1.25
    assert found == values(ask, "x = 1.25\nassert x == x")


def test_simple_and_extreme_numbers_are_among_them(ask: Ask) -> None:
    """Zero, one, the least double, the largest powers."""
    assert {0.0, 1.0, -1.0, 2.0, 5e-324, 1e300, -710.0} <= set(values(ask, "x = 1.25\nassert x == x"))


def test_ordinary_numbers_come_before_extreme_ones(ask: Ask) -> None:
    """What is slow at extreme numbers has been tried at a few random ones before."""
    found = values(ask, "x = 1.25\nassert x == x")
    before = found[: min(place for place, value in enumerate(found) if 0 < abs(value) < 1e-200 or abs(value) > 1e200)]
    assert sum(value not in {1.25, *SIMPLE} and 1e-6 < abs(value) < 1e6 for value in before) > 5


def test_all_lie_in_the_domain(ask: Ask) -> None:
    """With its ends, where they belong to it, and the nearest doubles beside them."""
    found = values(ask, "x = 0.5\nx in (0, 1]\nassert x == x")
    assert all(0 < value <= 1 for value in found)
    assert {1.0, 1 - 2.0**-53, 5e-324} <= set(found)
    assert set(values(ask, "x = 2\nx in {1, 2, 5}\nassert x == 1.0*x")) == {1.0, 2.0, 5.0}


def test_ends_of_a_domain() -> None:
    """An end that is left out has its neighbour."""
    assert ends(Domain(0.0, 1.0, "[)")) == [0.0, 5e-324, 1 - 2.0**-53]
    assert ends(Domain()) == []


def test_kinks_and_turns_of_comparisons_are_found(ask: Ask) -> None:
    """Where inner formulas come to the kink of their op, also at numbers that no list holds."""
    sides = Sides(ask("x = 1.0\nassert relu(3*x - 4.5) == where(x**3 > 5, x, abs(x + 7))"), Budget(10**6, 60.0))
    found = {float(point["x"]) for point in switches(sides)}
    assert {1.5, -7.0} <= found
    assert any(abs(value - 5 ** (1 / 3)) < 1e-12 for value in found)
