"""The referees' process seen from outside: started early, asked once, read with a deadline, ended in any case."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import IO, Any, Final, cast

GRACE: Final = 0.5
"""How long the process may take over its limit before it is killed."""
STARTING: Final = 20.0
"""How long it may take to start, on a busy machine, on top of its limit."""


class RefereeProcess:
    """A process that imports SymPy at once and then waits for its one case.

    Start it before the case is known, and its imports cost no time. It is a context manager: leaving it ends it.

    Args:
        imports: the slow import to begin with: "sympy" or "mpmath".
    """

    def __init__(self, imports: str = "sympy") -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        # -P: a file of the user's called random.py must not be imported.
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter, a module of ours
            [sys.executable, "-P", "-m", "agrad.engine.referees.child", imports],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._stdin, self._stdout = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._rest = b""
        self._asked = 0.0

    def ask(self, request: dict[str, Any]) -> None:
        """Send the one request, without waiting for the process to read it."""
        self._asked = time.monotonic()
        line = json.dumps(request).encode() + b"\n"

        def send() -> None:
            with suppress(OSError):  # it has ended: reading shows that
                self._stdin.write(line)
                self._stdin.close()

        # A pipe holds 64 KB: more must not make the caller wait for the imports over there.
        if len(line) < 60_000:
            send()
        else:
            threading.Thread(target=send, daemon=True).start()

    def answers(self, seconds: float) -> list[dict[str, Any]]:
        """All lines that come within the time, counted from the question; then the process is ended.

        Args:
            seconds: the limit that the process itself knows.
        """
        lines: list[dict[str, Any]] = []
        deadline = self._asked + seconds + STARTING
        while (line := self._line(deadline)) is not None:
            answer = json.loads(line)
            if answer.get("done"):
                break  # without waiting for the interpreter to tidy up
            if answer.get("started"):
                deadline = time.monotonic() + seconds + GRACE
            else:
                lines.append(answer)
        self.end()
        return lines

    def _line(self, deadline: float) -> bytes | None:
        """The next line, or None where the process ended or the time is up."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    return None
                part = os.read(self._stdout.fileno(), 65536)
                if not part:
                    return None
                self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def end(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()
        for pipe in (self._stdin, self._stdout):
            with suppress(OSError):
                pipe.close()
        self._process.wait()

    def __enter__(self) -> RefereeProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
