"""Values to fused runs: what is computed together, block by block, in one pass over memory.

A *component* is a set of values that see each other row by row; it could be one run, were it not for reductions over
the rows, whose results nothing can use before the last row is done. So every value has a *stage*: how many such waits
lie before it. A run is what one component computes in one stage. What a later stage needs of an earlier one is computed
again if that is cheaper than memory, as it mostly is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..graph import Shape
from .alignment import STEP, Alignment, Kind, alignment
from .component import Component, unite
from .members import Members
from .values import UNIFORM, Value
from .weights import nanoseconds

DEAREST: Final = 24.0
"""Nanoseconds an element above which a value is kept in memory for a later stage rather than computed again."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A value that a run reads.

    Attributes:
        value: which.
        rows: whether a block reads its own rows of it only; else it reads all of it, broadcast over the rows.
    """

    value: Value
    rows: bool


@dataclass(frozen=True, eq=False, slots=True)
class FusedRun:
    """What is computed in one pass over the rows.

    Attributes:
        lead: the first axes of every member and ending's argument, taken together as rows, in row-major order.
        inputs: what it reads.
        members: what it computes for each block, arguments before results.
        outputs: the members that are written to memory, whole.
        endings: reductions over the rows of members (or of inputs that are read by rows): each block gives a part.
    """

    lead: Shape
    inputs: tuple[Operand, ...]
    members: tuple[Value, ...]
    outputs: tuple[Value, ...]
    endings: tuple[Value, ...]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return math.prod(self.lead)

    @property
    def results(self) -> tuple[Value, ...]:
        """What other steps can use of it."""
        return (*self.outputs, *self.endings)


_Results = dict[tuple[Component, int], list[Value]]
"""Values that come out of a run, by its component and stage."""


class Fusion:
    """Finds the runs of a plan.

    Args:
        order: the values that are needed, arguments before results.
        targets: those that are asked for.
        least: elements of the largest value of a component below which its ops are single steps.
        fits: whether a value may be part of a run, and is else a step of its own; all may if not given.
    """

    def __init__(
        self,
        order: Sequence[Value],
        targets: Iterable[Value],
        *,
        least: int,
        fits: Callable[[Value], bool] | None = None,
    ) -> None:
        self._order = order
        self._least = least
        self._fits = fits
        self._targets = frozenset(targets)
        self._alignment: dict[Value, Alignment] = {}
        self._component: dict[Value, Component] = {}
        self._stage: dict[Value, int] = {}
        self._kept: set[Value] = set()
        self._pinned: dict[Value, int] = {}

    def runs(self) -> list[FusedRun]:
        """The runs, in any order."""
        self._join()
        if not self._component:
            return []
        self._keep()
        self._set_stages()
        self._keep_dear()
        self._float()
        self._set_stages()
        return self._collect()

    # Components

    def _join(self) -> None:
        for value in self._order:
            found = self._alignment[value] = alignment(value) if self._fits is None or self._fits(value) else STEP
            if found.kind is Kind.STEP:
                continue
            shape = value.shape if found.kind is Kind.ROWS else value.args[0].shape
            if math.prod(shape[: found.axes]) < 2:
                self._alignment[value] = STEP
                continue
            own = self._component[value] = Component(shape, found.axes, math.prod(shape))
            for arg, edge in zip(value.args, found.edges, strict=True):
                if edge.rows and arg.op is not UNIFORM:
                    # What no run makes joins those that read it.
                    if arg not in self._component and math.prod(arg.shape[: edge.axes]) > 1:
                        self._component[arg] = Component(arg.shape, len(arg.shape), math.prod(arg.shape))
                    if arg in self._component and self._alignment[arg].kind is not Kind.ENDING:
                        unite(self._component[arg], own, edge.axes)
        roots = {value: component.root() for value, component in self._component.items()}
        self._component = {value: root for value, root in roots.items() if root.largest >= self._least}

    def _is_row(self, value: Value) -> bool:
        """Whether a value may be a member."""
        return value in self._component and self._alignment[value].kind is Kind.ROWS

    def _is_ending(self, value: Value) -> bool:
        return value in self._component and self._alignment[value].kind is Kind.ENDING

    def _joined(self, value: Value, place: int) -> bool:
        """Whether a value of a run sees one of its arguments, a possible member of the same run, by rows."""
        arg = value.args[place]
        return (
            self._is_row(arg)
            and self._alignment[value].kind is not Kind.STEP
            and self._alignment[value].edges[place].rows
            and self._component[arg] is self._component.get(value)
        )

    # What is kept in memory

    def _keep(self) -> None:
        """Members that are asked for, or that something outside of the component or not by rows needs."""
        written = set(self._targets)  # what has to lie in memory, number by number
        for value in self._order:
            for place, arg in enumerate(value.args):
                if self._is_row(arg):
                    joined = self._joined(value, place)
                    if not joined:
                        self._kept.add(arg)
                    read = self._is_row(value) or self._is_ending(value)
                    if joined or not read or not self._alignment[value].edges[place].rows:
                        written.add(arg)
            if value in self._targets and self._is_row(value):
                self._kept.add(value)
        # Runs read a number of each row as it is, broadcast by a step that takes no memory.
        for value in reversed(self._order):
            if value.op.name == "expand" and value in self._kept and value not in written:
                self._kept.discard(value)
                del self._component[value]
                self._kept.update(arg for arg in value.args if self._is_row(arg))
        # What is only another view of what is outside is a step of its own, and no memory.
        for value in self._order:
            if value in self._kept and self._is_view_of_outside(value):
                self._kept.discard(value)
                del self._component[value]

    def _is_view_of_outside(self, value: Value) -> bool:
        if value.op.name not in ("expand", "reshape", "squeeze", "unsqueeze", "select", "slice"):
            return False
        return not self._joined(value, 0)

    def _keep_dear(self) -> None:
        """Also keep members that later stages need, and that are too dear to be computed again."""
        again: dict[Value, float] = {}
        for value in self._order:
            if not (self._is_row(value) or self._is_ending(value)):
                continue
            total = nanoseconds(value)
            for place, arg in enumerate(value.args):
                if not self._joined(value, place) or arg in self._kept:
                    continue
                if self._stage[arg] < self._stage[value] and again[arg] > DEAREST:
                    self._kept.add(arg)
                else:
                    total += again[arg]
            again[value] = total

    # Stages

    def _delay(self, value: Value, place: int) -> int:
        """How many stages a value comes after one of its arguments at least."""
        arg = value.args[place]
        if self._joined(value, place):
            return 0
        return 1 if self._is_row(arg) or self._is_ending(arg) else 0

    def _set_stages(self) -> None:
        """Every value as early as possible, but for what is pinned to a later stage."""
        stage = self._stage
        for value in self._order:
            least = self._pinned.get(value, 0)
            for place, arg in enumerate(value.args):
                after = stage[arg] + self._delay(value, place)
                least = max(least, after)
            stage[value] = least

    def _latest(self) -> dict[Value, int]:
        """Every value as late as possible: the last results of runs wait for nothing but the last run."""
        last = max(self._stage.values())
        latest = {value: last if self._is_row(value) or self._is_ending(value) else last + 1 for value in self._order}
        for value in reversed(self._order):
            for place, arg in enumerate(value.args):
                latest[arg] = min(latest[arg], latest[value] - self._delay(value, place))
        return latest

    def _float(self) -> None:
        """Move results that nobody waits for to the stage that computes most of what they need anyway."""
        latest = self._latest()
        results = [value for value in self._order if value in self._kept or self._is_ending(value)]
        fixed: _Results = {}
        moving: _Results = {}
        for value in results:
            where = fixed if latest[value] == self._stage[value] else moving
            where.setdefault((self._component[value], self._stage[value]), []).append(value)
        if not moving:
            return
        cones = {key: self._cone(found, key[1]) for key, found in moving.items()}
        members = Members(value for cone in cones.values() for value in cone)
        needed: dict[Component, dict[int, int]] = {}
        for (component, stage), found in fixed.items():
            needed.setdefault(component, {})[stage] = members.of(self._cone(found, stage))
        for value, cone in self._cones(cones, members):
            early, late = self._stage[value], latest[value]
            there = needed.setdefault(self._component[value], {})
            best, best_shared = early, 0.0
            for stage in sorted(there):
                if early <= stage <= late:
                    shared = members.nanoseconds(cone & there[stage])
                    if shared > best_shared:
                        best, best_shared = stage, shared
            there[best] = there.get(best, 0) | cone
            if best > early:
                self._pinned[value] = best

    def _cones(self, cones: dict[tuple[Component, int], set[Value]], members: Members) -> Iterator[tuple[Value, int]]:
        """The results of each component and stage, in order, with the members that they are computed from."""
        stages: dict[Value, list[int]] = {}
        readers: Counter[tuple[Value, int]] = Counter()
        for (_, stage), cone in cones.items():
            for value in cone:
                stages.setdefault(value, []).append(stage)
                readers.update([(arg, stage) for arg in self._inside(value, stage)])
        found: dict[tuple[Value, int], int] = {}
        for value in self._order:
            for stage in stages.get(value, ()):
                own = members.of((value,))
                for arg in self._inside(value, stage):
                    own |= found[arg, stage]
                    readers[arg, stage] -= 1
                    if not readers[arg, stage]:
                        del found[arg, stage]  # of a long chain each would hold the whole chain before it
                if readers[value, stage]:
                    found[value, stage] = own
                if stage == self._stage[value] and (value in self._kept or self._is_ending(value)):
                    yield value, own

    def _inside(self, value: Value, stage: int) -> list[Value]:
        """The arguments of a member that its run computes too, in a stage."""
        args = [arg for place, arg in enumerate(value.args) if self._joined(value, place)]
        return [arg for arg in dict.fromkeys(args) if not self._is_there(arg, stage)]

    def _cone(self, results: Iterable[Value], stage: int) -> set[Value]:
        """The members that results are computed from in a run of their stage, they among them."""
        cone = set(results)
        stack = [*cone]
        while stack:
            for arg in self._inside(stack.pop(), stage):
                if arg not in cone:
                    cone.add(arg)
                    stack.append(arg)
        return cone

    def _is_there(self, value: Value, stage: int) -> bool:
        """Whether a value lies in memory before a stage begins."""
        return value in self._kept and self._stage[value] < stage

    # Runs

    def _collect(self) -> list[FusedRun]:
        sinks: _Results = {}
        for value in self._order:
            if value in self._kept or self._is_ending(value):
                sinks.setdefault((self._component[value], self._stage[value]), []).append(value)
        return [self._run(component, stage, found) for (component, stage), found in sinks.items()]

    def _run(self, component: Component, stage: int, sinks: Sequence[Value]) -> FusedRun:
        cone = self._cone(sinks, stage)
        members = sorted((value for value in cone if not self._is_ending(value)), key=lambda value: value.index)
        endings = tuple(value for value in sinks if self._is_ending(value))
        inputs: dict[tuple[Value, bool], None] = {}
        for value in (*members, *endings):
            for place, arg in enumerate(value.args):
                if arg not in cone and not arg.is_constant:
                    inputs[arg, self._alignment[value].edges[place].rows] = None
        return FusedRun(
            lead=component.lead,
            inputs=tuple([Operand(value, rows) for value, rows in inputs]),
            members=tuple(members),
            outputs=tuple(value for value in members if value in self._kept and self._stage[value] == stage),
            endings=endings,
        )
