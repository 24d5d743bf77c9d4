"""Sliding windows: how many there are, and that their sum is the transpose of taking them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrad.engine.errors import InputError
from agrad.engine.ops.layers.windows import meetings, per_axis, whole, window_count, windows


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ((5, 2, 2, 0, 1), 2),
        ((5, 2, 2, 0, 1, True), 3),
        ((5, 2, 2, 2, 1), 3),
        ((4, 2, 3, 2, 1, True), 2),
        ((1, 2, 1, 0, 1), 0),
    ],
)
def test_number_of_windows(arguments: tuple[int, ...], count: int) -> None:
    """Rounded down; with ceil rounded up, but a last window must begin inside of the axis or its front padding."""
    assert window_count(*arguments) == count  # type: ignore[arg-type]  # the last is a boolean


GAPS = st.tuples(st.integers(1, 2), st.integers(1, 3))


@given(stride=GAPS, dilation=GAPS, before=st.tuples(st.integers(0, 2), st.integers(0, 1)), after=st.integers(0, 2))
def test_windows_are_the_meetings_and_their_sum_the_transpose(
    stride: tuple[int, int], dilation: tuple[int, int], before: tuple[int, int], after: int
) -> None:
    """What the fast functions move is what the plain enumeration says, one by one."""
    padding = ((before[0], after), (before[1], 1))
    x = np.arange(1.0, 21.0).reshape(1, 1, 5, 4)
    view = windows(np, x, (2, 2), stride, padding, dilation)
    count = view.shape[4:]
    taken, summed = np.zeros(view.shape), np.zeros(x.shape)
    for position, place, window in meetings((5, 4), (2, 2), count, stride, padding, dilation):
        taken[(0, 0, *place, *window)] = x[(0, 0, *position)]
        summed[(0, 0, *position)] += 1
    assert np.array_equal(view, taken)
    assert np.array_equal(whole(np, np.ones(view.shape), (5, 4), stride, padding, dilation), summed)


def test_one_number_stands_for_all_axes() -> None:
    """One integer is repeated; another number of integers than axes is refused with the caller's message."""
    assert per_axis(2, 3, "stride", "") == (2, 2, 2)
    assert per_axis((1, 2), 2, "stride", "") == (1, 2)
    with pytest.raises(InputError, match=r"two, not \[1, 2, 3\]"):
        per_axis([1, 2, 3], 2, "stride", "two, not {}")
