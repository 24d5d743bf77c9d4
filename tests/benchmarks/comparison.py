"""Peers on one work side by side: each in its process, in turns, so that noise falls on each alike."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from process import FailedError, Process
from timing import Times
from works.work import Work

TOLERANCES: Final = {"float64": 1e-10, "float32": 1e-4}
"""How far a number may be from the one derived by hand in float64, as a part of the greatest of its array."""

SPARE_MB: Final = 64
"""What a peer that fuses may take beside its inputs and results."""

SLOW: Final = 10
"""A peer of which one call takes this many times the budget of a turn is timed in one turn only."""


class Case(NamedTuple):
    """A work at one size.

    Attributes:
        work: what is computed.
        size: of what its title says.
        dtype: of the floats.
        threads: how many threads and cores a peer has.
    """

    work: Work
    size: int
    dtype: str
    threads: int

    @property
    def title(self) -> str:
        """One line on it."""
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        return f"({self.work.letter}) {self.work.name}: {self.work.title}; {self.size:,}, {self.dtype}, {threads}"


class Effort(NamedTuple):
    """How long is measured.

    Attributes:
        rounds: how many turns each peer has.
        budget: seconds of a turn, unless one call takes longer.
        most: calls of a turn at most.
    """

    rounds: int = 5
    budget: float = 0.5
    most: int = 200


@dataclass(slots=True)
class Outcome:
    """What a peer did.

    Attributes:
        told: what its first call took, as `child.started` says.
        times: of the warm calls.
        problem: why it has none.
    """

    told: dict[str, Any] = field(default_factory=dict)
    times: Times = field(default_factory=lambda: Times([], []))
    problem: str | None = None

    @property
    def median(self) -> float | None:
        """The median time of warm calls."""
        return statistics.median(self.times.wall) if self.times.wall else None

    @property
    def on_cores(self) -> float | None:
        """The median time of warm calls on the cores, of all threads together."""
        return statistics.median(self.times.cpu) if self.times.cpu else None

    def agrees(self, dtype: str) -> bool | None:
        """Whether its numbers are right, and of the dtype that was asked for."""
        if "error" not in self.told:
            return None
        return bool(self.told["error"] <= TOLERANCES[dtype]) and self.told["dtypes"] == [dtype]


def compare(
    case: Case,
    pythons: Mapping[str, str],
    effort: Effort,
    scratch: Path,
    say: Callable[[str], None] = lambda _: None,
    after_round: Callable[[], None] = lambda: None,
) -> dict[str, Outcome]:
    """Run some peers on a case.

    Args:
        case: the work.
        pythons: the Python of each peer.
        effort: how long.
        scratch: an empty folder.
        say: is told what is going on.
        after_round: is called after each round, to measure what else is to be measured in turns.
    """
    order = {"work": case.work.name, "size": case.size, "dtype": case.dtype, "threads": case.threads}
    outcomes = {peer: Outcome() for peer in pythons}
    folder = scratch / case.dtype
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        running: dict[str, Process] = {}
        for peer, python in pythons.items():
            say(f"{case.title}: {peer} starts")
            process = stack.enter_context(
                Process({**order, "peer": peer, "reference": str(folder)}, python, scratch / peer)
            )
            try:
                outcomes[peer].told = process.start()
            except FailedError as error:
                outcomes[peer].problem = str(error)
                continue
            outcomes[peer].problem = outcomes[peer].told.get("unable")
            if outcomes[peer].problem is None:
                running[peer] = process
        for number in range(effort.rounds):
            say(f"{case.title}: round {number + 1} of {effort.rounds}")
            _round(running, effort, outcomes, warm=number > 0)
            after_round()
    return outcomes


def _round(running: dict[str, Process], effort: Effort, outcomes: dict[str, Outcome], *, warm: bool) -> None:
    """A turn for each; the first only warms up."""
    for peer, process in list(running.items()):
        try:
            taken = process.turn(effort.budget, effort.most)
        except FailedError as error:
            outcomes[peer].problem = str(error)
            del running[peer]
            continue
        if warm or effort.rounds == 1:
            outcomes[peer].times.wall.extend(taken.wall)
            outcomes[peer].times.cpu.extend(taken.cpu)
            if min(taken.wall) > SLOW * effort.budget:
                del running[peer]


def as_data(
    case: Case,
    outcomes: Mapping[str, Outcome],
    differentiating: Sequence[str],
    bound: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """A case and its outcomes for JSON.

    Args:
        case: the work.
        outcomes: of each peer.
        differentiating: the peers, other than agrad, that find derivatives by themselves.
        bound: the seconds of the parts that no program for this machine can do without.
    """
    medians = {peer: outcome.median for peer, outcome in outcomes.items()}
    begun = {peer: _with_start(outcome) for peer, outcome in outcomes.items()}
    if bound is not None:
        medians["bound"] = sum(bound.values())
    return {
        "work": case.work.name,
        "letter": case.work.letter,
        "title": case.title,
        "size": case.size,
        "dtype": case.dtype,
        "threads": case.threads,
        "peers": {peer: _peer(outcome, case.dtype) for peer, outcome in outcomes.items()},
        "ratios_with_start": ratios(begun, {}, differentiating)["ratios"],
        **({"bound": dict(bound)} if bound is not None else {}),
        **ratios(medians, case.work.goals if case.size in case.work.sizes else {}, differentiating, _first(outcomes)),
    }


def _with_start(outcome: Outcome) -> float | None:
    """From the start of the process to its first answer."""
    return outcome.told["start"] + outcome.told["first"] if "first" in outcome.told else None


def _first(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
    return {peer: outcome.told["first"] for peer, outcome in outcomes.items() if "first" in outcome.told}


def _peer(outcome: Outcome, dtype: str) -> dict[str, Any]:
    told = outcome.told
    return {
        "problem": outcome.problem,
        "median_s": outcome.median,
        "least_s": min(outcome.times.wall, default=None),
        "cpu_median_s": outcome.on_cores,
        "calls": len(outcome.times.wall),
        "first_call_s": told.get("first"),
        "with_start_s": _with_start(outcome),
        "extra_mb": told.get("extra_mb"),
        "allowed_mb": told["results_mb"] + SPARE_MB if "results_mb" in told else None,
        "error": _strict(told.get("error")),
        "agrees": outcome.agrees(dtype),
        "versions": told.get("versions", {}),
    }


def _strict(number: float | None) -> float | str | None:
    """A number as strict JSON has it: NaN and infinity are written out."""
    return number if number is None or math.isfinite(number) else str(number)


def ratios(
    medians: Mapping[str, float | None],
    goals: Mapping[str, float],
    differentiating: Sequence[str],
    first: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The time of agrad as a part of each peer's, and how that stands to the goals.

    Args:
        medians: seconds of each peer.
        goals: a peer, `best`, or `best, first call`, and the greatest ratio wanted.
        differentiating: the peers that `best` is taken from.
        first: seconds of each peer's first call.
    """
    ours = medians.get("agrad")
    if ours is None:
        return {"ratios": {}, "best": None, "goals": {}}
    found = {peer: ours / median for peer, median in medians.items() if peer != "agrad" and median}
    best = max((peer for peer in found if peer in differentiating), key=lambda peer: found[peer], default=None)
    if best is not None:
        found["best"] = found[best]
        if first is not None:
            found["best, first call"] = first["agrad"] / first[best]
    met = {
        peer: {"goal": goal, "ratio": found[peer], "met": found[peer] <= goal}
        for peer, goal in goals.items()
        if peer in found
    }
    return {"ratios": found, "best": best, "goals": met}
