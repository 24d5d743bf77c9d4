"""Talks with the processes that peers run in, each with its number of threads, its cores and its environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Final, Self

from timing import Times

CHILD: Final = Path(__file__).with_name("child.py")
SECONDS_TO_START: Final = 600
SECONDS_FOR_A_TURN: Final = 300

_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_UNSET: Final = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE")
"""What would make a machine look slower than it is."""


class FailedError(Exception):
    """A process of a peer ended early or took too long; the text is the last that it said."""


def environment(threads: int | None = None, **more: str) -> dict[str, str]:
    """The environment of a process that is timed.

    Args:
        threads: how many threads libraries shall use; None leaves it to them.
        more: further variables.
    """
    found = {name: value for name, value in os.environ.items() if name not in _UNSET}
    if threads is not None:
        found |= dict.fromkeys(_THREADS, str(threads))
    return found | more


def cores() -> list[int]:
    """The cores that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


class Process:
    """A peer at work, kept warm between its turns."""

    def __init__(self, order: dict[str, Any], python: str, scratch: Path) -> None:
        self.said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  # close() does
        threads = order["threads"]
        self.order = {**order, "began": time.time()}
        allowed = cores()[-threads:]
        self.process = subprocess.Popen(
            [python, str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            text=True,
            env=environment(threads, TORCHINDUCTOR_CACHE_DIR=str(scratch / "inductor")),
            # Some libraries start a thread for each core whatever they are told: the cores themselves are counted out.
            preexec_fn=(lambda: os.sched_setaffinity(0, allowed)) if hasattr(os, "sched_setaffinity") else None,
        )
        self.told: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> dict[str, Any]:
        """What the start and the first call took; `{"unable": reason}` where the peer cannot do the work.

        Raises:
            FailedError: where it ends early.
        """
        self.told = self.ask(self.order, SECONDS_TO_START)
        return self.told

    def turn(self, budget: float, most: int) -> Times:
        """The times of some warm calls.

        Raises:
            FailedError: where it ends early.
        """
        return Times(**self.ask({"budget": budget, "most": most}, SECONDS_FOR_A_TURN))

    def ask(self, what: dict[str, Any], limit: float) -> dict[str, Any]:
        """Say a line, and the line that is answered.

        Raises:
            FailedError: where none is, within the limit in seconds.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        ending = threading.Timer(limit, self.process.kill)
        ending.start()
        try:
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            ending.cancel()
        if not line:
            raise FailedError(self._last_words(limit))
        return dict(json.loads(line))

    def close(self) -> None:
        """End it."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.said.close()

    def _last_words(self, limit: float) -> str:
        code = self.process.wait()
        self.said.seek(0)
        lines = self.said.read().strip().splitlines()
        if code == -9:
            return f"ended: out of memory, or more than {limit:.0f} seconds"
        return lines[-1][:200] if lines else f"ended with code {code}"


def has(distributions: tuple[str, ...], python: str) -> bool:
    """Whether a Python has all of some distributions."""
    ask = "import sys; from importlib.metadata import version; [version(name) for name in sys.argv[1:]]"
    command = [python or sys.executable, "-c", ask, *distributions]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
