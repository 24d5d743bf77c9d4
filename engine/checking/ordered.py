"""Many files at once, each thread with judges of its own, and the results in the order of the files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, local
from typing import Generic, TypeVar

from .judges import Judges

Item = TypeVar("Item")
Result = TypeVar("Result")


class Benches:
    """The judges of every thread; ending them all ends what any thread waits for.

    Args:
        make: makes the judges of a thread.
    """

    def __init__(self, make: Callable[[], Judges]) -> None:
        self._make = make
        self._mine = local()
        self._all: list[Judges] = []
        self._lock = Lock()
        self.ended = False

    def mine(self) -> Judges:
        """The judges of the calling thread."""
        judges: Judges | None = getattr(self._mine, "judges", None)
        if judges is None:
            judges = self._mine.judges = self._make()
            with self._lock:
                self._all.append(judges)
        return judges

    def end(self) -> None:
        """End them all, whatever they are doing."""
        self.ended = True
        with self._lock:
            for judges in self._all:
                judges.end()


class InOrder(Generic[Item, Result]):
    """Work on items in several threads; iterating gives the results in the order of the items.

    Leaving the iteration early, by an exception such as Ctrl-C as well, ends the judges and starts nothing more.

    Args:
        items: in their order.
        work: what is done with one, with the thread's judges.
        make: makes the judges of a thread.
        jobs: how many threads.
    """

    def __init__(
        self,
        items: Sequence[Item],
        work: Callable[[Item, Judges], Result],
        make: Callable[[], Judges],
        jobs: int,
    ) -> None:
        self._items = items
        self._work = work
        self._benches = Benches(make)
        self._jobs = max(1, min(jobs, len(items)))

    def __iter__(self) -> Iterator[Result]:
        executor = ThreadPoolExecutor(self._jobs, thread_name_prefix="check")
        try:
            waiting = [executor.submit(self._one, item) for item in self._items]
            for future in waiting:
                result = future.result()
                assert result is not None, "only what nobody waits for is given up"
                yield result
        finally:
            executor.shutdown(wait=False, cancel_futures=True)
            self._benches.end()

    def _one(self, item: Item) -> Result | None:
        return None if self._benches.ended else self._work(item, self._benches.mine())
