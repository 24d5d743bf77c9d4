"""`agrad ops`: the reference of the ops, from the table."""

from __future__ import annotations

import click

from agrad.engine.errors import InputError

FORMATS = ("table", "json", "markdown")


@click.command(
    "ops",
    short_help="The ops: what they are called, and their derivatives.",
    epilog="""\b
Examples:
  agrad ops
  agrad ops log1p
  agrad ops --search "cross entropy"
  agrad ops torch.linalg.solve --format json
""",
)
@click.argument("name", required=False)
@click.option("--family", metavar="NAME", help="Only the ops of one family.")
@click.option("--search", metavar="WORD", help="Only the ops with these words in a name, a form or the sentence.")
@click.option("--all", "hidden", is_flag=True, help="Also the ops that only derivatives are made of.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="table", help="[default: table]")
@click.option("--ascii", "ascii_only", is_flag=True, help="Write ASCII characters only.")
@click.option("--traceback", is_flag=True, help="Show where a bug of agrad is.")
def command(
    name: str | None,
    family: str | None,
    search: str | None,
    hidden: bool,
    format_: str,
    ascii_only: bool,
    traceback: bool,  # noqa: ARG001  # main reads it
) -> None:
    """List the ops by family, or show all that is known of the op NAME: its forms, rule, domain, kinks and an example.

    NAME is any spelling of it: log1p, torch.log1p, F.relu, x.sum, linalg.solve, or an operator such as "**".
    """
    if name is not None and (family is not None or search is not None):
        raise InputError("give a NAME, or --family and --search", code="usage")
    import agrad.engine.ops  # noqa: F401  # fills the table
    from agrad.engine.reference.page import named, reference, rows

    from ..render import reference as drawn
    from ..screen import standard_screen, write, write_lines

    screen = standard_screen(ascii_only=ascii_only)
    found = [named(name)] if name is not None else rows(family=family, search=search, hidden=hidden)
    if not found:
        raise InputError(f"no op has the words {search!r}", hint="agrad ops lists them all", code="usage")
    if format_ == "json":
        from ..render.json import json_text

        write(json_text(drawn.entry_json(reference(found[0])) if name is not None else drawn.list_json(found)))
    elif format_ == "markdown":
        write_lines(drawn.page([reference(op) for op in found], whole=name is None))
    else:
        write_lines(
            drawn.entry_lines(reference(found[0]), screen) if name is not None else drawn.list_lines(found, screen)
        )
