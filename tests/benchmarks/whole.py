"""Whole processes, from the start of the command to its end, timed from outside."""

from __future__ import annotations

import json
import math
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from comparison import ratios
from process import environment
from programs import PROGRAMS, YARDSTICKS

SAMPLE: Final = Path(__file__).parents[2] / "samples" / "paraboloid.txt"
SECONDS_FOR_ONE: Final = 300
TOLERANCE: Final = 1e-12
_TIME: Final = "/usr/bin/time"


class WholeWork(NamedTuple):
    """A text that every peer runs in a process of its own.

    Attributes:
        letter: what `--work` calls it, beside its name.
        name: one word.
        title: what is done.
        wrt: the names to differentiate by.
        sizes: lines of the text; the first size is the tiny one.
        write: makes the text of a size at a path.
        ours: what follows `agrad eval FILE --wrt NAMES`, by the name of the variant.
        goals: a variant to a peer and the greatest ratio wanted at the largest size.
        slow: a peer to the most lines that it can run in a minute.
        yardsticks: what else is timed.
    """

    letter: str
    name: str
    title: str
    wrt: tuple[str, ...]
    sizes: tuple[int, ...]
    write: Callable[[Path, int], None]
    ours: Mapping[str, tuple[str, ...]]
    goals: Mapping[str, Mapping[str, float]]
    slow: Mapping[str, int]
    yardsticks: tuple[str, ...]


def _recurrence(path: Path, size: int) -> None:
    """A recurrence that stays bounded, one scalar assignment a line."""
    text = ["x0 = 0.5", "x1 = 0.25"]
    text += [f"x{i} = x{i - 1}*0.99 + sin(x{i - 2})*0.01" for i in range(2, size)]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def _sample(path: Path, size: int) -> None:  # noqa: ARG001  # it has one size
    shutil.copyfile(SAMPLE, path)


_JSON: Final = ("--format", "json")

WHOLE_WORKS: Final = {
    work.name: work
    for work in (
        WholeWork(
            letter="i",
            name="lines",
            title="a file of scalar lines, value and two gradients, whole process",
            wrt=("x0", "x1"),
            sizes=(1_000, 10_000, 100_000),
            write=_recurrence,
            ours={"agrad": ("--no-check", *_JSON)},
            goals={"agrad": {"torch": 0.4}},
            slow={"jax": 1_000, "autograd": 100_000},
            yardsticks=("ast.parse",),
        ),
        WholeWork(
            letter="j",
            name="smallest",
            title="the smallest sample, whole process",
            wrt=("x", "y"),
            sizes=(3,),
            write=_sample,
            ours={"agrad": ("--no-check",), "agrad-checked": ()},
            goals={"agrad": {"torch": 0.12}, "agrad-checked": {"torch": 0.35}},
            slow={},
            yardsticks=("imports",),
        ),
    )
}


@dataclass(slots=True)
class Runs:
    """What one command did.

    Attributes:
        seconds: the time of each run.
        on_cores: its time on the cores.
        peak_mb: the most memory of any.
        answer: what it computed: the value, then the gradients.
        problem: why there is none.
    """

    seconds: list[float] = field(default_factory=list)
    on_cores: list[float] = field(default_factory=list)
    peak_mb: float = 0.0
    answer: list[float] | None = None
    problem: str | None = None

    @property
    def median(self) -> float | None:
        """The median time."""
        return statistics.median(self.seconds) if self.seconds else None


def compare_processes(
    work: WholeWork,
    size: int,
    pythons: Mapping[str, str],
    rounds: int,
    folder: Path,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Runs]:
    """Run the commands of all peers in turns, after one run each that is not timed and gives the answer.

    Args:
        work: what is run.
        size: how many lines.
        pythons: the Python of each peer.
        rounds: how many runs of each are timed.
        folder: an empty folder.
        say: is told what is going on.
    """
    path = folder / "formulas.txt"
    work.write(path, size)
    commands = _commands(work, path, pythons)
    done = {name: Runs() for name in commands}
    for name, command in commands.items():
        say(f"({work.letter}) {work.name}, {size:,} lines: {name}")
        if size > work.slow.get(name, size):
            done[name].problem = f"left out: more than {work.slow[name]:,} lines take it minutes"
            continue
        answering = [*command, *_JSON] if name.startswith("agrad") and "--format" not in command else command
        _, output, done[name].problem = _run(answering, folder, done[name])
        if done[name].problem is None and name not in work.yardsticks:
            done[name].answer = _answer(output, work.wrt)
        done[name].on_cores.clear()
        done[name].peak_mb = 0.0
    for number in range(rounds):
        say(f"({work.letter}) {work.name}, {size:,} lines: round {number + 1} of {rounds}")
        for name, command in commands.items():
            if done[name].problem is None:
                taken, _, done[name].problem = _run(command, folder, done[name])
                done[name].seconds.append(taken)
    return done


