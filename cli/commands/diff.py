"""`agrad diff`: whether two files of formulas say the same."""

from __future__ import annotations

from typing import Any

import click

from agrad.engine.errors import InputError


@click.command(
    "diff",
    short_help="Whether two files have the same values and gradients.",
    epilog="""\b
Examples:
  agrad diff old.txt new.txt
  agrad diff naive.txt stable.txt --output loss --wrt w
""",
)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option(
    "--output", "outputs", multiple=True, metavar="NAME", help="What to compare; OLD=NEW for other names. [last]"
)
@click.option("--all", "everything", is_flag=True, help="Compare all names that both files compute.")
@click.option("--wrt", multiple=True, metavar="x,y", help="Leaves to differentiate by. [default: all that both have]")
@click.option("--at", multiple=True, metavar='"x=1, y=[1,2]"', help="Values of leaves, in both files.")
@click.option("--points", type=click.IntRange(min=1), default=100, help="At how many points. [default: 100]")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the points at random. [default: 0]")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0, min_open=True),
    metavar="T",
    help="How far they may differ. [not at all]",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True, max=3600),
    default=5.0,
    help="For each value and gradient. [default: 5]",
)
@click.option("--format", "format_", type=click.Choice(("table", "json")), default="table", help="[default: table]")
@click.option("--ascii", "ascii_only", is_flag=True, help="Write ASCII characters only.")
@click.option("--traceback", is_flag=True, help="Show where a bug of agrad is.")
def command(old: str, new: str, traceback: bool, **options: Any) -> int:  # noqa: ARG001  # main reads traceback
    """Compare the outputs of the files OLD and NEW, and their gradients by the leaves that both have.

    They are equal if they are so as mathematics for all values of these leaves in their domains (`x in (0, inf)` in
    either file declares one); the values in OLD come first. Where they differ, the simplest values that show it are
    written, and the exit code is 1.
    """
    if options["everything"] and options["outputs"]:
        raise InputError("give --output, or --all", code="usage")
    from agrad.engine.worker.process import Worker

    with Worker("agrad.engine.claims.child") as worker:
        # NumPy and the engine are imported while the worker imports SymPy.
        from ..difference import run

        return run(old, new, worker=worker, **options)
