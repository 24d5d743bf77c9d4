"""`agrad eval`: values and gradients of the formulas in a file."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from ..options import (
    doctor_options,
    gradient_options,
    matrix_options,
    require_device,
    result_options,
    running_options,
    text_options,
)
from ..running import running

if TYPE_CHECKING:
    from agrad.engine.referees import RefereeProcess


@click.command(
    "eval",
    short_help="Values and gradients of formulas, checked.",
    epilog="""\b
Examples:
  agrad eval formulas.txt --wrt x,y
  agrad eval -e "y = sin(x) * [1, 2]" --at x=0.5 --grad-tensors ones
""",
)
@text_options
@gradient_options
@matrix_options
@doctor_options
@running_options
@result_options
def command(
    check: bool,
    device: str,
    plan: bool,
    max_memory: str | None,
    traceback: bool,  # noqa: ARG001  # main reads it
    **options: Any,
) -> int:
    """Show each node of the formulas in FILE (`-` is the standard input) with its value and gradient."""
    device = require_device(device)
    with referee_process(check and not plan) as process, running(max_memory):
        # NumPy and the engine are imported while the referees' process imports SymPy.
        from ..evaluation import Request, run

        request = Request(device=device, **options)
        if plan:
            from ..plan import write_plan

            return write_plan(request)
        return run(request, process)


def referee_process(wanted: bool) -> AbstractContextManager[RefereeProcess | None]:
    """The referees' process, started before there is a case for it: its imports take longer than all else."""
    if not wanted:
        return nullcontext()
    from agrad.engine.referees import RefereeProcess

    return RefereeProcess()
