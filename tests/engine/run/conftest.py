"""What the tests of plans share: texts differentiated, planned, and run in small blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import agrad.engine.ops  # noqa: F401  # fills the table
from agrad.engine.errors import Source
from agrad.engine.gradient import gradients
from agrad.engine.graph import Node, leaf
from agrad.engine.language import build
from agrad.engine.run import blocks
from agrad.engine.run.cpu import run
from agrad.engine.run.plan import fused_plan, make_plan
from agrad.engine.run.steps import Plan, RunStep

Targets = Callable[..., list[Node]]


def _targets(text: str, *, wrt: str = "", **inputs: Any) -> list[Node]:
    arrays = {name: np.asarray(value)[()] for name, value in inputs.items()}
    floats = wrt.split() or [name for name, value in arrays.items() if value.dtype.kind in "fc"]
    formulas = build(Source(text), inputs=arrays, wrt=floats)
    last = formulas.names[formulas.last]
    if not last.requires_grad:
        return [last]
    found = gradients([last], [leaf(np.ones(last.shape, last.dtype)[()])])
    leaves = [formulas.wrt[name] for name in floats]
    return [last, *[found[node] for node in leaves if node in found]]


@pytest.fixture(scope="session")
def targets_of() -> Targets:
    """Gives the value of a text's last name and its gradients by the inputs named in `wrt` (all floats), as nodes."""
    return _targets


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few rows."""
    monkeypatch.setattr(blocks, "WORKING_BYTES", 160)
    monkeypatch.setattr(blocks, "LONG", 1)


@pytest.fixture(scope="session")
def both() -> Callable[[Sequence[Node]], tuple[list[Any], list[Any]]]:
    """Gives the values of nodes twice: by fused runs, and by single kernels."""

    def both_of(nodes: Sequence[Node]) -> tuple[list[Any], list[Any]]:
        fused = run(fused_plan(nodes, least=2, lowers_from=2))
        plain = run(make_plan(nodes, fuse=False))
        return [np.asarray(fused[node]) for node in nodes], [np.asarray(plain[node]) for node in nodes]

    return both_of


@pytest.fixture(scope="session")
def runs_of() -> Callable[[Plan], list[dict[str, Any]]]:
    """Gives what the runs of a plan read, do, write and reduce to, by the names of ops."""

    def described(plan: Plan) -> list[dict[str, Any]]:
        return [
            {
                "lead": step.run.lead,
                "reads": [operand.value.name or operand.value.op.name for operand in step.run.inputs],
                "ops": [value.op.name for value in step.run.members],
                "writes": [value.op.name for value in step.run.outputs],
                "reduces": [value.op.name for value in step.run.endings],
            }
            for step in plan.steps
            if isinstance(step, RunStep)
        ]

    return described
