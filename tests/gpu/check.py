"""One command for a machine with a GPU: what only a device can show.

    python tests/gpu/check.py --seconds 240

Needs agrad with its extra cuda12 or cuda13; PyTorch and JAX are compared with where they are installed. Every finding
is a line of JSON, written as it comes; the last one counts them. What the time does not suffice for is skipped.

Exit codes, the first that applies: 0 all is well; 3 there is no device; 4 the device is not as the tests' fake of CuPy
assumes; 1 a number is wrong; 5 a fault is not told as it should be; 6 an aim for the speed is missed; 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]

NO_DEVICE: Final = 3
CODES: Final = {"probes": 4, "recorded": 1, "random": 1, "faults": 5, "speed": 6}
"""The exit code that a failure of each phase gives."""
INTERRUPTED: Final = 130


class Check(NamedTuple):
    """One thing to look at.

    Attributes:
        name: what it is called.
        look: gives whether it is well, and what was found.
    """

    name: str
    look: Callable[[], tuple[bool, dict[str, Any]]]


class Journal:
    """The lines of JSON, and what they come to.

    Args:
        write: takes a line.
        seconds: how long everything may take.
    """

    def __init__(self, write: Callable[[str], None], seconds: float) -> None:
        self._write = write
        self._start = time.monotonic()
        self._end = self._start + seconds
        self.counts: Counter[str] = Counter()
        self.failed: list[str] = []

    def note(self, phase: str, name: str, state: str, **found: Any) -> None:
        """Write one line: `state` is passed, failed or skipped."""
        self.counts[state] += 1
        if state == "failed":
            self.failed.append(phase)
        at = round(time.monotonic() - self._start, 2)
        self._write(json.dumps({"phase": phase, "name": name, "state": state, "at": at, **found}, default=str))

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self._end - time.monotonic()

    def run(self, phase: str, share: float, checks: Iterable[Check]) -> None:
        """Look at some things, for a share of the time that is left at most."""
        end = time.monotonic() + share * max(self.left, 0.0)
        if self.left <= 0:
            self.note(phase, "the whole phase", "skipped", reason="the time is up")
            return
        for check in checks:
            if time.monotonic() >= end:
                self.note(phase, check.name, "skipped", reason="the time is up")
                continue
            begin = time.monotonic()
            try:
                well, found = check.look()
            except Exception as fault:  # whatever it is, it is what was found
                trace = traceback.format_exc()[-1500:]
                self.note(phase, check.name, "failed", fault=f"{type(fault).__name__}: {fault}"[:400], trace=trace)
            else:
                took = round(time.monotonic() - begin, 3)
                self.note(phase, check.name, "passed" if well else "failed", seconds=took, **found)

    def code(self) -> int:
        """The exit code."""
        for phase in ("probes", "recorded", "random", "faults", "speed"):
            if phase in self.failed:
                return CODES[phase]
        return 0


def main(arguments: list[str] | None = None, write: Callable[[str], None] | None = None) -> int:
    """Run the check; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=240.0, help="How long it may take. [default: 240]")
    parser.add_argument("--device", default="cuda", help="cuda or cuda:N. [default: cuda]")
    parser.add_argument("--scale", type=float, default=1.0, help="Of the sizes of the works. [default: 1]")
    parser.add_argument("--out", help="Write the lines to a file too.")
    options = parser.parse_args(arguments)
    lines = [write or _to_stdout]
    if options.out:
        stream = Path(options.out).open("w", encoding="utf-8")  # noqa: SIM115  # open until the process ends
        lines.append(lambda line: print(line, file=stream, flush=True))
    journal = Journal(lambda line: [each(line) for each in lines] and None, options.seconds)
    try:
        code = _phases(journal, options)
    except KeyboardInterrupt:
        code = INTERRUPTED
    journal.note("end", "counts", "noted", code=code, **journal.counts)
    return code


def _phases(journal: Journal, options: argparse.Namespace) -> int:
    from agrad.engine.errors import DeviceError
    from agrad.engine.run.cuda.executor import Executor
    from agrad.engine.run.cuda.status import status

    found = status()
    for part in found.parts:
        journal.note("environment", part.name, "noted", there=part.there, found=part.found, hint=part.hint)
    for device in found.devices:
        journal.note("environment", f"cuda:{device.number}", "noted", device=device._asdict())
    try:
        executor = Executor(options.device)
    except DeviceError as error:
        journal.note("environment", options.device, "skipped", reason=error.message)
        return NO_DEVICE
    from tests.gpu import faults, parity, probes, speed

    journal.run("probes", 0.15, probes.checks(executor))
    journal.run("recorded", 0.45, parity.recorded_checks(executor))
    journal.run("random", 0.3, parity.random_checks(executor))
    journal.run("faults", 0.3, faults.checks(executor, options.scale))
    journal.run("speed", 1.0, speed.checks(executor, options.scale))
    return journal.code()


def _to_stdout(line: str) -> None:
    print(line, flush=True)


def _interrupt(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # not this folder: its modules are those of a package
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(main())