def _commands(work: WholeWork, path: Path, pythons: Mapping[str, str]) -> dict[str, list[str]]:
    names = ",".join(work.wrt)
    commands: dict[str, list[str]] = {}
    for peer, python in pythons.items():
        if peer == "agrad":
            for variant, options in work.ours.items():
                commands[variant] = [*_agrad(python), "eval", str(path), "--wrt", names, *options]
        elif peer in PROGRAMS:
            commands[peer] = [python, "-c", PROGRAMS[peer], str(path), names]
    for name in work.yardsticks:
        commands[name] = [pythons.get("agrad", sys.executable), "-c", YARDSTICKS[name], str(path)]
    return commands


def _agrad(python: str) -> list[str]:
    """The installed command, or the package where it is not installed."""
    command = Path(python).with_name("agrad")
    return [str(command)] if command.exists() else [python, "-m", "agrad.cli"]


def _run(command: list[str], folder: Path, runs: Runs) -> tuple[float, str, str | None]:
    """Run a command: its time, its output, what went wrong; peak memory and time on the cores are noted."""
    if not Path(_TIME).exists():
        return 0.0, "", f"{_TIME} is missing"
    report = folder / "time"
    begin = time.perf_counter()
    try:
        done = subprocess.run(
            [_TIME, "-f", "%U %S %M", "-o", str(report), *command],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=SECONDS_FOR_ONE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 0.0, "", f"took more than {SECONDS_FOR_ONE} seconds"
    taken = time.perf_counter() - begin
    if done.returncode:
        return taken, "", (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:200]
    user, system, kilobytes = map(float, report.read_text(encoding="ascii").split()[-3:])
    runs.on_cores.append(user + system)
    runs.peak_mb = max(runs.peak_mb, kilobytes / 1024)
    return taken, done.stdout, None


def _answer(output: str, wrt: tuple[str, ...]) -> list[float]:
    found = json.loads(output)
    return [list(found["values"].values())[-1], *[found["gradients"][name] for name in wrt]]


def agreement(done: Mapping[str, Runs]) -> dict[str, bool | None]:
    """Whether each answer is what the most of all are; None where a command gives none."""
    answers = [runs.answer for runs in done.values() if runs.answer is not None]
    friends = [sum(close(answer, other) for other in answers) for answer in answers]
    common = answers[friends.index(max(friends))] if answers else []
    return {name: None if runs.answer is None else close(runs.answer, common) for name, runs in done.items()}


def close(first: list[float], second: list[float]) -> bool:
    """Whether two answers are the same to the tolerance."""
    return len(first) == len(second) and all(
        math.isclose(one, other, rel_tol=TOLERANCE) for one, other in zip(first, second, strict=True)
    )


def as_data(work: WholeWork, size: int, done: Mapping[str, Runs]) -> dict[str, Any]:
    """What came out, for JSON."""
    agrees = agreement(done)
    medians = {name: runs.median for name, runs in done.items()}
    variants = {}
    for variant in work.ours:
        others = {name: median for name, median in medians.items() if name not in work.ours}
        goals = work.goals[variant] if size == max(work.sizes) else {}
        variants[variant] = ratios({"agrad": medians.get(variant), **others}, goals, list(PROGRAMS))
    return {
        "work": work.name,
        "letter": work.letter,
        "title": f"({work.letter}) {work.name}: {work.title}; {size:,} lines",
        "size": size,
        "peers": {
            name: {
                "problem": runs.problem,
                "median_s": runs.median,
                "least_s": min(runs.seconds, default=None),
                "cpu_median_s": statistics.median(runs.on_cores) if runs.on_cores else None,
                "calls": len(runs.seconds),
                "peak_mb": runs.peak_mb or None,
                "agrees": agrees[name],
            }
            for name, runs in done.items()
        },
        "variants": variants,
    }
