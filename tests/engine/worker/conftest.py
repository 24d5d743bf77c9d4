"""Workers whose work is written in a test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agrad.engine.worker.process import Worker

MakeWorker = Callable[[str], Worker]

HEAD = """
import os, time
from agrad.engine.worker.budget import Budget, BudgetSpent
from agrad.engine.worker.serving import serve

def handle(request, budget):
"""
TAIL = """
if __name__ == "__main__":
    serve(handle)
"""


@pytest.fixture
def make_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeWorker]:
    """Starts a worker with the body of its `handle`; all are ended afterwards."""
    started: list[Worker] = []

    def made(body: str) -> Worker:
        name = f"worker_of_test_{len(started)}"
        text = HEAD + "".join(f"    {line}\n" for line in body.strip("\n").splitlines()) + TAIL
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{':'.join(filter(None, sys.path))}")
        worker = Worker(name)
        started.append(worker)
        return worker

    yield made
    for worker in started:
        worker.end()
