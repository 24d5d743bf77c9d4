"""`agrad derive`: derivatives in closed form."""

from __future__ import annotations

from typing import Any

import click

from agrad.engine.worker.process import Worker

from ..options import text_options

FORMATS = ("text", "unicode", "latex", "python", "json")


@click.command(
    "derive",
    short_help="Derivatives in closed form: text, Unicode, LaTeX, Python.",
    epilog="""\b
Examples:
  agrad derive formulas.txt --wrt x,y
  agrad derive -e "z = log(1 + exp(-x*y))" --at "x=1, y=2" --format latex
  agrad derive -e "z = x**2 * y" --at "x=1, y=2" --order 2
""",
)
@text_options
@click.option("--wrt", multiple=True, metavar="x,y", help="With respect to what: leaves or other nodes.")
@click.option("--output", "outputs", multiple=True, metavar="NAME", help="What to differentiate. [default: last]")
@click.option(
    "--order",
    type=click.IntRange(min=1, max=8),
    default=1,
    metavar="N",
    help="Orders 1 to N. [default: 1]",
)
@click.option("--dtype", type=click.Choice(("float64", "float32")), default="float64", help="Of all floats.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", help="[default: text]")
@click.option("--simplify/--no-simplify", default=True, help="Look for shorter forms. [default: on]")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True, max=3600),
    default=10.0,
    metavar="N",
    help="How long SymPy may take. [default: 10]",
)
@click.option("--ascii", "ascii_only", is_flag=True, help="Write ASCII characters only.")
@click.option("--traceback", is_flag=True, help="Show where a bug of agrad is.")
def command(traceback: bool, **options: Any) -> int:  # noqa: ARG001  # main reads traceback
    """Show each derivative of the formulas in FILE (`-` is the standard input) in closed form, by SymPy.

    Each form is evaluated at the file's point with 50 digits and held against agrad's gradient. The text is in the
    language of the files. Exit code 1: a form and a gradient disagree; 3: there is no form for one of them.
    """
    with Worker("agrad.engine.closed_forms.child") as worker:
        # NumPy and the engine are imported while the worker imports SymPy.
        from ..derivation import Request, run

        return run(Request(**options), worker)
