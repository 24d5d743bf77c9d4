"""The command as a process of its own: what only the operating system can do to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "agrad.cli"]
PARABOLOID = "x = 1.0\ny = 2.0\nz = x**2 + y\n"


def run(*arguments: str, text: bytes | str = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """One run of the command with the text as its standard input."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=text.encode() if isinstance(text, str) else text,
        capture_output=True,
        env=os.environ | environment,
        timeout=60,
        check=False,
    )


def test_paraboloid_is_certified() -> None:
    """The main job: gradients 2 and 1, and SymPy agrees to 15 digits or more."""
    result = run("eval", "-", "--wrt", "x,y", "--format", "json", text=PARABOLOID)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["gradients"] == {"x": 2.0, "y": 1.0}
    sympy = next(each for each in found["check"]["referees"] if each["name"] == "sympy")
    assert sympy["verdict"] == "agree"
    assert sympy["digits"] >= 15
    assert result.stderr == b""


def test_without_arguments_the_help_is_shown() -> None:
    """The bare command shows its help and no traceback."""
    result = run()
    assert result.returncode in (0, 2)
    assert b"Traceback" not in result.stderr
    assert b"agrad eval -e" in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\xff\xfex\x00", "UTF-16"),
        (b"x = 1\nz = \xe9\n", "not UTF-8"),
        (b"z = 1\x00\n", "NUL"),
        (b"z = 9**9**9\n", "digits"),
        (b"z = sum(ones(10**12))\n", "GB"),
        (b"z = " + b"(" * 100_000 + b"1\n", "never closed"),
        (b"z = y\ny = z\n", "z"),
    ],
)
def test_bad_text_is_answered_in_words(text: bytes, said: str) -> None:
    """No text makes the command crash, hang or show a traceback."""
    result = run("eval", "-", "--no-check", text=text)
    assert result.returncode in (2, 3)
    assert result.stdout == b""
    assert said.lower() in result.stderr.decode().lower()
    assert b"Traceback" not in result.stderr


def test_windows_text_is_accepted() -> None:
    """A byte order mark and CRLF do no harm."""
    text = b"\xef\xbb\xbf" + PARABOLOID.replace("\n", "\r\n").encode()
    assert run("eval", "-", "--no-check", text=text).returncode == 0


def test_unreadable_files(tmp_path: Path) -> None:
    """A missing file and a directory exit 2."""
    for path in (tmp_path / "missing.txt", tmp_path):
        result = run("eval", str(path))
        assert result.returncode == 2
        assert str(path) in result.stderr.decode()


def test_closed_pipe_exits_141() -> None:
    """A reader that goes away is no error to talk about."""
    with subprocess.Popen(
        [*COMMAND, "eval", "-e", "x = ones(300000)", "-e", "z = sum(x)", "--full", "--no-check", "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(30) == 141
    assert said == b""


def test_full_disk_exits_3() -> None:
    """Results that cannot be written are an error with its own exit code."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [*COMMAND, "eval", "-e", "z = 2.0", "--no-check"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert result.returncode == 3
    assert b"No space left" in result.stderr
    assert b"Traceback" not in result.stderr


def test_interrupt_exits_130() -> None:
    """Ctrl-C ends the run with one word."""
    with subprocess.Popen(
        [*COMMAND, "eval", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        time.sleep(1.5)  # until it waits for the text
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in said


def test_ascii_terminal_never_crashes() -> None:
    """A terminal that knows ASCII only gets escapes for names, and an ASCII table."""
    for text, code in (("θ = 1.0\nz = θ**2\n", 0), ("z = θ +\n", 2)):
        result = run("eval", "-", "--no-check", text=text, PYTHONIOENCODING="ascii")
        assert result.returncode == code
        said = (result.stdout + result.stderr).decode("ascii")
        assert "\\u03b8" in said
        assert "UnicodeEncodeError" not in said


def test_closed_streams() -> None:
    """Without a standard output the results cannot be written; without a standard input there is nothing to read."""
    for redirection, code in ((">&-", 3), ("<&-", 2)):
        result = subprocess.run(
            ["/bin/sh", "-c", f'"$0" -m agrad.cli eval - --no-check {redirection}', sys.executable],
            input=PARABOLOID.encode() if code == 3 else None,
            capture_output=True,
            check=False,
        )
        assert result.returncode == code, result.stderr
        assert b"Traceback" not in result.stderr


def test_startup_imports_neither_sympy_nor_scipy() -> None:
    """What is not needed is not imported, so that the answer is there at once."""
    code = (
        "import sys; sys.argv = ['agrad', 'eval', '-e', 'z = 2.0*x', '--at', 'x=1', '--no-check']\n"
        "from agrad.cli.main import agrad\n"
        "try: agrad.main()\n"
        "except SystemExit: print(*sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(result.stdout.splitlines()[-1].split())
    assert "rich.table" in loaded
    assert not loaded & {"sympy", "mpmath", "scipy", "rich.markdown", "rich.syntax", "rich.traceback", "asyncio"}


def test_interrupt_ends_a_long_run_at_once() -> None:
    """Ctrl-C while blocks are computed ends the run within a moment, workers and all."""
    terms = " + ".join(f"lgamma(x + {k})*sin({k}*x)" for k in range(1, 31))
    text = f"x = linspace(0, 1, 20000000)\nz = sum({terms})\n"
    with subprocess.Popen(
        [*COMMAND, "eval", "-", "--no-check"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(text.encode())
        process.stdin.close()
        process.stdin = None
        time.sleep(2.5)  # until it computes
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - asked < 3
    assert b"Traceback" not in said
