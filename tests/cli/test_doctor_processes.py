"""What is said of kinks, infinities and digits, from the command as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

COMMAND = [sys.executable, "-m", "agrad.cli", "eval"]


def run(*arguments: str, text: str = "", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """One run of the command with the text as its standard input."""
    return subprocess.run(
        [*COMMAND, "-", *arguments],
        input=text.encode(),
        capture_output=True,
        env=os.environ | environment,
        timeout=60,
        check=False,
    )


def test_strict_kinks_end_with_1() -> None:
    """A tie is exit code 1 with the option, 0 without; what stands on stdout is the same."""
    text = "x = [4.0, 4.0, 1.0]\ny = max(x)\n"
    strict, lenient = run("--strict-kinks", text=text), run(text=text)
    assert (strict.returncode, lenient.returncode) == (1, 0)
    assert strict.stdout == lenient.stdout
    assert b"max of [1,2,2]: PyTorch [0.0, 0.5, 0.5]" in strict.stdout
    assert strict.stderr == b""


def test_anomaly_in_json() -> None:
    """The way back is strict JSON on stdout, with the findings, and the exit code is 0."""
    done = run("--anomaly", "--no-check", "--format", "json", text="x = 0.0\ny = sqrt(x)\n")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["gradients"] == {"x": "Infinity"}
    assert [step["op"] for step in found["anomaly"]["steps"]] == ["sqrt", "leaf"]
    assert found["findings"][0]["factors"] == [1.0, "Infinity"]


def test_an_ascii_terminal() -> None:
    """Where the terminal writes ASCII only, so does the doctor, names and all."""
    done = run("--anomaly", "--ascii", "--no-check", text="é = 0.0\ny = log(é)\n", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert b"anomaly: from y back to \\xe9" in done.stdout
    assert b"\x1b" not in done.stdout


def test_digits_are_advised_with_the_referees_only() -> None:
    """With the referees a loss of digits is told; without them nobody has counted."""
    text = "x = 1e12\ny = sqrt(x + 1) - sqrt(x)\n"
    assert b"y has 5 of 16 right digits" in run(text=text).stdout
    assert b"right digits" not in run("--no-check", text=text).stdout
