"""The README: every command in it runs, and every screen in it is what agrad prints."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from agrad.cli.main import agrad

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def _screens() -> list[tuple[str, str]]:
    """Each command of a console block with the screen below it."""
    found = []
    for kind, text in BLOCKS:
        if kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, screen = part.partition("\n")
                found.append((command, screen.strip("\n")))
    return found


SCREENS = _screens()


def test_the_readme_opens_with_two_commands() -> None:
    """The first block is the line that installs and runs agrad and the line that runs the tests."""
    kind, text = BLOCKS[0]
    assert kind == "sh"
    first, second = text.splitlines()
    assert "pip install" in first
    assert first.endswith("agrad eval samples/paraboloid.txt --wrt x,y")
    assert "pytest" in second


@pytest.mark.parametrize(("command", "screen"), [pytest.param(*entry, id=entry[0]) for entry in SCREENS])
def test_screen(command: str, screen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command of the README prints what the README shows."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    program, *arguments = shlex.split(command.split(";")[0])
    assert program == "agrad"
    if arguments[0] == "run":  # a script writes from a process of its own, past any runner in this one
        done = subprocess.run(
            [sys.executable, "-m", "agrad.cli", *arguments],
            check=True,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        output = done.stdout
    else:
        result = CliRunner().invoke(agrad, arguments)
        assert result.exit_code in (0, 1, 2, 3), result.output
        output = result.output
    printed = [line.rstrip() for line in output.strip("\n").splitlines()]
    assert printed == [line.rstrip() for line in screen.splitlines()]


def test_there_are_screens() -> None:
    """The README shows at least the main job and an error."""
    assert len(SCREENS) >= 4
