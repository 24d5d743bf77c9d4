"""`agrad run` as a process: what is read, written, refused, ended, and with which exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "agrad.cli", "run"]


def run(*arguments: str, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """One run of the command with the text as its standard input."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=text,
        capture_output=True,
        encoding="utf-8",
        env=os.environ | environment,
        timeout=60,
        check=False,
    )


def test_script_from_a_file_and_from_the_standard_input(tmp_path: Path) -> None:
    """The same script gives the same output from either."""
    script = tmp_path / "notes.py"
    script.write_text("print('é', 1 + 1)\n", encoding="utf-8")
    for result in (run(str(script)), run("-", text=script.read_text(encoding="utf-8"))):
        assert (result.returncode, result.stdout, result.stderr) == (0, "é 2\n", "")


def test_refusal_comes_before_anything_runs() -> None:
    """What is not on the list is told with its place, all at once, and nothing is printed."""
    result = run("-", text="print('never')\nimport os\nx = open('y')\n")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "<stdin>:2:1: os is not on the list of modules" in result.stderr
    assert "<stdin>:3:5: a snippet reads and writes no files: open" in result.stderr
    assert "^^^^" in result.stderr


def test_error_gives_pythons_last_line_and_ours() -> None:
    """An error that is not caught is told as Python tells it, then where it was."""
    result = run("-", text="def f(x):\n    return 1 / x\nprint('before')\ny = f(0)\n")
    assert result.returncode == 1
    assert result.stdout == "before\n"
    assert result.stderr == "ZeroDivisionError: division by zero\n<stdin>:2:12: in 1 / x, called from line 4\n"


def test_timeout_is_told_with_its_place() -> None:
    """A script that does not end is ended, and what it wrote before is there."""
    begin = time.monotonic()
    result = run("--timeout", "0.5", "-", text="print('begun')\nwhile True:\n    pass\n")
    assert time.monotonic() - begin < 5
    assert result.returncode == 3
    assert result.stdout == "begun\n"
    assert result.stderr.startswith("<stdin>:3:5: more than 0.5 s of time")


def test_one_long_operation_of_c_is_ended_too() -> None:
    """What never comes back to Python is ended by the process that watches."""
    result = run("--timeout", "0.3", "-", text="print('begun')\n1.5 in range(10**15)\n")
    assert result.returncode == 3
    assert result.stdout == "begun\n"
    assert result.stderr.startswith("<stdin>:2:1: more than 0.3 s of time")


@pytest.mark.parametrize("text", ["while True: pass\n", "1.5 in range(10**15)\n"])
def test_interrupt_exits_130_at_once(text: str) -> None:
    """Ctrl-C ends the run, whatever it is doing, and leaves no process behind."""
    with subprocess.Popen(
        [*COMMAND, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(f"print('begun', flush=True)\n{text}".encode())
        process.stdin.close()
        process.stdin = None
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert time.monotonic() - begin < 1
    assert process.returncode == 130
    assert said == b"interrupted\n"


def test_closed_pipe_exits_141() -> None:
    """A reader that goes away is no error to talk about."""
    with subprocess.Popen(
        [*COMMAND, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"while True: print('x' * 1000)\n")
        process.stdin.close()
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 141


def test_full_disk_exits_3() -> None:
    """Output that cannot be written is an error of its own."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("w") as full:
        result = subprocess.run([*COMMAND, "-"], input=b"print(1)\n", stdout=full, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 3
    assert b"No space left" in result.stderr
    assert b"Traceback" not in result.stderr


def test_unreadable_files(tmp_path: Path) -> None:
    """A missing file, a directory, and bytes that are no text exit 2."""
    binary = tmp_path / "bytes.py"
    binary.write_bytes(b"x = '\xff'\n")
    for path in (tmp_path / "missing.py", tmp_path, binary):
        result = run(str(path))
        assert result.returncode == 2
        assert str(path) in result.stderr
        assert result.stdout == ""


def test_warnings_are_told_once_a_line() -> None:
    """A warning is written as Python writes it, with the line of the script, once for the same line and text."""
    result = run("-", text="import warnings\nfor _ in range(3):\n    warnings.warn('careful')\nprint('done')\n")
    assert result.returncode == 0
    assert result.stdout == "done\n"
    assert result.stderr == "<stdin>:3: UserWarning: careful\n  warnings.warn('careful')\n"


def test_ascii_output_never_crashes() -> None:
    """Output is UTF-8, whatever the terminal says it knows; errors are escaped."""
    result = run("-", text="print('θ')\nraise ValueError('θ')\n", PYTHONIOENCODING="ascii")
    assert result.returncode == 1
    assert result.stdout == "θ\n"


def test_trace_shows_what_changed() -> None:
    """After each statement the tensors that it made or changed are shown on stderr; the output stays the script's."""
    text = "import torch\nx = torch.ones(2, requires_grad=True)\ny = (x * 3).sum()\ny.backward()\nprint(x.grad)\n"
    result = run("--trace", "-", text=text)
    assert result.returncode == 0
    assert result.stdout == run("-", text=text).stdout == "tensor([3., 3.])\n"
    blocks = result.stderr.split("<stdin>:")[1:]
    assert [block.split(":")[0] for block in blocks] == ["2", "3", "4"]
    assert "SumBackward0" in blocks[1]
    assert "[3., 3.]" in blocks[2]
    assert "y " not in blocks[2]


def test_closed_standard_output() -> None:
    """Without a standard output nothing is run, and it is said."""
    result = subprocess.run(
        ["/bin/sh", "-c", '"$0" -m agrad.cli run - >&-', sys.executable],
        input=b"print(1)\n",
        capture_output=True,
        check=False,
    )
    assert result.returncode == 3
    assert b"standard output is closed" in result.stderr


def test_deep_recursion_is_an_error_of_the_script() -> None:
    """A script may call as deep as Python lets it; deeper is RecursionError, and may be caught."""
    function = "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(900))\n"
    text = f"{function}try:\n    f(5000)\nexcept RecursionError as e:\n    print(e)\n"
    result = run("-", text=text)
    assert (result.returncode, result.stdout) == (0, "900\nmaximum recursion depth exceeded\n")
