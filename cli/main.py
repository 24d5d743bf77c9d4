"""The command `agrad`: its group, and the one place that turns an exception into text and an exit code."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, Final, NoReturn

import click

from agrad.engine.errors import AgradError, InputError, LimitError

from .screen import never_crash_on_characters, write

BUG: Final = 70
INTERRUPTED: Final = 130
CLOSED_PIPE: Final = 141

COMMANDS: Final = ("check", "derive", "devices", "diff", "eval", "ops", "run")

EPILOG: Final = """\b
Exit codes, the same for every format:
  0    done, and nothing disagreed
  1    a referee disagreed with a gradient, or a claim or a lock was wrong
  2    the command line or the input is wrong
  3    a limit, a device or an output failed
  70   a bug of agrad (--traceback shows where)
  130  interrupted
  141  the reader of the output has gone

\b
Example:
  agrad eval -e "z = x**2 + y" --at "x=1, y=2" --wrt x,y
"""


class Commands(click.Group):
    """Commands that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        """The command of a name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f".commands.{cmd_name}", __package__).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name; where they name none, the error says what to write."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from agrad.engine.language.names import nearest

            hint = nearest(name, COMMANDS) or f"the commands are: {', '.join(COMMANDS)}"
            if os.path.exists(name):  # noqa: PTH110  # pathlib is not needed for anything else here
                folder = os.path.isdir(name)  # noqa: PTH112
                hint = f"write: agrad {'check' if folder else 'run' if name.endswith('.py') else 'eval'} {name}"
            raise InputError(f"there is no command {name}", hint=hint, code="usage")
        return super().resolve_command(ctx, args)

    def main(  # type: ignore[override]  # click declares overloads for standalone_mode, which is always on here
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run and exit: every way of ending passes through here."""
        for name in ("complete_var", "standalone_mode", "windows_expand_args"):
            extra.pop(name, None)
        arguments = list(sys.argv[1:] if args is None else args)
        never_crash_on_characters()
        try:
            code = self._refused(arguments, prog_name or "agrad", extra)
        except BrokenPipeError:
            code = CLOSED_PIPE
        except Exception as bug:  # whatever else comes here is a bug of agrad
            code = _report_bug(bug, arguments)
        sys.exit(code)

    def _refused(self, arguments: list[str], name: str, extra: dict[str, Any]) -> int:
        """Run; what the system refuses is told."""
        try:
            code = self._run(arguments, name, extra)
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as fault:  # a full disk, no more processes
            return _report(LimitError(f"the system refuses: {fault.strerror or fault}", code="system"), arguments)
        return code

    def _run(self, arguments: list[str], name: str, extra: dict[str, Any]) -> int:
        try:
            with self.make_context(name, arguments, **extra) as context:
                return self.invoke(context) or 0
        except click.exceptions.Exit as ending:
            return ending.exit_code
        except AgradError as error:
            return _report(error, arguments)
        except click.ClickException as error:
            if not arguments:  # this error is the help itself
                complain(error.format_message())
                return error.exit_code
            return _report(_from_click(error), arguments)
        except MemoryError:
            return _report(LimitError("out of memory", code="memory"), arguments)
        except (KeyboardInterrupt, click.Abort):
            complain("interrupted")
            return INTERRUPTED


def _from_click(error: click.ClickException) -> InputError:
    context = getattr(error, "ctx", None)
    hint = f"see {context.command_path} --help" if context is not None else ""
    return InputError(error.format_message(), hint=hint, code="usage")


def _report(error: AgradError, arguments: Sequence[str]) -> int:
    """Say an error on stderr, or as JSON on stdout where that format was asked for; gives the exit code."""
    if _wants_json(arguments):
        from agrad.engine.report import error_as_json

        from .render.json import json_text

        _write_json(json_text(error_as_json(error)))
    else:
        from agrad.engine.language.diagnostics import render

        complain(render(error))
    return error.exit_code


def _report_bug(bug: Exception, arguments: Sequence[str]) -> int:
    """Say that agrad has a bug; whatever goes wrong in saying so, the exit code remains."""
    try:
        _say_bug(bug, arguments)
    except BrokenPipeError:
        return CLOSED_PIPE
    except Exception:  # the bug may lie in what it is said with
        complain(f"a bug of agrad: {type(bug).__name__}")
    return BUG


def _say_bug(bug: Exception, arguments: Sequence[str]) -> None:
    from .render.text import escaped

    what = escaped(str(bug).split("\n", 1)[0])
    message = f"a bug of agrad: {type(bug).__name__}{': ' if what else ''}{what}"
    if _wants_json(arguments):
        from .render.json import json_text

        _write_json(json_text({"schema_version": 1, "error": {"code": "bug", "message": message}}))
    else:
        complain(message + ("" if "--traceback" in arguments else " (--traceback shows where)"))
    if "--traceback" in arguments and sys.stderr is not None:
        import traceback

        lines = "".join(traceback.format_exception(bug)).split("\n")
        complain("\n".join([escaped(line) for line in lines]))


def _write_json(text: str) -> None:
    try:
        write(text)
    except AgradError as failure:  # stdout cannot be written: stderr is left
        complain(f"error: {failure.message}")


def complain(text: str) -> None:
    """Write a line to stderr, if there is one."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # nobody is left to be told
            sys.stderr.write(text.rstrip("\n") + "\n")
            sys.stderr.flush()


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether the arguments ask for JSON, as far as can be told where they may be wrong."""
    return "--format=json" in arguments or ("--format", "json") in pairwise(arguments)


def _show_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            write(f"agrad {version('agrad')}\n")
        except PackageNotFoundError:
            write("agrad, run from its source\n")
        context.exit()


@click.group(
    cls=Commands,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A gradient calculator: PyTorch's autograd, with every gradient checked by independent referees.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def agrad() -> None:
    """The group; each command stands in a module of its own."""


def main() -> NoReturn:
    """The console entry."""
    # A run is short and its graph has no cycles: collecting garbage would only walk over it again and again.
    gc.disable()
    try:
        agrad.main()
    except SystemExit as ending:
        # Nothing is left to be written. Taking the graph and all modules apart, object by object, would cost a fifth of
        # the time of a run; the process gives everything back at once.
        os._exit(ending.code if isinstance(ending.code, int) else BUG)
