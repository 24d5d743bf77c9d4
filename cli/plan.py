"""`agrad eval --plan`: what would be computed, in which steps, with what memory: nothing is run."""

from __future__ import annotations

from typing import Any

from agrad.engine.errors import AgradError
from agrad.engine.evaluation.evaluate import chosen_outputs
from agrad.engine.evaluation.planned import planned

from .evaluation import Request
from .options import names
from .reading import read_formulas, weight_of
from .screen import standard_screen, write, write_lines


def write_plan(request: Request) -> int:
    """Write the plan of a text; gives the exit code."""
    formulas = read_formulas(request)
    try:
        outputs = chosen_outputs(formulas, names(request.outputs, "--output"))
        weights = [weight_of(text, formulas) for text in request.grad_tensors]
        plan = planned(formulas, outputs, weights, retain_grad=request.retain_grad)
    except AgradError as error:
        error.source = error.source or formulas.source
        raise
    head: dict[str, Any] = {"schema_version": 1, "file": formulas.source.name, "wrt": list(formulas.wrt)}
    if request.format_ == "json":
        from .render.json import json_text

        write(json_text({**head, "outputs": list(outputs), "plan": plan}))
    else:
        from .render.plan import plan_lines

        write_lines(plan_lines(plan, standard_screen(ascii_only=request.ascii_only)))
    return 0
