"""How the time of agrad grows with the amount of work: the exponent of a power law through four sizes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from comparison import Case, Effort, compare
from whole import WholeWork, compare_processes
from works.work import Work

Say = Callable[[str], None]


class UngrownError(Exception):
    """A size that agrad did not come through; the text says why."""


def of_work(work: Work, threads: int, python: str, effort: Effort, say: Say) -> dict[str, Any]:
    """The times of warm calls of a work at four sizes, and their exponents, for JSON.

    Raises:
        UngrownError: where one fails.
    """
    sizes = work.growing_sizes()
    outcomes = []
    for size in sizes:
        case = Case(work, size, work.dtypes[0], threads)
        with tempfile.TemporaryDirectory() as scratch:
            outcomes.append(compare(case, {"agrad": python}, effort, Path(scratch), say)["agrad"])
    amounts = [work.amount(size) for size in sizes]
    on_cores = _all([outcome.on_cores for outcome in outcomes], work.name)
    return {
        "title": f"({work.letter}) {work.name}, {threads} thread{'s' if threads > 1 else ''}",
        "work": work.name,
        "threads": threads,
        "exponent_on_cores": exponent(amounts, on_cores),
        **_grown(sizes, amounts, _all([outcome.median for outcome in outcomes], work.name)),
    }


def of_processes(work: WholeWork, python: str, rounds: int, say: Say) -> dict[str, Any]:
    """The times of whole processes at four sizes, and their exponent, for JSON.

    Raises:
        UngrownError: where one fails.
    """
    sizes = [max(work.sizes) // part for part in (64, 16, 4, 1)]
    medians = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            medians.append(compare_processes(work, size, {"agrad": python}, rounds, Path(scratch), say)["agrad"].median)
    return {
        "title": f"({work.letter}) {work.name}, whole process",
        "work": work.name,
        "threads": None,
        "exponent_on_cores": None,
        **_grown(sizes, [float(size) for size in sizes], _all(medians, work.name)),
    }


def exponent(amounts: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of the straight line of least squares through the logarithms: 1 where time is proportional to work."""
    slope, _ = np.polyfit(np.log(amounts), np.log(seconds), 1)
    return float(slope)


def _grown(sizes: list[int], amounts: list[float], seconds: list[float]) -> dict[str, Any]:
    return {"sizes": sizes, "amounts": amounts, "seconds": seconds, "exponent": exponent(amounts, seconds)}


def _all(times: Sequence[float | None], name: str) -> list[float]:
    found = [each for each in times if each is not None]
    if len(found) < len(times):
        raise UngrownError(f"agrad has no time for a size of {name}: run it with --work {name} --peers agrad")
    return found
