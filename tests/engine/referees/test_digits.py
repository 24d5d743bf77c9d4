"""How right digits are counted."""

from __future__ import annotations

import numpy as np
import pytest

from agrad.engine.referees.arithmetic import PreciseArithmetic
from agrad.engine.referees.digits import right_digits

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
