"""`agrad devices`: what there is of CUDA here, and how to get what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from agrad.engine.run.cuda.status import Device, Status

FORMATS: Final = ("table", "json")
_GIB: Final = 2**30


@click.command(
    "devices",
    short_help="Where agrad can compute here.",
    epilog="""\b
Examples:
  agrad devices
  agrad devices --format json
""",
)
@click.option("--format", "format_", type=click.Choice(FORMATS), default="table", help="[default: table]")
@click.option("--traceback", is_flag=True, help="Show where a bug of agrad is.")
def command(format_: str, traceback: bool) -> None:  # noqa: ARG001  # main reads traceback
    """List the devices for --device, with CuPy and the driver; for each thing missing, one line says how to get it."""
    from agrad.engine.run.cuda.status import status

    from ..screen import write, write_lines

    found = status()
    if format_ == "json":
        from ..render.json import json_text

        write(json_text(devices_json(found)))
    else:
        write_lines(devices_lines(found))


def devices_json(found: Status) -> dict[str, Any]:
    """The devices and what they need, as data."""
    from agrad.engine.report import SCHEMA_VERSION

    return {
        "schema_version": SCHEMA_VERSION,
        "usable": found.missing is None,
        "parts": [
            {"name": part.name, "there": part.there, "found": part.found, "hint": part.hint or None}
            for part in found.parts
        ],
        "devices": [
            {"device": "cpu"},
            *[{"device": f"cuda:{device.number}"} | _facts(device) for device in found.devices],
        ],
    }


def _facts(device: Device) -> dict[str, Any]:
    return {
        "name": device.name,
        "compute_capability": device.compute_capability,
        "memory": device.memory,
        "free": device.free,
    }


def devices_lines(found: Status) -> list[str]:
    """The devices and what they need, as lines of text."""
    from ..render.text import escaped

    lines = ["cpu      usable"]
    for device in found.devices:
        usable = "usable" if found.missing is None else "not usable"
        memory = f"{device.free / _GIB:.1f} of {device.memory / _GIB:.1f} GiB free"
        capability = f"compute capability {device.compute_capability}"
        lines.append(
            f"cuda:{device.number:<4}{usable}: {escaped(device.name, ascii_only=True)}, {capability}, {memory}"
        )
    if not found.devices:
        lines.append("cuda     not usable")
    lines.append("")
    width = max(len(part.name) for part in found.parts) + 2
    for part in found.parts:
        lines.append(f"{part.name:<{width}}{escaped(part.found, ascii_only=True)}")
        if part.hint:
            lines.append(f"{'':<{width}}to get it: {part.hint}")
    return lines
