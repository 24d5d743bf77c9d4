"""Exact numbers on a branch cut follow the sign that a zero has in floating point."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest

from agrad.engine.errors import Source
from agrad.engine.graph import ancestors
from agrad.engine.language import build
from agrad.engine.referees.case import Case
from agrad.engine.referees.cuts import CUTS
from agrad.engine.referees.point import Point
from agrad.engine.worker.budget import Budget

TEXTS: Final = {"pow": "c ** 0.25", "log1p": "torch.log1p(c)"}
POINTS: Final = (
    *((x, zero) for x in ("-3.0", "-0.5", "0.5", "3.0") for zero in ("0.0", "-0.0")),
    *((zero, y) for y in ("-3.0", "-0.5", "0.5", "3.0") for zero in ("0.0", "-0.0")),
)


def point_of(text: str) -> tuple[Point, object]:
    """The last node of a text in exact numbers, and its value there as a Python number."""
    read = build(Source(text.replace("; ", "\n")))
    node = read.names[read.last]
    case = Case([node], [np.ones(node.shape, node.dtype)], dict(read.wrt), {})
    point = Point(case, ancestors([node]), Budget(), 80)
    return point, point.values[node].item()


@pytest.mark.parametrize("name", list(CUTS))
@pytest.mark.parametrize(("x", "y"), POINTS)
def test_the_value_is_that_of_floating_point(name: str, x: str, y: str) -> None:
    """On both sides of the cut, and beside it, each function has NumPy's value."""
    point, value = point_of(f"x = {x}; y = {y}; c = torch.complex(x, y); z = {TEXTS.get(name, f'torch.{name}(c)')}")
    expected = {
        "pow": lambda c: c**0.25,
        "rsqrt": lambda c: 1 / np.sqrt(c),
        "acos": np.arccos,
        "asin": np.arcsin,
        "atan": np.arctan,
        "acosh": np.arccosh,
        "asinh": np.arcsinh,
        "atanh": np.arctanh,
    }.get(name) or getattr(np, name)
    with np.errstate(all="ignore"):
        right = expected(np.complex128(complex(float(x), float(y))))
    assert complex(value) == pytest.approx(complex(right), rel=1e-13, abs=1e-15)  # type: ignore[call-overload]  # exact
    assert all(part == 0 or abs(part) > 1e-100 for part in (value.real, value.imag))  # type: ignore[attr-defined]  # exact
    assert point.m.finite(value)


@pytest.mark.parametrize("y", ["0.0", "-0.0"])
@pytest.mark.parametrize("x", ["-2.0", "-0.0", "0.0", "2.0"])
def test_angles_of_zeros(x: str, y: str) -> None:
    """The angle of a point on the first axis, and of zero itself, has IEEE's value."""
    _, value = point_of(f"x = {x}; y = {y}; z = torch.atan2(y, x)")
    assert float(value) == pytest.approx(abs(np.arctan2(float(y), float(x))) * np.copysign(1.0, float(y)))  # type: ignore[arg-type]  # an exact number


def test_a_negative_zero_of_the_graph_counts() -> None:
    """Not the leaf's sign decides but that of what is computed from it."""
    _, value = point_of("x = -1.0; y = 0.0; z = torch.log(torch.conj(torch.complex(x, y))).imag")
    assert float(value) == pytest.approx(-np.pi)  # type: ignore[arg-type]  # an exact number
