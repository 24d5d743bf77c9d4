"""The table validates itself: no row lacks a field that somebody iterates over."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from agrad.engine.errors import Source
from agrad.engine.graph import TABLE, Op, Outputs
from agrad.engine.language import build
from agrad.engine.run.cpu import evaluate

ROWS = sorted(set(TABLE.values()), key=lambda op: op.name)
FAMILIES = {
    "binary", "comparison", "elementwise", "special", "activation", "reduction", "scan", "shape", "index", "linalg",
    "nn.functional", "loss", "creation", "complex", "cotangent", "derivative",
}  # fmt: skip


def every_row(test: object) -> object:
    """Run a test once for each row."""
    return pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in ROWS])(test)


@every_row
def test_words(op: Op) -> None:
    """A row has a one-sentence doc, a family, calling forms, and says its domain and kink convention in words."""
    assert op.doc
    assert op.doc[0].isupper() or not op.doc[0].isalpha() or op.doc[0] in "ex"
    assert op.doc.endswith(".")
    assert op.family in FAMILIES
    assert op.domain
    assert op.kink
    if op.family != "cotangent":
        assert op.forms, "no calling form"


@every_row
def test_numbers(op: Op) -> None:
    """A row that computes has a shape rule, a kernel, a meaning for the referees, and a derivative or says so."""
    if op.infer is None:
        assert op.kernel is None
        return
    assert op.kernel is not None
    assert op.formula is not None
    if op.grad_fn and op.differentiable:
        assert (op.slopes is None) != (op.rule is None), "either slopes or a rule"
    if op.elementwise:
        assert op.c is not None, "an elementwise row has C text"
    if op.grad_fn and isinstance(op.grad_fn, str):
        assert re.fullmatch(r"[A-Z]\w*Backward\d" if op.differentiable else "NotImplemented", op.grad_fn)


@every_row
def test_examples_run(op: Op) -> None:
    """The examples of a row parse, run, and give the shape and dtype that were inferred."""
    if op.family == "cotangent":
        return
    assert op.examples, "no example"
    random = np.random.default_rng(7)
    for example in op.examples:
        inputs = {}
        for name, shape in example.inputs.items():
            low, high = example.within.get(name, (-3.0, 3.0))
            assert math.isfinite(low)
            assert low < high
            inputs[name] = np.asarray(random.uniform(low, high, shape))[()]
        formulas = build(Source(f"out = {example.form}"), inputs=inputs, wrt=list(inputs))
        out = formulas.names["out"]
        nodes = out.nodes if isinstance(out, Outputs) else [out]
        for node, value in evaluate(nodes).items():
            assert np.shape(value) == node.shape
            assert np.asarray(value).dtype == node.dtype
