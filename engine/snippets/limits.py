"""What a snippet may use up: steps, time, memory, output, depth; each is checked before it is spent."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any, Final

from .stop import limit

_LOOK_AT_THE_CLOCK: Final = 256
"""Steps between two looks at the clock."""
_DIGITS: Final = 4300
"""Python's own limit on the digits of an integer that is written out."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a snippet may use up.

    Attributes:
        seconds: of time.
        steps: statements, calls and rounds of loops.
        output: bytes on the standard output.
        memory: bytes, in addition to what is there when the snippet begins.
        depth: calls within calls, as Python's own limit.
        items: entries of a list, or characters of a text.
        bits: of an integer.
    """

    seconds: float = 10.0
    steps: int = 20_000_000
    output: int = 10_000_000
    memory: int = 320 * 2**20
    depth: int = 990
    items: int = 10_000_000
    bits: int = 1_000_000


class Meter:
    """Counts what a snippet uses up.

    Args:
        limits: what it may use up; the time begins now.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.steps = 0
        self.written = 0
        self.depth = 0
        self._next_look = _LOOK_AT_THE_CLOCK
        self._deadline = time.monotonic() + limits.seconds

    def step(self) -> None:
        """Count one step; ends the snippet after too many, or after too long a time."""
        self.steps += 1
        if self.steps >= self._next_look:
            self.look()

    def look(self) -> None:
        """Compare steps and time with their limits."""
        self._next_look = self.steps + _LOOK_AT_THE_CLOCK
        if self.steps > self.limits.steps:
            limit(f"more than {self.limits.steps} steps", "give it less to do")
        if time.monotonic() > self._deadline:
            self.out_of_time()

    def out_of_time(self) -> None:
        """End the snippet because its time is over."""
        limit(f"more than {self.limits.seconds:g} s of time", "allow it more with --timeout")

    def counted(self, values: Iterable[Any]) -> Iterable[Any]:
        """The values, each counted as a step where nobody knows beforehand that they are few."""
        if isinstance(values, (list, tuple, str, dict, set, frozenset)):
            return values
        if isinstance(values, (range, Iterator)):
            return self._each(values)
        return values

    def _each(self, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self.step()
            yield value

    def gathered(self, values: Iterable[Any]) -> Iterable[Any]:
        """As `counted`, where all values will be held at once."""
        if isinstance(values, range) and len(range(values.start, values.stop, values.step)[: self.limits.items + 1]) > (
            self.limits.items
        ):
            self.too_long("this range")
        return self.counted(values)

    def output(self, size: int) -> int:
        """Count bytes of output; gives how many of them may still be written."""
        room = self.limits.output - self.written
        self.written += size
        return min(size, room)

    def enter(self) -> None:
        """Count a call that begins.

        Raises:
            RecursionError: where too many calls have not ended.
        """
        if self.depth >= self.limits.depth:
            raise RecursionError("maximum recursion depth exceeded")
        self.depth += 1

    def leave(self) -> None:
        """Count a call that ends."""
        self.depth -= 1

    def too_long(self, what: str) -> None:
        """End the snippet because of a sequence too long."""
        limit(f"{what} would have more than {self.limits.items} entries")

    def repetition(self, values: Any, times: Any) -> None:
        """Check `values * times` before it is made."""
        if isinstance(values, int):
            values, times = times, values
        if isinstance(values, Sized) and isinstance(times, int) and len(values) * times > self.limits.items:
            self.too_long("this repetition")

    def product(self, left: int, right: int) -> None:
        """Check a product of integers before it is made."""
        if left.bit_length() + right.bit_length() > self.limits.bits:
            limit(f"this integer would have more than {self.limits.bits} bits")

    def power(self, base: int, exponent: int) -> None:
        """Check a power of integers before it is made."""
        if exponent > 0 and base not in (-1, 0, 1) and base.bit_length() * exponent > self.limits.bits:
            limit(f"this integer would have more than {self.limits.bits} bits")

    def shift(self, value: int, places: int) -> None:
        """Check a shift to the left before it is made."""
        if value and value.bit_length() + places > self.limits.bits:
            limit(f"this integer would have more than {self.limits.bits} bits")

    def width(self, width: int) -> None:
        """Check the width that a text is filled to."""
        if width > self.limits.items // 100:
            limit(f"a text would be {width} characters wide")

    def text(self, characters: int) -> None:
        """Check the length of a text before it is made."""
        if characters > self.limits.items:
            limit(f"a text would have more than {self.limits.items} characters")
