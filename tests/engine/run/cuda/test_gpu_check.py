"""The check for machines with a GPU: to its end where there is none, and through all its phases over the fake."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from agrad.engine.run.cuda.status import status

from ....gpu import check, faults, parity, peers, speed
from ....gpu.cases import recorded
from . import fake_cupy
from .host import MISSING
from .test_parity import library

ROOT = Path(__file__).parents[4]


@pytest.mark.skipif(status().missing is None, reason="there is a device here")
def test_without_a_device_it_says_what_is_missing() -> None:
    """The last lines name what is missing and how to get it, with exit code 3."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/gpu/check.py"), "--seconds", "20"],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    *_, last, end = [json.loads(line) for line in done.stdout.splitlines()]
    assert last["state"] == "skipped"
    assert "to get it: " in last["reason"]
    assert end["code"] == 3


def _lines(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    lines: list[str] = []
    code = check.main([*arguments], lines.append)
    return code, [json.loads(line) for line in lines]


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGRAD_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(parity, "RANDOM_GRAPHS", 20)
    monkeypatch.setattr(parity, "recorded", lambda: islice(recorded(), 0, None, 12))
    monkeypatch.setattr(parity, "MODULES", 1)
    monkeypatch.setattr(speed, "PEERS", {"cupy by hand": ("cupy", peers.by_hand, 1e9)})
    monkeypatch.setattr(speed, "BOUND", 1e9)
    monkeypatch.setattr(speed, "REPEATS", 3)
    monkeypatch.setattr(peers, "REPEATS", 1)


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.usefixtures("_small")
def test_all_phases_over_the_fake() -> None:
    """Every probe, graph, fault and work passes; each is a line, and the last counts them."""
    with fake_cupy.installed() as machine:
        machine.library = library()
        code, lines = _lines("--seconds", "600", "--scale", "0.0001")
    assert not [line for line in lines if line["state"] in ("failed", "skipped")]
    assert code == 0
    assert {line["phase"] for line in lines} == {
        "environment", "probes", "recorded", "random", "faults", "speed", "end",
    }  # fmt: skip
    assert lines[-1]["passed"] == sum(line["state"] == "passed" for line in lines) > 110


@pytest.mark.usefixtures("_small")
def test_it_ends_when_the_time_is_up() -> None:
    """What the time does not suffice for is skipped, and said."""
    with fake_cupy.installed():
        code, lines = _lines("--seconds", "0")
    assert code == 0
    assert {line["state"] for line in lines if line["phase"] == "probes"} == {"skipped"}


@pytest.mark.usefixtures("_small")
def test_a_device_that_is_not_as_assumed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted difference between the fake and the probes is a failure with a code of its own."""
    with fake_cupy.installed():
        monkeypatch.setattr(fake_cupy.cupy, "take", lambda *_args: 1 / 0)
        for module, name in (
            (parity, "recorded_checks"),
            (parity, "random_checks"),
            (faults, "checks"),
            (speed, "checks"),
        ):
            monkeypatch.setattr(module, name, lambda *_args: ())
        code, lines = _lines("--seconds", "3")
    assert code == check.CODES["probes"]
    (failed,) = [line for line in lines if line["phase"] == "probes" and line["state"] == "failed"]
    assert "ZeroDivisionError" in failed["fault"]


@pytest.mark.usefixtures("_small")
def test_an_interrupt_ends_it_with_its_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C, or an end asked for by the system, leaves a whole line and exit code 130."""

    def interrupt(*_args: object) -> Any:
        raise KeyboardInterrupt

    with fake_cupy.installed():
        monkeypatch.setattr(check.Journal, "run", interrupt)
        code, lines = _lines("--seconds", "3")
    assert code == 130
    assert lines[-1]["phase"] == "end"
