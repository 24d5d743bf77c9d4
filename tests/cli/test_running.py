"""The conditions of a run: sizes read, the bar shown late and taken away."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from agrad.cli import running
from agrad.cli.running import Waiting, bytes_of
from agrad.engine.conditions import current
from agrad.engine.errors import InputError


@pytest.mark.parametrize(
    ("text", "count"),
    [("1000", 1000), ("2kB", 2000), ("1.5GB", 1_500_000_000), ("1GiB", 2**30), (" 3 m ", 3_000_000), (".5KiB", 512)],
)
def test_bytes_of(text: str, count: int) -> None:
    """A size is a number, and perhaps a unit of 1000 or 1024."""
    assert bytes_of(text) == count


@pytest.mark.parametrize("text", ["", "GB", "-1", "1XB", "1e9", "one"])
def test_no_size(text: str) -> None:
    """Anything else is refused in words."""
    with pytest.raises(InputError, match="no size"):
        bytes_of(text)


@pytest.mark.parametrize("text", ["9" * 400, "9" * 5000, "1" * 20, "9" * 18 + "GB"])
def test_more_than_can_be_counted(text: str) -> None:
    """A size beyond all memory is refused in words, and told by its beginning."""
    with pytest.raises(InputError, match="more than any machine has") as caught:
        bytes_of(text)
    assert caught.value.exit_code == 2
    assert len(caught.value.message) < 100


class Recorded:
    """A bar that notes what is done to it."""

    made: ClassVar[list[Recorded]] = []

    def __init__(self, *_: Any) -> None:
        self.steps = 0
        self.ended = False
        Recorded.made.append(self)

    def advance(self) -> None:
        """Note a step."""
        self.steps += 1

    def __enter__(self) -> Recorded:
        return self

    def __exit__(self, *_: object) -> None:
        self.ended = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands until it is set, and recorded bars."""
    now = [0.0]
    Recorded.made = []
    monkeypatch.setattr(running.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(running, "Bar", Recorded)
    return now


def test_short_work_shows_no_bar(clock: list[float]) -> None:
    """Within a second nothing is drawn, whatever is told."""
    waiting = Waiting()
    clock[0] = 0.9
    waiting.tell(0.5)
    waiting.end()
    assert not Recorded.made


def test_long_work_shows_how_far_it_is(clock: list[float]) -> None:
    """After a second a bar stands at the share that is done, and goes in the end."""
    waiting = Waiting()
    clock[0] = 1.5
    waiting.tell(0.25)
    waiting.tell(0.6)
    (bar,) = Recorded.made
    assert bar.steps == 60
    waiting.end()
    assert bar.ended


def test_another_piece_of_work_has_another_bar(clock: list[float]) -> None:
    """When the share falls, work has begun anew: the first bar ends."""
    waiting = Waiting()
    clock[0] = 2.0
    waiting.tell(0.9)
    waiting.tell(0.1)
    first, second = Recorded.made
    assert first.ended
    assert second.steps == 10
    waiting.end()


def test_conditions_hold_inside_only() -> None:
    """The limit is that of the option while the command runs, and gone afterwards."""
    with running.running("1MB"):
        assert current().memory == 10**6
    assert current().memory is None
