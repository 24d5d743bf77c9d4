"""The sample files: each says how to run it and what comes out, and both are true."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from agrad.cli.main import agrad

ROOT = Path(__file__).parents[1]
SAMPLES = sorted((ROOT / "samples").glob("*.txt"))
TOLERANCE = 1e-12


def test_there_are_enough_samples() -> None:
    """At least fourteen files of real work are there."""
    assert len(SAMPLES) >= 14


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in SAMPLES])
def test_sample(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command in the file's comment gives the gradients in its comments, and the referees agree."""
    text = path.read_text(encoding="utf-8")
    run = re.search(r"^# run: agrad (.*)$", text, re.MULTILINE)
    assert run, "a sample says how it is run"
    expected = dict(re.findall(r"^# expected: d\(.*\)/d\((\w+)\) = (.*)$", text, re.MULTILINE))
    assert expected, "a sample says which gradients come out"
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(agrad, [*shlex.split(run.group(1)), "--format", "json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert set(found["gradients"]) == set(expected)
    for name, recorded in expected.items():
        np.testing.assert_allclose(found["gradients"][name], json.loads(recorded), rtol=TOLERANCE, err_msg=name)
    assert found["check"]["verdict"] == "agree"


def test_comment_says_where_the_formula_is_used() -> None:
    """Every sample begins with a comment in words."""
    for path in SAMPLES:
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert re.match(r"# [A-Z].{30,}", first), path.name
