"""Each row on complex numbers: its rule against difference quotients along the real and the imaginary axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from agrad.engine.errors import AgradError, Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Example, Node, Op, Outputs, leaf, make
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate

ROWS = sorted(
    {op for op in TABLE.values() if op.family != "cotangent" and not op.real and op.name != "float"},  # it is float32
    key=lambda op: op.name,
)
STEP = 1e-6
TOLERANCE = 1e-5


def _weighted(nodes: list[Node], weights: Mapping[Node, Any], values: Mapping[Node, Any]) -> float:
    return sum(float(np.sum((np.conj(weights[node]) * np.asarray(values[node])).real)) for node in nodes)


def _disagreement(example: Example) -> float:
    """How far the gradients of a weighted sum of all results lie from difference quotients, beside their size."""
    random = np.random.default_rng(3)
    given = {}
    for name, shape in example.inputs.items():
        low, high = example.within.get(name, (-3.0, 3.0))
        given[name] = np.asarray(random.uniform(low, high, shape) + 1j * random.uniform(-0.4, 0.4, shape))
    formulas = build(
        Source(f"out = {example.form}"), inputs={name: x[()] for name, x in given.items()}, wrt=list(given)
    )
    out = formulas.names["out"]
    nodes = [node for node in (out.nodes if isinstance(out, Outputs) else [out]) if node.requires_grad]
    if not nodes:
        return 0.0
    weights = {
        node: np.full(node.shape, 1 + 0.5j if node.dtype.kind == "c" else 1).astype(node.dtype) for node in nodes
    }
    found = gradients(nodes, [leaf(weights[node][()]) for node in nodes])
    worst = 0.0
    for name, x in given.items():
        variable = formulas.names[name]
        slope = np.zeros(x.shape, complex)
        for place in np.ndindex(x.shape):
            for unit in (1, 1j):
                ends = []
                for step in (STEP, -STEP):
                    moved = x.copy()
                    moved[place] += step * unit
                    ends.append(_weighted(nodes, weights, evaluate(nodes, {variable: moved[()]})))
                slope[place] += unit * (ends[0] - ends[1]) / (2 * STEP)
        got = evaluate([found[variable]])[found[variable]] if variable in found else 0.0
        scale = max(1.0, float(np.max(np.abs(slope), initial=0.0)))
        worst = max(worst, float(np.max(np.abs(got - slope), initial=0.0)) / scale)
    return worst


@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in ROWS])
def test_gradients_of_complex_numbers(op: Op) -> None:
    """A row that takes complex numbers has the gradient that PyTorch defines, along both axes of the plane."""
    for example in op.examples:
        try:
            worst = _disagreement(example)
        except AgradError:
            continue
        assert worst < TOLERANCE, example.form


def test_most_rows_are_looked_at() -> None:
    """Rows that refuse complex numbers are the fewer ones."""
    taken = 0
    for op in ROWS:
        try:
            build(
                Source(f"out = {op.examples[0].form}"),
                inputs={name: np.full(shape, 0.5 + 0.25j)[()] for name, shape in op.examples[0].inputs.items()},
            )
        except AgradError:
            continue
        taken += 1
    assert taken > len(ROWS) // 2


def test_a_rule_without_its_conjugate_is_found() -> None:
    """The comparison objects to a rule that is right for real numbers only."""
    row = TABLE["square"]
    honest = row.slopes
    object.__setattr__(row, "slopes", (lambda x, _y: 2.0 * make.conj(x),))
    try:
        assert _disagreement(row.examples[0]) > TOLERANCE
    finally:
        object.__setattr__(row, "slopes", honest)
    assert _disagreement(row.examples[0]) < TOLERANCE
