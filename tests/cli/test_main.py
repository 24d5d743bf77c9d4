"""The group: help, version, and every exception's exit code."""

from __future__ import annotations

import json
import re
from typing import Any

import click
import pytest
from click.testing import CliRunner

from agrad.cli import main
from agrad.cli.main import COMMANDS, agrad
from agrad.engine.errors import DeviceError, InputError, LimitError, NoGradientError, OutputError


def test_help_names_every_exit_code_and_command() -> None:
    """The group's help has an example, the commands and the exit codes."""
    result = CliRunner().invoke(agrad, ["--help"])
    assert result.exit_code == 0
    assert re.findall(r"^ +(\d+)  ", result.output, re.MULTILINE) == ["0", "1", "2", "3", "70", "130", "141"]
    assert "agrad eval -e" in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    """Each command shows how it is called, and each of its options has a sentence."""
    result = CliRunner().invoke(agrad, [name, "--help"])
    assert result.exit_code == 0
    assert re.search(rf"^ +agrad {name} ", result.output, re.MULTILINE)
    command = agrad.get_command(click.Context(agrad), name)
    assert command is not None
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_version() -> None:
    """--version is one line."""
    result = CliRunner().invoke(agrad, ["--version"])
    assert result.exit_code == 0
    assert result.output.startswith("agrad")
    assert result.output.count("\n") == 1


def test_unknown_command_is_answered_with_the_nearest() -> None:
    """A misspelt command exits 2 and says what was meant."""
    result = CliRunner().invoke(agrad, ["evl", "a.txt"])
    assert result.exit_code == 2
    assert "did you mean eval?" in result.stderr


def test_file_in_place_of_a_command(tmp_path: Any) -> None:
    """A file name alone is told where it belongs."""
    (tmp_path / "a.txt").write_text("z = 1\n")
    result = CliRunner().invoke(agrad, [str(tmp_path / "a.txt")])
    assert result.exit_code == 2
    assert f"agrad eval {tmp_path / 'a.txt'}" in result.stderr
    assert f"agrad check {tmp_path}" in CliRunner().invoke(agrad, [str(tmp_path)]).stderr


def test_unknown_option_is_answered_with_the_nearest() -> None:
    """A misspelt option exits 2 and says what was meant and where the help is."""
    result = CliRunner().invoke(agrad, ["eval", "--ouput", "z"])
    assert result.exit_code == 2
    assert "--output" in result.stderr
    assert "agrad eval --help" in result.stderr


def test_no_arguments_give_the_help() -> None:
    """Without arguments the help is shown as click shows it for any group: on stderr, with the code of wrong usage."""
    result = CliRunner().invoke(agrad, [])
    shown = CliRunner().invoke(agrad, ["--help"]).output
    assert result.output == shown
    plain = CliRunner().invoke(click.Group("plain"), [])
    assert result.exit_code == plain.exit_code
    assert (result.stdout == "") == (plain.stdout == "")


def failing(monkeypatch: pytest.MonkeyPatch, raised: BaseException, *arguments: str) -> Any:
    """A run whose command raises."""

    @click.command("eval", context_settings={"ignore_unknown_options": True})
    @click.argument("rest", nargs=-1)
    def command(rest: tuple[str, ...]) -> None:  # noqa: ARG001  # takes whatever it is given
        raise raised

    monkeypatch.setattr(main.Commands, "get_command", lambda *_: command)
    return CliRunner().invoke(agrad, ["eval", *arguments])


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (InputError("wrong"), 2),
        (NoGradientError("wrong"), 2),
        (click.UsageError("wrong"), 2),
        (LimitError("wrong"), 3),
        (DeviceError("wrong"), 3),
        (OutputError("wrong"), 3),
        (MemoryError(), 3),
        (OSError(28, "No space left on device"), 3),
        (RecursionError("wrong"), 70),
        (ZeroDivisionError("wrong"), 70),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
    ],
)
@pytest.mark.parametrize("arguments", [[], ["--format", "json"]])
def test_exit_codes(monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: int, arguments: list[str]) -> None:
    """Each kind of exception has its exit code, whatever the format, and shows no traceback."""
    result = failing(monkeypatch, raised, *arguments)
    assert result.exit_code == code
    assert "Traceback" not in result.output
    if arguments and code < 100:
        assert json.loads(result.stdout)["error"]["message"]
    else:
        assert result.stdout == ""


def test_bug_is_one_line_and_traceback_shows_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug says what it is in one line; --traceback shows where."""
    result = failing(monkeypatch, ZeroDivisionError("first\nsecond"))
    assert result.stderr == "a bug of agrad: ZeroDivisionError: first (--traceback shows where)\n"
    assert "Traceback (most recent call last)" in failing(monkeypatch, ZeroDivisionError("x"), "--traceback").stderr


def test_what_a_bug_says_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    """No control character of an exception's text reaches the terminal, with its traceback or without."""
    for arguments in ([], ["--traceback"]):
        result = failing(monkeypatch, ZeroDivisionError("\x1b[31m\u202ered"), *arguments)
        assert result.exit_code == 70
        assert "\\x1b[31m" in result.stderr
        assert "\x1b" not in result.stderr
        assert "\u202e" not in result.stderr


class Wordless(Exception):  # noqa: N818  # what a bug raises may be called anything
    """An exception that cannot be written."""

    def __str__(self) -> str:
        raise ZeroDivisionError("no words")


@pytest.mark.parametrize("arguments", [[], ["--format", "json"], ["--traceback"]])
def test_a_bug_that_cannot_be_told_is_named(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    """Where the report of a bug fails itself, the bug's name and its exit code are left."""
    result = failing(monkeypatch, Wordless(), *arguments)
    assert result.exit_code == 70
    assert "a bug of agrad: Wordless" in result.output
    assert "no words" not in result.output


def test_a_reader_that_goes_while_a_bug_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that closes under the report of a bug ends as any closed pipe does."""

    def gone(_: str) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(main, "write", gone)
    assert failing(monkeypatch, ZeroDivisionError("x"), "--format", "json").exit_code == 141
    assert failing(monkeypatch, OSError(28, "No space left"), "--format", "json").exit_code == 141
