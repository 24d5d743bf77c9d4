"""Runs that are too much for one kernel, in parts: each has the registers it needs, and is compiled in seconds.

The members of a run are cut into stretches. A part computes the results of one stretch; what it needs of earlier ones
it computes again where that is cheap, and else reads from memory, where the part that computes it first has left it.
Of a chain and its gradient this makes checkpoints: the way back is cut into stretches, each with its piece of the way
there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from ..alignment import alignment
from ..fusion import FusedRun, Operand
from ..values import Value
from .cut import narrowest
from .layout import MOST_ARGUMENTS
from .registers import MOST, closure, is_plain, place_of, pressure, pressure_of

MOST_MEMBERS: Final = 500
"""Members of a run up to which it is one kernel: the time that a compiler takes grows faster than the text."""
AGAIN: Final = 240
"""What is cheaper than this is computed again rather than kept, in instructions: to write and read it takes as long."""
_FUNCTION: Final = 20
"""Instructions of a function of a library."""
_LEFT: Final = 20
"""Results that a part may come to leave for later ones."""


def parts_of(run: FusedRun) -> list[FusedRun]:
    """The run itself where it may be one kernel, else its parts, in the order in which they are to be run."""
    small = len(run.members) <= MOST_MEMBERS and len(run.inputs) + len(run.results) <= MOST_ARGUMENTS
    if small and pressure_of(run) <= MOST:
        return [run]
    return _Splitting(run).parts()


class _Splitting:
    """Cuts one run.

    Attributes:
        steps: members, and endings, arguments before results.
        kept: what lies in memory for later parts, and the number of the part that computes it.
        ends: where each stretch ends.
    """

    def __init__(self, run: FusedRun) -> None:
        self.run = run
        self.members = set(run.members)
        self.outputs = set(run.outputs)
        self.endings = set(run.endings)
        needed = set(closure(run.results, self.members, ()))
        self.steps = sorted(needed | self.endings, key=place_of)
        self.place = {value: place for place, value in enumerate(self.steps)}
        self.kept: dict[Value, int] = {}
        self.ends: list[int] = []
        self._cheap: set[Value] = set()

    def parts(self) -> list[FusedRun]:
        """The parts, in order; every result is one of exactly one of them."""
        start = 0
        while start < len(self.steps):
            start = self._next(start)
        owned: list[list[Value]] = [[] for _ in self.ends]
        for value in (*self.run.outputs, *self.run.endings, *self.kept):
            number = self._owner(value)
            if value not in owned[number]:
                owned[number].append(value)
        return [self._part(number, results) for number, results in enumerate(owned) if results]

    def _owner(self, value: Value) -> int:
        """The part that computes a value first."""
        return bisect_left(self.ends, self.place[value] + 1)

    def _next(self, start: int) -> int:
        """The end of the longest stretch from a place on that may be one kernel; what it needs is kept."""
        self._cheap = self._cheap_before(start)
        fits, beyond, step = start + 1, len(self.steps) + 1, 64
        while beyond - fits > 1:
            tried = min(fits + step, (fits + beyond) // 2 if beyond <= len(self.steps) else len(self.steps))
            if self._fits(start, tried):
                fits, step = tried, 2 * step
                if tried == len(self.steps):
                    break
            else:
                beyond, step = tried, max(1, (tried - fits) // 2)
        for value in self._to_keep(start, fits):
            self.kept[value] = self._owner(value)
        self.ends.append(fits)
        return fits

    def _fits(self, start: int, end: int) -> bool:
        stretch = self.steps[start:end]
        there = {*self.kept, *self._to_keep(start, end)}
        needed = [value for value in closure(stretch, self.members, there) if self.place[value] < start]
        order = [*needed, *stretch]
        members = [value for value in order if value in self.members]
        endings = [value for value in stretch if value in self.endings]
        inside = set(members)
        read = {arg for value in order for arg in value.args if arg not in inside and not arg.is_constant}
        results = sum(value in self.outputs for value in stretch) + len(endings)
        arguments = len(read) + results + _LEFT
        if len(members) > MOST_MEMBERS or arguments > MOST_ARGUMENTS:
            return False
        return pressure(order, members, endings) <= MOST

    def _to_keep(self, start: int, end: int) -> list[Value]:
        """What earlier stretches must leave in memory for one: the fewest values behind which all else is cheap."""
        direct = dict.fromkeys(
            arg
            for value in self.steps[start:end]
            for arg in value.args
            if arg in self.members and self.place[arg] < start and arg not in self.kept
        )
        dear = [value for value in direct if value not in self._cheap]
        if not dear:
            return []
        passed = {value for value in closure(dear, self.members, self.kept) if value not in self._cheap}
        return narrowest(dear, passed, self._is_source)

    def _is_source(self, value: Value) -> bool:
        """Whether a value may be the first of those that are not cheap."""
        return all(arg not in self.members or arg in self.kept or arg in self._cheap for arg in value.args)

    def _cheap_before(self, end: int) -> set[Value]:
        """The members before a place that take few instructions, from what lies in memory on."""
        cheap: set[Value] = set()
        for value in self.steps[:end]:
            before = [arg for arg in value.args if arg in self.members and arg not in self.kept]
            if all(arg in cheap for arg in before):
                again = closure([value], self.members, self.kept)
                if sum(1 if is_plain(each) else _FUNCTION for each in again) <= AGAIN:
                    cheap.add(value)
        return cheap

    def _part(self, number: int, results: Sequence[Value]) -> FusedRun:
        """One part: its results, and what they are computed from."""
        there = {value for value, owner in self.kept.items() if owner < number}
        members = [value for value in closure(results, self.members, there) if value in self.members]
        endings = tuple(value for value in results if value in self.endings)
        inside = set(members)
        axes = len(self.run.lead)
        inputs: dict[Operand, None] = {}
        for value in (*members, *endings):
            for place, arg in enumerate(value.args):
                if arg not in inside and not arg.is_constant:
                    inputs[Operand(arg, axes > 0 and alignment(value).edges[place].rows)] = None
        outputs = tuple(sorted((value for value in results if value in inside), key=place_of))
        return FusedRun(self.run.lead, tuple(inputs), tuple(members), outputs, endings)
