"""`agrad devices`: what is there, and how to get the rest."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from agrad.cli.commands.devices import command, devices_json, devices_lines
from agrad.engine.run.cuda import status
from agrad.engine.run.cuda.status import Device, Part, Status

HERE = Status(
    [Part("CuPy", True, "14.2.0"), Part("driver", True, "CUDA 13.0"), Part("device", True, "1 found")],
    [Device(0, "Some\x1b[31m GPU", "9.0", 4 * 2**30, 3 * 2**30)],
)
NOTHING = Status([Part("CuPy", False, "CuPy is not installed", "pip install it")], [])


def test_a_device_is_listed_with_its_memory() -> None:
    """Its name is escaped; memory and compute capability are told."""
    line = devices_lines(HERE)[1]
    assert line == ("cuda:0   usable: Some\\x1b[31m GPU, compute capability 9.0, 3.0 of 4.0 GiB free")


def test_what_is_missing_says_how_to_get_it() -> None:
    """A missing part is a line, and the next says what to do."""
    lines = devices_lines(NOTHING)
    assert lines[:2] == ["cpu      usable", "cuda     not usable"]
    assert lines[-1].strip() == "to get it: pip install it"


def test_json_lists_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The JSON has the parts, their hints, and the devices by the names that --device takes."""
    monkeypatch.setattr(status, "status", lambda: HERE)
    shown = CliRunner().invoke(command, ["--format", "json"])
    assert shown.exit_code == 0
    data = json.loads(shown.stdout)
    assert data["usable"] is True
    assert [device["device"] for device in data["devices"]] == ["cpu", "cuda:0"]
    assert devices_json(NOTHING)["parts"][0]["hint"] == "pip install it"


def test_the_table_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an option the lines are written, with exit code 0 whatever is missing."""
    monkeypatch.setattr(status, "status", lambda: NOTHING)
    shown = CliRunner().invoke(command, [])
    assert shown.exit_code == 0
    assert shown.stdout.splitlines() == devices_lines(NOTHING)
