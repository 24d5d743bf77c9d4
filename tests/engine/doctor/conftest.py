"""Texts evaluated for the doctor."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agrad.engine.errors import Source
from agrad.engine.evaluation.evaluate import Evaluation, chosen_outputs, evaluate
from agrad.engine.evaluation.outputs import Weight
from agrad.engine.language import Formulas, build

Run = Callable[..., tuple[Formulas, Evaluation]]


@pytest.fixture
def run() -> Run:
    """A text evaluated as `agrad eval` does; weights of ones where its output is no number."""

    def evaluated(text: str, output: str | None = None, wrt: list[str] | None = None) -> tuple[Formulas, Evaluation]:
        formulas = build(Source(text, "f.txt"), wrt=wrt)
        outputs = chosen_outputs(formulas, [] if output is None else [output])
        weights = [Weight(None, None)] if any(node.shape for node in outputs.values()) else []
        return formulas, evaluate(formulas, outputs, weights)

    return evaluated
