"""Linear maps along single axes: the exact meaning against the fast one, and what weight 0 means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agrad.engine.graph import TABLE
from agrad.engine.referees.arithmetic import PreciseArithmetic

AXES = [
    ("window", 5, 3, 2, 2, 1, 1, True),
    ("window", 5, 3, 2, 2, 1, 1, False),
    ("adaptive", 5, 3),
    ("nearest", 4, 6, 1.5, False),
    ("nearest-exact", 5, 3, None, False),
    ("linear", 4, 7, None, True),
    ("linear", 4, 6, 1.5, False),
    ("cubic", 4, 7, None, False),
    ("linear-antialias", 7, 3, None, False),
    ("cubic-antialias", 7, 4, None, False),
]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_the_map_is_its_exact_meaning(axis: tuple[Any, ...], transposed: bool) -> None:
    """The table of positions and weights, and its transpose, are what the formula writes out in exact fractions."""
    row = TABLE["avg_pool2d"]
    assert row.kernel is not None
    assert row.formula is not None
    size = axis[2] if transposed else axis[1]
    m = PreciseArithmetic(40)
    attrs = {"axes": (axis,), "divisor": None, "transposed": transposed}
    exact = row.formula(m, np.array([[m.number(int(i == j)) for j in range(size)] for i in range(size)]), **attrs)
    np.testing.assert_allclose(row.kernel(np, np.eye(size), **attrs), exact.astype(float), atol=1e-14)


def test_an_entry_of_weight_zero_is_no_part_of_the_sum() -> None:
    """An infinite entry that a result does not use makes no NaN of it."""
    row = TABLE["interpolate"]
    assert row.kernel is not None
    axes = (("linear", 3, 5, None, True),)
    with np.errstate(invalid="ignore"):
        result = row.kernel(np, np.array([1.0, 2.0, np.inf]), axes=axes, divisor=None, transposed=False)
    assert result.tolist() == [1.0, 1.5, 2.0, np.inf, np.inf]
