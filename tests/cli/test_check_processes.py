"""`agrad check` as a process: interrupted, without a reader, and as the hook and the action run it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "agrad.cli", "check"]
RIGHT = "x = 1.5\nz = x**2 + 1\n"
WRONG = "x = 1.5\nz = x**2 + \n"


def children_of(process: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            child = int(stat.parent.name)
            found += [child, *children_of(child)]
    return found


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
def test_an_interrupt_ends_everything_at_once(tmp_path: Path) -> None:
    """Ctrl-C exits 130 without waiting for the referees, and none of their processes is left."""
    for number in range(40):
        slow = f"x = {number}.5\nA = diag(linspace(1, 2, 5)) + x\nz = det(matrix_exp(A) @ A) * sum(svdvals(A))\n"
        (tmp_path / f"f{number}.txt").write_text(slow)
    with subprocess.Popen(
        [*COMMAND, str(tmp_path), "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        until = time.monotonic() + 30
        while len(children := children_of(process.pid)) < 2 and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        assert len(children) >= 2, "the referees have not started"
        time.sleep(0.3)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert time.monotonic() - began < 3
    assert process.returncode == 130
    assert said.decode().splitlines()[-1] == "interrupted"
    assert b"Traceback" not in said
    until = time.monotonic() + 10
    while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < until:
        time.sleep(0.02)
    assert [child for child in children if Path(f"/proc/{child}").exists()] == []


def test_a_reader_that_has_gone(tmp_path: Path) -> None:
    """A closed pipe exits 141, without a word."""
    for number in range(3):
        (tmp_path / f"f{number}.txt").write_text(RIGHT)
    with subprocess.Popen([*COMMAND, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="a terminal is made by the system's openpty")
def test_progress_on_a_terminal_only(tmp_path: Path) -> None:
    """A bar is drawn on a terminal's stderr and taken away; the results on stdout are as without it."""
    for number in range(3):
        (tmp_path / f"f{number}.txt").write_text(RIGHT)
    plain = subprocess.run([*COMMAND, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60)
    assert plain.stderr == ""
    ours, theirs = os.openpty()
    environment = os.environ | {"TERM": "xterm"}
    with subprocess.Popen([*COMMAND, str(tmp_path)], stdout=subprocess.PIPE, stderr=theirs, env=environment) as process:
        os.close(theirs)
        assert process.stdout is not None
        drawn = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            drawn += part
        output = process.stdout.read().decode()
    os.close(ours)
    assert process.returncode == 0
    assert output == plain.stdout
    assert b"checking" in drawn
    assert b"/3" in drawn


@pytest.fixture(scope="module")
def action() -> dict[str, Any]:
    """The composite action."""
    text = (ROOT / ".github/actions/agrad-check/action.yml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, action: dict[str, Any]) -> dict[str, str]:
    """An environment in which agrad is installed by the very command of the action, from a copy of this repository."""
    copy = tmp_path_factory.mktemp("repository")
    for name in ("cli", "engine", ".github"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    target = tmp_path_factory.mktemp("installed")
    step = next(step for step in action["runs"]["steps"] if step.get("name") == "Install agrad")
    # What agrad depends on is here already: nothing is fetched.
    quietly = {"PIP_TARGET": str(target), "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {
        **os.environ,
        **quietly,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "GITHUB_ACTION_PATH": str(copy / ".github/actions/agrad-check"),
        "PATH": path,
    }
    environment.pop("PYTHONPATH", None)
    script(step, environment, copy)
    return {**os.environ, "PATH": f"{target / 'bin'}{os.pathsep}{path}", "PYTHONPATH": str(target)}


def script(step: dict[str, Any], environment: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the script of a step as GitHub's runners do."""
    assert step["shell"] == "bash"
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(bash, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in (0, 1, 2, 3), done.stderr
    if "pip" in step["run"]:
        assert done.returncode == 0, done.stderr
    return done


def checked(
    action: dict[str, Any], environment: dict[str, str], folder: Path, **inputs: str
) -> subprocess.CompletedProcess[str]:
    """Run the action's check with its inputs, as the runner hands them over."""
    step = next(step for step in action["runs"]["steps"] if step.get("name") == "Check gradients")
    values = {name: each["default"] for name, each in action["inputs"].items()} | inputs
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match[1]], text)
        for name, text in step["env"].items()
    }
    assert "${{" not in step["run"], "an input that stands in the script would be run"
    return script(step, environment | variables, folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a right and a wrong file."""
    (tmp_path / "my files").mkdir()
    (tmp_path / "my files" / "right.txt").write_text(RIGHT)
    (tmp_path / "my files" / "wrong.txt").write_text(WRONG)
    return tmp_path


def test_the_action_installs_and_checks(action: dict[str, Any], installed: dict[str, str], folder: Path) -> None:
    """The action's commands install agrad, and write an annotation for each failure; its inputs are used."""
    done = checked(action, installed, folder)
    assert done.returncode == 2, done.stderr
    assert done.stdout.startswith("::error file=my files/wrong.txt,line=2,")
    assert done.stderr == "2 files: 1 gradient agrees, 1 error\n"
    done = checked(action, installed, folder, files="my files/right.txt\n", options="--referee mpmath --jobs 1")
    assert (done.returncode, done.stdout) == (0, "")
    done = checked(action, installed, folder, format="sarif", report="agrad.sarif")
    assert (done.returncode, done.stdout) == (2, "")
    assert '"2.1.0"' in (folder / "agrad.sarif").read_text()


def test_inputs_of_the_action_are_not_run(action: dict[str, Any], installed: dict[str, str], folder: Path) -> None:
    """Nothing in an input is a command or an option in another's place."""
    done = checked(action, installed, folder, files="$(touch ran)\n`touch ran`;touch ran\n--help", options="--jobs 1")
    assert done.returncode == 2
    assert not (folder / "ran").exists()
    assert "3 errors" in done.stderr


def test_the_hook_of_pre_commit(installed: dict[str, str], folder: Path) -> None:
    """The hook's entry takes the files that its patterns choose, and fails for a wrong one."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (hook["id"], hook["language"], hook["types"]) == ("agrad-check", "python", ["text"])
    names = ["my files/right.txt", "my files/wrong.txt", "requirements.txt", "docs/requirements-dev.txt", "a.py"]
    chosen = [name for name in names if re.search(hook["files"], name) and not re.search(hook["exclude"], name)]
    assert chosen == names[:2]
    for files, code in ((chosen[:1], 0), (chosen, 2)):
        done = subprocess.run(
            [*hook["entry"].split(), *files],
            cwd=folder,
            env=installed,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == code, done.stderr
    assert "my files/wrong.txt:2:" in done.stdout
