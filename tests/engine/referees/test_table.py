"""Every op of the table before every referee: each confirms its rule, or says why it cannot."""

from __future__ import annotations

from typing import Any, Final
from zlib import crc32

import numpy as np
import pytest

from agrad.engine.gradient import gradients
from agrad.engine.graph import TABLE, Example, Op, leaf
from agrad.engine.referees import Case, differences, precise, symbolic
from agrad.engine.referees.alone import op_cases
from agrad.engine.referees.blame import examined
from agrad.engine.reference.worked import sample
from agrad.engine.run.cpu import evaluate
from agrad.engine.worker.budget import Budget

NO_DERIVATIVE: Final = {
    "arange", "as_tensor", "detach", "eye", "float", "full", "linspace", "logspace", "long", "normal", "one_hot",
    "ones", "rand", "randint", "randn", "randperm", "slogdet.sign", "tensor", "zeros",
}  # fmt: skip
"""Differentiable in PyTorch's sense, but nothing of a leaf's goes through the example."""
UNCHANGED: Final = {"double", "positive", "to"}
"""They give back what they are given: no node is made."""
NO_CLOSED_FORM: Final = {
    "linalg.cond", "linalg.eigh", "linalg.eigvalsh", "linalg.svd", "linalg.svdvals", "matrix_exp", "svd",
}  # fmt: skip
CONSTANT: Final = {
    "angle", "ceil", "div_floor", "div_trunc", "floor", "round", "round.decimals", "sgn", "sign", "trunc", "zeros_like",
}  # fmt: skip
"""Flat wherever they are smooth."""


def case_of(example: Example) -> Case | None:
    """The gradient of a random weighted sum of an example's results; None where nothing is differentiable."""
    found = sample(example)
    outputs = list(found.differentiable.values())
    random = np.random.default_rng(crc32(example.form.encode()))
    weights: list[Any] = []
    for output in outputs:
        weight = random.uniform(0.5, 1.5, output.shape)
        if output.dtype.kind == "c":
            weight = weight + 1j * random.uniform(0.5, 1.5, output.shape)
        weights.append(np.asarray(weight).astype(output.dtype)[()])
    by_node = gradients(outputs, [leaf(weight) for weight in weights])
    reached = {name: node for name, node in found.leaves.items() if node in by_node}
    values = evaluate([by_node[node] for node in reached.values()])
    given = {name: values[by_node[node]] for name, node in reached.items()}
    return Case(outputs, weights, dict(found.leaves), given) if outputs else None


ROWS: Final = sorted({op for op in TABLE.values() if op.differentiable and op.examples}, key=lambda op: op.name)
SMOOTH: Final = [op for op in ROWS if op.examples[0].inputs and op.examples[0].orders > 0]


def test_who_has_nothing_to_judge() -> None:
    """The rows without a derivative are those that are known to have none."""
    assert {op.name for op in ROWS} - {op.name for op in SMOOTH} == NO_DERIVATIVE
    assert {op.name for op in SMOOTH if case_of(op.examples[0]) is None} == UNCHANGED
    assert len(SMOOTH) > 400


@pytest.mark.parametrize("op", [op for op in SMOOTH if op.name not in UNCHANGED], ids=lambda op: op.name)
def test_each_referee_confirms_or_says_why_not(op: Op) -> None:
    """mpmath confirms all; SymPy all but complex numbers and decompositions; differences all that are not flat."""
    case = case_of(op.examples[0])
    assert case is not None
    judgement = precise.judge(case, Budget(seconds=20.0))
    assert judgement.verdict == "agree", judgement
    assert judgement.digits is not None
    assert judgement.digits >= 11
    judgement = symbolic.judge(case, Budget(seconds=20.0))
    if op.name in NO_CLOSED_FORM:
        assert judgement.verdict == "cannot judge"
        assert "no closed form" in str(judgement.reason)
    elif judgement.verdict != "agree":
        assert (judgement.verdict, judgement.reason) == (
            "cannot judge",
            "complex numbers are not expanded to symbols",
        )
    judgement = differences.judge(case, Budget(seconds=20.0))
    wanted = "cannot judge" if op.name in CONSTANT else "agree"
    assert judgement.verdict == wanted, judgement


@pytest.mark.parametrize("op", SMOOTH[::8], ids=lambda op: op.name)
def test_no_right_op_is_blamed(op: Op) -> None:
    """Looked at one by one, the nodes of an example have the values and the rules that their formulas say."""
    case = case_of(op.examples[0])
    if op.name in UNCHANGED:
        assert case is None
    else:
        assert case is not None
        cases = [op_case for _, op_case in op_cases(case) if op_case is not None]
        assert examined(cases, Budget(seconds=20.0), case).wrong is None
