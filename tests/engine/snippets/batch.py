"""Runs many snippets, each in a watched process of its own, and says how each ended. Not a test: a program for tests.

Reads rows as JSON from the standard input, one a line, each with `code` and the `seconds` that it may take; writes
`{"exit", "output", "said", "seconds"}` for each, and at last the most memory, in MiB, that any of them had.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from agrad.engine import errors
from agrad.engine.errors import AgradError, Source
from agrad.engine.language.diagnostics import render
from agrad.engine.snippets import Limits, run_watched

REACHING = ("open", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "socket.connect", "os.remove")
MAIN = os.getpid()
_OURS = str(Path(errors.__file__).resolve().parents[1])
_READABLE = tuple(os.path.realpath(folder) for folder in (_OURS, *sys.path, sys.prefix, sys.base_prefix) if folder)


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Say on stderr what reaches outside: files other than those of Python and its packages, programs, the network."""
    if os.getpid() == MAIN:
        return
    if event == "open" and isinstance(arguments[0], str):
        path = os.path.realpath(arguments[0])
        if path.startswith(_READABLE) or path.endswith("/status"):
            return
    elif event not in REACHING:
        return
    os.write(2, f"REACHED OUTSIDE: {event} {arguments[:1]}\n".encode())


def run(code: str, seconds: float) -> dict[str, Any]:
    """Run one snippet with our own standard streams sent to files."""
    kept = [os.dup(1), os.dup(2)]
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as said:
        os.dup2(output.fileno(), 1)
        os.dup2(said.fileno(), 2)
        try:
            exit_code = run_watched(Source(code, "notes.py"), Limits(seconds=seconds))
            text = ""
        except AgradError as error:
            exit_code, text = error.exit_code, render(error)
        finally:
            for descriptor, copy in enumerate(kept, 1):
                os.dup2(copy, descriptor)
                os.close(copy)
        taken = time.monotonic() - begin
        for stream in (output, said):
            stream.seek(0)
        return {
            "exit": exit_code,
            "output": output.read(100_000).decode(errors="replace"),
            "said": said.read(20000).decode(errors="replace") + text,
            "seconds": taken,
        }


def main() -> None:
    """Run all of them."""
    import_module("agrad.engine.eager.namespace")  # so that each of the processes has it from its beginning
    sys.addaudithook(watch)
    for row in sys.stdin:
        given = json.loads(row)
        sys.stdout.write(json.dumps(run(given["code"], given["seconds"])) + "\n")
        sys.stdout.flush()
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    sys.stdout.write(json.dumps({"most": most}) + "\n")


if __name__ == "__main__":
    main()
