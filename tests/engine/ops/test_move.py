"""Rows that only move entries are linear: what flows back is the transpose of what flows forward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrad.engine.errors import Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Example, Node, Outputs, leaf
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate

CASES = [
    pytest.param(example, id=f"{op.name}: {example.form}")
    for op in sorted(set(TABLE.values()), key=lambda op: op.name)
    if op.family in ("shape", "index") and op.domain.endswith("linear")
    for example in op.examples
]


def forward(example: Example, inputs: dict[str, Any]) -> tuple[Node, dict[str, Node]]:
    """The first result of an example at a point, and its leaves."""
    formulas = build(Source(f"out = {example.form}"), inputs=inputs, wrt=list(inputs))
    out = formulas.names["out"]
    return out.nodes[0] if isinstance(out, Outputs) else out, formulas.wrt


def test_most_rows_of_the_families_are_tried() -> None:
    """The cases below are not empty by accident."""
    assert len(CASES) > 60


@pytest.mark.parametrize("example", CASES)
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_backward_is_the_transpose_of_forward(example: Example, seed: int) -> None:
    """For any x and g, the product of g with the result is that of the gradient with x (results at 0 taken off)."""
    random = np.random.default_rng(seed)
    point = {name: random.uniform(-3, 3, shape) for name, shape in example.inputs.items()}
    still = {name: np.zeros(shape) for name, shape in example.inputs.items()}
    out, leaves = forward(example, point)
    g = random.standard_normal(out.shape)
    flowing = gradients([out], [leaf(np.asarray(g)[()])])
    back = sum(np.sum(evaluate([flowing[x]])[flowing[x]] * point[name]) for name, x in leaves.items() if x in flowing)
    rest = forward(example, still)[0]
    ahead = np.sum(g * (evaluate([out])[out] - evaluate([rest])[rest]))
    assert back == pytest.approx(ahead, rel=1e-12, abs=1e-12)
