"""The options that commands share, and how their values are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click

from agrad.engine.errors import InputError

FORMATS: Final = ("table", "plain", "json", "csv", "markdown")

_CUDA: Final = re.compile(r"cuda(:[0-9]{1,3})?")

Command = TypeVar("Command", bound=Callable[..., Any])


def text_options(command: Command) -> Command:
    """What is read: a file, lines, values and data."""
    for option in (
        click.option("--data", multiple=True, metavar="[NAME=]FILE", help="Values of inputs: .npz, .npy, .csv, .json."),
        click.option("--at", multiple=True, metavar='"x=1, y=[1,2]"', help="Values that override those of the file."),
        click.option(
            "-e", "--expression", "expressions", multiple=True, metavar="EXPR", help="A line, after those of FILE."
        ),
        click.argument("file", required=False, metavar="[FILE|-]"),
    ):
        command = option(command)
    return command


def gradient_options(command: Command) -> Command:
    """What is differentiated, and how."""
    for option in (
        click.option("--dtype", type=click.Choice(("float64", "float32")), default="float64", help="Of all floats."),
        click.option("--device", default="cpu", metavar="cpu|cuda[:N]|auto", help="Where to compute. [default: cpu]"),
        click.option("--retain-grad", is_flag=True, help="Show the grad of intermediate nodes too."),
        click.option(
            "--grad-tensors",
            multiple=True,
            metavar="V",
            help="Weights of an output that is no scalar, once for each: "
            '"[1, 0.5]", ones, NAME="[1, 2]", a name of the file, @file.npy.',
        ),
        click.option(
            "--output", "outputs", multiple=True, metavar="NAME", help="What to differentiate. [default: last]"
        ),
        click.option("--wrt", multiple=True, metavar="x,y", help="With respect to what: leaves or other nodes."),
    ):
        command = option(command)
    return command


def matrix_options(command: Command) -> Command:
    """What is computed beyond gradients."""
    for option in (
        click.option(
            "--order", type=click.IntRange(min=1), metavar="N", help="Derivatives of orders 1 to N, of numbers."
        ),
        click.option("--hessian", is_flag=True, help="Second derivatives of the output by all pairs of entries."),
        click.option(
            "--jacobian", is_flag=True, help="Derivatives of all entries of outputs by all entries of leaves."
        ),
    ):
        command = option(command)
    return command


def doctor_options(command: Command) -> Command:
    """How strict a kink is judged, and how much is told of what is not finite."""
    for option in (
        click.option("--anomaly", is_flag=True, help="Where a gradient is not finite: the whole way back to the leaf."),
        click.option("--strict-kinks", is_flag=True, help="Exit with 1 at a kink or tie."),
    ):
        command = option(command)
    return command


def running_options(command: Command) -> Command:
    """How it is computed."""
    for option in (
        click.option(
            "--max-memory",
            metavar="SIZE",
            help="Refuse what takes more beside its inputs. [default: 3/4 of what is free]",
        ),
        click.option("--plan", is_flag=True, help="Show the steps, and what they take, and run nothing."),
    ):
        command = option(command)
    return command


def result_options(command: Command) -> Command:
    """How results are written."""
    for option in (
        click.option("--traceback", is_flag=True, help="Show where a bug of agrad is."),
        click.option("--ascii", "ascii_only", is_flag=True, help="Write ASCII characters only."),
        click.option("--check/--no-check", default=True, help="Let the referees check every gradient. [default: on]"),
        click.option("--save", metavar="FILE.npz", help="Write outputs by their names, gradients as grad/NAME."),
        click.option("--full", is_flag=True, help="All digits, and all elements of arrays."),
        click.option("--format", "format_", type=click.Choice(FORMATS), default="table", help="[default: table]"),
    ):
        command = option(command)
    return command


def names(values: Sequence[str], option: str) -> list[str]:
    """The names in values such as `x,y`, without repeats.

    Raises:
        InputError: where one is empty.
    """
    found = [name.strip() for value in values for name in value.split(",")]
    if "" in found:
        raise InputError(f"{option} {','.join(values)!r}: a name is missing", code="usage")
    return list(dict.fromkeys(found))


def require_device(device: str) -> str:
    """The device that is meant, once it is known that it can be used; `auto` says on stderr what it has chosen.

    Raises:
        InputError: where it is no name of a device.
        DeviceError: where it cannot be used here: what is missing, and how to get it.
    """
    if device == "cpu":
        return device
    if device != "auto" and not _CUDA.fullmatch(device):
        raise InputError(f"--device {device}: no such device", hint="write cpu, cuda, cuda:1 or auto", code="usage")
    from agrad.engine.run.cuda import status

    if device == "auto":
        device, reason = status.choose()
        click.echo(reason, err=True)
    else:
        status.require(device)
    return device
