"""`agrad check`: every gradient and every claim of many files, for CI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from ..options import require_device

if TYPE_CHECKING:
    from agrad.engine.checking.policy import Policy

REFEREES: Final = ("sympy", "mpmath", "differences")
FORMATS: Final = ("table", "json", "jsonl", "junit", "github", "sarif")


@click.command(
    "check",
    short_help="Every gradient and claim of files, for CI.",
    epilog="""\b
Exit codes:
  0  nothing disagreed
  1  a gradient disagreed, a claim was refuted, or a lock has another number
  2  none of that, but a file cannot be read
  3  none of that, but a limit was reached

\b
A file can say how it is checked, on comment lines of its own:
  # check: --data exam.csv --wrt w,b

\b
Examples:
  agrad check samples/
  agrad check formulas.txt --format github
  agrad check formulas/ --lock gradients.lock
""",
)
@click.argument("files", nargs=-1, required=True, metavar="FILES|FOLDERS|-...")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out files and folders: *.draft.txt, old.")
@click.option("--output", "outputs", multiple=True, metavar="NAME", help="Judge only these. [default: every result]")
@click.option("--wrt", multiple=True, metavar="x,y", help="With respect to what: leaves or other nodes.")
@click.option("--at", multiple=True, metavar='"x=1, y=[1,2]"', help="Values that override those of the files.")
@click.option("--data", multiple=True, metavar="[NAME=]FILE", help="Values of inputs: .npz, .npy, .csv, .json.")
@click.option("--grad-tensors", multiple=True, metavar="V", help="Weights of outputs. [default: random, seeded]")
@click.option("--dtype", type=click.Choice(("float64", "float32")), help="Of all floats. [default: float64]")
@click.option("--referee", "referees", multiple=True, type=click.Choice(REFEREES), help="Ask only these.")
@click.option(
    "--device", default="cpu", metavar="cpu|cuda[:N]|auto", help="Where to compute; another is compared with the CPU."
)
@click.option("--against", multiple=True, type=click.Choice(("torch",)), help="Run the same graph in PyTorch too.")
@click.option("--digits", type=click.IntRange(1, 16), metavar="N", help="Fewer right digits than N are a failure.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0, max=1),
    metavar="R",
    help="Relative difference at which numbers of claims and of the lock are equal.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    metavar="N",
    help="Of random weights and points. [default: 0]",
)
@click.option("--points", type=click.IntRange(1, 100_000), metavar="N", help="At how many points claims are tried.")
@click.option(
    "--seconds",
    type=click.FloatRange(0, 3600, min_open=True),
    metavar="S",
    help="For a gradient or claim. [default: 5]",
)
@click.option(
    "--jobs", "-j", type=click.IntRange(1, 256), metavar="N", help="How many at once. [default: cores, up to 8]"
)
@click.option("--fail-fast", is_flag=True, help="Stop after the first file with a failure.")
@click.option("--strict-kinks", is_flag=True, help="A kink is a failure.")
@click.option("--strict", is_flag=True, help="What cannot be judged is a failure.")
@click.option("--lock", metavar="FILE", help="Compare with the numbers in FILE; write it where it is missing.")
@click.option("--update-lock", is_flag=True, help="Write the file of --lock anew.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="table", help="[default: table]")
@click.option("--ascii", "ascii_only", is_flag=True, help="Write ASCII characters only.")
@click.option("--traceback", is_flag=True, help="Show where a bug of agrad is.")
def command(
    format_: str,
    ascii_only: bool,
    traceback: bool,  # noqa: ARG001  # main reads it
    **options: Any,
) -> int:
    """Judge every gradient and every claim of the files: of folders, all *.txt in them (`-` is the standard input).

    The gradient of every result is judged by all referees: of each name that nothing else in its file uses, and of
    the last one. A result that is no single number is weighted at random, the same in each run.
    """
    import agrad.engine.ops  # noqa: F401  # fills the table

    from ..check_writer import Writer
    from ..checking import Request, run

    policy = _policy(options)
    return run(Request(policy=policy, **options), Writer(format_, ascii_only=ascii_only))


def _policy(options: dict[str, Any]) -> Policy:
    """Take the options that say how is judged out of the others."""
    from agrad.engine.checking.policy import Policy

    def once(values: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(values))

    given: dict[str, Any] = {name: once(options.pop(name)) for name in ("referees", "against")}
    given["device"] = require_device(options.pop("device"))
    for name in ("digits", "tolerance", "seed", "points", "seconds", "strict", "strict_kinks"):
        value = options.pop(name)
        if value is not None:
            given[name] = value
    return Policy(**given)
