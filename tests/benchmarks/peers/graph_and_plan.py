"""agrad: the text read, the gradient's graph made and planned once, the plan run at each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agrad.engine.derivatives import nodes as derivatives
from agrad.engine.errors import Source
from agrad.engine.evaluation.outputs import cotangents
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node
from agrad.engine.language import build
from agrad.engine.rewrite import rewritten
from agrad.engine.run.cpu import run
from agrad.engine.run.plan import make_plan

from .peer import Prepared, as_arrays

if TYPE_CHECKING:
    from works.work import Inputs, Work


def prepare(work: Work, inputs: Inputs, threads: int) -> Prepared:  # noqa: ARG001  # as many workers as cores are allowed
    """Read, differentiate and plan."""
    targets = _targets(work, inputs)
    plan = make_plan(targets)

    def call() -> list[Any]:
        found = run(plan)
        return [found[target] for target in targets]

    return Prepared(call, as_arrays)


def _targets(work: Work, inputs: Inputs) -> Sequence[Node]:
    """The nodes that are wanted: value and gradients, or the Hessian."""
    dtype = next(array.dtype for array in inputs.values() if array.dtype.kind == "f")
    formulas = build(Source(work.text), inputs=inputs, wrt=work.wrt, dtype=np.dtype(dtype))
    last = formulas.names[formulas.last]
    if work.derivative == "hessian":
        return [derivatives.hessian(last, formulas.wrt[name]) for name in work.wrt]
    output = rewritten([last])[last]
    found = gradients([output], cotangents({formulas.last: output}))
    return [output, *[found[formulas.wrt[name]] for name in work.wrt]]
