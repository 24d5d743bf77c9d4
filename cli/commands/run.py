"""`agrad run`: runs a short PyTorch script, without PyTorch."""

from __future__ import annotations

import click


@click.command(
    "run",
    short_help="Run a short PyTorch script, without PyTorch.",
    epilog="""\b
Examples:
  agrad run notes.py
  agrad run --trace notes.py
  echo "import torch; print(torch.ones(2))" | agrad run -
""",
)
@click.option("--traceback", is_flag=True, help="Show where a bug of agrad is.")
@click.option("--trace", is_flag=True, help="After each statement show the tensors that it changed, on stderr.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True, max=3600),
    default=10.0,
    metavar="SECONDS",
    help="How long it may run. [default: 10]",
)
@click.argument("file", metavar="FILE|-")
def command(file: str, timeout: float, trace: bool, traceback: bool) -> int:
    """Run the script FILE (`-` is the standard input): Python's statements over agrad's tensors.

    It imports nothing and reaches no files: `import torch` and a few more names bind what agrad has of them. Whatever
    is not on the list of what is run is refused before anything runs.
    """
    from ..snippet import run

    return run(file, timeout=timeout, trace=trace, traceback=traceback)
