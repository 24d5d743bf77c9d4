"""Many files at once: the order of results, one set of judges a thread, and an end to everything."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from agrad.engine.checking.ordered import InOrder


class Nobody:
    """Judges that only know whether they were ended."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def end(self) -> None:
        """Say so."""
        self.ended.set()


def test_results_come_in_the_order_of_the_items() -> None:
    """Whichever thread is done first, the results stand in order, and no thread shares its judges."""
    made: list[Any] = []
    used: dict[int, set[int]] = {}

    def make() -> Any:
        made.append(Nobody())
        return made[-1]

    def work(item: int, judges: Any) -> int:
        used.setdefault(id(judges), set()).add(threading.get_ident())
        time.sleep(0.02 if item % 3 == 0 else 0.001)
        return item

    assert list(InOrder(range(12), work, make, 3)) == list(range(12))
    assert len(made) == 3
    assert all(len(threads) == 1 for threads in used.values())
    assert all(judges.ended.is_set() for judges in made)


def test_leaving_early_ends_the_judges_and_starts_nothing_more() -> None:
    """A loop that is left, by Ctrl-C say, frees the thread that waits for its judges, and no other item begins."""
    begun: list[int] = []

    def work(item: int, judges: Any) -> int:
        begun.append(item)
        if item:
            assert judges.ended.wait(10), "nobody ended it"
        return item

    def interrupted() -> None:
        for result in InOrder(range(50), work, Nobody, 2):  # type: ignore[arg-type, var-annotated]  # as judges
            assert result == 0
            while len(begun) < 2:
                time.sleep(0.001)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    time.sleep(0.05)
    assert len(begun) <= 4


def test_a_bug_in_one_item_is_raised() -> None:
    """An exception is not lost in its thread."""

    def work(item: int, _judges: Any) -> int:
        return 1 // item

    with pytest.raises(ZeroDivisionError):
        list(InOrder([1, 0, 1], work, Nobody, 2))  # type: ignore[arg-type]  # as judges
