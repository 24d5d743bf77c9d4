"""agrad beside its peers on the same work in one run: times, ratios, memory, and whether all agree.

    python tests/benchmarks [--work a,b,...] [--peers NAMES] [--threads 1,2] [--sizes] [--json FILE]

Each peer runs in its own process, in turns with the others, on one core or two; a peer that is not installed is named.
Times are medians of warm calls; the first call (with everything that is built or compiled for it) and the start of the
process before it stand beside them. `--sizes` measures instead how agrad's time grows over four sizes of each work.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

import growth
from comparison import Case, Effort, as_data, compare
from machine import machine
from peers import PEERS
from process import cores, environment, has
from report import comparison_lines, growth_lines, process_lines
from whole import WHOLE_WORKS, WholeWork, compare_processes
from whole import as_data as process_data
from works import WORKS
from works.work import Work

BOUND: Final = Path(__file__).with_name("bound.py")
EVERY: Final[list[Work | WholeWork]] = [*WORKS.values(), *WHOLE_WORKS.values()]
DIFFERENTIATING: Final = [name for name, peer in PEERS.items() if peer.differentiates and name != "agrad"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write JSON: 0 where all numbers agree, 1 otherwise."""
    options = _options(arguments)
    pythons, missing = _pythons(options)
    found: dict[str, Any] = {
        "schema_version": 1,
        "machine": machine(),
        "effort": {"rounds": options.rounds, "budget_s": options.budget, "process_rounds": options.process_rounds},
        "missing": missing,
        "comparisons": [],
        "processes": [],
        "growth": [],
    }
    print(", ".join(f"{name} {value}" for name, value in found["machine"].items()))
    for peer in missing:
        print(f"{peer} is missing: it needs {' and '.join(PEERS[peer].distributions)}")
    measured = _growth(options, pythons) if options.sizes else _comparisons(options, pythons)
    for kind, data, lines in measured:
        found[kind].append(data)
        print("\n" + "\n".join(lines) if kind != "growth" else "\n".join(lines), flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    cases = [*found["comparisons"], *found["processes"]]
    wrong = [(each["title"], peer) for each in cases for peer, its in each["peers"].items() if its["agrees"] is False]
    for title, peer in wrong:
        print(f"DISAGREES: {peer} on {title}")
    return 1 if wrong else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    works = ", ".join(f"{work.letter} {work.name}" for work in EVERY)
    parser.add_argument("--work", type=_names, metavar="NAMES", help=f"letters or names; all: {works}")
    parser.add_argument("--peers", type=_names, default=[*PEERS], metavar="NAMES", help=f"all: {', '.join(PEERS)}")
    parser.add_argument("--threads", type=_names, default=["1", "2"], metavar="COUNTS")
    parser.add_argument("--sizes", action="store_true", help="how agrad's time grows over four sizes, instead")
    parser.add_argument("--size", type=int, help="another size of all works within a process")
    parser.add_argument("--tiny", action="store_true", help="sizes that take no time, to see that all is well")
    parser.add_argument("--rounds", type=int, default=6, help="turns of each peer; the first only warms up")
    parser.add_argument("--budget", type=float, default=0.5, help="seconds of a turn, unless one call takes longer")
    parser.add_argument("--process-rounds", type=int, default=7, help="runs of each whole process")
    parser.add_argument("--python", action="append", default=[], metavar="PEER=PATH", help="the Python of a peer")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args(arguments)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _pythons(options: argparse.Namespace) -> tuple[dict[str, str], list[str]]:
    """The Python of each peer that is there, and the peers that are missing."""
    given = dict(each.split("=", 1) for each in options.python)
    unknown = [name for name in [*options.peers, *given] if name not in PEERS]
    if unknown:
        raise SystemExit(f"no such peer: {', '.join(unknown)}; there are {', '.join(PEERS)}")
    wanted = {name: given.get(name, sys.executable) for name in options.peers}
    missing = [name for name, python in wanted.items() if not has(PEERS[name].distributions, python)]
    return {name: python for name, python in wanted.items() if name not in missing}, missing


def _chosen(options: argparse.Namespace) -> tuple[list[Work], list[WholeWork]]:
    unknown = set(options.work or []) - {name for work in EVERY for name in (work.letter, work.name)}
    if unknown:
        raise SystemExit(f"no such work: {', '.join(sorted(unknown))}")
    chosen = [work for work in EVERY if options.work is None or {work.letter, work.name} & set(options.work)]
    return [work for work in chosen if isinstance(work, Work)], [each for each in chosen if isinstance(each, WholeWork)]


def _threads(options: argparse.Namespace) -> list[int]:
    return [count for count in map(int, options.threads) if count <= len(cores())]


Measured = Iterator[tuple[str, dict[str, Any], Iterable[str]]]


def _comparisons(options: argparse.Namespace, pythons: Mapping[str, str]) -> Measured:
    """Each case as it is done: the list that it belongs to, its data, its lines."""
    works, whole = _chosen(options)
    effort = Effort(options.rounds, options.budget)
    for work in works:
        sizes = [work.tiny] if options.tiny else [options.size] if options.size else work.sizes
        for case in (
            Case(work, size, dtype, threads) for size in sizes for dtype in work.dtypes for threads in _threads(options)
        ):
            bounds: list[dict[str, float]] = []
            bounded = partial(_add_bound, bounds, case) if "bound" in work.goals else lambda: None
            with tempfile.TemporaryDirectory() as scratch:
                outcomes = compare(case, pythons, effort, Path(scratch), _say, bounded)
            bound = {part: median(each[part] for each in bounds) for part in bounds[0]} if bounds else None
            data = as_data(case, outcomes, DIFFERENTIATING, bound)
            yield "comparisons", data, comparison_lines(data)
    for each in whole:
        for size in each.sizes[:1] if options.tiny else each.sizes:
            with tempfile.TemporaryDirectory() as scratch:
                done = compare_processes(each, size, pythons, options.process_rounds, Path(scratch), _say)
            data = process_data(each, size, done)
            yield "processes", data, process_lines(data)


def _growth(options: argparse.Namespace, pythons: Mapping[str, str]) -> Measured:
    """The growth of agrad's time on each work, as it is done."""
    works, whole = _chosen(options)
    python = pythons.get("agrad")
    if python is None:
        raise SystemExit("--sizes measures agrad, which is not among the peers")
    effort = Effort(options.rounds, options.budget)
    try:
        for work in works:
            for threads in _threads(options):
                data = growth.of_work(work, threads, python, effort, _say)
                yield "growth", data, growth_lines(data)
        for each in whole:
            if len(each.sizes) > 1:
                data = growth.of_processes(each, python, options.process_rounds, _say)
                yield "growth", data, growth_lines(data)
    except growth.UngrownError as error:
        raise SystemExit(str(error)) from None


def _add_bound(bounds: list[dict[str, float]], case: Case) -> None:
    """Measure what bounds a case in a process of its own."""
    command = [sys.executable, str(BOUND), str(case.size), case.dtype, str(case.threads)]
    done = subprocess.run(command, env=environment(case.threads), capture_output=True, text=True, check=True)
    bounds.append(json.loads(done.stdout))


def _say(what: str) -> None:
    """What is going on, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what[:100]}", end="\r", file=sys.stderr, flush=True)
