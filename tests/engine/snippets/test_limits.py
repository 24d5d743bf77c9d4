"""What a script uses up is counted, and looked at before it is spent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agrad.engine.errors import LimitError
from agrad.engine.snippets.limits import Limits, Meter
from agrad.engine.snippets.stop import Stop

SMALL = Limits(seconds=100, steps=1000, output=10, depth=3, items=1000, bits=64)


@pytest.mark.parametrize(
    "spend",
    [
        lambda meter: [meter.step() for _ in range(2000)],
        lambda meter: list(meter.counted(range(2000))),
        lambda meter: list(meter.counted(iter(range(2000)))),
        lambda meter: meter.gathered(range(2000)),
        lambda meter: meter.repetition([0] * 100, 100),
        lambda meter: meter.repetition(100, "a" * 100),
        lambda meter: meter.product(2**40, 2**40),
        lambda meter: meter.power(3, 100),
        lambda meter: meter.shift(1, 100),
        lambda meter: meter.width(1000),
        lambda meter: meter.text(2000),
    ],
)
def test_too_much_is_a_limit(spend: Callable[[Meter], object]) -> None:
    """Each of the limits ends the script with an error of its own kind."""
    with pytest.raises(Stop) as caught:
        spend(Meter(SMALL))
    assert isinstance(caught.value.reason, LimitError)


def test_enough_is_no_limit() -> None:
    """What stays below the limits passes, and numbers that do not grow always do."""
    meter = Meter(SMALL)
    assert list(meter.counted(range(500))) == list(range(500))
    meter.repetition([1], 1000)
    meter.power(1, 10**9)
    meter.power(2, -5)
    meter.shift(0, 10**9)


def test_time_is_looked_at() -> None:
    """A script out of time ends at one of its next steps."""
    meter = Meter(Limits(seconds=-1))
    with pytest.raises(Stop, match="time"):
        list(meter.counted(range(1000)))


def test_depth_is_pythons_error() -> None:
    """Too many calls within calls are a RecursionError; calls that end make room."""
    meter = Meter(SMALL)
    for _ in range(3):
        meter.enter()
    with pytest.raises(RecursionError):
        meter.enter()
    meter.leave()
    meter.enter()


def test_output_is_cut() -> None:
    """Of too much output the part that fits is written."""
    meter = Meter(SMALL)
    assert meter.output(8) == 8
    assert meter.output(8) == 2
