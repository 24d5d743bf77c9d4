"""A worker seen from outside: started early, asked again and again, read with a deadline, ended in any case."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import IO, Any, Final, Self, cast

GRACE: Final = 0.5
"""How long the process may take over its limit before it is killed."""
STARTING: Final = 20.0
"""How long it may take to start, on a busy machine, on top of its first limit."""

_PIPE: Final = 60_000
"""Bytes that a pipe takes without anybody reading."""


class Worker:
    """A process that imports what it needs at once and then answers requests, one after another.

    Start it before there is a request, and its imports cost no time. It is a context manager: leaving it ends it.

    Args:
        module: what it runs: a module that calls `serving.serve`.
        arguments: the words after the module.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        # -P: a file of the user's called random.py must not be imported.
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter, a module of ours
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._stdin, self._stdout = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._rest = b""
        self._asked = 0.0
        self._allowance = STARTING
        self.alive = True

    def ask(self, request: dict[str, Any]) -> None:
        """Send a request, without waiting for the process to read it.

        Args:
            request: plain data; `seconds`, `operations` and `memory` in it are its limits, see `serving`.
        """
        self._asked = time.monotonic()
        line = json.dumps(request).encode() + b"\n"

        def send() -> None:
            with suppress(OSError, ValueError):  # it has ended: reading shows that
                self._stdin.write(line)
                self._stdin.flush()

        # More than a pipe holds must not make the caller wait for the imports over there.
        if len(line) < _PIPE:
            send()
        else:
            threading.Thread(target=send, daemon=True).start()

    def answers(self, seconds: float) -> list[dict[str, Any]]:
        """All answers to the last request; where they are not complete in time, or the process dies, it is ended.

        Args:
            seconds: the limit that the process itself knows.
        """
        lines: list[dict[str, Any]] = []
        deadline = self._asked + seconds + self._allowance
        while (line := self._line(deadline)) is not None:
            try:
                answer = json.loads(line)
            except ValueError:  # the last words of a library that ends the process
                break
            if answer.get("done"):
                self._allowance = GRACE
                if answer.get("last"):
                    self.end()
                return lines
            if "started" in answer:  # by the clock of the system, which is ours too
                deadline = answer["started"] + seconds + GRACE
            else:
                lines.append(answer)
        self.end()
        return lines

    def _line(self, deadline: float) -> bytes | None:
        """The next line, or None where the process ended or the time is up."""
        if not self.alive:
            return None
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
        self.alive = False
        self._process.kill()
        for pipe in (self._stdin, self._stdout):
            with suppress(OSError):
                pipe.close()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
